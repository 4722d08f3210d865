//! Stripe's objects, read into what bursar asks a provider.

use bursar_app::online::port::{Outcome, Progress, SeenDispute, SeenPayout, SeenRefund, Trouble};
use bursar_domain::Timestamp;
use bursar_domain::ids::OnlineMoveId;
use bursar_domain::money::{Currency, Money};
use bursar_domain::online::MoveState;
use serde_json::Value;

use crate::REFUND;
use crate::amount::{currency_of, from_stripe};

/// Characters of a reason that are kept.
const REASON_MAX: usize = 200;

fn strange(what: &str) -> Trouble {
    Trouble::Unavailable(format!("Stripe's response cannot be understood: {what}"))
}

/// An object, or only its name.
pub(crate) fn id_of(value: &Value) -> Option<String> {
    let id = value.as_str().or_else(|| value["id"].as_str())?;
    Some(id.to_owned())
}

/// What a refund or a dispute is of. Without an intent, the charge has to do.
pub(crate) fn intent_of(value: &Value) -> Option<String> {
    id_of(&value["payment_intent"]).or_else(|| id_of(&value["charge"]))
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let text: String = text
        .chars()
        .filter(|c| !c.is_control())
        .take(REASON_MAX)
        .collect();
    Some(text).filter(|text| !text.trim().is_empty())
}

fn time(value: &Value) -> Result<Timestamp, Trouble> {
    let seconds = value
        .as_i64()
        .filter(|seconds| (0..=4_102_444_800).contains(seconds));
    let seconds = seconds.ok_or_else(|| strange("a time"))?;
    Ok(Timestamp::from_micros(seconds * 1_000_000))
}

fn money(count: &Value, currency: &Value) -> Result<Money, Trouble> {
    let currency = currency_of(currency).ok_or_else(|| strange("a currency"))?;
    let count = count.as_i64().ok_or_else(|| strange("an amount"))?;
    from_stripe(count, currency).ok_or_else(|| strange("an amount"))
}

/// A page that nobody has paid on yet.
pub(crate) fn unpaid(session: &Value) -> Outcome {
    Outcome {
        progress: match session["status"].as_str() {
            Some("expired") => Progress::Expired,
            _ => Progress::Waiting,
        },
        intent: None,
        charge: None,
        failure: None,
        fee: None,
        refunds: Vec::new(),
        disputes: Vec::new(),
    }
}

/// The last charge of an intent. Versions before 2022-11-15 list all of them.
fn charge_of(intent: &Value) -> Option<&Value> {
    let latest = &intent["latest_charge"];
    match latest.is_object() {
        true => Some(latest),
        false => intent["charges"]["data"].as_array()?.first(),
    }
}

pub(crate) fn is_disputed(intent: &Value) -> bool {
    charge_of(intent).is_some_and(|charge| charge["disputed"] == Value::Bool(true))
}

/// Without refunds and disputes.
pub(crate) fn outcome(session: &Value, intent: &Value, currency: Currency) -> Result<Outcome, Trouble> {
    let charge = charge_of(intent);
    let progress = match intent["status"].as_str() {
        Some("succeeded") => {
            let received = money(&intent["amount_received"], &intent["currency"]);
            let received = received.or_else(|_| money(&intent["amount"], &intent["currency"]))?;
            let at = charge.map_or(&intent["created"], |charge| &charge["created"]);
            Progress::Succeeded {
                amount: received.minor,
                currency: received.currency,
                at: time(at)?,
            }
        }
        Some("processing") => Progress::Processing,
        Some("canceled") => match session["status"].as_str() {
            Some("expired") => Progress::Expired,
            _ => Progress::Failed,
        },
        _ => match session["status"].as_str() {
            Some("expired") => Progress::Expired,
            // The payer was done, and then the money did not come.
            Some("complete") if intent["last_payment_error"].is_object() => Progress::Failed,
            _ => Progress::Waiting,
        },
    };
    let has_money = matches!(progress, Progress::Succeeded { .. });
    let fee = match charge.map(|charge| &charge["balance_transaction"]) {
        Some(transaction) if has_money && transaction.is_object() => {
            Some(money(&transaction["fee"], &transaction["currency"])?)
        }
        _ => None,
    };
    Ok(Outcome {
        intent: id_of(intent),
        charge: charge.filter(|_| has_money).and_then(id_of),
        failure: match has_money {
            true => None,
            false => failure(intent),
        },
        fee: fee.map(|fee| Money {
            // An amount of nothing is the same in every currency.
            currency: if fee.minor == 0 { currency } else { fee.currency },
            ..fee
        }),
        progress,
        refunds: Vec::new(),
        disputes: Vec::new(),
    })
}

/// Stripe's words for the payer: `Your card was declined.`
fn failure(intent: &Value) -> Option<String> {
    let error = &intent["last_payment_error"];
    text(&error["message"]).or_else(|| error.is_object().then(|| "The card was declined.".to_owned()))
}

pub(crate) fn refund(refund: &Value) -> Result<SeenRefund, Trouble> {
    let amount = money(&refund["amount"], &refund["currency"])?;
    let wanted = refund["metadata"][REFUND].as_str();
    Ok(SeenRefund {
        reference: id_of(refund).ok_or_else(|| strange("a refund without a name"))?,
        wanted: wanted.and_then(OnlineMoveId::parse),
        amount: amount.minor,
        state: match refund["status"].as_str() {
            Some("succeeded") => MoveState::Succeeded,
            Some("failed" | "canceled") => MoveState::Failed,
            _ => MoveState::Pending,
        },
        at: time(&refund["created"])?,
    })
}

/// Money is withdrawn when Stripe has booked it; an inquiry of the bank withdraws nothing.
pub(crate) fn dispute_state(dispute: &Value) -> MoveState {
    let booked = dispute["balance_transactions"].as_array();
    let is_withdrawn = booked.is_some_and(|booked| !booked.is_empty());
    match dispute["status"].as_str() {
        Some("lost") => MoveState::Lost,
        Some("won" | "warning_closed" | "prevented") => MoveState::Won,
        _ if is_withdrawn => MoveState::Withdrawn,
        _ => MoveState::Inquiry,
    }
}

pub(crate) fn dispute(dispute: &Value, currency: Currency) -> Result<SeenDispute, Trouble> {
    let amount = money(&dispute["amount"], &dispute["currency"])?;
    let mut fee = 0;
    for booked in dispute["balance_transactions"].as_array().into_iter().flatten() {
        let part = money(&booked["fee"], &booked["currency"])?;
        if part.minor != 0 && part.currency != currency {
            return Err(Trouble::Refused(format!(
                "Stripe took the fee of a dispute in {}; book it by hand",
                part.currency
            )));
        }
        fee += part.minor;
    }
    Ok(SeenDispute {
        reference: id_of(dispute).ok_or_else(|| strange("a dispute without a name"))?,
        amount: amount.minor,
        fee,
        state: dispute_state(dispute),
        reason: text(&dispute["reason"]).map(|reason| reason.replace('_', " ")),
        at: time(&dispute["created"])?,
    })
}

pub(crate) fn payout(payout: &Value) -> Result<SeenPayout, Trouble> {
    Ok(SeenPayout {
        reference: id_of(payout).ok_or_else(|| strange("a payout without a name"))?,
        amount: money(&payout["amount"], &payout["currency"])?,
        state: match payout["status"].as_str() {
            Some("paid") => MoveState::Paid,
            Some("failed" | "canceled") => MoveState::Failed,
            _ => MoveState::Pending,
        },
        created_at: time(&payout["created"])?,
        arrives_at: time(&payout["arrival_date"])?,
    })
}

#[cfg(test)]
mod tests;
