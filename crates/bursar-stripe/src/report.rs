//! What a report of Stripe is about. Nothing in it is believed but the names: what happened is asked.

use bursar_app::online::Report;
use serde_json::Value;

use crate::PAYMENT;
use crate::read::id_of;

/// `None` for what has nothing to do with payments.
pub fn read(body: &[u8]) -> Option<Report> {
    let event: Value = serde_json::from_slice(body).ok()?;
    let object = &event["data"]["object"];
    let names = |fields: &[&str]| {
        let named = fields.iter().filter_map(|field| id_of(&object[*field]));
        // A card can be declined before bursar has heard of the intent.
        let ours = object["metadata"][PAYMENT].as_str().map(str::to_owned);
        let names: Vec<String> = named.chain(ours).collect();
        (!names.is_empty()).then_some(Report::Payment(names))
    };
    match object["object"].as_str()? {
        "checkout.session" => names(&["id", "payment_intent"]),
        "payment_intent" => names(&["id"]),
        "charge" => names(&["id", "payment_intent"]),
        "refund" | "dispute" => names(&["payment_intent", "charge"]),
        "payout" => Some(Report::Other),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_reports_are_about() {
        let about = |object: Value| {
            let body = json!({"type": "x", "data": {"object": object}}).to_string();
            read(body.as_bytes())
        };
        let payment = |names: &[&str]| {
            Some(Report::Payment(
                names.iter().map(|name| (*name).to_owned()).collect(),
            ))
        };
        assert_eq!(
            about(json!({"object": "checkout.session", "id": "cs_1", "payment_intent": null})),
            payment(&["cs_1"])
        );
        assert_eq!(
            about(json!({"object": "charge", "id": "ch_1", "payment_intent": "pi_1"})),
            payment(&["ch_1", "pi_1"])
        );
        assert_eq!(
            about(json!({"object": "payment_intent", "id": "pi_1", "metadata": {"bursar_payment": "onl_1"}})),
            payment(&["pi_1", "onl_1"])
        );
        assert_eq!(
            about(json!({"object": "dispute", "id": "dp_1", "charge": {"id": "ch_1"}})),
            payment(&["ch_1"])
        );
        assert_eq!(
            about(json!({"object": "payout", "id": "po_1"})),
            Some(Report::Other)
        );
        assert_eq!(about(json!({"object": "customer", "id": "cus_1"})), None);
        for strange in ["", "[]", "{}", "{\"data\": 1}", "nothing"] {
            assert_eq!(read(strange.as_bytes()), None, "{strange}");
        }
    }
}
