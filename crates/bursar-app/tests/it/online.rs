//! Online payments: what is booked when, whatever a provider says, how often and in which order.

mod autopay;
mod damage;
mod lists;
mod moves;
mod till;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use bursar_app::books::accounts;
use bursar_app::online::port::{Progress, Saved};
use bursar_app::online::providers::{self, ENTROPY, NewProvider, ProviderRecord};
use bursar_app::online::{self, NewOnlinePayment, Record, Teller};
use bursar_app::payments::{self, Received};
use bursar_app::resources;
use bursar_app::secrets::KeyFile;
use bursar_app::{Act, AppError, Identity, NO_ORGANIZATION, View};
use bursar_db::Db;
use bursar_db::testing::both_engines;
use bursar_domain::Timestamp;
use bursar_domain::ids::{MessageId, OnlinePaymentId, PaymentId};
use bursar_domain::online::{OnlineState, ProviderKind};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::receipt::Method;
use bursar_domain::sealed::SecretKey;
use serde_json::json;

use self::till::{FEE, Till};
use crate::outbox::act;
use crate::support::{app_at, bundle, dump, import_now, mem, now, org, pay, problems};

const KEY: &str = "rk_test_51abcdefghijklmnop4242";

/// A club with a provider, a member with two charges of 25.00 and 40.00, and one whose payer that member is.
struct Club<'a> {
    db: &'a Db,
    till: Till,
    folder: tempfile::TempDir,
    /// Mails that were looked at.
    told: RefCell<HashSet<MessageId>>,
}

fn at(seconds: i64) -> Timestamp {
    now().plus_seconds(seconds)
}

impl<'a> Club<'a> {
    fn open(db: &'a Db) -> Self {
        let charge = |n: u128, member: u128, amount: &str| {
            json!({"type": "payment", "id": pay(n), "organizationId": org(1), "memberId": mem(member), "amount": amount,
                "description": format!("Dues {n}"), "status": "pending"})
        };
        let records = [
            json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent"}),
            json!({"type": "member", "id": mem(1), "organizationId": org(1), "firstName": "Mia", "lastName": "Moe",
                "email": "mia@example.org"}),
            json!({"type": "member", "id": mem(2), "organizationId": org(1), "firstName": "Max", "lastName": "Moe",
                "payerId": mem(1)}),
            json!({"type": "member", "id": mem(3), "organizationId": org(1), "firstName": "Eve", "lastName": "Else"}),
            charge(1, 1, "25.00"),
            charge(2, 1, "40.00"),
            charge(3, 2, "10.00"),
            charge(4, 3, "10.00"),
        ];
        import_now(db, &bundle(&records)).unwrap();
        let club = Self {
            db,
            till: Till::default(),
            folder: tempfile::tempdir().unwrap(),
            told: RefCell::default(),
        };
        let key = SecretKey::new([9; 32]);
        std::fs::write(club.folder.path().join("key"), key.text()).unwrap();
        club.set().unwrap();
        club
    }

    fn set(&self) -> Result<ProviderRecord, AppError> {
        self.set_key(KEY, Some("whsec_abcdefghijklmnop"))
    }

    fn set_key(&self, key: &str, secret: Option<&str>) -> Result<ProviderRecord, AppError> {
        let new = NewProvider {
            kind: ProviderKind::Stripe,
            key: Some(key.to_owned()),
            webhook_secret: secret.map(str::to_owned),
            account: None,
        };
        self.act(0, move |act| {
            providers::set(act, &new, &SecretKey::new([9; 32]), &[7; ENTROPY])
        })
    }

    fn keys(&self) -> KeyFile {
        KeyFile::Named(self.folder.path().join("key"))
    }

    fn teller(&self, seconds: i64) -> Teller {
        self.till.state().now = Some(at(seconds));
        Teller::new(
            app_at(self.db, at(seconds)),
            self.keys(),
            Arc::new(self.till.clone()),
        )
    }

    fn act<T: Send + 'static>(
        &self,
        seconds: i64,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        act(self.db, Identity::Operator, at(seconds), work)
    }

    fn view<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut View<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        app_at(self.db, now())
            .view(Identity::Operator, org(1), work)
            .wait()
    }

    fn begin(
        &self,
        seconds: i64,
        charges: &[(PaymentId, Option<&str>)],
    ) -> Result<OnlinePaymentId, AppError> {
        let charges = charges
            .iter()
            .map(|(id, amount)| (*id, amount.map(str::to_owned)))
            .collect();
        let new = NewOnlinePayment {
            member: mem(1),
            charges,
            success_url: "https://club.example.org/done".to_owned(),
            cancel_url: "https://club.example.org/back".to_owned(),
        };
        self.act(seconds, move |act| online::begin(act, &new))
            .map(|record| record.id)
    }

    /// Begins and opens the provider's page.
    fn start(&self, seconds: i64, charges: &[(PaymentId, Option<&str>)]) -> OnlinePaymentId {
        let id = self.begin(seconds, charges).unwrap();
        let opened = self.teller(seconds).open(org(1), id).unwrap();
        assert_eq!(opened.state, OnlineState::Open);
        assert_eq!(opened.url, Some(format!("https://pay.example.org/cs_{id}")));
        id
    }

    fn pursue(&self, seconds: i64, id: OnlinePaymentId) -> Record {
        self.teller(seconds).pursue(org(1), id).unwrap()
    }

    /// Paid and booked.
    fn paid(&self, seconds: i64, charges: &[(PaymentId, Option<&str>)]) -> OnlinePaymentId {
        let id = self.start(seconds, charges);
        self.till.pay(id, at(seconds));
        assert_eq!(self.pursue(seconds, id).state, OnlineState::Succeeded);
        id
    }

    fn charge(&self, n: u128) -> Payment {
        self.view(move |view| resources::one::<Payment>(view, pay(n)))
            .unwrap()
    }

    fn status(&self, n: u128) -> PaymentStatus {
        self.charge(n).status
    }

    /// Balances that are not 0, in minor units.
    fn balances(&self) -> BTreeMap<String, i64> {
        let lines = self.view(|view| accounts::list(view, None)).unwrap();
        let lines = lines.into_iter().filter(|line| line.balance.minor != 0);
        lines.map(|line| (line.name, line.balance.minor)).collect()
    }

    fn balance(&self, account: &str) -> i64 {
        self.balances().get(account).copied().unwrap_or(0)
    }

    /// The books hold what the provider holds, and nothing is wrong with them.
    #[track_caller]
    fn agrees(&self) {
        assert_eq!(
            self.balance("clearing"),
            self.till.state().balance,
            "{:?}",
            self.balances()
        );
        assert_eq!(problems(self.db), []);
    }

    /// Does what is due at a time, as the worker does; returns how much.
    fn work(&self, seconds: i64) -> usize {
        let teller = self.teller(seconds);
        let claimed: Result<_, AppError> = app_at(self.db, at(seconds))
            .change(Identity::Worker, NO_ORGANIZATION, move |whole| {
                online::claim(whole, at(seconds + 60), 100)
            })
            .wait();
        let tasks = claimed.unwrap();
        for task in &tasks {
            teller.perform(*task).unwrap();
        }
        tasks.len()
    }
}

#[test]
fn money_lands_in_clearing_less_the_fee_once() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.start(0, &[(pay(1), None), (pay(3), None)]);
        assert_eq!(club.status(1), PaymentStatus::Pending);
        assert_eq!(club.pursue(1, id).state, OnlineState::Open);
        club.till.pay(id, at(2));
        let record = club.pursue(3, id);
        assert_eq!(record.state, OnlineState::Succeeded);
        assert_eq!(record.fee.map(|fee| fee.minor), Some(FEE));
        assert_eq!(record.url, None);
        assert_eq!([club.status(1), club.status(3)], [PaymentStatus::Paid; 2]);
        let expected = [
            ("bank-fees", FEE),
            ("clearing", 3_500 - FEE),
            ("receivable", 5_000),
        ];
        for (account, amount) in expected {
            assert_eq!(club.balance(account), amount, "{account}");
        }
        club.agrees();
        // Whoever asks again books nothing.
        let before = dump(&test.db);
        for seconds in [3, 3, 3] {
            assert_eq!(club.pursue(seconds, id), record);
        }
        let mut after = dump(&test.db);
        for table in ["online_payments", "activity", "organizations"] {
            after.insert(table, before[table].clone());
        }
        assert_eq!(before, after);
        assert_eq!(club.work(100_000), 1, "only the sweep is left");
    });
}

#[test]
fn what_can_be_begun() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let refused = |charges: &[(PaymentId, Option<&str>)], rule: &str| {
            let error = club.begin(0, charges).unwrap_err().to_string();
            assert!(error.contains(rule), "{error}");
        };
        refused(&[], "must name 1 to 50 charges");
        refused(&[(pay(1), None), (pay(1), None)], "given twice");
        refused(&[(pay(4), None)], "there is no such payment");
        refused(&[(pay(9), None)], "there is no such payment");
        refused(&[(pay(1), Some("25.01"))], "at most what is open, 25.00");
        refused(&[(pay(1), Some("0.49"))], "at least 0.50 USD");
        refused(&[(pay(1), Some("0"))], "greater than 0");
        club.begin(0, &[(pay(1), Some("0.30")), (pay(2), Some("0.20"))])
            .unwrap();
        let cash = Received {
            amount: "25.00".to_owned(),
            method: Method::Cash,
            received_on: None,
            reference: None,
            again: false,
        };
        club.act(0, move |act| payments::record(act, pay(1), &cash))
            .unwrap();
        refused(&[(pay(1), None)], "the charge is paid");
        club.act(0, |act| payments::cancel(act, pay(2), false, None))
            .unwrap();
        refused(&[(pay(2), None)], "the charge is cancelled");
    });
}

#[test]
fn a_part_is_paid_and_then_the_rest() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        club.paid(0, &[(pay(2), Some("15.00"))]);
        assert_eq!(club.status(2), PaymentStatus::PartiallyPaid);
        club.paid(1, &[(pay(2), None)]);
        assert_eq!(club.status(2), PaymentStatus::Paid);
        club.agrees();
    });
}

#[test]
fn of_two_tabs_the_second_is_refunded() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let (one, two) = (
            club.start(0, &[(pay(1), None)]),
            club.start(1, &[(pay(1), None), (pay(3), None)]),
        );
        for id in [one, two] {
            club.till.pay(id, at(2));
        }
        assert_eq!(club.pursue(3, one).state, OnlineState::Succeeded);
        let second = club.pursue(3, two);
        assert_eq!(second.state, OnlineState::Succeeded);
        assert_eq!(second.refunded.to_string(), "25.00");
        assert_eq!(second.moves[0].reason.as_deref(), Some("paid twice"));
        let told = &dump(&test.db)["outbox_messages"];
        assert!(
            told.len() == 1 && told[0].contains("25.00 USD went back to your card"),
            "{told:?}"
        );
        assert_eq!([club.status(1), club.status(3)], [PaymentStatus::Paid; 2]);
        assert_eq!(club.balance("credit"), 0);
        club.agrees();
        // Both pay twice, and all of the third goes back.
        let three = club.start(4, &[(pay(2), None)]);
        let four = club.start(4, &[(pay(2), None)]);
        for id in [three, four] {
            club.till.pay(id, at(5));
            club.pursue(5, id);
        }
        assert_eq!(club.pursue(6, four).state, OnlineState::Refunded);
        assert_eq!(club.status(2), PaymentStatus::Paid);
        club.agrees();
    });
}

#[test]
fn money_for_a_charge_that_was_settled_or_cancelled_meanwhile_is_credit() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.start(0, &[(pay(1), None), (pay(2), None)]);
        let cash = Received {
            amount: "5.00".to_owned(),
            method: Method::Cash,
            received_on: None,
            reference: None,
            again: false,
        };
        club.act(1, move |act| payments::record(act, pay(1), &cash))
            .unwrap();
        club.act(1, |act| payments::cancel(act, pay(2), false, None))
            .unwrap();
        club.till.pay(id, at(2));
        let record = club.pursue(3, id);
        assert_eq!((record.state, record.refunded.minor), (OnlineState::Succeeded, 0));
        assert_eq!(club.status(1), PaymentStatus::Paid);
        assert_eq!(club.status(2), PaymentStatus::Cancelled);
        assert_eq!(club.balance("credit"), 4_500);
        club.agrees();
    });
}

#[test]
fn a_charge_is_processing_while_the_provider_works_and_failed_when_it_cannot() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.start(0, &[(pay(1), None)]);
        club.till.set(id, Progress::Processing, None);
        assert_eq!(club.pursue(1, id).state, OnlineState::Processing);
        assert_eq!(club.status(1), PaymentStatus::Processing);
        let error = club.begin(1, &[(pay(1), None)]).unwrap_err().to_string();
        assert!(error.contains("is being processed"), "{error}");
        club.till
            .set(id, Progress::Failed, Some("The account was closed."));
        let failed = club.pursue(2, id);
        assert_eq!(failed.state, OnlineState::Failed);
        assert_eq!(failed.failure.as_deref(), Some("The account was closed."));
        assert_eq!(club.status(1), PaymentStatus::Failed);
        // Another attempt.
        club.paid(3, &[(pay(1), None)]);
        assert_eq!(club.status(1), PaymentStatus::Paid);
        club.agrees();
    });
}

#[test]
fn a_declined_card_fails_when_the_payer_gives_up() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let (tried, untried) = (club.start(0, &[(pay(1), None)]), club.start(0, &[(pay(2), None)]));
        club.till
            .set(tried, Progress::Waiting, Some("Your card was declined."));
        let open = club.pursue(1, tried);
        assert_eq!(open.state, OnlineState::Open);
        assert_eq!(open.failure.as_deref(), Some("Your card was declined."));
        assert_eq!(club.status(1), PaymentStatus::Pending);
        club.till
            .set(tried, Progress::Expired, Some("Your card was declined."));
        club.till.set(untried, Progress::Expired, None);
        assert_eq!(club.pursue(2, tried).state, OnlineState::Failed);
        assert_eq!(club.status(1), PaymentStatus::Failed);
        assert_eq!(club.pursue(2, untried).state, OnlineState::Expired);
        assert_eq!(club.status(2), PaymentStatus::Pending);
        club.agrees();
        assert_eq!(club.work(100_000), 1, "only the sweep is left");
    });
}

#[test]
fn a_page_that_nobody_opened_is_opened_by_the_worker_and_ends() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        club.work(0);
        // The one who began it died before asking, and another one after asking.
        let unasked = club.begin(0, &[(pay(1), None)]).unwrap();
        let asked = club.begin(0, &[(pay(2), None)]).unwrap();
        club.till.state().lost = 1;
        club.teller(0).open(org(1), asked).unwrap_err();
        assert_eq!(club.work(29), 0);
        assert_eq!(club.work(31), 2);
        assert_eq!(club.till.state().payments.len(), 2);
        for id in [unasked, asked] {
            let record = club.view(move |view| online::get(view, id)).unwrap();
            assert_eq!(record.state, OnlineState::Open);
        }
        club.till.state().is_down = true;
        let never = club.begin(0, &[(pay(3), None)]).unwrap();
        let error = club.teller(0).open(org(1), never).unwrap_err().to_string();
        assert_eq!(error, "the provider is unavailable");
        assert_eq!(club.pursue(60, never).state, OnlineState::Created);
        assert_eq!(club.pursue(3_700, never).state, OnlineState::Created);
        club.till.state().is_down = false;
        assert_eq!(club.pursue(3_800, never).state, OnlineState::Expired);
    });
}

#[test]
fn a_report_that_comes_while_an_answer_is_on_its_way_counts() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.start(0, &[(pay(1), None)]);
        let teller = club.teller(1);
        let old: Result<_, AppError> = app_at(&test.db, at(1))
            .view(Identity::Worker, org(1), move |view| {
                online::settle::question(view, id)
            })
            .wait();
        let old = old.unwrap().payment;
        // The answer said that nobody has paid. Then somebody pays, and the report arrives first.
        club.till.pay(id, at(1));
        let names = vec![format!("cs_{id}")];
        assert!(teller.hear(org(1), online::Report::Payment(names)).unwrap());
        let rested: Result<_, AppError> = app_at(&test.db, at(1))
            .act(Identity::Worker, org(1), move |act| {
                online::settle::rest(act, &old, None, 1)
            })
            .wait();
        rested.unwrap();
        assert_eq!(club.work(1), 2, "the payment, and the sweep");
        assert_eq!(club.status(1), PaymentStatus::Paid);
        // A report of something else is no news.
        let names = vec!["cs_of_others".to_owned()];
        assert!(!teller.hear(org(1), online::Report::Payment(names)).unwrap());
    });
}

#[test]
fn a_provider_keeps_its_key_to_itself() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let shown = club.view(providers::show).unwrap();
        let told = serde_json::to_string(&shown).unwrap();
        assert!(told.contains("rk_test_…4242") && !told.contains(KEY), "{told}");
        assert!(shown.has_webhook_secret && !shown.is_live);
        for rows in dump(&test.db).values().flatten() {
            assert!(
                !rows.contains("51abcdefghijklmnop") && !rows.contains("whsec_"),
                "{rows}"
            );
        }
        // Another key leaves the secret of the reports.
        assert!(
            club.set_key("rk_live_51abcdefghijklmnop1111", None)
                .unwrap()
                .is_live
        );
        let secret = club.teller(0).webhook_secret(org(1)).unwrap();
        assert_eq!(secret.as_deref(), Some("whsec_abcdefghijklmnop"));
        for wrong in [
            "sk_live_51abcdefghijklmnop",
            "rk_test_",
            "key",
            "rk_live_51abc defghijkl",
        ] {
            let error = club.set_key(wrong, None).err().unwrap().to_string();
            assert!(error.contains("must be a restricted key"), "{error}");
        }
        std::fs::write(club.folder.path().join("key"), SecretKey::new([1; 32]).text()).unwrap();
        let error = club.teller(0).test(org(1)).unwrap_err().to_string();
        assert!(
            error.contains("cannot be read with this --secret-key-file"),
            "{error}"
        );
    });
}

#[test]
fn a_provider_is_removed_when_nothing_is_under_way() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.start(0, &[(pay(1), None)]);
        let error = club.act(0, providers::remove).unwrap_err().to_string();
        assert!(error.contains("1 online payments are under way"), "{error}");
        club.till.pay(id, at(1));
        club.pursue(1, id);
        club.act(1, providers::remove).unwrap();
        assert!(!club.view(online::is_offered).unwrap());
        let error = club.begin(1, &[(pay(2), None)]).unwrap_err().to_string();
        assert!(error.contains("has no payment provider"), "{error}");
        assert_eq!(problems(&test.db), []);
    });
}
