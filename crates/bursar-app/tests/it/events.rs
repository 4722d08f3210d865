//! Events beside the API: how long they are kept, and that `check` sees what is wrong with them.

use bursar_app::housekeeping::{self, Retention};
use bursar_app::resources::{Page, Walk};
use bursar_app::{Act, AppError, Identity, Whole, events, groups, members};
use bursar_db::testing::both_engines;
use bursar_db::{Db, Value};
use bursar_domain::cursor::{Cursor, Filters};
use bursar_domain::group::{GroupChange, NewGroup};
use bursar_domain::ids::GroupId;
use bursar_domain::page::PageLimit;
use bursar_domain::{Refusal, Timestamp};
use serde_json::json;

use crate::outbox::act;
use crate::support::{app_at, bundle, import_now, mem, now, numbers, org, plant, problems};

const DAY: i64 = 86_400;

fn club(db: &Db) {
    let records = [json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent"})];
    import_now(db, &bundle(&records)).unwrap();
}

fn create(db: &Db, at: Timestamp, name: &str) -> GroupId {
    let new = NewGroup {
        name: name.to_owned(),
        description: String::new(),
    };
    act(db, Identity::Operator, at, move |act| groups::create(act, &new))
        .unwrap()
        .id
}

fn rename(db: &Db, at: Timestamp, id: GroupId, name: &str) {
    let change = GroupChange {
        name: Some(name.to_owned()),
        ..GroupChange::default()
    };
    act(db, Identity::Operator, at, move |act| {
        groups::change(act, id, &change)
    })
    .unwrap();
}

fn page(db: &Db, at: Timestamp, since: Option<Timestamp>, cursor: Option<Cursor>) -> Result<Page, AppError> {
    let walk = Walk {
        limit: PageLimit::parse("2").unwrap(),
        filters: Filters {
            updated_since: since,
            ..Filters::default()
        },
        cursor,
    };
    app_at(db, at)
        .view(Identity::Operator, org(1), move |view| {
            events::page(view, &walk, Vec::new())
        })
        .wait()
}

/// Once for each organization. Returns whether there may be more.
fn prune(db: &Db, at: Timestamp) -> bool {
    let retention = Retention {
        idempotency_seconds: DAY,
        message_seconds: DAY,
        event_seconds: 30 * DAY,
    };
    let app = app_at(db, at);
    let prunable = move |whole: &mut Whole<'_, '_>| housekeeping::prunable(whole, retention);
    let found: Result<Vec<_>, AppError> = app.look(Identity::Worker, prunable).wait();
    let mut may_be_more = false;
    for organization in found.unwrap() {
        let prune = move |act: &mut Act<'_, '_>| housekeeping::prune_organization(act, retention);
        may_be_more |= app.act(Identity::Worker, organization, prune).wait().unwrap();
    }
    may_be_more
}

#[test]
fn events_are_kept_for_thirty_days_and_no_gap_is_hidden() {
    both_engines(|test| {
        let db = &test.db;
        club(db);
        let start = now().plus_seconds(10);
        let id = create(db, start, "First");
        for day in 1..=5 {
            rename(db, start.plus_seconds(day * DAY), id, &format!("Day {day}"));
        }
        let last = start.plus_seconds(5 * DAY);
        let first = page(db, last, None, None).unwrap();
        assert_eq!(first.count, 2);
        let cursor = first.next.unwrap();
        let next = page(db, last, None, Some(cursor)).unwrap().next.unwrap();
        // The first three are over.
        prune(db, start.plus_seconds(32 * DAY + 1));
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM events", &[]), [3]);
        assert!(problems(db).is_empty(), "{:?}", problems(db));
        let horizon = start.plus_seconds(2 * DAY);
        assert_eq!(
            page(db, last, Some(horizon), None).unwrap().count,
            2,
            "at the horizon"
        );
        let before = Timestamp::from_micros(horizon.micros() - 1);
        match page(db, last, Some(before), None) {
            Err(AppError::Refused(Refusal::Invalid { field, message })) => {
                assert_eq!(field.as_deref(), Some("createdSince"));
                assert!(message.contains(&horizon.to_string()), "{message}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(
            page(db, last, None, None).unwrap().count,
            2,
            "without a time: what is kept"
        );
        // The walk stood behind what is gone; the other one goes on.
        assert!(matches!(
            page(db, last, None, Some(cursor)),
            Err(AppError::Cursor(_))
        ));
        assert_eq!(page(db, last, None, Some(next)).unwrap().count, 2);
        prune(db, start.plus_seconds(90 * DAY));
        assert_eq!(page(db, last, None, None).unwrap().count, 0);
        assert!(problems(db).is_empty(), "{:?}", problems(db));
    });
}

#[test]
fn many_are_pruned_a_thousand_at_a_time() {
    both_engines(|test| {
        let db = &test.db;
        club(db);
        act(db, Identity::Operator, now(), |act| {
            for n in 0..1_100 {
                let new = NewGroup {
                    name: format!("Group {n}"),
                    description: String::new(),
                };
                groups::create(act, &new)?;
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM events", &[]), [1_100]);
        assert!(prune(db, now().plus_seconds(31 * DAY)));
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM events", &[]), [100]);
        assert!(!prune(db, now().plus_seconds(31 * DAY)));
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM events", &[]), [0]);
    });
}

#[test]
fn check_sees_events_that_are_wrong_or_missing() {
    for sql in [
        "UPDATE events SET type = 'group.gone'",
        "UPDATE events SET created_at = created_at + 1000000000",
        "UPDATE events SET document = '{}'",
        "UPDATE events SET document = REPLACE(document, 'Rowers', 'Coxes')",
        "UPDATE events SET resource_id = organization_id",
        "DELETE FROM events",
    ] {
        both_engines(|test| {
            let db = &test.db;
            club(db);
            create(db, now().plus_seconds(1), "Rowers");
            assert!(problems(db).is_empty());
            plant(db, sql, &[] as &[Value<'_>]);
            let found = problems(db);
            assert!(
                !found.is_empty() && found.iter().all(|(kind, _)| *kind == "event"),
                "{sql}: {found:?}"
            );
        });
    }
}

/// A bulk act writes a group once, however many of its members it moves.
#[test]
fn a_bulk_act_writes_a_row_once() {
    both_engines(|test| {
        let db = &test.db;
        let mut records = vec![
            json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent"}),
            json!({"type": "group", "id": crate::support::grp(1), "organizationId": org(1), "name": "Rowers"}),
        ];
        for n in 1..=3 {
            records.push(json!({"type": "member", "id": mem(n), "organizationId": org(1), "firstName": "A", "lastName": "B",
                "email": format!("m{n}@club.example")}));
        }
        import_now(db, &bundle(&records)).unwrap();
        let all = [mem(1), mem(2), mem(3)];
        let types = |from: i64| -> Vec<String> {
            let found: Result<Vec<String>, bursar_db::DbError> = db.survey(|tx| {
                let sql = "SELECT type FROM events ORDER BY created_at";
                tx.rows(sql, &[], |row| Ok(row.text(0)?.to_owned()))
            });
            found.unwrap().split_off(usize::try_from(from).unwrap())
        };
        let at = now().plus_seconds(1);
        let added = act(db, Identity::Operator, at, move |act| {
            groups::add_many(act, crate::support::grp(1), &all)
        })
        .unwrap();
        let joined = [
            "member.updated",
            "member.updated",
            "member.updated",
            "group.updated",
        ];
        assert_eq!(types(0), joined);
        act(db, Identity::Operator, at, move |act| {
            bursar_app::undo::undo(act, added.id)
        })
        .unwrap();
        assert_eq!(types(4), joined);
        act(db, Identity::Operator, at, move |act| {
            groups::add_many(act, crate::support::grp(1), &all)
        })
        .unwrap();
        let (archived, _) = act(db, Identity::Operator, at, move |act| {
            members::archive_many(act, &all)
        })
        .unwrap();
        let many = [
            "member.archived",
            "member.archived",
            "member.archived",
            "group.updated",
        ];
        assert_eq!(types(12), many);
        act(db, Identity::Operator, at, move |act| {
            bursar_app::undo::undo(act, archived)
        })
        .unwrap();
        let many = [
            "member.restored",
            "member.restored",
            "member.restored",
            "group.updated",
        ];
        assert_eq!(types(16), many);
        assert!(problems(db).is_empty(), "{:?}", problems(db));
    });
}
