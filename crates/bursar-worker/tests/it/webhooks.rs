//! Deliveries to webhook endpoints, with receivers that listen, fail, hang and lie.

mod outage;
mod tls;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bursar_app::groups;
use bursar_app::testing::both_engines;
use bursar_app::webhooks::delivery::{self, LIMITS};
use bursar_app::webhooks::{self, Issued, NewWebhook, Reach, SECRET_ENTROPY, State};
use bursar_app::{App, AppError, Identity, NO_ORGANIZATION};
use bursar_domain::Timestamp;
use bursar_domain::group::NewGroup;
use bursar_domain::ids::{IdSource, WebhookId};
use bursar_domain::webhook::address::Allowed;
use bursar_domain::webhook::back_off::BackOff;
use bursar_domain::webhook::outcome::Outcome;
use bursar_testing::receiver::{Got, Receiver};
use bursar_worker::guard::ClockGuard;
use bursar_worker::{Setup, Worker};
use serde_json::Value as Json;

use crate::office::{ORG, Office, club, instant};

const NOW: &str = "2026-11-15T12:00:00Z";
const PATIENCE: Duration = Duration::from_secs(120);

fn json(got: &Got) -> Json {
    serde_json::from_str(&got.body).unwrap()
}

fn endpoint(office: &Office<'_>, url: &str) -> Issued {
    let setup = office.delivery();
    let new = NewWebhook {
        destination: setup.reach.destination(url).unwrap(),
        types: None,
        scopes: None,
        description: None,
    };
    let key = setup.keys.read_or_make(Some([4; 32])).unwrap();
    let entropy: [u8; SECRET_ENTROPY] = bursar_testing::entropy();
    office.act(move |act| webhooks::create(act, &new, &key, &entropy))
}

fn make_group(app: &App, name: &str) {
    let new = NewGroup {
        name: name.to_owned(),
        description: String::new(),
    };
    let made = app.act::<_, AppError>(Identity::Operator, ORG, move |act| groups::create(act, &new));
    made.wait().unwrap();
}

fn show(office: &Office<'_>, id: WebhookId) -> webhooks::Record {
    let shown = office
        .app()
        .view::<_, AppError>(Identity::Operator, ORG, move |view| webhooks::get(view, id));
    shown.wait().unwrap()
}

fn deliveries(office: &Office<'_>, id: WebhookId) -> Vec<webhooks::Delivery> {
    let listed = office
        .app()
        .view::<_, AppError>(Identity::Operator, ORG, move |view| {
            webhooks::deliveries(view, id, None, 1_000)
        });
    listed.wait().unwrap()
}

/// The events of the organization as the API lists them, in order.
fn events(app: &App) -> Vec<Json> {
    use bursar_domain::cursor::{Cursor, Filters};
    let (mut all, mut cursor): (Vec<Json>, Option<Cursor>) = (Vec::new(), None);
    loop {
        let walk = bursar_app::resources::Walk {
            limit: bursar_domain::page::PageLimit::parse("100").unwrap(),
            filters: Filters::default(),
            cursor,
        };
        let page = app.view::<_, AppError>(Identity::Operator, ORG, move |view| {
            bursar_app::events::page(view, &walk, b"[".to_vec())
        });
        let page = page.wait().unwrap();
        let text = String::from_utf8(page.text).unwrap() + "]";
        let json: Vec<Json> = serde_json::from_str(&text).unwrap();
        all.extend(json);
        cursor = page.next;
        if cursor.is_none() {
            return all;
        }
    }
}

#[test]
fn a_delivery_is_the_event_signed_and_its_connection_is_kept() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(1));
        let receiver = Receiver::kind();
        let Issued { record, secret } = endpoint(&office, &receiver.url());
        for n in 0..3 {
            make_group(&office.app(), &format!("Group {n}"));
        }
        let mut worker = office.worker();
        worker.step().unwrap();
        let got = receiver.got();
        let bodies: Vec<Json> = got.iter().map(json).collect();
        assert_eq!(bodies, events(&office.app()), "the event's JSON, in order");
        for one in &got {
            let header = |name: &str| one.headers[name].as_str();
            assert_eq!(one.path, "/hook?from=bursar");
            assert_eq!(header("content-type"), "application/json");
            assert_eq!(
                header("user-agent"),
                concat!("bursar/", env!("CARGO_PKG_VERSION"))
            );
            assert_eq!(json(one)["id"], one.id());
            let seconds: i64 = header("webhook-timestamp").parse().unwrap();
            assert_eq!(seconds, instant(NOW).micros() / 1_000_000);
            let body = one.body.as_bytes();
            assert!(secret.verifies(header("webhook-signature"), one.id(), seconds, body));
            assert!(!secret.verifies(header("webhook-signature"), one.id(), seconds + 1, body));
        }
        let listed = deliveries(&office, record.id);
        assert_eq!(listed.len(), 3);
        assert!(
            listed
                .iter()
                .all(|one| (one.outcome, one.status, one.attempt) == (Outcome::Delivered, Some(200), 1))
        );
    });
}

#[test]
fn redirects_are_not_followed_and_waits_are_obeyed() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(1));
        let elsewhere = Receiver::kind();
        let to = elsewhere.url();
        let receiver = Receiver::start(move |n, _| match n {
            0 => (302, format!("location: {to}\r\n")),
            1 => (503, "retry-after: 120\r\n".to_owned()),
            2 => (0, String::new()),
            _ => (204, String::new()),
        });
        let id = endpoint(&office, &receiver.url()).record.id;
        make_group(&office.app(), "One");
        let mut worker = office.worker();
        // 5 s, then what the receiver asked for, then 5 min; each with its jitter.
        for (requests, wait) in [(1, 6), (2, 119), (2, 2), (3, 331), (4, 1)] {
            worker.step().unwrap();
            assert_eq!(receiver.got().len(), requests);
            office.later(wait);
        }
        assert!(elsewhere.got().is_empty());
        let listed = deliveries(&office, id);
        let statuses: Vec<_> = listed.iter().rev().map(|one| (one.attempt, one.status)).collect();
        assert_eq!(
            statuses,
            [(1, Some(302)), (2, Some(503)), (3, None), (4, Some(204))]
        );
        assert!(listed[1].error.is_some());
        assert_eq!(show(&office, id).failing_since, None);
    });
}

#[test]
fn an_address_is_checked_again_at_every_delivery() {
    let test = bursar_app::testing::TestDb::sqlite();
    let office = Office::open(&test, NOW, &club(1));
    let receiver = Receiver::kind();
    let port = receiver.address.port();
    // Public when the endpoint is created, then allowed, then the machine's metadata.
    let now_at = Arc::new(Mutex::new(vec!["93.184.215.14".parse().unwrap()]));
    let resolved = Arc::clone(&now_at);
    let resolver = move |_: &str, _: u16| Ok(resolved.lock().unwrap().clone());
    let here = Allowed::new(vec![Allowed::parse_block("127.0.0.1").unwrap()]);
    let mut delivery = office.delivery();
    delivery.reach = Reach::with_resolver(here, Arc::new(resolver));
    let destination = delivery
        .reach
        .destination(&format!("https://rebinds.example.org:{port}/"));
    assert!(destination.is_ok());
    *now_at.lock().unwrap() = vec!["127.0.0.1".parse().unwrap()];
    let new = NewWebhook {
        destination: delivery
            .reach
            .destination(&format!("http://rebinds.example.org:{port}/"))
            .unwrap(),
        types: None,
        scopes: None,
        description: None,
    };
    let key = delivery.keys.read_or_make(Some([4; 32])).unwrap();
    let id = office
        .act(move |act| webhooks::create(act, &new, &key, &[1; SECRET_ENTROPY]))
        .record
        .id;
    make_group(&office.app(), "One");
    let mut worker = Worker::new(Setup {
        delivery,
        ..office.setup()
    });
    for (addresses, word) in [
        (vec!["127.0.0.1", "169.254.169.254"], "link-local"),
        (vec!["::ffff:127.0.0.1"], "IPv4 within IPv6"),
        (vec!["8.8.8.8"], "https://"),
        (vec![], "no address"),
    ] {
        *now_at.lock().unwrap() = addresses.iter().map(|address| address.parse().unwrap()).collect();
        worker.step().unwrap();
        office.later(4_000);
        let error = deliveries(&office, id)[0].error.clone().unwrap();
        assert!(error.contains(word), "{error}");
        assert!(receiver.got().is_empty(), "{addresses:?}");
    }
    *now_at.lock().unwrap() = vec!["127.0.0.1".parse().unwrap()];
    worker.step().unwrap();
    assert_eq!(receiver.got().len(), 1);
}

#[test]
fn a_receiver_that_is_gone_is_told_of_and_a_wrong_key_loses_nothing() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(1));
        let receiver = Receiver::start(|_, _| (410, String::new()));
        let id = endpoint(&office, &receiver.url()).record.id;
        make_group(&office.app(), "One");
        let mut wrong = office.setup();
        wrong.delivery.keys = bursar_app::secrets::KeyFile::None;
        Worker::new(wrong).step().unwrap();
        assert!(receiver.got().is_empty());
        let error = deliveries(&office, id)[0].error.clone().unwrap();
        assert!(error.contains("--secret-key-file"), "{error}");
        office.later(10);
        office.worker().step().unwrap();
        assert_eq!(
            (receiver.got().len(), show(&office, id).state),
            (1, State::Disabled)
        );
        office.later(86_400);
        office.worker().step().unwrap();
        assert_eq!(receiver.got().len(), 1);
    });
}

/// The office's time as it passes, for workers with threads.
fn passing() -> Arc<dyn Fn() -> Timestamp + Send + Sync> {
    let (start, began) = (instant(NOW), Instant::now());
    Arc::new(move || {
        let micros = i64::try_from(began.elapsed().as_micros()).unwrap();
        Timestamp::from_micros(start.micros() + micros)
    })
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Ends the helpers of a test, also of one that fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn every_event_arrives_in_order_whatever_fails() {
    const WRITERS: usize = 4;
    const CHANGES: usize = 40;
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(1));
        let seed = bursar_testing::seed();
        let chance = Mutex::new(fastrand::Rng::with_seed(seed));
        // A third of the requests fail, in one way or another.
        let receiver = Receiver::start(move |_, _| match chance.lock().unwrap().u8(0..9) {
            0 => (0, String::new()),
            1 => (500, String::new()),
            2 => (429, "retry-after: 1\r\n".to_owned()),
            _ => (200, String::new()),
        });
        let (clock, steady) = (passing(), Receiver::kind());
        let again = test.open_again().unwrap();
        let door = |n: u64| {
            let db = if n.is_multiple_of(2) {
                again.clone()
            } else {
                office.db().clone()
            };
            App::new(db, Arc::clone(&clock), IdSource::seeded(seed ^ n))
        };
        let ids = [&receiver, &steady].map(|one| endpoint(&office, &one.url()).record.id);
        let worker = |n: u64| {
            let mut setup = office.setup();
            setup.app = door(100 + n);
            setup.guard = ClockGuard::trusting(Arc::clone(&clock));
            setup.lease_seconds = 5;
            setup.delivery.back_off = BackOff { faster: 1_000 };
            Worker::new(setup).start().unwrap()
        };
        let mut workers = vec![worker(1), worker(2)];
        let (is_over, killed) = (AtomicBool::new(false), door(200));
        thread::scope(|scope| {
            let _over = Over(&is_over);
            // Like a worker that claims and is killed, again and again.
            let (clock, is_over) = (Arc::clone(&clock), &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    let until = clock().plus_seconds(1);
                    let claimed =
                        killed.change::<_, AppError>(Identity::Worker, NO_ORGANIZATION, move |whole| {
                            delivery::claim(whole, until, LIMITS, 1)
                        });
                    drop(claimed.wait());
                    thread::sleep(Duration::from_millis(700));
                }
            });
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let app = door(u64::try_from(writer).unwrap());
                    scope.spawn(move || {
                        for n in 0..CHANGES {
                            make_group(&app, &format!("Group {writer} {n}"));
                        }
                    })
                })
                .collect();
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            // One worker leaves, another comes.
            workers.remove(0).stop();
            workers.push(worker(3));
            let expected = events(&door(300));
            assert_eq!(expected.len(), WRITERS * CHANGES);
            let last = expected.last().unwrap();
            for one in [&receiver, &steady] {
                eventually("the last event arrives", || {
                    one.got()
                        .iter()
                        .any(|got| got.status == 200 && last["id"] == got.id())
                });
                let got = one.got();
                let taken = got.iter().filter(|got| got.status == 200);
                let mut taken: Vec<Json> = taken.map(json).collect();
                // Only the one in flight is sent twice.
                taken.dedup();
                assert_eq!(taken, expected, "seed {seed}");
                assert_eq!(one.in_flight_max(), 1, "one in flight");
            }
        });
        workers.into_iter().for_each(bursar_worker::Running::stop);
        for id in ids {
            assert_eq!(show(&office, id).state, State::Enabled);
        }
    });
}

#[test]
fn a_receiver_that_hangs_delays_nobody_else() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(3));
        let hanging = Receiver::start(|_, _| {
            thread::sleep(Duration::from_secs(14));
            (200, String::new())
        });
        let quick = Receiver::kind();
        endpoint(&office, &hanging.url());
        endpoint(&office, &quick.url());
        let clock = passing();
        let mut setup = office.setup();
        setup.app = App::new(office.db().clone(), Arc::clone(&clock), IdSource::seeded(5));
        setup.guard = ClockGuard::trusting(Arc::clone(&clock));
        let worker = Worker::new(setup).start().unwrap();
        let began = Instant::now();
        for n in 0..5 {
            make_group(&office.app(), &format!("Group {n}"));
        }
        office.remind();
        eventually("the others get theirs", || quick.got().len() >= 5);
        eventually("mail goes on", || office.states().contains("3 written"));
        assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
        worker.stop();
    });
}
