//! The shapes that bursar reads, and what time does.

use std::path::Path;

use serde_json::{Value, json};

use super::*;

const KEY: &str = "rk_test_1";
const START: i64 = 1_790_000_000;

struct Desk(Counter);

impl Desk {
    fn new(file: Option<&Path>) -> Self {
        let state = file.map_or_else(State::default, |file| State::read(file, 0).unwrap());
        let desk = Self(Counter {
            state: Mutex::new(state),
            file: file.map(Path::to_owned),
            site: OnceLock::new(),
            address: "http://cards".to_owned(),
            then: Mutex::new(None),
            bell: Bell::default(),
        });
        desk.wait(0);
        desk
    }

    /// It is so many seconds after the start.
    fn wait(&self, seconds: i64) {
        self.0
            .set_time(Some(Timestamp::from_micros((START + seconds) * 1_000_000)));
        self.0.tick();
    }

    fn send(&self, method: &str, path: &str, once: Option<&str>, form: &str) -> (u16, Value) {
        let request = Request::builder().method(method).uri(path).body(()).unwrap();
        self.0.call(&request.into_parts().0, KEY, once, form)
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.send("GET", path, None, "");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    fn post(&self, path: &str, form: &str) -> Value {
        let (status, body) = self.send("POST", path, None, form);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    fn pay(&self, session: &Value, last4: &str) -> u16 {
        self.0
            .pay(session["id"].as_str().unwrap(), last4)
            .status()
            .as_u16()
    }

    fn checkout(&self, amount: i64) -> Value {
        let form = format!(
            "mode=payment&success_url=http://b/paid&cancel_url=http://b/&line_items[0][quantity]=1\
             &line_items[0][price_data][currency]=usd&line_items[0][price_data][unit_amount]={amount}\
             &line_items[0][price_data][product_data][name]=Dues+%3C1%3E&payment_intent_data[metadata][bursar_payment]=onl_1"
        );
        self.post("/v1/checkout/sessions", &form)
    }

    /// The intent of a session, with its charge and fee.
    fn intent(&self, session: &Value) -> Value {
        let session = self.get(&format!(
            "/v1/checkout/sessions/{}",
            session["id"].as_str().unwrap()
        ));
        let id = session["payment_intent"].as_str().unwrap();
        self.get(&format!(
            "/v1/payment_intents/{id}?expand[]=latest_charge.balance_transaction"
        ))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn a_payment_declined_and_paid() {
    let desk = Desk::new(None);
    let session = desk.checkout(4_500);
    assert_eq!(session["status"], "open");
    assert_eq!(session["payment_intent"], Value::Null);
    assert!(session.get(OURS_NAME).is_none(), "{session}");
    assert_eq!(desk.pay(&session, "0002"), 422);
    let intent = desk.intent(&session);
    assert_eq!(intent["status"], "requires_payment_method");
    assert_eq!(intent["last_payment_error"]["message"], "Your card was declined.");
    assert_eq!(desk.pay(&session, "9999"), 422, "no such card");
    assert_eq!(desk.pay(&session, "4242"), 303);
    let paid = desk.intent(&session);
    assert_eq!(paid["id"], intent["id"], "one intent a session");
    assert_eq!(
        (&paid["status"], &paid["amount_received"]),
        (&json!("succeeded"), &json!(4_500))
    );
    assert_eq!(paid["metadata"]["bursar_payment"], "onl_1");
    assert_eq!(paid["latest_charge"]["balance_transaction"]["fee"], 161);
    assert_eq!(desk.pay(&session, "4242"), 303, "paid once");
    assert_eq!(desk.get("/v1/balance")["available"][0]["amount"], 4_339);
}

/// What is ours in an object.
const OURS_NAME: &str = till::OURS;

#[test]
fn refunds_disputes_and_payouts() {
    let desk = Desk::new(None);
    let (kept, claimed) = (desk.checkout(10_000), desk.checkout(2_000));
    desk.pay(&kept, "4242");
    desk.pay(&claimed, "0259");
    let intent = desk.intent(&kept);
    let form = format!(
        "payment_intent={}&amount=1000&metadata[bursar_refund]=omv_1",
        text(&intent["id"])
    );
    let (_, first) = desk.send("POST", "/v1/refunds", Some("k"), &form);
    let (_, again) = desk.send("POST", "/v1/refunds", Some("k"), &form);
    assert_eq!(first, again);
    assert_eq!(first["metadata"]["bursar_refund"], "omv_1");
    let (status, other) = desk.send("POST", "/v1/refunds", Some("k"), "payment_intent=pi_2");
    assert_eq!(status, 400, "another body with the same key: {other}");
    let (status, _) = desk.send("POST", "/v1/refunds", None, &form.replace("1000", "9001"));
    assert_eq!(status, 400, "more than is left");
    assert_eq!(desk.get("/v1/disputes")["data"], json!([]));
    desk.wait(6);
    let disputes = desk.get("/v1/disputes");
    let dispute = &disputes["data"][0];
    assert_eq!(
        (&dispute["amount"], &dispute["status"]),
        (&json!(2_000), &json!("needs_response"))
    );
    assert_eq!(dispute["balance_transactions"][0]["fee"], 1_500);
    assert_eq!(desk.intent(&claimed)["latest_charge"]["disputed"], true);
    desk.wait(20);
    assert_eq!(desk.get("/v1/payouts")["data"], json!([]), "it is not quiet yet");
    desk.wait(60);
    let balance = 10_000 - 320 - 1_000 + 2_000 - 88 - 2_000 - 1_500;
    let payouts = desk.get("/v1/payouts?created[gte]=1790000060");
    assert_eq!(payouts["data"][0]["amount"], balance);
    desk.wait(600);
    assert_eq!(desk.get("/v1/payouts")["data"].as_array().unwrap().len(), 1);
    let id = text(&dispute["id"]);
    assert_eq!(
        desk.post(&format!("/v1/disputes/{id}/close"), "")["status"],
        "lost"
    );
    assert_eq!(desk.get(&format!("/v1/disputes/{id}"))["status"], "lost");
}

/// A card is saved on a page, charged while nobody is there, and removed.
#[test]
fn saved_cards() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cards.json");
    let save = |desk: &Desk, last4: &str| {
        let form = "mode=setup&currency=usd&customer_creation=always&success_url=http://b/saved&cancel_url=http://b/";
        let session = desk.post("/v1/checkout/sessions", form);
        assert_eq!(desk.pay(&session, "0002"), 422, "this one cannot be saved");
        assert_eq!(desk.pay(&session, last4), 303);
        let id = text(&session["id"]);
        desk.get(&format!(
            "/v1/checkout/sessions/{id}?expand[]=setup_intent.payment_method"
        ))
    };
    let desk = Desk::new(Some(&file));
    let (good, bad) = (save(&desk, "4242"), save(&desk, "0341"));
    assert_eq!(good["status"], "complete");
    assert_eq!(good["setup_intent"]["status"], "succeeded");
    let card = &good["setup_intent"]["payment_method"]["card"];
    assert_eq!((&card["brand"], &card["last4"]), (&json!("visa"), &json!("4242")));
    assert!(card["exp_year"].as_i64().unwrap() > 2_026, "{card}");
    drop(desk);

    // Another process knows it all.
    let desk = Desk::new(Some(&file));
    let charge = |saved: &Value, once: &str| {
        let (customer, method) = (
            text(&saved["customer"]),
            text(&saved["setup_intent"]["payment_method"]["id"]),
        );
        let form = format!(
            "amount=2000&currency=usd&customer={customer}&payment_method={method}&off_session=true&confirm=true\
             &metadata[bursar_payment]=onl_2&expand[]=latest_charge.balance_transaction"
        );
        desk.send("POST", "/v1/payment_intents", Some(once), &form)
    };
    let (status, paid) = charge(&good, "a");
    assert_eq!((status, &paid["status"]), (200, &json!("succeeded")), "{paid}");
    assert_eq!(paid["latest_charge"]["balance_transaction"]["fee"], 88);
    assert_eq!(charge(&good, "a").1, paid, "charged once");
    let (status, declined) = charge(&bad, "b");
    assert_eq!(status, 402, "{declined}");
    let error = &declined["error"];
    assert_eq!(
        (&error["code"], &error["type"]),
        (&json!("card_declined"), &json!("card_error"))
    );
    assert_eq!(error["payment_intent"]["status"], "requires_payment_method");
    assert_eq!(charge(&bad, "b").1, declined);
    let method = text(&good["setup_intent"]["payment_method"]["id"]);
    let detached = desk.post(&format!("/v1/payment_methods/{method}/detach"), "");
    assert_eq!(detached["customer"], Value::Null);
    assert_eq!(charge(&good, "c").0, 400, "removed");
}

#[test]
fn pages_of_lists_and_pages_that_end() {
    let desk = Desk::new(None);
    for at in 0..5 {
        desk.wait(at);
        let session = desk.checkout(100 + at);
        desk.pay(&session, "4242");
    }
    let page = desk.get("/v1/payment_intents?limit=3&created[gte]=1790000001");
    let amounts = |page: &Value| -> Vec<i64> {
        let data = page["data"].as_array().unwrap();
        data.iter()
            .map(|intent| till::number_of(&intent["amount"]))
            .collect()
    };
    assert_eq!(
        (amounts(&page), &page["has_more"]),
        (vec![104, 103, 102], &json!(true))
    );
    let after = text(&page["data"][2]["id"]);
    let rest = desk.get(&format!(
        "/v1/payment_intents?limit=3&created[gte]=1790000001&starting_after={after}"
    ));
    assert_eq!((amounts(&rest), &rest["has_more"]), (vec![101], &json!(false)));
    let session = desk.checkout(500);
    desk.wait(100_000);
    let id = text(&session["id"]);
    assert_eq!(
        desk.get(&format!("/v1/checkout/sessions/{id}"))["status"],
        "expired"
    );
    assert_eq!(desk.pay(&session, "4242"), 410);
    assert_eq!(desk.0.pay("cs_test_none", "4242").status().as_u16(), 404);
    assert_eq!(desk.send("GET", "/v1/nothing", None, "").0, 404);
    assert_eq!(desk.send("GET", "/v1/charges/ch_none", None, "").0, 404);
}
