//! One account of the demo's card provider at one moment: payments, refunds, disputes and payouts as Stripe has them
//! (<https://docs.stripe.com/api>).

use serde_json::{Value, json};

use super::state::{Account, Report};
use super::test_cards::{Behaviour, TestCard};

/// What a dispute costs, in the smallest unit.
const DISPUTE_FEE: i64 = 1_500;
/// How long after the payment the payer's bank disputes it.
const DISPUTE_SECONDS: i64 = 5;
/// A payout is made when nothing has moved for so long.
const QUIET_SECONDS: i64 = 30;
const DAY_SECONDS: i64 = 86_400;
/// Reports that wait to be sent. More are dropped: bursar asks by itself, later.
const REPORTS_MAX: usize = 1_000;
/// What is ours in an object; no answer has it.
pub(super) const OURS: &str = "_demo";

pub(super) struct Till<'a> {
    pub(super) account: &'a mut Account,
    pub(super) number: &'a mut u64,
    /// In seconds.
    pub(super) now: i64,
    /// Where payers' pages are.
    pub(super) pages: &'a str,
}

/// What is to be collected.
pub(super) struct Order {
    pub(super) amount: i64,
    pub(super) currency: Value,
    pub(super) metadata: Value,
    pub(super) customer: Value,
    pub(super) description: Value,
}

pub(super) fn number_of(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// Stripe's price for a card in the United States.
fn fee_of(amount: i64) -> i64 {
    ((amount * 29 + 500) / 1_000 + 30).min(amount)
}

impl Till<'_> {
    pub(super) fn new_id(&mut self, kind: &str) -> String {
        *self.number += 1;
        format!("{kind}_demo{:07}", self.number)
    }

    pub(super) fn get(&self, id: &str) -> Option<&Value> {
        self.account.objects.get(id)
    }

    pub(super) fn put(&mut self, object: &Value) {
        let id = object["id"].as_str().unwrap_or_default().to_owned();
        self.account.objects.insert(id, object.clone());
    }

    pub(super) fn of_kind<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Value> {
        let objects = self.account.objects.values();
        objects.filter(move |object| object["object"] == kind)
    }

    pub(super) fn report(&mut self, what: &str, object: &Value) {
        if self.account.hook.is_none() || self.account.reports.len() >= REPORTS_MAX {
            return;
        }
        let mut object = object.clone();
        if let Some(fields) = object.as_object_mut() {
            fields.remove(OURS);
        }
        let body = json!({
            "id": self.new_id("evt"), "object": "event", "api_version": "2024-06-20", "created": self.now,
            "livemode": false, "type": what, "data": { "object": object },
        });
        let report = Report {
            body,
            tries: 0,
            at: self.now,
        };
        self.account.reports.push_back(report);
    }

    /// A movement of the balance; its id.
    fn book(&mut self, what: (&str, &Value), amount: i64, fee: i64) -> Value {
        let (kind, source) = what;
        let transaction = json!({
            "id": self.new_id("txn"), "object": "balance_transaction", "type": kind, "source": source["id"],
            "amount": amount, "fee": fee, "net": amount - fee, "currency": source["currency"], "created": self.now,
            "available_on": self.now, "status": "available",
        });
        self.put(&transaction);
        transaction
    }

    /// By currency.
    pub(super) fn balances(&self) -> Vec<(String, i64)> {
        let mut found: Vec<(String, i64)> = Vec::new();
        for transaction in self.of_kind("balance_transaction") {
            let currency = transaction["currency"].as_str().unwrap_or_default();
            let net = number_of(&transaction["net"]);
            match found.iter_mut().find(|(known, _)| known == currency) {
                Some((_, sum)) => *sum += net,
                None => found.push((currency.to_owned(), net)),
            }
        }
        found
    }

    /// A card that a payer chose, as a payment method. Belongs to the customer, if there is one.
    pub(super) fn method(&mut self, card: &TestCard, customer: &Value) -> Value {
        // Cards are good for some years.
        let year = 1_970 + self.now / (DAY_SECONDS * 1_461 / 4) + 4;
        let method = json!({
            "id": self.new_id("pm"), "object": "payment_method", "type": "card", "created": self.now, "livemode": false,
            "customer": customer, "metadata": {},
            "card": { "brand": "visa", "last4": card.last4, "exp_month": 12, "exp_year": year, "funding": "credit",
                "country": "US" },
        });
        self.put(&method);
        method
    }

    /// Tries to collect with this card. The answer is the intent, and whether money came.
    pub(super) fn collect(&mut self, order: &Order, known: Option<Value>, method: &Value) -> (Value, bool) {
        let card = TestCard::of(&method["card"]["last4"]);
        let is_paid = !matches!(card.behaviour, Behaviour::Declined | Behaviour::DeclinedLater);
        let (id, created) = match known {
            Some(known) => (known["id"].clone(), known["created"].clone()),
            None => (json!(self.new_id("pi")), json!(self.now)),
        };
        let (status, error) = match is_paid {
            true => ("succeeded", Value::Null),
            false => ("requires_payment_method", declined(method)),
        };
        let mut charge = json!({
            "id": self.new_id("ch"), "object": "charge", "amount": order.amount, "amount_captured": 0,
            "amount_refunded": 0, "currency": order.currency, "created": self.now, "livemode": false, "paid": is_paid,
            "captured": is_paid, "refunded": false, "disputed": false, "status": if is_paid { "succeeded" } else { "failed" },
            "failure_code": error["code"], "failure_message": error["message"], "balance_transaction": null,
            "payment_intent": id, "payment_method": method["id"], "customer": order.customer,
            "metadata": order.metadata, "payment_method_details": { "type": "card", "card": method["card"] },
        });
        let intent = json!({
            "id": id, "object": "payment_intent", "amount": order.amount,
            "amount_received": if is_paid { order.amount } else { 0 }, "currency": order.currency, "status": status,
            "created": created, "livemode": false, "customer": order.customer, "description": order.description,
            "payment_method": if is_paid { method["id"].clone() } else { Value::Null }, "latest_charge": charge["id"],
            "last_payment_error": error, "metadata": order.metadata, "capture_method": "automatic",
        });
        if is_paid {
            let fee = fee_of(order.amount);
            charge["amount_captured"] = json!(order.amount);
            charge["balance_transaction"] = self.book(("charge", &charge), order.amount, fee)["id"].clone();
        }
        self.put(&charge);
        self.put(&intent);
        if is_paid && card.behaviour == Behaviour::Disputed {
            let id = id.as_str().unwrap_or_default().to_owned();
            self.account.disputes_due.insert(id, self.now + DISPUTE_SECONDS);
        }
        self.report(
            match is_paid {
                true => "payment_intent.succeeded",
                false => "payment_intent.payment_failed",
            },
            &intent,
        );
        (intent, is_paid)
    }

    /// The charge that brought an intent's money.
    pub(super) fn charge_of(&self, intent: &str) -> Option<Value> {
        let charge = self.get(intent)?["latest_charge"].as_str()?;
        self.get(charge).filter(|charge| charge["paid"] == true).cloned()
    }

    /// Pays back; the caller has checked that so much is left.
    pub(super) fn refund(&mut self, mut charge: Value, amount: i64, metadata: &Value) -> Value {
        let mut refund = json!({
            "id": self.new_id("re"), "object": "refund", "amount": amount, "currency": charge["currency"],
            "charge": charge["id"], "payment_intent": charge["payment_intent"], "created": self.now,
            "status": "succeeded", "reason": null, "metadata": metadata,
        });
        let transaction = self.book(("refund", &refund), -amount, 0);
        refund["balance_transaction"] = transaction["id"].clone();
        let back = number_of(&charge["amount_refunded"]) + amount;
        charge["amount_refunded"] = json!(back);
        charge["refunded"] = json!(back == number_of(&charge["amount"]));
        self.put(&refund);
        self.put(&charge);
        self.report("charge.refunded", &charge);
        refund
    }

    /// The payer's bank withdraws what is left of a payment.
    fn dispute(&mut self, intent: &str) -> Option<()> {
        let mut charge = self
            .charge_of(intent)
            .filter(|charge| charge["disputed"] == false)?;
        let amount = number_of(&charge["amount"]) - number_of(&charge["amount_refunded"]);
        if amount <= 0 {
            return None;
        }
        let mut dispute = json!({
            "id": self.new_id("dp"), "object": "dispute", "amount": amount, "currency": charge["currency"],
            "charge": charge["id"], "payment_intent": intent, "created": self.now, "status": "needs_response",
            "reason": "fraudulent", "livemode": false, "is_charge_refundable": false, "metadata": {},
            "evidence_details": { "due_by": self.now + 7 * DAY_SECONDS, "has_evidence": false },
        });
        let withdrawn = self.book(("adjustment", &dispute), -amount, DISPUTE_FEE);
        dispute["balance_transactions"] = json!([withdrawn]);
        charge["disputed"] = json!(true);
        self.put(&charge);
        self.put(&dispute);
        self.report("charge.dispute.created", &dispute);
        Some(())
    }

    /// The payer's bank decides.
    pub(super) fn close(&mut self, mut dispute: Value, is_won: bool) -> Value {
        dispute["status"] = json!(if is_won { "won" } else { "lost" });
        if is_won {
            let back = self.book(("adjustment", &dispute), number_of(&dispute["amount"]), 0);
            if let Some(booked) = dispute["balance_transactions"].as_array_mut() {
                booked.push(back);
            }
        }
        self.put(&dispute);
        self.report("charge.dispute.closed", &dispute);
        dispute
    }

    /// Does what is due: disputes, ends of pages, and payouts. Returns whether something happened.
    pub(super) fn tick(&mut self) -> bool {
        let (before, now) = (*self.number, self.now);
        let is_due = |(intent, at): (&String, &i64)| (*at <= now).then(|| intent.clone());
        let due: Vec<String> = self.account.disputes_due.iter().filter_map(is_due).collect();
        for intent in due {
            self.account.disputes_due.remove(&intent);
            self.dispute(&intent);
        }
        let is_over =
            |session: &&Value| session["status"] == "open" && number_of(&session["expires_at"]) <= now;
        let over: Vec<Value> = self
            .of_kind("checkout.session")
            .filter(is_over)
            .cloned()
            .collect();
        let is_any_over = !over.is_empty();
        for mut session in over {
            session["status"] = json!("expired");
            self.put(&session);
            self.report("checkout.session.expired", &session);
        }
        self.pay_out();
        is_any_over || *self.number != before
    }

    /// What was collected goes to the bank account once it is quiet.
    fn pay_out(&mut self) {
        let moved = self
            .of_kind("balance_transaction")
            .map(|moved| number_of(&moved["created"]));
        if moved.max().is_none_or(|last| last > self.now - QUIET_SECONDS)
            || !self.account.disputes_due.is_empty()
        {
            return;
        }
        for (currency, balance) in self.balances() {
            if balance <= 0 {
                continue;
            }
            let mut payout = json!({
                "id": self.new_id("po"), "object": "payout", "amount": balance, "currency": currency, "status": "paid",
                "created": self.now, "arrival_date": self.now - self.now.rem_euclid(DAY_SECONDS), "automatic": true,
                "livemode": false, "method": "standard", "type": "bank_account", "metadata": {},
            });
            let transaction = self.book(("payout", &payout), -balance, 0);
            payout["balance_transaction"] = transaction["id"].clone();
            self.put(&payout);
            self.report("payout.paid", &payout);
        }
    }
}

/// As in an intent's `last_payment_error`.
fn declined(method: &Value) -> Value {
    json!({
        "type": "card_error", "code": "card_declined", "decline_code": "generic_decline",
        "message": "Your card was declined.", "payment_method": method,
    })
}
