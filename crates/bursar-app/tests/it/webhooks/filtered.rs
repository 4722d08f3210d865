//! Endpoints that get some events only: what they do not get changes nothing for the rest.

use super::*;
use crate::support::grp;

/// Gets only renamed members.
fn of_members(db: &Db) -> WebhookId {
    club(db);
    let only = NewWebhook {
        types: Some(parse_types("member.updated").unwrap()),
        ..new()
    };
    create(db, 1, only).unwrap().id
}

#[test]
fn events_of_other_types_do_not_restart_the_back_off() {
    both_engines(|test| {
        let db = &test.db;
        let id = of_members(db);
        group(db, 2, "Before");
        rename(db, 3, "Wanted");
        group(db, 4, "After");
        let mut clock = 10;
        for (attempt, wait) in [(1, 4_500), (2, 54_000), (3, 270_000)] {
            let (claimed, parcel) = claim_first(db, clock);
            assert_eq!((name_of(&parcel).as_str(), parcel.attempt), ("Wanted", attempt));
            assert!(sent(answer(db, clock, claimed, &parcel, Some(500))).is_none());
            let record = show(db, id, clock);
            assert_eq!(
                record.next_attempt_at.unwrap().micros() - at(clock).micros(),
                wait * 1_000
            );
            assert_eq!((record.attempts, record.failing_since), (attempt, Some(at(10))));
            clock += wait / 1_000 + 1;
        }
    });
}

#[test]
fn a_refused_event_behind_events_of_other_types_is_passed_over() {
    both_engines(|test| {
        let db = &test.db;
        let id = of_members(db);
        group(db, 2, "Before");
        rename(db, 3, "Bad");
        rename(db, 4, "Good");
        let mut clock = 10;
        for attempt in 1..=8 {
            let (claimed, parcel) = claim_first(db, clock);
            assert_eq!((name_of(&parcel).as_str(), parcel.attempt), ("Bad", attempt));
            answer(db, clock, claimed, &parcel, Some(422));
            clock += 4_000;
        }
        let (_, good) = claim_first(db, clock);
        assert_eq!((name_of(&good).as_str(), good.attempt), ("Good", 1));
        assert_eq!(show(db, id, clock).state, State::Enabled);
    });
}

#[test]
fn an_event_behind_very_many_of_other_types_is_sent_once() {
    both_engines(|test| {
        let db = &test.db;
        of_members(db);
        let many = (0..600).map(|number| {
            json!({"type": "group", "id": grp(1_000 + number), "organizationId": org(1), "name": format!("Group {number}")})
        });
        import_now(db, &bundle(&many.collect::<Vec<_>>())).unwrap();
        rename(db, 2, "First");
        rename(db, 3, "Second");
        let (claimed, parcel) = claim_first(db, 10);
        assert_eq!(name_of(&parcel), "First");
        let second = sent(answer(db, 11, claimed, &parcel, Some(200))).unwrap();
        assert_eq!(name_of(&second), "Second");
        assert!(sent(answer(db, 12, claimed, &second, Some(503))).is_none());
        assert_eq!(claim(db, 13), [], "it waits after a failure");
    });
}

fn move_to(db: &Db, id: WebhookId, seconds: i64, url: &str) {
    let moved = WebhookChange {
        destination: Some(destination_at(url)),
        ..WebhookChange::default()
    };
    done(db, seconds, move |act| webhooks::set(act, id, &moved)).unwrap();
}

#[test]
fn what_an_earlier_url_answers_says_nothing_of_the_new_one() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        let (claimed, mut parcel) = claim_first(db, 10);
        for (clock, status) in [(10, Some(410)), (20, Some(503)), (30, None)] {
            let url = format!("https://hooks.example.org/{clock}");
            move_to(db, id, clock + 1, &url);
            parcel = sent(answer(db, clock + 2, claimed, &parcel, status)).unwrap();
            assert_eq!((parcel.url.as_str(), parcel.attempt), (url.as_str(), 1));
            let record = show(db, id, clock + 3);
            assert_eq!(
                (record.state, record.attempts, record.failing_since),
                (State::Enabled, 0, None)
            );
        }
    });
}

/// Neither the next event nor one that was replayed is lost by what the receiver before refused.
#[test]
fn what_an_earlier_url_answered_is_not_counted_against_the_new_one() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One", "Two"]);
        let (claimed, one) = claim_first(db, 4);
        let two = sent(answer(db, 4, claimed, &one, Some(200))).unwrap();
        assert!(sent(answer(db, 4, claimed, &two, Some(422))).is_none());
        done(db, 5, move |act| webhooks::replay(act, id, one.event)).unwrap();
        let refuse = |clock: i64, attempt: i64| {
            let (claimed, replayed) = claim_first(db, clock);
            assert_eq!((name_of(&replayed).as_str(), replayed.attempt), ("One", attempt));
            sent(answer(db, clock, claimed, &replayed, Some(422))).map(|two| (claimed, two))
        };
        let mut clock = 10;
        for attempt in 1..=7 {
            clock += 4_000;
            let (claimed, two) = refuse(clock, attempt).unwrap();
            let status = if attempt == 7 { 503 } else { 422 };
            assert_eq!((name_of(&two).as_str(), two.attempt), ("Two", attempt + 1));
            assert!(sent(answer(db, clock, claimed, &two, Some(status))).is_none());
        }
        move_to(db, id, clock + 1, "https://hooks.example.org/new");
        assert_eq!(show(db, id, clock + 1).failing_since, None);
        // Both are sent at once.
        let (claimed, two) = refuse(clock + 2, 1).unwrap();
        assert_eq!((name_of(&two).as_str(), two.attempt, two.refusals), ("Two", 1, 0));
        assert!(sent(answer(db, clock + 2, claimed, &two, Some(422))).is_none());
        let record = show(db, id, clock + 3);
        assert_eq!((record.attempts, record.failing_since), (1, Some(at(clock + 2))));
        assert!(refuse(clock + 4_000, 2).is_some(), "it was not passed over");
    });
}
