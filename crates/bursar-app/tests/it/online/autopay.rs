//! Dues that are charged to a saved card: announced, charged, tried again, and stopped.

use bursar_app::member_access::{self, Entry};
use bursar_app::members;
use bursar_app::online::autopay::{self, AutopayRecord};
use bursar_app::organizations::{self, OrganizationChange};
use bursar_app::payments::Adjustment;
use bursar_app::{Whole, outbox};
use bursar_domain::autopay::AutopayState;
use bursar_domain::ids::AutopayId;
use bursar_domain::member_access::{LinkKey, MemberLink};
use bursar_domain::reminder;
use bursar_domain::sign_in::SecretHash;
use bursar_domain::sign_in::code::digits;

use super::*;
use crate::support::grp;

const KEY: LinkKey = LinkKey([7; 32]);
const DAY: i64 = 86_400;
/// Mornings are at 8; the tests begin at noon.
const MORNING: i64 = -4 * 3_600;

fn link(member: u128) -> Identity {
    Identity::Link(MemberLink::sign(&KEY, org(1), mem(member), now()))
}

impl Club<'_> {
    /// A club whose members get mail. Mia owes dues on the 25th, and Max, for whom she pays, on the 26th.
    pub(super) fn with_dues(db: &Db) -> Club<'_> {
        let club = Club::open(db);
        let dues = |n: u128, member: u128, amount: &str, due: &str| {
            json!({"type": "payment", "id": pay(n), "organizationId": org(1), "memberId": mem(member), "amount": amount,
                "description": "Dues 2027", "status": "pending", "dueDate": due, "groupId": grp(1)})
        };
        let records = [
            json!({"type": "group", "id": grp(1), "organizationId": org(1), "name": "All"}),
            dues(11, 1, "30.00", "2026-11-25"),
            dues(12, 2, "20.00", "2026-11-26"),
            // Due before the card is saved.
            dues(13, 1, "5.00", "2026-11-14"),
        ];
        import_now(db, &bundle(&records)).unwrap();
        club.change(0, Identity::Operator, |whole| {
            member_access::announce(whole, "https://dues.example.org", &KEY.0)
        })
        .unwrap();
        club
    }

    fn change<T: Send + 'static>(
        &self,
        seconds: i64,
        who: Identity,
        work: impl FnMut(&mut Whole<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        app_at(self.db, at(seconds))
            .change(who, NO_ORGANIZATION, work)
            .wait()
    }

    /// Mia signed in by a mailed code.
    fn by_code(&self, seconds: i64) -> Identity {
        let (entropy, browser) = ([5; 32], format!("browser {seconds}"));
        let asking = browser.clone();
        act(self.db, link(1), at(seconds), move |act| {
            member_access::ask_own(act, &asking, &entropy)
        })
        .unwrap();
        let session = SecretHash::of(&format!("cookie {seconds}"));
        let entered = self.change(seconds, Identity::Visitor, move |whole| {
            member_access::enter(whole, &browser, &digits(&entropy), session)
        });
        assert_eq!(entered.unwrap(), Entry::In);
        self.mails(seconds);
        Identity::MemberSession(session)
    }

    fn start_autopay(&self, seconds: i64, who: Identity) -> Result<AutopayRecord, AppError> {
        let begun = act(self.db, who, at(seconds), |act| {
            autopay::start(
                act,
                "https://dues.example.org/m/card/{id}",
                "https://dues.example.org/m/",
            )
        })?;
        self.teller(seconds).open_autopay(org(1), begun.id)
    }

    /// Mia saves a card.
    pub(super) fn save_card(&self, seconds: i64) -> AutopayId {
        let begun = self.start_autopay(seconds, self.by_code(seconds)).unwrap();
        self.till.save(begun.id);
        self.teller(seconds).tend(org(1), begun.id).unwrap();
        begun.id
    }

    /// What the workers do on the morning so many days later, and what is mailed: subjects, then texts.
    pub(super) fn morning(&self, days: i64) -> (Vec<String>, String) {
        let seconds = days * DAY + MORNING + 1;
        while self.work(seconds) > 0 {}
        self.mails(seconds)
    }

    fn mails(&self, seconds: i64) -> (Vec<String>, String) {
        let until = at(seconds + 60);
        let claimed = self.change(seconds, Identity::Worker, move |whole| {
            outbox::claim(whole, reminder::Method::Email, until, 100)
        });
        let mut claimed = claimed.unwrap();
        // What was not sent comes again.
        claimed.retain(|claimed| self.told.borrow_mut().insert(claimed.message.id));
        claimed.sort_by_key(|claimed| claimed.message.id);
        let texts: Vec<String> = claimed
            .iter()
            .map(|claimed| claimed.message.body.clone())
            .collect();
        let subjects = claimed
            .iter()
            .map(|claimed| format!("{}: {}", claimed.message.address, claimed.message.subject));
        (subjects.collect(), texts.join("\n"))
    }

    fn own_card(&self, seconds: i64) -> Option<AutopayRecord> {
        let app = app_at(self.db, at(seconds));
        app.view(link(1), org(1), autopay::own).wait().unwrap()
    }
}

#[test]
fn dues_are_announced_and_charged_on_their_day() {
    both_engines(|test| {
        let club = Club::with_dues(&test.db);
        club.save_card(0);
        let (told, text) = club.mails(1);
        assert_eq!(told, ["mia@example.org: You pay your dues at Club automatically"]);
        assert!(text.contains("Visa ending in 4242"), "{text}");
        assert!(text.contains("https://dues.example.org/m/l/"), "{text}");
        let own = club.own_card(2).unwrap();
        let planned: Vec<_> = own
            .planned
            .iter()
            .map(|planned| (planned.amount.to_string(), planned.on.to_string()))
            .collect();
        let day = |amount: &str, day: &str| (amount.to_owned(), day.to_owned());
        assert_eq!(planned, [day("30.00", "2026-11-25"), day("20.00", "2026-11-26")]);
        for days in 1..7 {
            assert_eq!(club.morning(days).0, [""; 0], "day {days}");
        }
        let (told, text) = club.morning(7);
        assert_eq!(
            told,
            ["mia@example.org: 30.00 USD will be charged to your card for Club"]
        );
        assert!(
            text.contains("- Dues 2027 for Mia Moe: 30.00 USD on 2026-11-25"),
            "{text}"
        );
        let (told, _) = club.morning(8);
        assert_eq!(
            told,
            ["mia@example.org: 20.00 USD will be charged to your card for Club"]
        );
        assert_eq!(club.morning(9).0, [""; 0]);
        assert_eq!(club.till.count("charge"), 0);
        let (told, text) = club.morning(10);
        assert_eq!(
            told,
            ["mia@example.org: 30.00 USD was charged to your card for Club"]
        );
        assert!(text.contains("Club received 30.00 USD from your card"), "{text}");
        assert_eq!(
            [club.status(11), club.status(12)],
            [PaymentStatus::Paid, PaymentStatus::Pending]
        );
        club.morning(11);
        assert_eq!(club.status(12), PaymentStatus::Paid);
        // What was due before, and what is no dues, stay the member's.
        assert_eq!([club.status(13), club.status(1)], [PaymentStatus::Pending; 2]);
        club.agrees();
        for days in 12..20 {
            assert_eq!(club.morning(days).0, [""; 0], "day {days}");
        }
        assert_eq!(club.till.count("charge"), 2);
    });
}

#[test]
fn a_failed_charge_is_tried_as_the_organization_says_and_then_told() {
    both_engines(|test| {
        let club = Club::with_dues(&test.db);
        let roles = [
            json!({"type": "user", "id": crate::support::usr(1), "email": "ada@example.org", "name": "Ada"}),
            json!({"type": "role", "organizationId": org(1), "userId": crate::support::usr(1), "role": "admin"}),
        ];
        import_now(&test.db, &bundle(&roles)).unwrap();
        club.act(0, |act| {
            let change = OrganizationChange {
                autopay_retries: Some("2,4".to_owned()),
                ..OrganizationChange::default()
            };
            organizations::set(act, &change)
        })
        .unwrap();
        club.save_card(0);
        club.till.state().declines = Some("Your card was declined.".to_owned());
        for days in 1..10 {
            club.morning(days);
        }
        let (told, text) = club.morning(10);
        assert_eq!(told, ["mia@example.org: Your card could not be charged for Club"]);
        assert!(
            text.contains("The reason given: Your card was declined."),
            "{text}"
        );
        assert!(text.contains("We will try again on 2026-11-27"), "{text}");
        assert_eq!(club.status(11), PaymentStatus::Failed);
        // Max's dues are of the next day and have tries of their own.
        assert_eq!(club.morning(11).0.len(), 1);
        let (_, text) = club.morning(12);
        assert!(text.contains("30.00 USD could not be charged"), "{text}");
        assert!(text.contains("We will try again on 2026-11-29"), "{text}");
        club.morning(13);
        let (mut told, text) = club.morning(14);
        told.sort();
        assert_eq!(
            told,
            [
                "ada@example.org: 30.00 USD of Mia Moe could not be collected by card",
                "mia@example.org: Your card could not be charged for Club"
            ]
        );
        assert!(
            text.contains("We will not try again. Please pay it on your page"),
            "{text}"
        );
        club.till.state().declines = None;
        club.morning(15);
        assert_eq!(club.status(12), PaymentStatus::Paid, "the last try of the other");
        for days in 16..40 {
            assert_eq!(club.morning(days).0, [""; 0], "day {days}");
        }
        assert_eq!(club.status(11), PaymentStatus::Failed);
        // It can be paid by hand.
        club.paid(40 * DAY, &[(pay(11), None)]);
        club.agrees();
    });
}

/// Whatever answers get lost, and however often workers die between two steps: a card is charged once.
#[test]
fn a_card_is_charged_once() {
    both_engines(|test| {
        let club = Club::with_dues(&test.db);
        let id = club.save_card(0);
        for days in 1..10 {
            club.morning(days);
        }
        club.till.state().lost = 3;
        club.morning(10);
        assert_eq!(club.status(11), PaymentStatus::Pending, "the answer got lost");
        for seconds in [10, 100, 1_000, 5_000] {
            while club.work(10 * DAY + MORNING + seconds) > 0 {}
        }
        assert_eq!(club.status(11), PaymentStatus::Paid);
        let payments = club.till.state().payments.len();
        assert_eq!(payments, 1, "{payments} payments at the provider");
        club.agrees();
        // A worker that looks again the same day finds nothing to do.
        club.teller(10 * DAY).tend(org(1), id).unwrap();
        assert_eq!(club.till.state().payments.len(), 1);
    });
}

/// The card is forgotten, and the money that it paid just before is booked all the same.
#[test]
fn money_of_a_card_that_is_stopped_meanwhile_is_booked() {
    both_engines(|test| {
        let club = Club::with_dues(&test.db);
        let id = club.save_card(0);
        for days in 1..10 {
            club.morning(days);
        }
        let seconds = 10 * DAY + MORNING;
        // The card is charged, and then nothing is heard of the provider.
        club.till.state().lost = 1;
        club.teller(seconds + 1).tend(org(1), id).unwrap();
        club.till.state().is_down = true;
        act(club.db, link(1), at(seconds + 2), |act| autopay::stop(act, None)).unwrap();
        club.till.state().is_down = false;
        club.teller(seconds + 3).tend(org(1), id).unwrap();
        assert_eq!(club.till.count("forget"), 1);
        assert_eq!(club.status(11), PaymentStatus::Pending);
        for later in [10, 100, 1_000, 5_000] {
            while club.work(seconds + later) > 0 {}
        }
        assert_eq!(club.status(11), PaymentStatus::Paid);
        club.agrees();
        while club.work(seconds + 20_000) > 0 {}
        let left = club.view(autopay::list).unwrap();
        assert_eq!(left, []);
        assert_eq!(club.till.state().payments.len(), 1);
    });
}

#[test]
fn what_was_paid_or_stopped_meanwhile_is_not_charged() {
    both_engines(|test| {
        let club = Club::with_dues(&test.db);
        let id = club.save_card(0);
        for days in 1..9 {
            club.morning(days);
        }
        club.paid(9 * DAY, &[(pay(11), None)]);
        assert_eq!(club.morning(10).0, [""; 0]);
        assert_eq!(club.till.count("charge"), 0);
        // One click, with nothing but the link.
        let stopped = act(club.db, link(1), at(10 * DAY), |act| autopay::stop(act, None)).unwrap();
        assert_eq!(stopped.state, AutopayState::Ending);
        let (told, text) = club.morning(11);
        assert_eq!(
            told,
            ["mia@example.org: Your automatic payments at Club are stopped"]
        );
        assert!(text.contains("Nothing more is charged"), "{text}");
        assert_eq!((club.till.count("charge"), club.till.count("forget")), (0, 1));
        assert!(club.till.state().cards.is_empty(), "the provider forgot the card");
        assert!(club.own_card(11 * DAY).is_none());
        let twice = act(club.db, link(1), at(11 * DAY), |act| autopay::stop(act, None));
        assert!(twice.unwrap_err().to_string().contains("no card is saved"));
        let gone = club.view(move |view| autopay::of_member(view, mem(1))).unwrap();
        assert_eq!(gone.map(|found| found.id == id), None);
        club.agrees();
    });
}

#[test]
fn who_was_archived_is_not_charged() {
    both_engines(|test| {
        let club = Club::with_dues(&test.db);
        club.save_card(0);
        for days in 1..9 {
            club.morning(days);
        }
        club.act(8 * DAY, |act| members::archive_many(act, &[mem(1)]))
            .unwrap();
        let (told, _) = club.morning(9);
        assert_eq!(
            told,
            ["mia@example.org: Your automatic payments at Club are stopped"]
        );
        club.morning(10);
        assert_eq!((club.till.count("charge"), club.till.count("forget")), (0, 1));
        assert_eq!(club.status(11), PaymentStatus::Pending);
    });
}

#[test]
fn who_may_save_a_card_and_a_new_one_replaces_it() {
    both_engines(|test| {
        let club = Club::with_dues(&test.db);
        let by_link = club.start_autopay(0, link(1)).unwrap_err();
        assert!(matches!(by_link, AppError::Stale), "{by_link:?}");
        let first = club.save_card(0);
        let second = club.save_card(100);
        club.work(200);
        assert_ne!(first, second);
        assert_eq!(club.own_card(300).unwrap().id, second);
        assert_eq!(club.till.count("forget"), 1);
        let listed = club.view(autopay::list).unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].card.as_deref(), Some("Visa ending in 4242"));
        // A page that nobody finishes leaves nothing.
        let left = club.start_autopay(400, club.by_code(400)).unwrap();
        club.till
            .state()
            .cards
            .insert(format!("cs_{}", left.id), Saved::Gone);
        while club.work(4_000) > 0 {}
        let gone = app_at(club.db, at(4_001))
            .view(link(1), org(1), move |view| autopay::own_begun(view, left.id))
            .wait();
        assert_eq!(gone.unwrap(), None);
        // The provider goes, and with it the cards; members are told.
        club.mails(4_002);
        while club.work(90_000) > 0 {}
        club.act(90_001, providers::remove).unwrap();
        let (told, _) = club.mails(90_002);
        assert_eq!(
            told,
            ["mia@example.org: Your automatic payments at Club are stopped"]
        );
        assert!(club.own_card(90_003).is_none());
        assert_eq!(problems(club.db), []);
    });
}

/// Raised late: the member still has three days; raised by more later: no more is charged than was announced.
#[test]
fn no_sooner_and_no_more_than_announced() {
    both_engines(|test| {
        let club = Club::with_dues(&test.db);
        club.save_card(0);
        club.mails(1);
        let late = json!({"type": "payment", "id": pay(14), "organizationId": org(1), "memberId": mem(1), "amount": "9.00",
            "description": "Late dues", "status": "pending", "dueDate": "2026-11-16", "groupId": grp(1)});
        import_now(&test.db, &bundle(&[late])).unwrap();
        let (told, _) = club.morning(1);
        assert_eq!(
            told,
            ["mia@example.org: 9.00 USD will be charged to your card for Club"]
        );
        club.act(DAY, |act| {
            payments::adjust(act, pay(14), "12.00", Adjustment::Correction, "it was wrong")
        })
        .unwrap();
        for days in [2, 3] {
            club.morning(days);
            assert_eq!(club.charge(14).paid_to_date.minor, 0, "day {days}");
        }
        club.morning(4);
        assert_eq!(club.charge(14).paid_to_date.minor, 900);
        assert_eq!(club.status(14), PaymentStatus::PartiallyPaid);
        club.agrees();
    });
}
