//! What an import does to data that is there: known ids, stamps, counts, the ledger, and what it leaves alone.

use std::cell::Cell;
use std::io::{BufRead, Cursor};

use bursar_app::{Identity, import};
use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, Value, organizations};
use bursar_domain::Timestamp;
use bursar_domain::ids::OrganizationId;
use serde_json::{Value as Json, json};

use crate::support::{
    EVERY_RECORD, app_at, bundle, dump, export_all, grp, import_at, import_now, import_with, instant, mem,
    now, numbers, org, pay, problems, record, records, rem, usr,
};

const NONE: [i64; 0] = [];
const MADE: &str = "2026-01-01T00:00:00.000000Z";

/// A club with two groups, three members, a payment and two reminders.
fn club() -> Vec<Json> {
    let of = |mut fields: Json| {
        fields["organizationId"] = json!(org(1));
        fields["createdAt"] = json!(MADE);
        fields["updatedAt"] = json!(MADE);
        fields
    };
    let member = |n: u128, is_active: bool, groups: &[u128]| {
        let groups: Vec<_> = groups.iter().map(|n| grp(*n)).collect();
        of(
            json!({"type": "member", "id": mem(n), "firstName": format!("F{n}"), "lastName": "L",
            "email": "m@example.org", "phone": "+12025550100", "isActive": is_active, "joinDate": "2020-02-29", "groups": groups}),
        )
    };
    vec![
        json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent"}),
        member(1, true, &[1]),
        member(2, true, &[1, 2]),
        member(3, false, &[1]),
        of(json!({"type": "group", "id": grp(1), "name": "One"})),
        of(json!({"type": "group", "id": grp(2), "name": "Two"})),
        of(
            json!({"type": "payment", "id": pay(1), "memberId": mem(1), "amount": "100.00", "paidToDate": "25.00"}),
        ),
        of(
            json!({"type": "reminder", "id": rem(1), "targetMemberId": mem(1), "method": "email", "scheduledAt": "2026-11-15T12:00:00Z"}),
        ),
        of(
            json!({"type": "reminder", "id": rem(2), "targetMemberId": mem(1), "method": "email", "scheduledAt": "2026-11-15T12:00:00.000001Z"}),
        ),
    ]
}

fn with_club(test: &TestDb) -> &Db {
    import_now(&test.db, &bundle(&club())).unwrap();
    &test.db
}

/// The record with more fields.
fn with(mut record: Json, fields: Json) -> Json {
    let given = fields.as_object().unwrap().clone();
    record.as_object_mut().unwrap().extend(given);
    record
}

/// The record's id and organization, with these fields.
fn change(record: &Json, fields: Json) -> Json {
    let name =
        json!({"type": record["type"], "id": record["id"], "organizationId": record["organizationId"]});
    with(name, fields)
}

fn clock(db: &Db, organization: OrganizationId) -> Timestamp {
    let read: Result<_, bursar_db::DbError> = db.survey(|tx| organizations::clock(tx, organization));
    Timestamp::from_micros(read.unwrap().unwrap())
}

fn count_of(db: &Db, group: u128) -> i64 {
    let found = numbers(
        db,
        "SELECT member_count FROM groups WHERE id = ?1",
        &[Value::Bytes(&grp(group).to_bytes())],
    );
    found[0]
}

/// How many versions history has of a list.
fn versions(db: &Db, list: i64) -> usize {
    numbers(
        db,
        "SELECT updated_at FROM history WHERE list = ?1",
        &[Value::Int(list)],
    )
    .len()
}

/// Ids of two kinds can have the same bits.
#[test]
fn a_member_and_a_charge_with_the_same_bits_are_kept_apart() {
    both_engines(|test| {
        let db = with_club(test);
        let member = |name: &str| change(&club()[1], json!({"lastName": name, "phone": "+12025550111"}));
        let charge = |day: &str| change(&club()[6], json!({"dueDate": day}));
        assert_eq!(mem(1).bits(), pay(1).bits());
        for lines in [
            [member("Berg"), charge("2026-12-01")],
            [charge("2026-12-02"), member("Dahl")],
        ] {
            import_now(db, &bundle(&lines)).unwrap();
            assert_eq!(problems(db), []);
        }
    });
}

#[test]
fn an_equal_row_does_not_move() {
    both_engines(|test| {
        let db = with_club(test);
        let (export, clock_before) = (export_all(db), clock(db, org(1)));
        let again = import_at(db, &bundle(&club()), now().plus_days(1)).unwrap();
        assert_eq!((again.records, again.unchanged), (9, 9));
        assert_eq!((again.added, again.changed), (0, 0));
        assert_eq!(export_all(db), export);
        assert_eq!(clock(db, org(1)), clock_before);
        assert_eq!(numbers(db, "SELECT list FROM history", &[]), NONE);
        // The same, said otherwise: white space around texts, fewer digits, another offset, a set in another order.
        let same = [
            change(
                &club()[2],
                json!({"firstName": " F2 ", "groups": [grp(2), grp(1), grp(2)]}),
            ),
            change(&club()[6], json!({"amount": "100", "paidToDate": "25.0"})),
            change(
                &club()[7],
                json!({"scheduledAt": "2026-11-15T14:00:00+02:00", "isRecurring": false}),
            ),
        ];
        assert_eq!(import_now(db, &bundle(&same)).unwrap().unchanged, 3);
        assert_eq!(export_all(db), export);
    });
}

#[test]
fn a_changed_row_moves_alone_and_keeps_what_is_left_out() {
    both_engines(|test| {
        let db = with_club(test);
        let before = records(&export_all(db));
        let done = import_now(
            db,
            &change(&club()[1], json!({"firstName": "New", "joinDate": null})).to_string(),
        );
        assert_eq!(done.unwrap().changed, 1);
        for (old, new) in before.iter().zip(records(&export_all(db))) {
            if old["id"] != json!(mem(1)) {
                assert_eq!(*old, new);
                continue;
            }
            let mut expected = old.clone();
            expected["firstName"] = json!("New");
            expected["joinDate"] = json!(null);
            expected["updatedAt"] = json!(now().to_string());
            assert_eq!(new, expected);
        }
        assert_eq!(clock(db, org(1)), now());
        let superseded = "SELECT superseded_at FROM history WHERE list = 1 AND id = ?1 AND updated_at = ?2";
        let key = mem(1).to_bytes();
        let params = [Value::Bytes(&key), Value::Int(instant(MADE).micros())];
        assert_eq!(numbers(db, superseded, &params), [now().micros()]);
        assert_eq!(numbers(db, "SELECT list FROM history", &[]), [1]);
        assert_eq!(problems(db), []);
    });
}

#[test]
fn a_known_id_keeps_the_organization_that_is_left_out() {
    both_engines(|test| {
        let db = with_club(test);
        import_now(
            db,
            &bundle(&[json!({"type": "member", "id": mem(1), "firstName": "Part"})]),
        )
        .unwrap();
        assert_eq!(record(db, mem(1))["firstName"], "Part");
        let unknown = bundle(&[
            json!({"type": "member", "id": mem(777), "firstName": "F", "lastName": "L", "email": "m@example.org"}),
        ]);
        let refused = import_now(db, &unknown).unwrap_err();
        assert!(
            refused.starts_with("line 1: organizationId: is required"),
            "{refused}"
        );
    });
}

#[test]
fn group_counts_follow_and_each_group_is_put_once() {
    both_engines(|test| {
        let db = with_club(test);
        assert_eq!(
            (count_of(db, 1), count_of(db, 2)),
            (2, 1),
            "archived members do not count"
        );
        // Archived and brought back, moved from one group to the other, and a new one: all in one bundle.
        let club = club();
        let newcomer = json!({"type": "member", "id": mem(4), "organizationId": org(1), "firstName": "N", "lastName": "L",
            "email": "n@example.org", "groups": [grp(2)]});
        let lines = [
            change(&club[1], json!({"isActive": false})),
            change(&club[2], json!({"groups": [grp(2)]})),
            change(&club[3], json!({"isActive": true, "groups": [grp(1), grp(2)]})),
            newcomer,
        ];
        import_now(db, &bundle(&lines)).unwrap();
        assert_eq!((count_of(db, 1), count_of(db, 2)), (1, 3));
        assert_eq!(versions(db, 2), 2, "each group was put once");
        assert_eq!(versions(db, 1), 3);
        assert_eq!(problems(db), []);
        // Stamps are one per row, consecutive, and the groups come last.
        let stamps = numbers(db, "SELECT updated_at FROM members ORDER BY updated_at", &[]);
        let start = now().micros();
        assert_eq!(stamps, [start, start + 1, start + 2, start + 3]);
        let groups = numbers(db, "SELECT updated_at FROM groups ORDER BY updated_at", &[]);
        assert_eq!(groups, [start + 4, start + 5]);
        assert_eq!(clock(db, org(1)).micros(), start + 5);

        // A group that the bundle names too is still put once, with both changes.
        let lines = [
            change(&club[4], json!({"name": "Renamed"})),
            change(&club[1], json!({"isActive": true})),
        ];
        import_now(db, &bundle(&lines)).unwrap();
        assert_eq!(count_of(db, 1), 2);
        assert_eq!(versions(db, 2), 3);
        // A member who changes otherwise, or whose groups change only while archived, moves no group.
        import_now(
            db,
            &change(&club[2], json!({"isActive": false, "groups": []})).to_string(),
        )
        .unwrap();
        let before = versions(db, 2);
        let lines = [
            change(&club[2], json!({"groups": [grp(1)]})),
            change(&club[1], json!({"lastName": "Other"})),
        ];
        import_now(db, &bundle(&lines)).unwrap();
        assert_eq!(versions(db, 2), before);
        assert_eq!(problems(db), []);
    });
}

#[test]
fn member_count_is_accepted_and_ignored() {
    both_engines(|test| {
        let db = with_club(test);
        let export = export_all(db);
        let line = change(&club()[4], json!({"memberCount": 999}));
        assert_eq!(import_now(db, &line.to_string()).unwrap().unchanged, 1);
        assert_eq!(export_all(db), export);
        assert_eq!(count_of(db, 1), 2);
    });
}

#[test]
fn stamps_are_kept_where_the_organization_is_new() {
    both_engines(|test| {
        let member = |n: u128, stamps: Json| {
            let record = json!({"type": "member", "id": mem(n), "organizationId": org(1),
                "firstName": "F", "lastName": "L", "email": "m@example.org"});
            with(record, stamps)
        };
        let (early, late) = ("2024-02-29T12:00:00.000001Z", "2025-07-01T00:00:00.123456Z");
        let all = [
            json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent"}),
            member(1, json!({"createdAt": early, "updatedAt": late})),
            member(2, json!({"createdAt": early, "updatedAt": early})),
            member(3, json!({"createdAt": late, "updatedAt": late})),
            member(4, json!({"updatedAt": early})),
        ];
        import_now(&test.db, &bundle(&all)).unwrap();
        let stamps = |n: u128| {
            let found = record(&test.db, mem(n));
            (
                found["createdAt"].as_str().unwrap().to_owned(),
                found["updatedAt"].as_str().unwrap().to_owned(),
            )
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(stamps(1), pair(early, late));
        assert_eq!(stamps(3), pair(late, late), "equal stamps are kept");
        assert_eq!(stamps(4), pair(early, early));
        assert_eq!(
            clock(&test.db, org(1)),
            instant(late),
            "the clock starts at the largest"
        );

        // Known now: given stamps are not looked at, and the clock stamps what is new or changed.
        let later = now().plus_seconds(60);
        let far = "2099-01-01T00:00:00Z";
        let lines = [
            member(5, json!({"createdAt": early, "updatedAt": early})),
            member(6, json!({"createdAt": far, "updatedAt": early})),
            change(
                &all[1],
                json!({"lastName": "X", "createdAt": late, "updatedAt": far}),
            ),
        ];
        import_at(&test.db, &bundle(&lines), later).unwrap();
        let at = |n: i64| Timestamp::from_micros(later.micros() + n).to_string();
        assert_eq!(stamps(5), (at(0), at(0)));
        assert_eq!(stamps(6), (at(1), at(1)));
        assert_eq!(stamps(1), (early.to_owned(), at(2)));
        assert_eq!(clock(&test.db, org(1)).micros(), later.micros() + 2);
        assert_eq!(problems(&test.db), []);
    });
}

#[test]
fn what_has_no_stamps_gets_the_clocks() {
    both_engines(|test| {
        let member = |n: u128| json!({"type": "member", "id": mem(n), "organizationId": org(1), "firstName": "F", "lastName": "L", "email": "m@example.org"});
        let mut newest = member(1);
        newest["createdAt"] = json!(now());
        newest["updatedAt"] = json!(now());
        let mut half = member(3);
        half["createdAt"] = json!(MADE);
        let organization =
            json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent"});
        import_now(&test.db, &bundle(&[member(2), half, newest, organization])).unwrap();
        let at = |n: i64| json!(Timestamp::from_micros(now().micros() + n));
        // The largest kept stamp is the wall clock's, so that the clock goes on behind it.
        assert_eq!(record(&test.db, mem(1))["updatedAt"], at(0));
        assert_eq!(record(&test.db, mem(2))["updatedAt"], at(1));
        assert_eq!(record(&test.db, mem(2))["createdAt"], at(1));
        assert_eq!(record(&test.db, mem(3))["updatedAt"], at(2));
        assert_eq!(record(&test.db, mem(3))["createdAt"], json!(MADE));
        assert_eq!(clock(&test.db, org(1)).micros(), now().micros() + 2);
        assert_eq!(problems(&test.db), []);
    });
}

#[test]
fn the_wall_clock_may_step_back_between_imports() {
    both_engines(|test| {
        let db = with_club(test);
        import_now(db, &change(&club()[1], json!({"lastName": "A"})).to_string()).unwrap();
        let earlier = now().plus_days(-30);
        import_at(
            db,
            &change(&club()[2], json!({"lastName": "B"})).to_string(),
            earlier,
        )
        .unwrap();
        assert_eq!(clock(db, org(1)).micros(), now().micros() + 1);
        assert_eq!(record(db, mem(2))["updatedAt"], json!(clock(db, org(1))));
    });
}

/// What the journal's entries did to what is owed for the club's payment, in order: when, of which kind, how much.
fn entries(db: &Db) -> Vec<(i64, String, i64)> {
    let found: Result<Vec<_>, bursar_db::DbError> = db.survey(|tx| {
        let entries = bursar_db::journal::of_payment(tx, org(1), pay(1))?;
        let line = |entry: &bursar_domain::journal::Entry| {
            let (at, kind) = (entry.recorded_at.micros(), entry.kind.to_string());
            (at, kind, entry.owed_for(pay(1)))
        };
        Ok(entries.iter().map(line).collect())
    });
    found.unwrap()
}

#[test]
fn what_was_paid_is_one_opening_entry_and_a_change_is_one_more() {
    both_engines(|test| {
        let db = with_club(test);
        let mut expected = entries(db);
        let moved: Vec<_> = expected
            .iter()
            .map(|(_, kind, owed)| (kind.as_str(), *owed))
            .collect();
        assert_eq!(moved, [("charge", 10_000), ("opening", -2_500)]);
        let paid = |amount: &str| change(&club()[6], json!({"paidToDate": amount})).to_string();
        let later = |days: i64| now().plus_days(days);
        import_at(db, &paid("60.5"), later(1)).unwrap();
        import_at(db, &paid("60.50"), later(2)).unwrap();
        import_at(db, &paid("10"), later(3)).unwrap();
        expected.push((later(1).micros(), "opening".to_owned(), -3_550));
        expected.push((later(3).micros(), "opening".to_owned(), 5_050));
        assert_eq!(entries(db), expected);
        assert_eq!(record(db, pay(1))["paidToDate"], "10.00");
        assert_eq!(problems(db), []);
    });
}

#[test]
fn a_reminder_whose_time_is_past_is_held() {
    both_engines(|test| {
        let db = with_club(test);
        let held = |n: u128| {
            numbers(
                db,
                "SELECT is_held FROM reminders WHERE id = ?1",
                &[Value::Bytes(&rem(n).to_bytes())],
            )[0]
        };
        assert_eq!((held(1), held(2)), (1, 0), "its time is past at the very moment");
        // Equal again, later: what waited for its time still does.
        import_at(db, &bundle(&club()), now().plus_days(1)).unwrap();
        assert_eq!((held(1), held(2)), (1, 0));
        import_at(
            db,
            &change(&club()[8], json!({"subject": "S"})).to_string(),
            now().plus_days(1),
        )
        .unwrap();
        assert_eq!(held(2), 0);
        // A new time decides anew.
        let at = |n: usize, time: &str| change(&club()[n], json!({"scheduledAt": time})).to_string();
        import_now(db, &at(7, "2027-01-01T00:00:00Z")).unwrap();
        import_now(db, &at(8, "2025-01-01T00:00:00Z")).unwrap();
        assert_eq!((held(1), held(2)), (0, 1));
        // Only what is scheduled can be held.
        import_now(db, &change(&club()[8], json!({"status": "sent"})).to_string()).unwrap();
        assert_eq!(held(2), 0);
        import_now(db, EVERY_RECORD).unwrap();
        let sql = "SELECT is_held FROM reminders WHERE status <> 'scheduled' AND is_held = 1";
        assert_eq!(numbers(db, sql, &[]), NONE);
        let sql = "SELECT is_held FROM reminders WHERE status = 'scheduled' AND scheduled_at < ?1";
        assert_eq!(numbers(db, sql, &[Value::Int(now().micros())]), [1]);
        assert_eq!(
            numbers(db, "SELECT attempts FROM outbox_messages", &[]),
            NONE,
            "nothing is sent by itself"
        );
    });
}

#[test]
fn dues_of_the_time_before_are_not_raised() {
    both_engines(|test| {
        let db = with_club(test);
        let from = |n: u128| -> Option<String> {
            let key = grp(n).to_bytes();
            let read: Result<_, bursar_db::DbError> = db.survey(|tx| {
                tx.first(
                    "SELECT dues_from FROM groups WHERE id = ?1",
                    &[Value::Bytes(&key)],
                    |row| Ok(row.text_opt(0)?.map(str::to_owned)),
                )
            });
            read.unwrap().unwrap()
        };
        assert_eq!(from(1), None);
        let due = |date: Json| change(&club()[4], json!({"amountDue": "5", "dueDate": date})).to_string();
        import_now(db, &due(json!("2026-01-31"))).unwrap();
        assert_eq!(from(1).as_deref(), Some("2026-11-15"));
        import_at(db, &due(json!("2026-01-31")), now().plus_days(5)).unwrap();
        assert_eq!(
            from(1).as_deref(),
            Some("2026-11-15"),
            "an equal date is no new one"
        );
        import_now(db, &due(json!(null))).unwrap();
        assert_eq!(from(1), None);
    });
}

#[test]
fn organizations_users_roles_and_policies_are_updated_by_field() {
    both_engines(|test| {
        import_now(&test.db, EVERY_RECORD).unwrap();
        let all = records(&export_all(&test.db));
        let find = |kind: &str| all.iter().find(|record| record["type"] == kind).unwrap();
        let (organization, user) = (find("organization"), find("user"));
        let lines = [
            json!({"type": "organization", "id": organization["id"], "contactPhone": null}),
            json!({"type": "user", "id": user["id"], "name": "Ada"}),
            json!({"type": "role", "organizationId": organization["id"], "userId": user["id"], "role": "viewer"}),
            json!({"type": "policy", "organizationId": organization["id"], "maxTokenDays": null}),
        ];
        let done = import_now(&test.db, &bundle(&lines)).unwrap();
        assert_eq!((done.changed, done.added), (4, 0));
        let after = records(&export_all(&test.db));
        assert_eq!(after.len(), all.len());
        for (old, new) in all.iter().zip(&after) {
            let mut expected = old.clone();
            if old == organization {
                expected["contactPhone"] = json!(null);
            } else if old == user {
                expected["name"] = json!("Ada");
            } else if old == find("role") {
                expected["role"] = json!("viewer");
            } else if old == find("policy") {
                expected["maxTokenDays"] = json!(null);
            }
            assert_eq!(*new, expected);
        }
        assert_eq!(import_now(&test.db, &bundle(&lines)).unwrap().unchanged, 4);
    });
}

/// Lines are free in order, so that an address may pass from one user to another whichever comes first.
#[test]
fn users_may_exchange_their_addresses() {
    both_engines(|test| {
        let user = |n: u128, email: &str| json!({"type": "user", "id": usr(n), "email": email});
        import_now(
            &test.db,
            &bundle(&[user(1, "a@example.org"), user(2, "b@example.org")]),
        )
        .unwrap();
        let swapped = [user(1, "B@example.org"), user(2, "a@example.org")];
        assert_eq!(import_now(&test.db, &bundle(&swapped)).unwrap().changed, 2);
        let passed_on = [user(3, "a@example.org"), user(2, "c@example.org")];
        let done = import_now(&test.db, &bundle(&passed_on)).unwrap();
        assert_eq!((done.added, done.changed), (1, 1));
        let found: Vec<Json> = records(&export_all(&test.db))
            .into_iter()
            .map(|r| r["email"].clone())
            .collect();
        assert_eq!(found, ["B@example.org", "c@example.org", "a@example.org"]);
    });
}

/// Another process may write between the two passes of an import.
#[test]
fn what_others_write_between_the_passes_is_seen() {
    both_engines(|test| {
        let other = test.open_again().unwrap();
        let theirs = |n: u128, member: u128| {
            bundle(&[
                json!({"type": "organization", "id": org(n), "name": "Other", "kind": "independent"}),
                json!({"type": "member", "id": mem(member), "organizationId": org(n), "firstName": "F", "lastName": "L", "email": "m@example.org"}),
            ])
        };
        let between = |mine: &str, theirs: &str| {
            let mut done = false;
            import_with(&test.db, mine.as_bytes(), now(), &mut |at| {
                if at.pass == 1 && !done {
                    done = true;
                    import_now(&other, theirs).unwrap();
                }
            })
            .map_err(|error| error.to_string())
        };
        // The same member for two organizations: the database was empty when the first pass read it.
        let refused = between(&bundle(&club()), &theirs(2, 1)).unwrap_err();
        assert!(refused.starts_with("line 2: id: mem_"), "{refused}");
        assert_eq!(records(&export_all(&test.db)).len(), 2);
        // The same organization: its second import is an update.
        let done = between(
            &bundle(&club()),
            &bundle(&[json!({"type": "organization", "id": org(1), "name": "First",
            "kind": "independent", "contactEmail": "first@example.org"})]),
        );
        assert!(
            done.unwrap_err().starts_with("line 2: id: mem_"),
            "still the other's member"
        );
        let mut mine = club();
        mine.remove(1);
        for field in ["memberId", "targetMemberId"] {
            mine.iter_mut()
                .filter(|r| r[field] == json!(mem(1)))
                .for_each(|r| r[field] = json!(mem(2)));
        }
        let done = between(
            &bundle(&mine),
            &bundle(&[json!({"type": "organization", "id": org(1), "contactPhone": "+12025550199"})]),
        );
        assert_eq!(done.unwrap().changed, 1);
        let found = record(&test.db, org(1));
        assert_eq!(found["name"], "Club");
        assert_eq!(found["contactEmail"], "first@example.org");
        assert_eq!(
            found["contactPhone"], "+12025550199",
            "what the bundle leaves out keeps its value"
        );
        assert_eq!(problems(&test.db), []);
    });
}

#[test]
fn an_import_is_in_the_activity_of_each_organization() {
    both_engines(|test| {
        import_now(&test.db, EVERY_RECORD).unwrap();
        let mut counted: std::collections::BTreeMap<String, i64> = std::collections::BTreeMap::new();
        for record in records(EVERY_RECORD) {
            let of = if record["type"] == "organization" {
                &record["id"]
            } else {
                &record["organizationId"]
            };
            if let Some(of) = of.as_str() {
                *counted.entry(of.to_owned()).or_default() += 1;
            }
        }
        let read: Result<Vec<(String, i64)>, bursar_db::DbError> = test.db.survey(|tx| {
            tx.rows(
                "SELECT subject, count FROM activity WHERE action = 'import' AND actor_kind = 'operator'",
                &[],
                |row| Ok((row.text(0)?.to_owned(), row.int(1)?)),
            )
        });
        assert_eq!(
            read.unwrap()
                .into_iter()
                .collect::<std::collections::BTreeMap<_, _>>(),
            counted
        );
    });
}

#[test]
fn blank_lines_a_byte_order_mark_and_carriage_returns_are_fine() {
    both_engines(|test| {
        let mut text = "\u{feff}\r\n".to_owned();
        text.push_str(&EVERY_RECORD.replace('\n', "\r\n \t \r\n\n"));
        let done = import_now(&test.db, text.trim_end()).unwrap();
        assert_eq!(done.records, EVERY_RECORD.lines().count() as u64);
        let plain = TestDb::sqlite();
        import_now(&plain.db, EVERY_RECORD).unwrap();
        assert_eq!(export_all(&test.db), export_all(&plain.db));
        let before = dump(&test.db);
        assert_eq!(import_now(&test.db, "").unwrap().records, 0);
        assert_eq!(import_now(&test.db, "\u{feff}").unwrap().records, 0);
        assert_eq!(dump(&test.db), before);
    });
}

/// More rows than one bulk load takes, of organizations that are new, in one bundle.
#[test]
fn many_rows_are_loaded_in_chunks() {
    both_engines(|test| {
        let mut lines =
            vec![json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent"})];
        lines.push(json!({"type": "group", "id": grp(1), "organizationId": org(1), "name": "All"}));
        for n in 1..=9_000u128 {
            lines.push(json!({"type": "member", "id": mem(n), "organizationId": org(1), "firstName": "F", "lastName": "L",
                "email": "m@example.org", "groups": [grp(1)], "isActive": n % 10 != 0}));
        }
        let done = import_now(&test.db, &bundle(&lines)).unwrap();
        assert_eq!(done.added, 9_002);
        assert_eq!(count_of(&test.db, 1), 8_100);
        assert_eq!(problems(&test.db), []);
        let stamps = numbers(&test.db, "SELECT updated_at FROM members ORDER BY id", &[]);
        assert!(
            stamps.windows(2).all(|pair| pair[1] == pair[0] + 1),
            "one microsecond a row, in the order of the lines"
        );
    });
}

/// PostgreSQL believes a table to be empty until somebody counts it.
#[test]
fn the_rows_of_a_large_import_are_counted_for_the_planner() {
    let open = || {
        let test = TestDb::postgres();
        for table in ["members", "memberships"] {
            test.place
                .beside(&format!("ALTER TABLE {table} SET (autovacuum_enabled = false)"));
        }
        test
    };
    let counted = |test: &TestDb| {
        let sql =
            "SELECT COUNT(DISTINCT tablename) FROM pg_stats WHERE tablename IN ('members', 'memberships')";
        numbers(&test.db, sql, &[])[0]
    };
    for (count, expected) in [(10, 0), (1_500, 2)] {
        let mut lines = vec![club()[0].clone(), club()[4].clone()];
        let member = |n| {
            with(
                club()[1].clone(),
                json!({"id": mem(n), "lastName": format!("L{n}")}),
            )
        };
        lines.extend((1..=count).map(member));
        let (test, copy) = (open(), open());
        import_now(&test.db, &bundle(&lines)).unwrap();
        assert_eq!(counted(&test), expected, "{count} members imported");
        crate::copy::copied_rows(&test.db, &copy.db).unwrap();
        assert_eq!(counted(&copy), expected, "{count} members copied");
    }
}

#[test]
fn a_bundle_that_is_another_one_in_the_second_pass_is_refused() {
    both_engines(|test| {
        let whole = bundle(&club());
        let passes = Cell::new(0);
        for second in [
            String::new(),
            whole.lines().take(3).map(|line| format!("{line}\n")).collect(),
            whole.replacen("F1", "F9", 1),
        ] {
            passes.set(0);
            let open = || {
                passes.set(passes.get() + 1);
                let text = if passes.get() == 1 { &whole } else { &second };
                Ok(Box::new(Cursor::new(text.clone().into_bytes())) as Box<dyn BufRead>)
            };
            let app = app_at(&test.db, now());
            let done = import::import(
                &app,
                Identity::Operator,
                &import::Source { open: &open },
                &mut |_| {},
            );
            let refused = done.unwrap_err().to_string();
            assert!(refused.contains("changed while it was read"), "{refused}");
            assert_eq!(export_all(&test.db), "", "nothing was written");
        }
    });
}
