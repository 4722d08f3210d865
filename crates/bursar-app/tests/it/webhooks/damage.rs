//! `check` finds what is wrong with endpoints.

use bursar_db::Value;

use super::*;
use crate::support::plant;

/// What is planted, and the kind of problem that it is. The subject is the endpoint, or `?2` where it names another.
const DAMAGE: [(&str, &str); 22] = [
    (
        "UPDATE webhooks SET url = 'ftp://example.org' WHERE id = ?1",
        "rule",
    ),
    (
        "UPDATE webhooks SET types = '[\"payment.payed\"]' WHERE id = ?1",
        "rule",
    ),
    ("UPDATE webhooks SET types = '[]' WHERE id = ?1", "rule"),
    ("UPDATE webhooks SET scopes = 0 WHERE id = ?1", "rule"),
    ("UPDATE webhooks SET scopes = -1 WHERE id = ?1", "rule"),
    ("UPDATE webhooks SET disabled_at = 1 WHERE id = ?1", "rule"),
    (
        "UPDATE webhooks SET is_enabled = 0, disabled_at = 1 WHERE id = ?1",
        "rule",
    ),
    (
        "UPDATE webhooks SET refusals = attempts + 1 WHERE id = ?1",
        "rule",
    ),
    (
        "UPDATE webhooks SET cursor_at = cursor_at + 86400000000 WHERE id = ?1",
        "rule",
    ),
    (
        "UPDATE webhooks SET cursor_at = cursor_at - 1 WHERE id = ?1",
        "rule",
    ),
    ("UPDATE webhooks SET cursor_id = id WHERE id = ?1", "rule"),
    (
        "UPDATE event_horizons SET created_at = (SELECT cursor_at + 1 FROM webhooks WHERE id = ?1)",
        "rule",
    ),
    (
        "UPDATE webhooks SET leased_until = 5, claim = 0 WHERE id = ?1",
        "rule",
    ),
    (
        "UPDATE webhook_secrets SET sealed = ?1 WHERE webhook_id = ?1",
        "rule",
    ),
    (
        "UPDATE webhook_secrets SET ends_at = 5 WHERE webhook_id = ?1",
        "rule",
    ),
    (
        "UPDATE webhook_secrets SET ends_at = NULL WHERE webhook_id = ?1",
        "rule",
    ),
    ("DELETE FROM webhook_secrets WHERE webhook_id = ?1", "rule"),
    (
        "UPDATE webhook_deliveries SET status = 500 WHERE webhook_id = ?1 AND outcome = 'delivered'",
        "rule",
    ),
    (
        "UPDATE webhook_deliveries SET outcome = 'lost' WHERE webhook_id = ?1",
        "rule",
    ),
    (
        "UPDATE webhook_deliveries SET webhook_id = ?2 WHERE webhook_id = ?1",
        "reference",
    ),
    (
        "UPDATE webhook_secrets SET webhook_id = ?2 WHERE webhook_id = ?1",
        "reference",
    ),
    (
        "UPDATE webhook_extras SET webhook_id = ?2 WHERE webhook_id = ?1",
        "reference",
    ),
];

/// An endpoint with two secrets, with deliveries, at an event, and with one that waits out of turn.
fn furnished(db: &Db) -> WebhookId {
    let id = create(db, 1, new()).unwrap().id;
    done(db, 2, move |act| {
        webhooks::rotate(act, id, None, &key(), &[8; SECRET_ENTROPY])
    })
    .unwrap();
    group(db, 3, "One");
    group(db, 4, "Two");
    let (claimed, one) = claim_first(db, 5);
    let two = sent(answer(db, 5, claimed, &one, Some(200))).unwrap();
    assert!(sent(answer(db, 5, claimed, &two, Some(500))).is_none());
    done(db, 6, move |act| webhooks::test(act, id)).unwrap();
    id
}

/// Removes every endpoint with all that names one, and puts the horizon back.
fn cleared(db: &Db, horizon: i64) {
    let done: Result<(), bursar_db::DbError> = db.exclusive(|tx| {
        for sql in [
            "DELETE FROM webhooks",
            "DELETE FROM webhook_secrets",
            "DELETE FROM webhook_extras",
            "DELETE FROM webhook_deliveries",
        ] {
            tx.execute(sql, &[])?;
        }
        tx.execute(
            "UPDATE event_horizons SET created_at = ?1",
            &[Value::Int(horizon)],
        )
        .map(drop)
    });
    done.unwrap();
}

#[test]
fn every_damage_to_endpoints_is_found() {
    both_engines(|test| {
        let (db, other) = (&test.db, WebhookId::from_bits(99));
        club(db);
        let horizon = numbers(db, "SELECT created_at FROM event_horizons", &[])[0];
        for (sql, kind) in DAMAGE {
            let id = furnished(db);
            assert_eq!(problems(db), [], "before {sql}");
            let (id_bytes, other_bytes) = (id.to_bytes(), other.to_bytes());
            let mut params = vec![Value::Bytes(&id_bytes)];
            params.extend(sql.contains("?2").then_some(Value::Bytes(&other_bytes)));
            plant(db, sql, &params);
            let subject = if kind == "reference" { other } else { id };
            let found = problems(db);
            assert!(found.contains(&(kind, subject.to_string())), "{sql}: {found:?}");
            cleared(db, horizon);
        }
    });
}

#[test]
fn what_waits_for_a_disabled_endpoint_is_found() {
    both_engines(|test| {
        club(&test.db);
        let id = furnished(&test.db);
        plant(
            &test.db,
            "UPDATE webhooks SET is_enabled = 0, disabled_at = 1, disabled_reason = 'x' WHERE id = ?1",
            &[Value::Bytes(&id.to_bytes())],
        );
        assert_eq!(problems(&test.db), [("rule", id.to_string())]);
        done(&test.db, 7, move |act| webhooks::enable(act, id, false)).unwrap();
        assert_eq!(problems(&test.db), []);
    });
}
