//! Links, codes and what members see of themselves, with time passed in.

use std::sync::Arc;

use bursar_app::activity::{self, Query};
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::member_access::{self, Entry};
use bursar_app::{
    Act, App, AppError, Identity, MemberProof, NO_ORGANIZATION, View, Whole, member_page, outbox,
};
use bursar_db::Db;
use bursar_db::testing::{TestDb, both_engines};
use bursar_domain::Refusal;
use bursar_domain::ids::{IdSource, OrganizationId};
use bursar_domain::member_access::{LinkKey, MemberLink};
use bursar_domain::money::{Currency, Money};
use bursar_domain::receipt::Method;
use bursar_domain::reminder;
use bursar_domain::sign_in::SecretHash;
use bursar_domain::sign_in::code::digits;
use serde_json::{Value as Json, json};

use crate::support::{bundle, import_now, mem, now, org, pay};

const KEY: LinkKey = LinkKey([7; 32]);
const DAY: i64 = 86_400;

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

fn act<T: Send + 'static>(
    app: &App,
    who: Identity,
    work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    app.act(who, org(1), work).wait()
}

fn view<T: Send + 'static>(
    app: &App,
    who: Identity,
    organization: OrganizationId,
    work: impl FnOnce(&mut View<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    app.view(who, organization, work).wait()
}

fn member(n: u128, organization: u128, name: &str, email: Option<&str>, payer: Option<u128>) -> Json {
    json!({
        "type": "member", "id": mem(n), "organizationId": org(organization), "firstName": name, "lastName": "Ek",
        "email": email, "isActive": true, "groups": [], "payerId": payer.map(mem), "phone": "+442079460958",
    })
}

fn charge(n: u128, member: u128, amount: i64, due: &str) -> Json {
    json!({
        "type": "payment", "id": pay(n), "organizationId": org(1), "memberId": mem(member), "amount": format!("{amount}.00"),
        "paidToDate": "0.00", "currency": "EUR", "status": "pending", "dueDate": due, "description": format!("Charge {n}"),
    })
}

/// Ada pays for Ben; Cay shares Ada's address and owes something; Dan is of another organization, with that address too.
fn world(test: &TestDb) {
    let club = |n: u128, name: &str| {
        json!({ "type": "organization", "id": org(n), "name": name, "kind": "independent", "currency": "EUR",
                "iban": "DE89370400440532013000" })
    };
    let records = [
        club(1, "River Club"),
        club(2, "Lake Club"),
        member(1, 1, "Ada", Some("Ada@example.org"), None),
        member(2, 1, "Ben", None, Some(1)),
        member(3, 1, "Cay", Some("ada@example.org"), None),
        member(4, 2, "Dan", Some("ada@example.org"), None),
        charge(1, 1, 10, "2026-11-01"),
        charge(2, 2, 20, "2026-12-01"),
        charge(3, 3, 40, "2026-11-01"),
    ];
    import_now(&test.db, &bundle(&records)).unwrap();
    let announce =
        |whole: &mut Whole<'_, '_>| member_access::announce(whole, "https://dues.example.org", &KEY.0);
    change(&app(&test.db, 0), Identity::Operator, announce).unwrap();
}

fn link(member: u128) -> Identity {
    Identity::Link(MemberLink::sign(&KEY, org(1), mem(member), now()))
}

fn euro(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

/// The texts of the personal mails that are queued, with their addresses.
fn mails(app: &App) -> Vec<(String, String, String)> {
    let until = app.now().plus_seconds(60);
    let claimed = change(app, Identity::Worker, move |whole| {
        outbox::claim(whole, reminder::Method::Email, until, 100)
    });
    let told = |claimed: outbox::Claimed| {
        let message = claimed.message;
        (message.address, message.subject, message.body)
    };
    claimed.unwrap().into_iter().map(told).collect()
}

fn enter(app: &App, browser: &'static str, typed: String, session: &str) -> Entry {
    let session = SecretHash::of(session);
    let enter = move |whole: &mut Whole<'_, '_>| member_access::enter(whole, browser, &typed, session);
    change(app, Identity::Visitor, enter).unwrap()
}

#[test]
fn a_link_shows_the_household_and_nobody_else() {
    both_engines(|test| {
        world(test);
        let app = app(&test.db, 60);
        let shown = view(&app, link(1), org(1), member_page::read).unwrap();
        assert_eq!(shown.proof, MemberProof::Link);
        let open: Vec<_> = shown.open.iter().map(|owed| owed.charge.payment_id).collect();
        assert_eq!(open, [pay(1), pay(2)]);
        assert_eq!((shown.due, shown.total), (euro(1_000), euro(3_000)));
        let names: Vec<_> = shown.statement.household.iter().map(|p| p.name.clone()).collect();
        assert_eq!(names, ["Ben Ek"]);
        let code = shown.transfer_code.unwrap();
        assert!(code.contains("\nEUR10.00\n"), "{code}");
        // What shows is not enough for anything else.
        for stale in [
            view(&app, link(1), org(1), |view| {
                member_page::statement(view, (None, None)).map(drop)
            }),
            act(&app, link(1), |act| {
                member_page::set_contact(act, "eve@example.org", None).map(drop)
            }),
        ] {
            assert!(matches!(stale, Err(AppError::Stale)), "{stale:?}");
        }
    });
}

#[test]
fn links_that_are_old_foreign_changed_or_revoked_open_nothing() {
    both_engines(|test| {
        world(test);
        let is_open = |seconds: i64, who, organization| match view(
            &app(&test.db, seconds),
            who,
            organization,
            member_page::read,
        ) {
            Ok(_) => true,
            Err(AppError::Unrecognised) => false,
            Err(other) => panic!("{other}"),
        };
        assert!(is_open(60 * DAY - 1, link(1), org(1)));
        assert!(!is_open(60 * DAY, link(1), org(1)));
        assert!(!is_open(0, link(1), org(2)), "another organization");
        let moved = MemberLink::sign(&KEY, org(2), mem(1), now());
        assert!(!is_open(0, Identity::Link(moved), org(1)));
        let forged = MemberLink::sign(&LinkKey([8; 32]), org(1), mem(1), now());
        assert!(!is_open(0, Identity::Link(forged), org(1)));
        let revoke = |act: &mut Act<'_, '_>| member_access::revoke(act, mem(1));
        act(&app(&test.db, 10), Identity::Operator, revoke).unwrap();
        assert!(!is_open(11, link(1), org(1)), "revoked");
        assert!(is_open(11, link(3), org(1)), "somebody else's");
        let made = view(&app(&test.db, 20), Identity::Operator, org(1), |view| {
            member_access::link(view, mem(1))
        });
        let (_, text, _) = made.unwrap();
        let end = text.strip_prefix("https://dues.example.org/m/l/").unwrap();
        assert!(is_open(
            21,
            Identity::Link(MemberLink::parse(end).unwrap()),
            org(1)
        ));
    });
}

#[test]
fn the_key_of_links_stays_when_the_address_changes() {
    both_engines(|test| {
        world(test);
        let again =
            |whole: &mut Whole<'_, '_>| member_access::announce(whole, "https://new.example.org", &[9; 32]);
        change(&app(&test.db, 1), Identity::Operator, again).unwrap();
        let made = view(&app(&test.db, 1), Identity::Operator, org(1), |view| {
            member_access::link(view, mem(1))
        });
        assert!(made.unwrap().1.starts_with("https://new.example.org/m/l/"));
        assert!(view(&app(&test.db, 1), link(1), org(1), member_page::read).is_ok());
    });
}

#[test]
fn a_code_opens_the_pages_of_one_organization() {
    both_engines(|test| {
        world(test);
        let at = app(&test.db, 0);
        for (email, browser, entropy) in [("ADA@example.org", "known", 1), ("eve@example.org", "unknown", 2)]
        {
            let ask = move |whole: &mut Whole<'_, '_>| {
                member_access::ask(whole, org(1), email, browser, &[entropy; 32])
            };
            change(&at, Identity::Visitor, ask).unwrap();
        }
        let sent = mails(&at);
        assert_eq!(sent.len(), 1, "{sent:?}");
        assert_eq!(sent[0].0.to_lowercase(), "ada@example.org");
        assert!(sent[0].1.ends_with("is your code for River Club"), "{sent:?}");

        assert_eq!(enter(&at, "unknown", digits(&[2; 32]), "u"), Entry::Wrong(4));
        assert_eq!(enter(&at, "known", "1".to_owned(), "k"), Entry::Wrong(4));
        assert_eq!(enter(&at, "known", digits(&[1; 32]), "k"), Entry::In);
        assert_eq!(enter(&at, "known", digits(&[1; 32]), "l"), Entry::Ended, "used");
        let session = SecretHash::of("k");
        let choice = change(&at, Identity::Visitor, move |whole| {
            member_access::choice(whole, &session)
        });
        let choice = choice.unwrap().unwrap();
        let ids: Vec<_> = choice.members.iter().map(|(id, _)| *id).collect();
        assert_eq!((ids, choice.chosen), (vec![mem(1), mem(3)], None));
        let who = Identity::MemberSession(session);
        assert!(matches!(
            view(&at, who, org(1), member_page::read),
            Err(AppError::Unrecognised)
        ));
        for (other, is_offered) in [(2, false), (4, false), (3, true)] {
            let choose = move |whole: &mut Whole<'_, '_>| member_access::choose(whole, &session, mem(other));
            assert_eq!(
                change(&at, Identity::Visitor, choose).is_ok(),
                is_offered,
                "{other}"
            );
        }
        let shown = view(&at, who, org(1), member_page::read).unwrap();
        assert_eq!((shown.member.id, shown.proof), (mem(3), MemberProof::Code));
        assert!(matches!(
            view(&at, who, org(2), member_page::read),
            Err(AppError::Unrecognised)
        ));
        let later = app(&test.db, 3_600);
        assert!(matches!(
            view(&later, who, org(1), member_page::read),
            Err(AppError::Unrecognised)
        ));
    });
}

#[test]
fn a_member_changes_contact_data_and_both_addresses_are_told() {
    both_engines(|test| {
        world(test);
        let at = app(&test.db, 0);
        let asked = act(&at, link(1), |act| member_access::ask_own(act, "b", &[3; 32]));
        assert_eq!(asked.unwrap(), "Ada@example.org");
        assert_eq!(enter(&at, "b", digits(&[3; 32]), "s"), Entry::In);
        mails(&at);
        let who = Identity::MemberSession(SecretHash::of("s"));
        let shown = view(&at, who, org(1), member_page::read).unwrap();
        assert_eq!(
            shown.member.id,
            mem(1),
            "the one who asked, though Cay has the address too"
        );

        let wrong = act(&at, who, |act| member_page::set_contact(act, "no address", None));
        assert!(matches!(&wrong, Err(AppError::Refused(refusal)) if refusal.field() == Some("email")));
        let set = |act: &mut Act<'_, '_>| {
            member_page::set_contact(act, "ada@new.example.org", Some("+44 20 7946 0959"))
        };
        let changed = act(&at, who, set).unwrap();
        assert_eq!(changed.email.as_deref(), Some("ada@new.example.org"));
        let told: Vec<_> = mails(&at)
            .into_iter()
            .map(|(address, subject, _)| (address, subject))
            .collect();
        let subject = "Your contact data at River Club was changed".to_owned();
        assert_eq!(
            told,
            [
                ("Ada@example.org".to_owned(), subject.clone()),
                ("ada@new.example.org".to_owned(), subject)
            ]
        );
        act(&at, who, set).unwrap();
        assert_eq!(mails(&at), [], "nothing changed");
        let told = view(&at, Identity::Operator, org(1), |view| {
            let query = Query {
                limit: 1,
                actor: Some("member".to_owned()),
                ..Query::default()
            };
            let lines = activity::list(view, &query)?;
            let names = activity::names(view, &lines)?;
            Ok(activity::sentence(&lines[0], org(1), &names))
        });
        assert_eq!(told.unwrap(), "member Ada Ek changed member Ada Ek");
        // The old address is no way in any more.
        let ask = |whole: &mut Whole<'_, '_>| {
            member_access::ask(whole, org(2), "ada@new.example.org", "c", &[4; 32])
        };
        change(&at, Identity::Visitor, ask).unwrap();
        assert_eq!(mails(&at), []);
    });
}

#[test]
fn a_member_gets_their_own_receipts() {
    both_engines(|test| {
        world(test);
        let at = app(&test.db, 0);
        let record = |payer: u128, amount: &str| {
            let amount = amount.to_owned();
            let new = NewReceipt {
                payer: Some(mem(payer)),
                amount,
                method: Method::Transfer,
                date: None,
                account: None,
                payer_name: None,
                reference: None,
                payments: Vec::new(),
                campaign: None,
                income: None,
                again: false,
            };
            act(&at, Identity::Operator, move |act| receipts::record(act, &new))
                .unwrap()
                .receipt
                .id
        };
        let (own, other) = (record(1, "15.00"), record(3, "40.00"));
        act(&at, link(1), |act| member_access::ask_own(act, "b", &[3; 32])).unwrap();
        enter(&at, "b", digits(&[3; 32]), "s");
        let who = Identity::MemberSession(SecretHash::of("s"));
        let receipt = view(&at, who, org(1), move |view| member_page::receipt(view, own)).unwrap();
        let paid: Vec<_> = receipt
            .paid
            .iter()
            .map(|(what, whose, amount)| (what.as_str(), whose.as_deref(), *amount))
            .collect();
        assert_eq!(
            paid,
            [
                ("Charge 1", None, euro(1_000)),
                ("Charge 2", Some("Ben Ek"), euro(500))
            ]
        );
        let pdf = member_page::receipt_pdf(&receipt).unwrap();
        assert!(pdf.starts_with(b"%PDF-"));
        let foreign = view(&at, who, org(1), move |view| member_page::receipt(view, other));
        assert!(matches!(foreign, Err(AppError::Refused(Refusal::Missing { .. }))));
        let shown = view(&at, who, org(1), member_page::read).unwrap();
        assert_eq!((shown.receipts.len(), shown.total), (1, euro(1_500)));
    });
}
