//! A clock that leaps: what goes by the time waits, mail is not put off, nothing is pruned, and it goes on when the
//! clocks agree, after an hour, or when the operator says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bursar_app::testing::{TestDb, both_engines};
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::worker_clock::{self, Known, Seen};
use bursar_app::{AppError, Identity, reminders, roles};
use bursar_domain::Timestamp;
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::group::Interval;
use bursar_domain::reminder::{Audience, Method, ReminderStatus};
use bursar_domain::token::ENTROPY_BYTES;
use bursar_worker::guard::{ClockGuard, Doubt, doubt};
use bursar_worker::{Setup, Worker};

use crate::office::{GROUP, Office, club, drain, instant, member};
use crate::years::{charges, set_dues};

const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// An office whose worker also has a clock that only runs.
struct Watched<'a> {
    office: Office<'a>,
    running: Arc<AtomicI64>,
}

impl<'a> Watched<'a> {
    fn open(test: &'a TestDb, now: &str) -> Self {
        Watched {
            office: Office::open(test, now, &club(2)),
            running: Arc::new(AtomicI64::new(1_000)),
        }
    }

    fn worker(&self) -> Worker {
        let setup = self.office.setup();
        let (running, trusting) = (Arc::clone(&self.running), setup.guard.clone());
        let running = move || Duration::from_secs(running.load(Ordering::SeqCst).unsigned_abs());
        Worker::new(Setup {
            guard: ClockGuard::new(Arc::new(move || trusting.wall()), Arc::new(running), 60),
            ..setup
        })
    }

    /// Time passes.
    fn later(&self, seconds: i64) {
        self.running.fetch_add(seconds, Ordering::SeqCst);
        self.office.later(seconds);
    }

    /// The wall clock is moved.
    fn leap(&self, seconds: i64) {
        self.office.later(seconds);
    }

    fn seen(&self) -> Option<Timestamp> {
        let app = self.office.app();
        let known: Result<Known, AppError> = app.survey(Identity::Operator, worker_clock::known);
        known.unwrap().seen.map(|seen| seen.at)
    }
}

#[test]
fn when_a_clock_is_doubted() {
    let at = |text: &str| instant(text);
    let now = at("2027-05-01T12:00:00Z");
    let known = |seen: Option<&str>, change: Option<&str>, server: Option<&str>| Known {
        seen: seen.map(|seen| Seen {
            at: at(seen),
            steady_since: at(seen),
        }),
        furthest_change: change.map(at),
        server_now: server.map(at),
    };
    let (seen, server) = ("2027-05-01T11:59:30Z", "2027-05-01T12:01:00Z");
    for (expected, known, doubted) in [
        (None, known(None, None, None), None),
        // An import may be old.
        (None, known(None, Some("2020-01-01T00:00:00Z"), None), None),
        (None, known(None, Some("2027-05-01T12:01:00Z"), None), None),
        (
            None,
            known(None, Some("2027-05-01T12:01:01Z"), None),
            Some(Doubt::BehindChanges(at("2027-05-01T12:01:01Z"))),
        ),
        // The service may have been off for a season.
        (None, known(Some("2027-01-02T00:00:00Z"), None, None), None),
        (
            None,
            known(Some("2027-01-01T00:00:00Z"), None, None),
            Some(Doubt::Ahead(at("2027-01-01T00:00:00Z"))),
        ),
        (
            None,
            known(Some("2027-05-01T12:01:01Z"), None, None),
            Some(Doubt::Behind(at("2027-05-01T12:01:01Z"))),
        ),
        (None, known(Some("2027-05-01T12:01:00Z"), None, None), None),
        (None, known(Some(seen), None, Some(server)), None),
        (
            None,
            known(Some(seen), None, Some("2027-05-01T12:01:01Z")),
            Some(Doubt::Server(at("2027-05-01T12:01:01Z"))),
        ),
        (
            Some("2027-05-01T11:58:00Z"),
            known(Some("2027-05-01T11:57:30Z"), None, Some(server)),
            Some(Doubt::Leapt(at("2027-05-01T11:58:00Z"))),
        ),
        // Somebody vouches for it.
        (Some("2026-05-01T12:00:00Z"), known(Some(seen), None, None), None),
        (
            Some("2027-05-01T12:00:59Z"),
            known(Some("2020-01-01T00:00:00Z"), None, None),
            None,
        ),
    ] {
        assert_eq!(
            doubt(now, expected.map(at), &known, 60),
            doubted,
            "{expected:?} {known:?}"
        );
    }
    // The operator allows more.
    let wide = known(Some("2020-01-01T00:00:00Z"), None, Some("2020-01-01T00:00:00Z"));
    assert_eq!(
        doubt(now, Some(at("2020-01-01T00:00:00Z")), &wide, 3_650 * DAY),
        None
    );
}

/// The engine of a test that moves the time freely: a database server has its own.
fn on_sqlite(test: impl FnOnce(Watched<'_>)) {
    test(Watched::open(&TestDb::sqlite(), "2026-11-15T12:00:00Z"));
}

#[test]
fn a_start_a_year_ahead_waits_for_an_hour() {
    on_sqlite(|watched| {
        set_dues(&watched.office, "2027-06-01", Interval::Annual);
        let reminder = watched
            .office
            .schedule(Audience::Group(GROUP), Method::Email, None);
        drain(&mut watched.worker());
        assert_eq!(watched.office.states(), "2 written");
        let trusted = watched.seen();
        assert_eq!(trusted, Some(watched.office.now()));

        watched.leap(365 * DAY);
        let mut worker = watched.worker();
        for _ in 0..HOUR / 10 - 1 {
            drain(&mut worker);
            assert!(worker.guard().is_held() && !worker.guard().may_prune());
            watched.later(10);
        }
        assert_eq!((watched.seen(), charges(&watched.office).len()), (trusted, 0));
        // Whoever runs for an hour with this clock means it.
        watched.later(10);
        drain(&mut worker);
        assert!(!worker.guard().is_held());
        assert_eq!(charges(&watched.office).len(), 1);
        assert_eq!(watched.seen(), Some(watched.office.now()));
        assert!(!worker.guard().may_prune(), "another hour");
        watched.later(HOUR);
        drain(&mut worker);
        assert!(worker.guard().may_prune());
        assert_eq!(watched.office.reminder(reminder).status, ReminderStatus::Sent);
    });
}

#[test]
fn a_leap_while_it_runs_is_noticed_at_once_and_forgotten_when_it_ends() {
    on_sqlite(|watched| {
        set_dues(&watched.office, "2026-11-17", Interval::Monthly);
        let mut worker = watched.worker();
        for leap in [3 * DAY, -3 * DAY, 90, -90] {
            drain(&mut worker);
            assert!(!worker.guard().is_held());
            let before = watched.office.now();
            watched.later(1);
            watched.leap(leap);
            drain(&mut worker);
            assert!(worker.guard().is_held(), "{leap}");
            assert_eq!(
                worker.guard().now(),
                before.plus_seconds(1),
                "it goes on counting"
            );
            assert_eq!(charges(&watched.office).len(), 0);
            watched.leap(-leap);
            watched.later(5);
            drain(&mut worker);
            assert!(!worker.guard().is_held(), "{leap}");
        }
        // Small steps, and sleep, which the running clock counts too, are nothing.
        watched.leap(30);
        drain(&mut worker);
        assert!(!worker.guard().is_held());
        watched.later(2 * DAY);
        drain(&mut worker);
        assert!(!worker.guard().is_held());
        assert_eq!(charges(&watched.office).len(), 1);
    });
}

#[test]
fn the_operators_word_ends_it() {
    on_sqlite(|watched| {
        let mut worker = watched.worker();
        drain(&mut worker);
        watched.leap(300 * DAY);
        drain(&mut worker);
        assert!(worker.guard().is_held());
        let at = watched.office.now();
        let seen = Seen { at, steady_since: at };
        let app = watched.office.app();
        let said: Result<(), AppError> =
            app.exclusive(Identity::Operator, |whole| worker_clock::trust(whole, seen));
        said.unwrap();
        watched.later(5);
        drain(&mut worker);
        assert!(!worker.guard().is_held());
    });
}

/// A clock that is moved by less than a start allows makes nothing old, however often the worker is started.
#[test]
fn nothing_is_pruned_before_time_has_passed_for_an_hour() {
    on_sqlite(|watched| {
        let may = |worker: &mut Worker| {
            drain(worker);
            worker.guard().may_prune()
        };
        let mut worker = watched.worker();
        assert!(!may(&mut worker), "the first start");
        watched.later(HOUR);
        assert!(may(&mut worker));
        assert!(may(&mut watched.worker()), "a restart is no gap");
        watched.later(30 * 60);
        assert!(may(&mut watched.worker()), "nor is half an hour");
        watched.leap(30 * DAY);
        for _ in 0..5 {
            assert!(!may(&mut watched.worker()), "a gap of a month");
            watched.later(60);
        }
        let mut worker = watched.worker();
        for _ in 0..60 {
            drain(&mut worker);
            watched.later(60);
        }
        assert!(may(&mut worker));
    });
}

#[test]
fn mail_that_is_queued_by_a_wrong_clock_goes_at_once() {
    on_sqlite(|watched| {
        let mut worker = watched.worker();
        drain(&mut worker);
        watched.later(1);
        watched.leap(365 * DAY);
        // A program asks, and the time of the request is the wrong one.
        let id = watched
            .office
            .schedule(Audience::Member(member(1)), Method::Email, None);
        drain(&mut worker);
        assert_eq!(watched.office.states(), "", "nothing starts by itself");
        watched.office.act(move |act| reminders::send_now(act, id));
        drain(&mut worker);
        assert!(worker.guard().is_held());
        assert_eq!(watched.office.states(), "1 written");
    });
}

#[test]
fn mail_that_a_wrong_clock_put_off_is_taken_up_when_it_is_right_again() {
    both_engines(|test| {
        let office = Office::open(test, "2026-11-15T12:00:00Z", &club(3));
        office.remind();
        // A server that went by a clock a year ahead tried in vain.
        office.later(365 * DAY);
        let mut elsewhere = office.mailer("smtp://127.0.0.1:9?tls=none");
        elsewhere.step().unwrap();
        office.later(-365 * DAY);
        let mut worker = office.worker();
        drain(&mut worker);
        assert_eq!(office.states(), "3 queued");
        worker.keep_house().unwrap();
        drain(&mut worker);
        assert_eq!(office.states(), "3 written");
    });
}

/// The time on the wall, which a database server has too.
#[expect(
    clippy::disallowed_methods,
    reason = "the database server reads the real clock"
)]
fn real_time() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Timestamp::from_micros(i64::try_from(since.unwrap().as_micros()).unwrap())
}

#[test]
fn owners_of_tokens_are_told_by_the_wall_clock_also_by_one_in_doubt() {
    both_engines(|test| {
        let watched = Watched::open(test, &real_time().to_string());
        drain(&mut watched.worker());
        let (name, role) = ("t@example.org", Role::Viewer);
        watched.office.act(move |act| roles::set(act, name, role));
        watched.office.act(move |act| {
            let new = NewToken {
                name: None,
                holder: Holder::Person(name.to_owned()),
                scopes: ScopeSet::of(&[Scope::MembersRead]),
                days: Some(300),
            };
            tokens::create(act, &new, &[7; ENTROPY_BYTES])
        });
        set_dues_in(&watched.office, 100);
        watched.leap(290 * DAY);
        let mut worker = watched.worker();
        drain(&mut worker);
        assert!(worker.guard().is_held());
        assert_eq!(watched.office.states(), "1 written");
        assert_eq!(charges(&watched.office).len(), 0);
        // Two clocks that disagree side by side do so after an hour too; one that is only ahead is believed.
        watched.later(HOUR + 60);
        drain(&mut worker);
        watched.later(HOUR + 60);
        drain(&mut worker);
        let has_server = test.db.kind() == bursar_app::testing::EngineKind::Postgres;
        assert_eq!(worker.guard().is_held(), has_server);
        assert_eq!(charges(&watched.office).is_empty(), has_server);
    });
}

fn set_dues_in(office: &Office<'_>, days: i64) {
    let due: &'static str = office.now().plus_days(days).date().to_string().leak();
    set_dues(office, due, Interval::Annual);
}
