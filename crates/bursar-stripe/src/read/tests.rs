use serde_json::json;

use super::*;

fn intent(status: &str) -> Value {
    json!({
        "id": "pi_1", "object": "payment_intent", "status": status, "amount": 2_500, "amount_received": 2_500,
        "currency": "usd", "created": 1_790_000_000,
        "latest_charge": {
            "id": "ch_1", "created": 1_790_000_060, "disputed": false,
            "balance_transaction": {"id": "txn_1", "fee": 103, "currency": "usd"},
        },
    })
}

fn usd() -> Currency {
    Currency::parse("USD").unwrap()
}

fn session(status: &str) -> Value {
    json!({"id": "cs_1", "object": "checkout.session", "status": status, "payment_intent": "pi_1"})
}

#[test]
fn a_payment_that_came() {
    let outcome = outcome(&session("complete"), &intent("succeeded"), usd()).unwrap();
    assert_eq!(
        outcome.progress,
        Progress::Succeeded {
            amount: 2_500,
            currency: usd(),
            at: Timestamp::from_micros(1_790_000_060_000_000),
        }
    );
    assert_eq!(outcome.charge.as_deref(), Some("ch_1"));
    assert_eq!(outcome.fee, Some(Money::new(103, usd())));
}

#[test]
fn progress_follows_from_intent_and_page() {
    let mut declined = intent("requires_payment_method");
    declined["last_payment_error"] = json!({"message": "Your card was declined.", "code": "card_declined"});
    for (page, intent, progress, failure) in [
        ("open", intent("requires_payment_method"), Progress::Waiting, None),
        ("open", intent("requires_action"), Progress::Waiting, None),
        (
            "open",
            declined.clone(),
            Progress::Waiting,
            Some("Your card was declined."),
        ),
        (
            "expired",
            declined.clone(),
            Progress::Expired,
            Some("Your card was declined."),
        ),
        (
            "complete",
            declined,
            Progress::Failed,
            Some("Your card was declined."),
        ),
        ("complete", intent("processing"), Progress::Processing, None),
        ("expired", intent("canceled"), Progress::Expired, None),
        ("complete", intent("canceled"), Progress::Failed, None),
    ] {
        let outcome = outcome(&session(page), &intent, usd()).unwrap();
        assert_eq!(outcome.progress, progress, "{page} {intent}");
        assert_eq!(outcome.failure.as_deref(), failure, "{page} {intent}");
        assert_eq!((outcome.charge, outcome.fee), (None, None));
    }
    assert_eq!(unpaid(&session("expired")).progress, Progress::Expired);
    assert_eq!(unpaid(&session("open")).progress, Progress::Waiting);
}

#[test]
fn disputes_are_withdrawn_when_stripe_has_booked_it() {
    let dispute = |status: &str, booked: Value| {
        json!({
            "id": "dp_1", "amount": 2_500, "currency": "usd", "status": status, "reason": "product_not_received",
            "created": 1_790_000_000, "balance_transactions": booked, "payment_intent": "pi_1",
        })
    };
    let booked = json!([{"amount": -2_500, "fee": 1_500, "currency": "usd"}]);
    for (status, booked, state) in [
        ("warning_needs_response", json!([]), MoveState::Inquiry),
        ("warning_closed", json!([]), MoveState::Won),
        ("needs_response", booked.clone(), MoveState::Withdrawn),
        ("under_review", booked.clone(), MoveState::Withdrawn),
        ("won", booked.clone(), MoveState::Won),
        ("lost", booked.clone(), MoveState::Lost),
    ] {
        assert_eq!(dispute_state(&dispute(status, booked)), state, "{status}");
    }
    let seen = super::dispute(&dispute("lost", booked), usd()).unwrap();
    assert_eq!((seen.amount, seen.fee), (2_500, 1_500));
    assert_eq!(seen.reason.as_deref(), Some("product not received"));
}

#[test]
fn what_cannot_be_understood_is_trouble() {
    for strange in [
        json!({}),
        json!({"id": "re_1", "amount": "5", "currency": "usd", "created": 1}),
        json!({"id": "re_1", "amount": 5, "currency": "xyz1", "created": 1}),
        json!({"id": "re_1", "amount": 5, "currency": "usd", "created": "now"}),
        json!({"amount": 5, "currency": "usd", "created": 1}),
    ] {
        assert!(refund(&strange).is_err(), "{strange}");
    }
}
