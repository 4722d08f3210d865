//! Cards: exact decimals, the two kinds, and who can hold one.

use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{DINAR, NATIONAL, NORTH, YEN, member};
use super::world::{World, on_both_engines};

on_both_engines! { the_two_kinds limits_are_exact }

const CARD: &[&str] = &[
    "id",
    "name",
    "status",
    "last4",
    "spendLimit",
    "spendLimitFrequency",
    "transactionLimit",
    "assignedMemberId",
    "invitedAt",
    "activatedAt",
    "canceledAt",
    "createdAt",
    "updatedAt",
];

fn the_two_kinds(engine: Engine) {
    let world = World::new(engine);
    let admin = world.admin();
    let body = |more: Value| {
        let mut body = json!({ "name": " Fuel ", "spendLimit": 100.5, "spendLimitFrequency": "monthly" });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    };
    let made = admin
        .post("/v1/cards")
        .key("1")
        .json(body(
            json!({ "transactionLimit": null, "assignedMemberId": null }),
        ))
        .done(201);
    assert_eq!(
        made.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["kind", "card", "applicationId"]
    );
    assert_eq!(
        (&made["kind"], &made["applicationId"]),
        (&json!("card"), &Value::Null)
    );
    let card = &made["card"];
    assert_eq!(card.as_object().unwrap().keys().collect::<Vec<_>>(), CARD);
    assert_eq!(
        (
            &card["name"],
            &card["status"],
            &card["spendLimit"],
            &card["spendLimitFrequency"],
            &card["transactionLimit"],
            &card["assignedMemberId"]
        ),
        (
            &json!("Fuel"),
            &json!("active"),
            &json!("100.50"),
            &json!("monthly"),
            &Value::Null,
            &Value::Null
        )
    );
    assert_eq!(
        (&card["activatedAt"], &card["invitedAt"], &card["updatedAt"]),
        (&card["createdAt"], &Value::Null, &card["createdAt"])
    );
    assert_eq!(admin.walk("/v1/cards?limit=3").last(), Some(card));

    let held = admin
        .post("/v1/cards")
        .key("2")
        .json(body(
            json!({ "transactionLimit": 0.01, "assignedMemberId": member(1) }),
        ))
        .done(201);
    let held = &held["card"];
    assert_eq!(
        (
            &held["status"],
            &held["assignedMemberId"],
            &held["invitedAt"],
            &held["activatedAt"],
            &held["transactionLimit"]
        ),
        (
            &json!("invited"),
            &json!(member(1)),
            &held["createdAt"],
            &Value::Null,
            &json!("0.01")
        )
    );
    // Holders who cannot be.
    for stranger in [member(999), member(900)] {
        let error = admin
            .post("/v1/cards")
            .key("3")
            .json(body(json!({ "assignedMemberId": stranger })))
            .refused(404, "not_found");
        assert_eq!(error["param"], "assignedMemberId");
    }
    admin
        .post("/v1/cards")
        .key("3")
        .json(body(json!({ "assignedMemberId": member(3) })))
        .refused(409, "conflict");
    for bad in [
        json!("mem_1"),
        json!(""),
        json!("grp_01jbst1c00e008000000000001"),
        json!(5),
        json!([]),
    ] {
        admin
            .post("/v1/cards")
            .key("3")
            .json(body(json!({ "assignedMemberId": bad })))
            .invalid(Some("assignedMemberId"));
    }
    // An organization that may not issue yet applies: each new key is a new application, the same key is not.
    let chapter = world.admin_of(NORTH);
    let applied = chapter.post("/v1/cards").key("1").json(body(json!({})));
    let again = chapter.post("/v1/cards").key("1").json(body(json!({})));
    let other = chapter.post("/v1/cards").key("2").json(body(json!({}))).done(201);
    assert_eq!(
        (applied.done(201), applied.body.clone()),
        (again.done(201), again.body.clone())
    );
    let applied = applied.json();
    assert_eq!(
        (&applied["kind"], &applied["card"]),
        (&json!("application"), &Value::Null)
    );
    assert!(applied["applicationId"].as_str().unwrap().starts_with("app_"));
    assert_ne!(applied["applicationId"], other["applicationId"]);
    assert_eq!(chapter.get("/v1/cards").ok()["data"], json!([]));
    chapter
        .post("/v1/cards")
        .key("3")
        .json(body(json!({ "assignedMemberId": member(1) })))
        .refused(404, "not_found");
    chapter
        .post("/v1/cards")
        .key("3")
        .json(body(json!({ "assignedMemberId": member(1060) })))
        .refused(409, "conflict");
    let lines = world.activity(NATIONAL);
    assert_eq!(
        (&lines[0]["action"], &lines[0]["subject"]),
        (&json!("card.create"), &held["id"])
    );
    assert_eq!(world.activity(NORTH)[0]["action"], "card.apply");
}

fn limits_are_exact(engine: Engine) {
    let world = World::new(engine);
    let mut key = 0;
    let mut ask = |of: u32, number: &str| {
        key += 1;
        let caller = if of == NATIONAL {
            world.admin()
        } else {
            world.admin_of(of)
        };
        let body = format!(
            r#"{{"name":"C","spendLimit":{number},"spendLimitFrequency":"one_time","transactionLimit":{number}}}"#
        );
        caller.post("/v1/cards").key(&key.to_string()).text(&body)
    };
    for (of, number, printed) in [
        (NATIONAL, "0.01", "0.01"),
        (NATIONAL, "1e2", "100.00"),
        (NATIONAL, "10.10", "10.10"),
        (NATIONAL, "1000000", "1000000.00"),
        (NATIONAL, "1.0E+6", "1000000.00"),
        (NATIONAL, "0.29", "0.29"),
        (NATIONAL, "100000000e-2", "1000000.00"),
        (YEN, "125", "125"),
        (YEN, "10.00", "10"),
        (DINAR, "1.25", "1.250"),
        (DINAR, "1e6", "1000000.000"),
    ] {
        let card = ask(of, number).done(201)["card"].clone();
        assert_eq!(
            (&card["spendLimit"], &card["transactionLimit"]),
            (&json!(printed), &json!(printed)),
            "{number}"
        );
    }
    for (of, number) in [
        (NATIONAL, "10.005"),
        (NATIONAL, "0.001"),
        (NATIONAL, "1e-3"),
        (NATIONAL, "0"),
        (NATIONAL, "-0.0"),
        (NATIONAL, "-1"),
        (NATIONAL, "1000000.01"),
        (NATIONAL, "1e7"),
        (NATIONAL, "1e99999"),
        (NATIONAL, "\"100\""),
        (NATIONAL, "true"),
        (NATIONAL, "null"),
        (NATIONAL, "[1]"),
        (NATIONAL, "{}"),
        (NATIONAL, "1000000.00000000000000000000001"),
        (YEN, "10.50"),
        (YEN, "0.5"),
        (DINAR, "1.255"),
    ] {
        ask(of, number).invalid(Some("spendLimit"));
    }
    let body = |field: &str, value: Value| {
        let mut body = json!({ "name": "C", "spendLimit": 1, "spendLimitFrequency": "daily" });
        if value == "absent" {
            body.as_object_mut().unwrap().remove(field);
        } else {
            body[field] = value;
        }
        world
            .admin()
            .post("/v1/cards")
            .key("x")
            .json(body)
            .invalid(Some(field));
    };
    for (field, value) in [
        ("name", json!("absent")),
        ("name", json!(null)),
        ("name", json!("")),
        ("name", json!("x".repeat(101))),
        ("spendLimit", json!("absent")),
        ("spendLimitFrequency", json!("absent")),
        ("spendLimitFrequency", json!("yearly")),
        ("spendLimitFrequency", json!("Daily")),
        ("spendLimitFrequency", json!(null)),
        ("transactionLimit", json!(0)),
        ("transactionLimit", json!("1")),
        ("currency", json!("USD")),
        ("status", json!("active")),
    ] {
        body(field, value);
    }
    for word in ["daily", "weekly", "monthly", "one_time"] {
        let made = world
            .admin()
            .post("/v1/cards")
            .key(word)
            .json(json!({ "name": "C", "spendLimit": 1, "spendLimitFrequency": word }));
        assert_eq!(made.done(201)["card"]["spendLimitFrequency"], word);
    }
}
