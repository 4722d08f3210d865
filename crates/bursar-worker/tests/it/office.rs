//! A small club with a worker whose clock the test moves.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bursar_app::housekeeping::Retention;
use bursar_app::messages::{self, Query, Sent};
use bursar_app::online::Teller;
use bursar_app::online::port::{
    Access, CardOrder, CardPage, Charged, Checkout, Opened, Outcome, Provider, Recent, RefundOrder, Saved,
    SeenRefund, Tested, Trouble,
};
use bursar_app::reminders::{self, NewReminder};
use bursar_app::secrets::KeyFile;
use bursar_app::testing::{Db, DbError, TestDb, Value, table};
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::webhooks::Reach;
use bursar_app::{Act, App, AppError, Identity, import};
use bursar_domain::Timestamp;
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::ids::{GroupId, Id, IdSource, MemberId, OrganizationId, ReminderId, TokenId};
use bursar_domain::money::Currency;
use bursar_domain::reminder::{Audience, Method, Reminder};
use bursar_domain::token::ENTROPY_BYTES;
use bursar_domain::webhook::address::Allowed;
use bursar_domain::webhook::back_off::BackOff;
use bursar_worker::guard::ClockGuard;
use bursar_worker::outlet::{Outlet, Way};
use bursar_worker::smtp::Smtp;
use bursar_worker::{Bell, Delivery, Setup, Worker};
use serde_json::{Value as Json, json};

pub(crate) const ORG: OrganizationId = Id::from_bits(1);
pub(crate) const GROUP: GroupId = Id::from_bits(1);

pub(crate) fn member(n: u128) -> MemberId {
    Id::from_bits(n)
}

pub(crate) fn instant(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// The records of a club with this many members, all in one group.
pub(crate) fn club(members: u128) -> Vec<Json> {
    let mut records = vec![
        json!({"type": "organization", "id": ORG, "name": "Ruderclub Zürich", "kind": "independent", "contactEmail": "kasse@example.org"}),
        json!({"type": "group", "id": GROUP, "organizationId": ORG, "name": "Crew"}),
    ];
    records.extend((1..=members).map(|n| {
        json!({"type": "member", "id": member(n), "organizationId": ORG, "firstName": format!("M{n}"), "lastName": "Łoś",
            "email": format!("m{n}@example.org"), "phone": format!("+1202555{n:04}"), "groups": [GROUP]})
    }));
    records
}

/// A payment provider that nobody can reach.
struct Nobody;

fn unreachable<T>() -> Result<T, Trouble> {
    Err(Trouble::Unavailable("nobody is there".to_owned()))
}

impl Provider for Nobody {
    fn test(&self, _: &Access) -> Result<Tested, Trouble> {
        unreachable()
    }

    fn open(&self, _: &Access, _: &Checkout) -> Result<Opened, Trouble> {
        unreachable()
    }

    fn outcome(&self, _: &Access, _: &str, _: Currency) -> Result<Outcome, Trouble> {
        unreachable()
    }

    fn refund(&self, _: &Access, _: &RefundOrder) -> Result<SeenRefund, Trouble> {
        unreachable()
    }

    fn recent(&self, _: &Access, _: Timestamp) -> Result<Recent, Trouble> {
        unreachable()
    }

    fn save_card(&self, _: &Access, _: &CardPage) -> Result<Opened, Trouble> {
        unreachable()
    }

    fn saved(&self, _: &Access, _: &str) -> Result<Saved, Trouble> {
        unreachable()
    }

    fn charge(&self, _: &Access, _: &CardOrder) -> Result<Charged, Trouble> {
        unreachable()
    }

    fn forget(&self, _: &Access, _: &str) -> Result<(), Trouble> {
        unreachable()
    }
}

/// The club, its database, and the time there.
pub(crate) struct Office<'a> {
    pub(crate) test: &'a TestDb,
    clock: Arc<AtomicI64>,
    folder: tempfile::TempDir,
}

impl<'a> Office<'a> {
    pub(crate) fn open(test: &'a TestDb, now: &str, records: &[Json]) -> Self {
        let office = Office {
            test,
            clock: Arc::new(AtomicI64::new(instant(now).micros())),
            folder: tempfile::tempdir().unwrap(),
        };
        office.import(records);
        office
    }

    pub(crate) fn import(&self, records: &[Json]) {
        let bundle: String = records.iter().map(|record| format!("{record}\n")).collect();
        let open =
            || Ok(Box::new(std::io::Cursor::new(bundle.clone().into_bytes())) as Box<dyn std::io::BufRead>);
        let source = import::Source { open: &open };
        import::import(&self.app(), Identity::Operator, &source, &mut |_| {}).unwrap();
    }

    pub(crate) fn db(&self) -> &Db {
        &self.test.db
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.load(Ordering::SeqCst))
    }

    pub(crate) fn set(&self, now: Timestamp) {
        self.clock.store(now.micros(), Ordering::SeqCst);
    }

    pub(crate) fn later(&self, seconds: i64) {
        self.set(self.now().plus_seconds(seconds));
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().join("outbox")
    }

    /// What a worker that writes files is made of.
    pub(crate) fn setup(&self) -> Setup {
        let clock = Arc::clone(&self.clock);
        let outlet = |way| Outlet {
            folder: self.folder(),
            way,
        };
        Setup {
            app: self.app(),
            guard: ClockGuard::trusting(Arc::new(move || {
                Timestamp::from_micros(clock.load(Ordering::SeqCst))
            })),
            bell: Bell::default(),
            outlets: [
                outlet(Way::Mail("bursar@club.example".parse().unwrap(), None)),
                outlet(Way::Sms(None)),
            ],
            random: fastrand::Rng::with_seed(bursar_testing::seed()),
            retention: Retention {
                idempotency_seconds: 7 * 86_400,
                message_seconds: 90 * 86_400,
                event_seconds: 30 * 86_400,
            },
            lease_seconds: 60,
            tally: Arc::default(),
            delivery: self.delivery(),
            teller: Teller::new(self.app(), self.delivery().keys, Arc::new(Nobody)),
        }
    }

    /// Deliveries to this machine, with a key beside the outbox.
    pub(crate) fn delivery(&self) -> Delivery {
        let here = Allowed::new(vec![Allowed::parse_block("127.0.0.0/8").unwrap()]);
        Delivery {
            reach: Reach::new(here),
            keys: KeyFile::Beside(self.folder.path().join("key")),
            back_off: BackOff::default(),
        }
    }

    /// A worker that writes files.
    pub(crate) fn worker(&self) -> Worker {
        Worker::new(self.setup())
    }

    /// What a worker that sends to this server is made of.
    pub(crate) fn mailing(&self, url: &str) -> Setup {
        let mut setup = self.setup();
        let smtp = Smtp::parse(url, None)
            .unwrap()
            .with_timeout(Duration::from_secs(1));
        if let Way::Mail(_, server) = &mut setup.outlets[0].way {
            *server = Some(Box::new(smtp));
        }
        setup
    }

    /// A worker that sends to this server.
    pub(crate) fn mailer(&self, url: &str) -> Worker {
        Worker::new(self.mailing(url))
    }

    /// The door, at the time of the office.
    pub(crate) fn app(&self) -> App {
        self.door(self.db().clone())
    }

    /// The door to a database, at the time of the office.
    pub(crate) fn door(&self, db: Db) -> App {
        let (clock, ids) = (Arc::clone(&self.clock), IdSource::seeded(bursar_testing::seed()));
        let clock = move || Timestamp::from_micros(clock.load(Ordering::SeqCst));
        App::new(db, Arc::new(clock), ids)
    }

    /// The operator acts.
    pub(crate) fn act<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> T {
        let acted = self.app().act(Identity::Operator, ORG, work);
        acted.wait().unwrap()
    }

    /// Makes a token that expires after so many days.
    pub(crate) fn service_token(&self, days: i64) -> TokenId {
        let made = self.act(move |act| {
            let new = NewToken {
                name: None,
                holder: Holder::Service(Role::Viewer),
                scopes: ScopeSet::of(&[Scope::MembersRead]),
                days: Some(days),
            };
            let entropy: [u8; ENTROPY_BYTES] = bursar_testing::entropy();
            tokens::create(act, &new, &entropy)
        });
        made.record.id
    }

    /// A reminder that is due now, to the group.
    pub(crate) fn remind(&self) -> ReminderId {
        self.schedule(Audience::Group(GROUP), Method::Email, None)
    }

    pub(crate) fn schedule(&self, audience: Audience, method: Method, every_days: Option<i64>) -> ReminderId {
        let now = self.now();
        let reminder = self.act(move |act| {
            let new = NewReminder {
                audience,
                method,
                at: now,
                subject: Some("Dues".to_owned()),
                body: Some("Please pay.".to_owned()),
                every_days,
                include_payment_info: false,
            };
            reminders::schedule(act, &new)
        });
        reminder.id
    }

    pub(crate) fn reminder(&self, id: ReminderId) -> Reminder {
        let found: Result<_, DbError> = self.db().read(move |tx| table::get(tx, ORG, id)).wait();
        found.unwrap().unwrap()
    }

    /// The messages, oldest first.
    pub(crate) fn messages(&self) -> Vec<Sent> {
        let query = Query {
            reminder: None,
            before: None,
            limit: messages::PAGE_MAX,
        };
        let listed = self
            .app()
            .view::<_, AppError>(Identity::Operator, ORG, move |view| messages::list(view, query));
        let mut sent: Vec<Sent> = listed.wait().unwrap();
        sent.reverse();
        sent
    }

    /// The states of the messages, counted.
    pub(crate) fn states(&self) -> String {
        let mut counts = std::collections::BTreeMap::new();
        for message in self.messages() {
            *counts.entry(message.state.as_str()).or_insert(0) += 1;
        }
        let words: Vec<String> = counts.iter().map(|(state, n)| format!("{n} {state}")).collect();
        words.join(", ")
    }

    /// The number that a statement finds.
    pub(crate) fn number(&self, sql: &'static str) -> i64 {
        let found: Result<_, DbError> = self
            .db()
            .survey(|tx| tx.first(sql, &[Value::Bytes(&ORG.to_bytes())], |row| row.int(0)));
        found.unwrap().unwrap()
    }

    pub(crate) fn text(&self, sql: &'static str) -> String {
        let found: Result<_, DbError> = self.db().survey(|tx| {
            tx.first(sql, &[Value::Bytes(&ORG.to_bytes())], |row| {
                Ok(row.text(0)?.to_owned())
            })
        });
        found.unwrap().unwrap()
    }
}

/// Lets a worker do all that is due.
pub(crate) fn drain(worker: &mut Worker) {
    for _ in 0..100_000 {
        if worker.step().unwrap() == 0 {
            return;
        }
    }
    panic!("the worker finds no end");
}
