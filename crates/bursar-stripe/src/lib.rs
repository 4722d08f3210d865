//! Stripe as bursar's payment provider.
//!
//! [`Stripe`] asks Stripe's API: hosted Checkout pages, what became of them, refunds, disputes and payouts. [`signature`]
//! verifies the reports that Stripe sends, and [`report`] reads what they are about. Nothing is kept here.

pub mod amount;
mod call;
mod cards;
mod read;
pub mod report;
pub mod signature;

use bursar_app::online::port::{
    Access, CardOrder, CardPage, Charged, Checkout, Opened, Outcome, Provider, Recent, RefundOrder, Saved,
    SeenRefund, Tested, Trouble,
};
use bursar_domain::Timestamp;
use bursar_domain::money::Currency;
use serde_json::Value;

use self::amount::{currency_of, to_stripe};
use self::call::{Client, Form};

pub use self::call::parse_base;

/// Where Stripe answers.
pub const API: &str = "https://api.stripe.com";
/// How the keys of `bursar demo` begin. Stripe does not know them.
pub const DEMO_KEY: &str = "rk_test_demo_";
/// Objects of one page of a list, and pages of one list.
const PAGE: &str = "100";
const PAGES_MAX: usize = 20;
/// Our names in what Stripe keeps.
const PAYMENT: &str = "bursar_payment";
const ORGANIZATION: &str = "bursar_organization";
const REFUND: &str = "bursar_refund";
/// Characters of a product's name that Stripe shows.
const NAME_MAX: usize = 250;

#[derive(Debug)]
pub struct Stripe {
    client: Client,
}

impl Stripe {
    /// The base is [`API`], or what stands in for it in tests.
    pub fn new(base: &str) -> Self {
        Self {
            client: Client::new(base),
        }
    }

    /// Every object of a list that was made since a time.
    fn list(&self, access: &Access, path: &str, since: Timestamp) -> Result<Vec<Value>, Trouble> {
        let (mut found, mut after): (Vec<Value>, Option<String>) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let mut query = Form::default();
            query.add("limit", PAGE);
            query.add("created[gte]", &since.micros().div_euclid(1_000_000).to_string());
            if let Some(after) = &after {
                query.add("starting_after", after);
            }
            let page = self.client.get(access, path, &query)?;
            let data = page["data"].as_array().cloned().unwrap_or_default();
            after = data
                .last()
                .and_then(|last| last["id"].as_str())
                .map(str::to_owned);
            let is_last = page["has_more"] != Value::Bool(true) || data.is_empty();
            found.extend(data);
            if is_last {
                return Ok(found);
            }
        }
        Err(Trouble::Unavailable(format!(
            "Stripe lists more than {} objects at {path} in the last days",
            found.len()
        )))
    }

    /// The payment intent with its last charge and what that cost.
    fn intent(&self, access: &Access, id: &str) -> Result<Value, Trouble> {
        let mut query = Form::default();
        query.add("expand[]", "latest_charge.balance_transaction");
        self.client
            .get(access, &format!("/v1/payment_intents/{id}"), &query)
    }

    fn open_page(&self, access: &Access, form: &Form, key: &str) -> Result<Opened, Trouble> {
        let session = self.client.post(access, "/v1/checkout/sessions", form, key)?;
        match (session["id"].as_str(), session["url"].as_str()) {
            (Some(id), Some(url)) => Ok(Opened {
                session: id.to_owned(),
                url: url.to_owned(),
            }),
            _ => Err(Trouble::Unavailable(
                "Stripe returned a checkout page without an address".to_owned(),
            )),
        }
    }

    fn of_intent(&self, access: &Access, path: &str, intent: &str) -> Result<Vec<Value>, Trouble> {
        let mut query = Form::default();
        query.add("payment_intent", intent);
        query.add("limit", PAGE);
        let page = self.client.get(access, path, &query)?;
        Ok(page["data"].as_array().cloned().unwrap_or_default())
    }
}

impl Provider for Stripe {
    fn test(&self, access: &Access) -> Result<Tested, Trouble> {
        let balance = self.client.get(access, "/v1/balance", &Form::default())?;
        let mut one = Form::default();
        one.add("limit", "1");
        // What the key has to read beside the balance.
        for path in [
            "/v1/payment_intents",
            "/v1/refunds",
            "/v1/disputes",
            "/v1/payouts",
        ] {
            self.client.get(access, path, &one)?;
        }
        let available = balance["available"].as_array().cloned().unwrap_or_default();
        let currencies = available
            .iter()
            .filter_map(|part| currency_of(&part["currency"]))
            .collect();
        Ok(Tested {
            is_live: balance["livemode"] == Value::Bool(true),
            currencies,
        })
    }

    fn open(&self, access: &Access, checkout: &Checkout) -> Result<Opened, Trouble> {
        let mut form = Form::default();
        form.add("mode", "payment");
        form.add("success_url", &checkout.success_url);
        form.add("cancel_url", &checkout.cancel_url);
        let seconds = checkout.expires_at.micros().div_euclid(1_000_000);
        form.add("expires_at", &seconds.to_string());
        form.add("client_reference_id", &checkout.id.to_string());
        if let Some(email) = &checkout.email {
            form.add("customer_email", email);
        }
        for start in ["metadata", "payment_intent_data[metadata]"] {
            form.add(&format!("{start}[{PAYMENT}]"), &checkout.id.to_string());
            form.add(
                &format!("{start}[{ORGANIZATION}]"),
                &checkout.organization.to_string(),
            );
        }
        for (at, (words, amount)) in checkout.lines.iter().enumerate() {
            let start = format!("line_items[{at}]");
            let name: String = words.chars().take(NAME_MAX).collect();
            let code = amount.currency.code().to_ascii_lowercase();
            form.add(&format!("{start}[quantity]"), "1");
            form.add(&format!("{start}[price_data][currency]"), &code);
            form.add(
                &format!("{start}[price_data][unit_amount]"),
                &to_stripe(*amount)?.to_string(),
            );
            form.add(&format!("{start}[price_data][product_data][name]"), &name);
        }
        self.open_page(access, &form, &checkout.id.to_string())
    }

    fn outcome(&self, access: &Access, session: &str, currency: Currency) -> Result<Outcome, Trouble> {
        // One that is charged to a saved card has no page: it is an intent from the beginning.
        let session = match session.starts_with(cards::INTENT) {
            true => cards::page_of(session),
            false => {
                let path = format!("/v1/checkout/sessions/{session}");
                self.client.get(access, &path, &Form::default())?
            }
        };
        let Some(id) = read::id_of(&session["payment_intent"]) else {
            return Ok(read::unpaid(&session));
        };
        let intent = self.intent(access, &id)?;
        let mut outcome = read::outcome(&session, &intent, currency)?;
        if outcome.charge.is_some() {
            let refunds = self.of_intent(access, "/v1/refunds", &id)?;
            outcome.refunds = refunds.iter().map(read::refund).collect::<Result<_, _>>()?;
            if read::is_disputed(&intent) {
                let disputes = self.of_intent(access, "/v1/disputes", &id)?;
                outcome.disputes = disputes
                    .iter()
                    .map(|dispute| read::dispute(dispute, currency))
                    .collect::<Result<_, _>>()?;
            }
        }
        Ok(outcome)
    }

    fn refund(&self, access: &Access, order: &RefundOrder) -> Result<SeenRefund, Trouble> {
        let mut form = Form::default();
        form.add("payment_intent", &order.intent);
        form.add("amount", &to_stripe(order.amount)?.to_string());
        form.add(&format!("metadata[{REFUND}]"), &order.id.to_string());
        let refund = self
            .client
            .post(access, "/v1/refunds", &form, &order.id.to_string())?;
        let mut seen = read::refund(&refund)?;
        seen.wanted = Some(order.id);
        Ok(seen)
    }

    fn recent(&self, access: &Access, since: Timestamp) -> Result<Recent, Trouble> {
        let payouts = self.list(access, "/v1/payouts", since)?;
        let refunds = self.list(access, "/v1/refunds", since)?;
        let disputes = self.list(access, "/v1/disputes", since)?;
        let mut touched = Vec::new();
        for refund in &refunds {
            let seen = read::refund(refund)?;
            touched.extend(read::intent_of(refund).map(|intent| (intent, seen.reference, seen.state)));
        }
        for dispute in &disputes {
            let state = read::dispute_state(dispute);
            let reference = read::id_of(&dispute["id"]).unwrap_or_default();
            touched.extend(read::intent_of(dispute).map(|intent| (intent, reference, state)));
        }
        Ok(Recent {
            payouts: payouts.iter().map(read::payout).collect::<Result<_, _>>()?,
            touched,
        })
    }

    fn save_card(&self, access: &Access, page: &CardPage) -> Result<Opened, Trouble> {
        cards::save(self, access, page)
    }

    fn saved(&self, access: &Access, session: &str) -> Result<Saved, Trouble> {
        cards::saved(self, access, session)
    }

    fn charge(&self, access: &Access, order: &CardOrder) -> Result<Charged, Trouble> {
        cards::charge(self, access, order)
    }

    fn forget(&self, access: &Access, method: &str) -> Result<(), Trouble> {
        cards::forget(self, access, method)
    }
}
