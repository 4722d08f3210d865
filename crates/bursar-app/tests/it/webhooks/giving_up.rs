//! When an endpoint that keeps failing is disabled, and what does not count as failing.

use super::*;

/// Longer than every wait between two attempts.
const STEP: i64 = 4_000;

/// Fails whenever something is due, until the endpoint is disabled or a time is reached. Returns when that was.
fn fail(db: &Db, id: WebhookId, from: i64, until: i64) -> i64 {
    let mut clock = from;
    while clock < until {
        fail_once(db, clock, Some(503));
        if show(db, id, clock).state == State::Disabled {
            break;
        }
        clock += STEP;
    }
    clock
}

fn fail_once(db: &Db, seconds: i64, status: Option<u16>) {
    let (claimed, parcel) = claim_first(db, seconds);
    assert!(sent(answer(db, seconds, claimed, &parcel, status)).is_none());
}

#[test]
fn an_endpoint_without_success_for_five_days_is_disabled_and_told() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        let disabled = fail(db, id, 10, 6 * DAY);
        assert!(
            (10 + 5 * DAY..10 + 5 * DAY + STEP).contains(&disabled),
            "{disabled}"
        );
        let record = show(db, id, disabled);
        assert_eq!(
            record.disabled_reason.as_deref(),
            Some("every delivery of the last 5 days failed")
        );
        assert_told(db, id);
        assert_eq!(claim(db, 6 * DAY), []);
        // It continues at its place.
        done(db, 6 * DAY, move |act| webhooks::enable(act, id, false)).unwrap();
        assert_eq!(name_of(&claim_first(db, 6 * DAY).1), "One");
    });
}

#[test]
fn days_without_events_are_not_days_of_failures() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["Bad"]);
        for attempt in 1..=8 {
            let (claimed, parcel) = claim_first(db, attempt * STEP);
            // The last one ends a worker's stint.
            let next = answer_and(db, attempt * STEP, claimed, &parcel, Some(422), attempt < 8);
            assert!(matches!(next, Next::Rest), "{next:?}");
        }
        assert_eq!(claim(db, DAY), [], "it was passed over");
        assert_eq!(show(db, id, DAY).failing_since, None);
        group(db, 6 * DAY, "Later");
        let disabled = fail(db, id, 6 * DAY, 20 * DAY);
        assert!((11 * DAY..11 * DAY + STEP).contains(&disabled), "{disabled}");
    });
}

#[test]
fn a_receiver_that_refuses_every_event_for_five_days_is_disabled() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["Event"; 20]);
        let mut clock = 30;
        while show(db, id, clock).state == State::Enabled {
            let (claimed, parcel) = claim_first(db, clock);
            if let Some(other) = sent(answer(db, clock, claimed, &parcel, Some(422))) {
                assert_eq!((parcel.attempt, other.attempt), (8, 1));
                sent(answer(db, clock, claimed, &other, Some(422)));
            }
            clock += STEP;
        }
        assert!((5 * DAY..5 * DAY + 2 * STEP).contains(&clock), "{clock}");
    });
}

#[test]
fn a_replayed_event_that_fails_for_five_days_disables_its_endpoint() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        let (claimed, one) = claim_first(db, 3);
        assert!(sent(answer(db, 3, claimed, &one, Some(200))).is_none());
        done(db, 4, move |act| webhooks::test(act, id)).unwrap();
        fail_once(db, 4, Some(503));
        assert_eq!(show(db, id, 4).failing_since, None, "a test says nothing");
        done(db, 5, move |act| webhooks::replay(act, id, one.event)).unwrap();
        let disabled = fail(db, id, 10, 6 * DAY);
        assert!(
            (10 + 5 * DAY..10 + 5 * DAY + STEP).contains(&disabled),
            "{disabled}"
        );
        assert_told(db, id);
    });
}

#[test]
fn an_event_that_is_no_longer_wanted_is_not_failing() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        fail(db, id, 10, DAY);
        let narrower = WebhookChange {
            types: Some(Some(parse_types("member.updated").unwrap())),
            ..WebhookChange::default()
        };
        done(db, DAY, move |act| webhooks::set(act, id, &narrower)).unwrap();
        rename(db, DAY, "Renamed");
        let (claimed, renamed) = claim_first(db, DAY + 1);
        assert_eq!((name_of(&renamed).as_str(), renamed.attempt), ("Renamed", 1));
        assert_eq!(show(db, id, DAY + 1).failing_since, None);
        assert!(sent(answer(db, DAY + 1, claimed, &renamed, Some(503))).is_none());
        assert_eq!(show(db, id, DAY + 1).failing_since, Some(at(DAY + 1)));
    });
}
