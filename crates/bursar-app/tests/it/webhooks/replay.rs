//! Replays move an endpoint back, and pruning leaves it what it has not got yet.

use std::sync::mpsc;
use std::time::Duration;

use bursar_app::housekeeping::{self, Retention};
use bursar_db::testing::TestDb;

use super::*;

const RETENTION: Retention = Retention {
    idempotency_seconds: DAY,
    message_seconds: DAY,
    event_seconds: 30 * DAY,
};

fn prune(db: &Db, seconds: i64) {
    worker(db, seconds, move |whole| housekeeping::prune(whole, RETENTION));
    let prunable = worker(db, seconds, move |whole| housekeeping::prunable(whole, RETENTION));
    for organization in prunable {
        let prune = move |act: &mut Act<'_, '_>| housekeeping::prune_organization(act, RETENTION);
        let done = app_at(db, at(seconds)).act(Identity::Worker, organization, prune);
        assert!(!done.wait().unwrap());
    }
}

#[test]
fn a_replay_moves_the_cursor_even_while_an_attempt_is_under_way() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One", "Two", "Three"]);
        let (claimed, one) = claim_first(db, 5);
        let two = sent(answer(db, 5, claimed, &one, Some(200))).unwrap();
        let ahead = refusal(done(db, 6, move |act| webhooks::replay_since(act, id, at(4))));
        assert!(ahead.message().starts_with("since must not be after"), "{ahead}");
        done(db, 6, move |act| webhooks::replay_since(act, id, at(2))).unwrap();
        let again = sent(answer(db, 7, claimed, &two, Some(200))).unwrap();
        assert_eq!(name_of(&again), "One");
        let again = sent(answer(db, 7, claimed, &again, Some(200))).unwrap();
        assert_eq!(name_of(&again), "Two");
    });
}

#[test]
fn a_replay_to_a_failing_endpoint_begins_at_once() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One", "Two"]);
        let (claimed, one) = claim_first(db, 4);
        let two = sent(answer(db, 4, claimed, &one, Some(200))).unwrap();
        assert!(sent(answer(db, 4, claimed, &two, Some(503))).is_none());
        assert_eq!(claim(db, 5), [], "it waits after a failure");
        done(db, 5, move |act| webhooks::replay_since(act, id, at(2))).unwrap();
        assert_eq!(name_of(&claim_first(db, 5).1), "One");
        assert_eq!(
            show(db, id, 5).failing_since,
            Some(at(4)),
            "it is the same receiver"
        );
    });
}

#[test]
fn pruning_waits_for_enabled_endpoints() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One", "Two"]);
        let (claimed, one) = claim_first(db, 4);
        let two = sent(answer(db, 4, claimed, &one, Some(200))).unwrap();
        assert!(sent(answer(db, 4, claimed, &two, Some(500))).is_none());
        prune(db, 40 * DAY);
        assert_eq!(
            numbers(db, "SELECT COUNT(*) FROM events", &[]),
            [1],
            "Two was not delivered"
        );
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM webhook_deliveries", &[]), [0]);
        done(db, 40 * DAY, move |act| webhooks::disable(act, id)).unwrap();
        prune(db, 40 * DAY);
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM events", &[]), [0]);
        let refused = refusal(done(db, 41 * DAY, move |act| webhooks::enable(act, id, false)));
        assert!(refused.message().contains("--skip"), "{refused}");
        let record = done(db, 41 * DAY, move |act| webhooks::enable(act, id, true)).unwrap();
        assert_eq!((record.state, record.cursor_at), (State::Enabled, at(3)));
        let late = refusal(done(db, 41 * DAY, move |act| {
            webhooks::replay_since(act, id, at(2))
        }));
        assert!(late.message().contains("no longer kept"), "{late}");
        assert_eq!(problems(db), []);
    });
}

#[test]
fn an_event_at_the_time_of_a_replay_is_not_pruned_before_it_is_sent() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One", "Two", "Three"]);
        let claimed = claim(db, 5)[0];
        let mut parcel = first(db, 5, claimed);
        while let Some(now_sent) = parcel {
            parcel = sent(answer(db, 5, claimed, &now_sent, Some(200)));
        }
        let record = done(db, 6, move |act| webhooks::replay_since(act, id, at(3))).unwrap();
        prune(db, 40 * DAY);
        assert_eq!(
            numbers(db, "SELECT COUNT(*) FROM events", &[]),
            [2],
            "Two and Three"
        );
        assert!(record.cursor_at < at(3), "what it shows was delivered");
        let (claimed, two) = claim_first(db, 40 * DAY);
        assert_eq!(name_of(&two), "Two");
        let three = sent(answer(db, 40 * DAY, claimed, &two, Some(200))).unwrap();
        assert_eq!(name_of(&three), "Three");
        assert!(sent(answer(db, 40 * DAY, claimed, &three, Some(200))).is_none());
        assert_eq!(problems(db), []);
    });
}

/// The horizon is the first time that a replay can name. What it leaves is no gap.
#[test]
fn a_replay_from_the_horizon_leaves_no_gap() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["Pruned"]);
        let (claimed, pruned) = claim_first(db, 3);
        assert!(sent(answer(db, 3, claimed, &pruned, Some(200))).is_none());
        prune(db, 40 * DAY);
        group(db, 40 * DAY, "Kept");
        done(db, 40 * DAY, move |act| webhooks::replay_since(act, id, at(2))).unwrap();
        done(db, 40 * DAY, move |act| webhooks::disable(act, id)).unwrap();
        done(db, 40 * DAY, move |act| webhooks::enable(act, id, false)).unwrap();
        assert_eq!(name_of(&claim_first(db, 41 * DAY).1), "Kept");
    });
}

#[test]
fn a_replayed_event_is_passed_over_only_if_it_is_refused_eight_times_running() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        let (claimed, one) = claim_first(db, 3);
        assert!(sent(answer(db, 3, claimed, &one, Some(200))).is_none());
        let event = one.event;
        done(db, 4, move |act| webhooks::replay(act, id, event)).unwrap();
        let mut clock = 10;
        let failures = [None, Some(500), Some(503)].repeat(3);
        let refusals = [400, 422, 413].map(Some);
        let broken = [&refusals[..], &[Some(500)], &[Some(422); 7]].concat();
        for status in [failures, broken].concat() {
            let (claimed, parcel) = claim_first(db, clock);
            assert_eq!(parcel.event, event);
            assert!(sent(answer(db, clock, claimed, &parcel, status)).is_none());
            clock += 4_000;
        }
        let (claimed, parcel) = claim_first(db, clock);
        assert_eq!((parcel.attempt, parcel.refusals), (21, 7));
        assert!(show(db, id, clock).failing_since.is_some());
        assert!(sent(answer(db, clock, claimed, &parcel, Some(422))).is_none());
        assert_eq!(claim(db, clock + DAY), [], "it was the eighth");
        assert_eq!(show(db, id, clock).failing_since, None, "nothing is left to send");
    });
}

#[test]
fn a_replayed_event_is_tried_until_it_is_no_longer_kept() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        let (claimed, one) = claim_first(db, 3);
        assert!(sent(answer(db, 3, claimed, &one, Some(200))).is_none());
        let event = one.event;
        done(db, 4, move |act| webhooks::replay(act, id, event)).unwrap();
        for day in 1..10 {
            group(db, day * DAY, "Delivered");
            let (claimed, parcel) = claim_first(db, day * DAY);
            assert_eq!((parcel.event, parcel.attempt), (one.event, day));
            let other = sent(answer(db, day * DAY, claimed, &parcel, None)).unwrap();
            assert!(sent(answer(db, day * DAY, claimed, &other, Some(200))).is_none());
        }
        assert_eq!(show(db, id, 10 * DAY).state, State::Enabled);
        prune(db, 40 * DAY);
        let claimed = claim(db, 40 * DAY)[0];
        assert!(first(db, 40 * DAY, claimed).is_none());
        assert_eq!(claim(db, 50 * DAY), []);
    });
}

/// What the endpoint was promised is still there, although the pruning began before the replay had ended.
#[test]
fn pruning_waits_for_a_replay_by_another_process() {
    let test = TestDb::postgres();
    let db = &test.db;
    let id = endpoint(db, &["One"]);
    let (claimed, one) = claim_first(db, 4);
    assert!(sent(answer(db, 4, claimed, &one, Some(200))).is_none());
    let other = test.open_again().unwrap();
    let (moved, is_moved) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let replay = app_at(&other, at(5)).act(Identity::Operator, org(1), move |act| {
        webhooks::replay_since(act, id, at(2))?;
        moved.send(()).unwrap();
        may_go_on.recv().unwrap();
        Ok::<_, AppError>(())
    });
    is_moved.recv().unwrap();
    let prune = move |act: &mut Act<'_, '_>| housekeeping::prune_organization(act, RETENTION);
    let pruned = app_at(db, at(40 * DAY)).act(Identity::Worker, org(1), prune);
    let waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    for _ in 0..1_000 {
        if numbers(db, waiting, &[]) != [0] {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    go_on.send(()).unwrap();
    replay.wait().unwrap();
    pruned.wait().unwrap();
    assert_eq!(numbers(db, "SELECT COUNT(*) FROM events", &[]), [1]);
}
