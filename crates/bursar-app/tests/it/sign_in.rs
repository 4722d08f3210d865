//! Codes, proofs that grow old, and the setup of an empty database, with time passed in.

use std::sync::Arc;

use bursar_app::organizations::NewOrganization;
use bursar_app::sign_in::code::{self, Entry};
use bursar_app::{
    App, AppError, Identity, NO_ORGANIZATION, Once, Output, Visit, Whole, outbox, roles, setup, sign_in,
};
use bursar_db::Db;
use bursar_db::testing::{TestDb, both_engines};
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::ids::{IdSource, OrganizationId};
use bursar_domain::money::Currency;
use bursar_domain::organization::{CardIssuing, OrganizationKind};
use bursar_domain::reminder::Method;
use bursar_domain::sign_in::SecretHash;

use crate::support::now;

const ADA: &str = "ada@example.org";

fn app(db: &Db, seconds: i64) -> App {
    let at = now().plus_seconds(seconds);
    let ids = IdSource::seeded(u64::try_from(seconds).unwrap() + 1);
    App::new(db.clone(), Arc::new(move || at), ids)
}

fn change<T: Send + 'static>(
    app: &App,
    who: Identity,
    work: impl FnMut(&mut Whole<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    app.change(who, NO_ORGANIZATION, work).wait()
}

fn club() -> NewOrganization {
    NewOrganization {
        name: "Rowing Club".to_owned(),
        kind: OrganizationKind::Independent,
        parent_id: None,
        currency: Currency::USD,
        contact_email: None,
        contact_phone: None,
        card_issuing: CardIssuing::Pending,
        time_zone: Default::default(),
    }
}

/// Sets up the club of Ada, who is its admin and signed in as `session`.
fn set_up(test: &TestDb) -> OrganizationId {
    let at = app(&test.db, 0);
    let link = change(&at, Identity::Operator, |whole| setup::make_link(whole, &[9; 32]));
    let link = SecretHash::of(&link.unwrap().unwrap());
    let begun = change(&at, Identity::Visitor, move |whole| {
        setup::begin(
            whole,
            &link,
            &club(),
            ("Ada", ADA),
            (SecretHash::of("session"), "Firefox"),
        )
    });
    begun.unwrap().0.id
}

fn ask(app: &App, email: &'static str, browser: &'static str, entropy: u8) {
    let asked = change(app, Identity::Visitor, move |whole| {
        code::ask(whole, email, browser, &[entropy; 32], "dues.example.org", None)
    });
    asked.unwrap();
}

fn enter(app: &App, browser: &'static str, typed: String) -> Entry {
    let entered = change(app, Identity::Visitor, move |whole| {
        code::enter(whole, browser, &typed, (SecretHash::of(browser), ""), None)
    });
    entered.unwrap()
}

fn digits(entropy: u8) -> String {
    bursar_domain::sign_in::code::digits(&[entropy; 32])
}

fn queued(app: &App) -> Vec<outbox::Claimed> {
    let until = app.now().plus_seconds(60);
    let claimed = change(app, Identity::Worker, move |whole| {
        outbox::claim(whole, Method::Email, until, 100)
    });
    claimed.unwrap()
}

#[test]
fn a_database_is_set_up_once() {
    both_engines(|test| {
        let organization = set_up(test);
        let at = app(&test.db, 1);
        let link = change(&at, Identity::Operator, |whole| setup::make_link(whole, &[8; 32]));
        assert_eq!(link.unwrap(), None, "there is an organization");
        let used = SecretHash::of(&bursar_domain::sign_in::secret(&[9; 32]));
        let again = change(&at, Identity::Visitor, move |whole| {
            setup::begin(
                whole,
                &used,
                &club(),
                ("Eve", "eve@example.org"),
                (SecretHash::of("x"), ""),
            )
        });
        assert!(matches!(again, Err(AppError::Refused(Refusal::Missing { .. }))));
        let who = Identity::Session(SecretHash::of("session"));
        let oneself =
            at.look::<_, AppError>(who, |whole| sign_in::oneself(whole, &SecretHash::of("session")));
        let places = oneself.wait().unwrap().places;
        assert_eq!((places[0].0.id, places[0].1), (organization, Role::Admin));
    });
}

#[test]
fn codes_live_ten_minutes_and_ten_a_day() {
    both_engines(|test| {
        set_up(test);
        let early = app(&test.db, 100);
        ask(&early, ADA, "one", 1);
        assert_eq!(
            enter(&app(&test.db, 699), "two", digits(1)),
            Entry::Ended,
            "another browser"
        );
        assert_eq!(
            enter(&app(&test.db, 700), "one", digits(1)),
            Entry::Ended,
            "too late"
        );
        // It is not sent late either.
        assert_eq!(queued(&app(&test.db, 700)), []);

        let at = app(&test.db, 1_000);
        ask(&at, ADA, "two", 2);
        let claimed = queued(&at);
        assert_eq!(claimed.len(), 1);
        assert!(claimed[0].message.body.contains("dues.example.org"));
        let sent = claimed[0].clone();
        let attempt = outbox::Attempt::Delivered("250".to_owned());
        let recorded = change(&at, Identity::Worker, move |whole| {
            outbox::attempted_only(whole, &sent, &attempt)
        });
        recorded.unwrap();
        assert!(matches!(enter(&at, "two", digits(2)), Entry::In(_)));

        // Eight more today, and from then on silence; tomorrow again.
        for (entropy, browser) in (3..13).zip(["c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]) {
            ask(&at, ADA, browser, entropy);
        }
        assert_eq!(queued(&at).len(), 8);
        assert_eq!(
            enter(&at, "l", digits(12)),
            Entry::Wrong(4),
            "it was never mailed"
        );
        let tomorrow = app(&test.db, 1_000 + 86_400);
        ask(&tomorrow, ADA, "m", 20);
        assert!(matches!(enter(&tomorrow, "m", digits(20)), Entry::In(_)));
    });
}

#[test]
fn an_unknown_address_is_answered_alike() {
    both_engines(|test| {
        set_up(test);
        let at = app(&test.db, 10);
        ask(&at, "nobody@example.org", "one", 1);
        let browser = SecretHash::of("one");
        let asked = at.look::<_, AppError>(Identity::Visitor, move |whole| code::asked(whole, &browser));
        assert_eq!(asked.wait().unwrap().as_deref(), Some("nobody@example.org"));
        assert_eq!(
            enter(&at, "one", digits(1)),
            Entry::Wrong(4),
            "not even the right digits"
        );
        assert_eq!(queued(&at), []);
    });
}

/// A session of half an hour may do anything but what a stolen one must not; a guarded act is told to its person.
#[test]
fn guarded_acts_need_a_fresh_proof() {
    both_engines(|test| {
        let organization = set_up(test);
        let give = |seconds: i64, key: &str| {
            let at = app(&test.db, seconds);
            let who = Identity::Session(SecretHash::of("session"));
            let user = at.look::<_, AppError>(who, |whole| {
                Ok(sign_in::oneself(whole, &SecretHash::of("session"))?.user.id)
            });
            let once = Once::of_person(
                organization,
                user.wait().unwrap(),
                key.to_owned(),
                [1; 32],
                86_400,
            );
            let visit = Visit { who, request: None };
            let done = at.once(visit, &roles::SET, once, None, |act| {
                roles::set(act, "bo@example.org", Role::Viewer)?;
                Ok::<_, AppError>(Output {
                    status: 303,
                    body: String::new(),
                })
            });
            done.reply.wait().map(|(_, was_given)| was_given)
        };
        assert!(matches!(give(1_799, "k1"), Ok(false)));
        assert!(matches!(give(1_799, "k1"), Ok(true)));
        let notices = queued(&app(&test.db, 1_799));
        assert_eq!(notices.len(), 1, "one act, one notice");
        assert!(
            notices[0].message.subject.contains("give roles"),
            "{:?}",
            notices[0]
        );
        assert_eq!(notices[0].message.address, ADA);
        assert!(matches!(give(1_800, "k2"), Err(AppError::Stale)));
        let at = app(&test.db, 1_900);
        let list = at.view::<_, AppError>(
            Identity::Session(SecretHash::of("session")),
            organization,
            roles::list,
        );
        assert_eq!(list.wait().unwrap().len(), 2, "reading needs no proof");
    });
}
