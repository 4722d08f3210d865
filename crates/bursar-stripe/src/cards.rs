//! Saved cards: a Checkout page in setup mode, and payments by the card without its owner.

use bursar_app::online::port::{Access, CardOrder, CardPage, Charged, Opened, Saved, SavedCard, Trouble};
use serde_json::{Value, json};

use crate::amount::to_stripe;
use crate::call::{Answer, Form};
use crate::{NAME_MAX, ORGANIZATION, PAGE, PAYMENT, Stripe, read};

/// Starts the names of payment intents.
pub(crate) const INTENT: &str = "pi_";
/// Our name in what Stripe keeps.
const CARD: &str = "bursar_card";

pub(crate) fn save(stripe: &Stripe, access: &Access, page: &CardPage) -> Result<Opened, Trouble> {
    let mut form = Form::default();
    form.add("mode", "setup");
    form.add("currency", &page.currency.code().to_ascii_lowercase());
    form.add("customer_creation", "always");
    form.add("payment_method_types[]", "card");
    form.add("success_url", &page.success_url);
    form.add("cancel_url", &page.cancel_url);
    let seconds = page.expires_at.micros().div_euclid(1_000_000);
    form.add("expires_at", &seconds.to_string());
    form.add("client_reference_id", &page.id.to_string());
    if let Some(email) = &page.email {
        form.add("customer_email", email);
    }
    for start in ["metadata", "setup_intent_data[metadata]"] {
        form.add(&format!("{start}[{CARD}]"), &page.id.to_string());
        form.add(
            &format!("{start}[{ORGANIZATION}]"),
            &page.organization.to_string(),
        );
    }
    stripe.open_page(access, &form, &page.id.to_string())
}

pub(crate) fn saved(stripe: &Stripe, access: &Access, session: &str) -> Result<Saved, Trouble> {
    let mut query = Form::default();
    query.add("expand[]", "setup_intent.payment_method");
    let path = format!("/v1/checkout/sessions/{session}");
    let session = stripe.client.get(access, &path, &query)?;
    read_saved(&session)
}

fn read_saved(session: &Value) -> Result<Saved, Trouble> {
    let setup = &session["setup_intent"];
    match (session["status"].as_str(), setup["status"].as_str()) {
        (Some("expired"), _) => return Ok(Saved::Gone),
        (_, Some("canceled")) => return Ok(Saved::Gone),
        (Some("complete"), Some("succeeded")) => {}
        _ => return Ok(Saved::Waiting),
    }
    let strange = || Trouble::Unavailable("Stripe's response has no saved card".to_owned());
    let (method, card) = (&setup["payment_method"], &setup["payment_method"]["card"]);
    let customer = read::id_of(&session["customer"]).or_else(|| read::id_of(&setup["customer"]));
    Ok(Saved::Card(SavedCard {
        customer: customer.ok_or_else(strange)?,
        method: read::id_of(method).ok_or_else(strange)?,
        words: words(card),
        until: until(card),
    }))
}

/// `Visa ending in 4242`.
fn words(card: &Value) -> String {
    let plain = |text: &Value| -> String {
        let text = text.as_str().unwrap_or_default();
        text.chars()
            .filter(|c| c.is_ascii_alphanumeric())
            .take(20)
            .collect()
    };
    let brand = match card["brand"].as_str() {
        Some("visa") => "Visa".to_owned(),
        Some("mastercard") => "Mastercard".to_owned(),
        Some("amex") => "American Express".to_owned(),
        Some("unknown") | None => "card".to_owned(),
        Some(_) => plain(&card["brand"]),
    };
    match plain(&card["last4"]).as_str() {
        "" => brand,
        last => format!("{brand} ending in {last}"),
    }
}

fn until(card: &Value) -> Option<String> {
    let (year, month) = (card["exp_year"].as_i64()?, card["exp_month"].as_i64()?);
    let is_month = (2000..=9999).contains(&year) && (1..=12).contains(&month);
    is_month.then(|| format!("{year}-{month:02}"))
}

/// A payment of a saved card as a page that its owner is done with.
pub(crate) fn page_of(intent: &str) -> Value {
    json!({"status": "complete", "payment_intent": intent})
}

/// Asks first whether Stripe has it: Stripe remembers our key for a day, and an answer can get lost for longer.
pub(crate) fn charge(stripe: &Stripe, access: &Access, order: &CardOrder) -> Result<Charged, Trouble> {
    if order.customer.is_empty() {
        return Ok(Charged::Never);
    }
    if let Some(name) = find(stripe, access, order)? {
        return Ok(Charged::Made(name));
    }
    if !order.may_begin {
        return Ok(Charged::Never);
    }
    let mut form = Form::default();
    form.add("amount", &to_stripe(order.amount)?.to_string());
    form.add("currency", &order.amount.currency.code().to_ascii_lowercase());
    form.add("customer", &order.customer);
    form.add("payment_method", &order.method);
    form.add("payment_method_types[]", "card");
    form.add("off_session", "true");
    form.add("confirm", "true");
    let words: String = order.words.chars().take(NAME_MAX).collect();
    form.add("description", &words);
    form.add(&format!("metadata[{PAYMENT}]"), &order.id.to_string());
    form.add(
        &format!("metadata[{ORGANIZATION}]"),
        &order.organization.to_string(),
    );
    let path = "/v1/payment_intents";
    let answer = stripe
        .client
        .post_for(access, path, &form, &order.id.to_string())?;
    // A declined card is an error of Stripe's that has the payment in it.
    let declined = read::id_of(&answer.value["error"]["payment_intent"]);
    match (answer.status, declined) {
        (400 | 402, Some(name)) => Ok(Charged::Made(name)),
        (402, None) => Ok(Charged::Declined(answer.words())),
        (400 | 404, None) if is_about_card(&answer) => Ok(Charged::Declined(
            "The payment provider does not have the saved card any more.".to_owned(),
        )),
        _ => {
            let intent = answer.good(path)?;
            let name = read::id_of(&intent);
            let nameless = || Trouble::Unavailable("Stripe's response has no payment".to_owned());
            Ok(Charged::Made(name.ok_or_else(nameless)?))
        }
    }
}

/// Stripe does not have the card, or has detached it from its owner; it has no code for the latter.
fn is_about_card(answer: &Answer) -> bool {
    let words = answer.words().to_lowercase();
    answer.is_missing() || words.contains("payment method") || words.contains("paymentmethod")
}

fn find(stripe: &Stripe, access: &Access, order: &CardOrder) -> Result<Option<String>, Trouble> {
    let mut query = Form::default();
    query.add("customer", &order.customer);
    query.add("limit", PAGE);
    let page = stripe.client.get(access, "/v1/payment_intents", &query)?;
    let own = order.id.to_string();
    let found = page["data"].as_array().into_iter().flatten();
    let mut names = found.filter(|intent| intent["metadata"][PAYMENT] == *own);
    Ok(names.next().and_then(read::id_of))
}

pub(crate) fn forget(stripe: &Stripe, access: &Access, method: &str) -> Result<(), Trouble> {
    let path = format!("/v1/payment_methods/{method}/detach");
    let key = format!("forget-{method}");
    let answer = stripe.client.post_for(access, &path, &Form::default(), &key)?;
    let is_gone = answer.is_missing() || answer.words().contains("not attached");
    match is_gone {
        true => Ok(()),
        false => answer.good(&path).map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_named() {
        for (card, expected) in [
            (json!({"brand": "visa", "last4": "4242"}), "Visa ending in 4242"),
            (
                json!({"brand": "amex", "last4": "0005"}),
                "American Express ending in 0005",
            ),
            (json!({"brand": "<b>x", "last4": ""}), "bx"),
            (json!({}), "card"),
        ] {
            assert_eq!(words(&card), expected);
        }
        assert_eq!(
            until(&json!({"exp_year": 2028, "exp_month": 4})).as_deref(),
            Some("2028-04")
        );
        assert_eq!(until(&json!({"exp_year": 2028, "exp_month": 13})), None);
    }

    #[test]
    fn a_card_is_saved_when_the_page_is_done() {
        let setup = json!({"status": "succeeded", "payment_method": {"id": "pm_1", "card": {"brand": "visa", "last4": "4242"}}});
        let done = json!({"status": "complete", "customer": "cus_1", "setup_intent": setup});
        let Ok(Saved::Card(card)) = read_saved(&done) else {
            panic!("not saved");
        };
        assert_eq!((card.customer.as_str(), card.method.as_str()), ("cus_1", "pm_1"));
        for (session, expected) in [
            (json!({"status": "open", "setup_intent": null}), Saved::Waiting),
            (json!({"status": "expired", "setup_intent": null}), Saved::Gone),
            (
                json!({"status": "complete", "setup_intent": {"status": "processing"}}),
                Saved::Waiting,
            ),
        ] {
            assert_eq!(read_saved(&session), Ok(expected));
        }
        let nobody =
            json!({"status": "complete", "setup_intent": {"status": "succeeded", "payment_method": "pm_1"}});
        assert!(matches!(read_saved(&nobody), Err(Trouble::Unavailable(_))));
    }
}
