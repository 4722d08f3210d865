//! An organization that is exported and imported behaves as the original did: what v1 hides is carried too.

use bursar_app::store::{self, ListingChange};
use bursar_app::{Identity, dues};
use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, DbError, due, table};
use bursar_domain::Date;
use bursar_domain::group::{Group, Interval};
use bursar_domain::ids::OrderId;
use bursar_domain::order::{Order, OrderLine, OrderVerb};
use serde_json::json;

use crate::outbox::{act, club};
use crate::support::{
    bundle, export_all, grp, import_at, import_now, instant, mem, now, numbers, org, pay, problems, record,
    records,
};

fn date(text: &str) -> Date {
    Date::parse(text).unwrap()
}

fn group(db: &Db) -> Group {
    let found: Result<_, DbError> = db.survey(|tx| table::get(tx, org(1), grp(1)));
    found.unwrap().unwrap()
}

/// Raises what is due at noon of this day, as the worker does: only groups that are found due.
fn raise(db: &Db, day: &str) -> Vec<dues::Raising> {
    let at = instant(&format!("{day}T12:00:00Z"));
    let found = db
        .survey::<_, DbError>(|tx| due::dues(tx, at.date(), None, 20))
        .unwrap();
    found
        .into_iter()
        .filter(|work| !work.is_raised)
        .map(|work| {
            act(db, Identity::Worker, at, move |act| {
                dues::raise(act, work.group, None)
            })
            .unwrap()
        })
        .collect()
}

/// A copy of the database on each engine, by its export.
fn copies(db: &Db) -> [TestDb; 2] {
    let export = export_all(db);
    [TestDb::sqlite(), TestDb::postgres()].map(|copy| {
        import_at(&copy.db, &export, now().plus_days(1)).unwrap();
        assert_eq!(export_all(&copy.db), export);
        assert_eq!(problems(&copy.db), []);
        copy
    })
}

#[test]
fn a_series_that_began_on_the_31st_comes_back_to_it() {
    both_engines(|test| {
        import_now(&test.db, &bundle(&club(2))).unwrap();
        let dues = dues::NewDues {
            amount: "10".to_owned(),
            due: date("2027-01-31"),
            interval: Some(Interval::Monthly),
        };
        act(&test.db, Identity::Operator, now(), move |act| {
            dues::set(act, grp(1), Some(&dues))
        })
        .unwrap();
        assert_eq!(raise(&test.db, "2027-01-31"), [dues::Raising::Period(2)]);
        let export = export_all(&test.db);
        assert!(export.contains(
            r#""dueDate":"2027-02-28","isRecurring":true,"recurringInterval":"monthly","dueAnchorDay":31"#
        ));
        for copy in [TestDb::sqlite(), TestDb::postgres()] {
            let at = instant("2027-02-01T00:00:00Z");
            import_at(&copy.db, &export, at).unwrap();
            assert_eq!(export_all(&copy.db), export);
            assert_eq!(raise(&copy.db, "2027-02-28"), [dues::Raising::Period(2)]);
            assert_eq!(group(&copy.db).due_date, Some(date("2027-03-31")));
        }
    });
}

#[test]
fn the_day_of_a_series_is_checked_and_may_be_left_out() {
    let test = TestDb::sqlite();
    let line = |more: serde_json::Value| {
        let mut line = json!({"type": "group", "id": grp(1), "organizationId": org(1), "name": "One", "amountDue": "5",
            "dueDate": "2027-02-28", "isRecurring": true, "recurringInterval": "monthly"});
        let more = more.as_object().unwrap().clone();
        line.as_object_mut().unwrap().extend(more);
        line.to_string()
    };
    import_now(&test.db, &bundle(&club(1))).unwrap();
    import_now(&test.db, &line(json!({}))).unwrap();
    assert_eq!(group(&test.db).due_anchor_day, Some(28), "an older bundle");
    import_now(&test.db, &line(json!({"dueAnchorDay": 30}))).unwrap();
    assert_eq!(group(&test.db).due_anchor_day, Some(30));
    import_now(&test.db, &line(json!({}))).unwrap();
    assert_eq!(group(&test.db).due_anchor_day, Some(30), "what is left out stays");
    import_now(&test.db, &line(json!({"dueDate": "2027-03-15"}))).unwrap();
    assert_eq!(
        group(&test.db).due_anchor_day,
        Some(15),
        "a new date, a new series"
    );
    for (more, expected) in [
        (
            json!({"dueAnchorDay": 32}),
            "dueAnchorDay: must be an integer from 1 to 31",
        ),
        (json!({"dueAnchorDay": 0}), "dueAnchorDay: must be an integer"),
        (
            json!({"dueAnchorDay": 3, "dueDate": null, "isRecurring": false, "recurringInterval": null}),
            "dueAnchorDay: must be null when dueDate is null",
        ),
    ] {
        let refused = import_now(&test.db, &line(more)).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    }
}

/// An order of two of the three, in the database as the officers made it.
fn with_order(db: &Db) -> OrderId {
    import_now(db, &bundle(&club(1))).unwrap();
    act(db, Identity::Operator, now(), |act| {
        let change = ListingChange {
            name: Some("Shirt".to_owned()),
            description: None,
            items: vec![("S".to_owned(), "15.00".to_owned(), Some(3))],
        };
        let listing = store::create_listing(act, &change)?;
        let lines = [OrderLine {
            item: "S".to_owned(),
            quantity: 2,
        }];
        Ok(store::order(act, listing.id, Some(mem(1)), &lines)?.id)
    })
    .unwrap()
}

fn stock(db: &Db) -> i64 {
    let all = records(&export_all(db));
    let listing = all
        .iter()
        .find(|record| record["type"] == "storeListing")
        .unwrap();
    listing["items"][0]["inventory"].as_i64().unwrap()
}

#[test]
fn an_order_that_is_called_off_gives_its_items_back() {
    both_engines(|test| {
        let order = with_order(&test.db);
        assert_eq!(
            record(&test.db, order)["lines"],
            json!([{"item": "S", "quantity": 2}])
        );
        for copy in copies(&test.db) {
            assert_eq!(stock(&copy.db), 1);
            act(&copy.db, Identity::Operator, now(), move |act| {
                store::perform_order(act, order, OrderVerb::Cancel, &Default::default())
            })
            .unwrap();
            assert_eq!(stock(&copy.db), 3);
        }
    });
}

#[test]
fn an_order_keeps_the_time_of_its_last_change() {
    both_engines(|test| {
        let order = with_order(&test.db);
        act(&test.db, Identity::Operator, now().plus_days(1), move |act| {
            store::perform_order(act, order, OrderVerb::Pay, &Default::default())
        })
        .unwrap();
        let stamps = |db: &Db| {
            let found: Result<Option<Order>, DbError> = db.survey(|tx| table::get(tx, org(1), order));
            found.unwrap().unwrap().stamps
        };
        let export = export_all(&test.db);
        for copy in [TestDb::sqlite(), TestDb::postgres()] {
            import_at(&copy.db, &export, now().plus_days(2)).unwrap();
            assert_eq!(stamps(&copy.db), stamps(&test.db));
        }
    });
}

#[test]
fn recurring_dues_whose_date_is_past_go_on_with_the_next() {
    both_engines(|test| {
        let db = &test.db;
        let mut records = club(2);
        records[1]["amountDue"] = json!("10");
        records[1]["dueDate"] = json!("2026-01-31");
        records[1]["isRecurring"] = json!(true);
        records[1]["recurringInterval"] = json!("monthly");
        // One member paid for the next date beforehand.
        records.push(json!({"type": "payment", "id": pay(1), "organizationId": org(1), "memberId": mem(2), "groupId": grp(1),
            "amount": "10.00", "dueDate": "2026-11-30"}));
        import_now(db, &bundle(&records)).unwrap();
        assert_eq!(
            record(db, grp(1))["dueDate"],
            "2026-01-31",
            "an import changes nothing"
        );
        assert_eq!(raise(db, "2026-11-15"), []);
        assert_eq!(raise(db, "2026-11-29"), []);
        assert_eq!(raise(db, "2026-11-30"), [dues::Raising::Period(1)]);
        assert_eq!(record(db, grp(1))["dueDate"], "2026-12-31");
        assert_eq!(
            numbers(
                db,
                "SELECT COUNT(*) FROM payments WHERE due_date < '2026-11-30'",
                &[]
            ),
            [0],
            "past dates are skipped"
        );
        assert_eq!(raise(db, "2026-12-31"), [dues::Raising::Period(2)]);
        assert_eq!(problems(db), []);
    });
}

#[test]
fn dues_that_an_older_import_stopped_go_on_too() {
    both_engines(|test| {
        let db = &test.db;
        let mut records = club(2);
        records[1]["amountDue"] = json!("10");
        records[1]["dueDate"] = json!("2026-11-12");
        records[1]["isRecurring"] = json!(true);
        records[1]["recurringInterval"] = json!("weekly");
        import_now(db, &bundle(&records)).unwrap();
        // As it was kept then: the day of the import, which is no due date.
        crate::support::plant(
            db,
            "UPDATE groups SET dues_from = '2026-11-15' WHERE amount_due IS NOT NULL",
            &[],
        );
        let before = record(db, grp(1));
        assert_eq!(raise(db, "2026-11-16"), [dues::Raising::Nothing]);
        assert_eq!(raise(db, "2026-11-17"), [], "it is looked at once");
        assert_eq!(record(db, grp(1)), before, "and nothing moves");
        assert_eq!(raise(db, "2026-11-19"), [dues::Raising::Period(2)]);
        assert_eq!(group(db).due_date, Some(date("2026-11-26")));
    });
}
