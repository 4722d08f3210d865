//! The part of Stripe's API that bursar calls, in Stripe's shapes (<https://docs.stripe.com/api>).

use serde_json::{Map, Value, json};

use super::till::{OURS, Order, Till, number_of};

/// Objects of one page of a list.
const PAGE_MAX: usize = 100;
/// How long a checkout page is open, if the caller does not say.
const SESSION_SECONDS: i64 = 86_400;

/// The collections that can be read, and the kind of their objects.
const COLLECTIONS: &[(&str, &str)] = &[
    ("balance_transactions", "balance_transaction"),
    ("charges", "charge"),
    ("checkout/sessions", "checkout.session"),
    ("customers", "customer"),
    ("disputes", "dispute"),
    ("payment_intents", "payment_intent"),
    ("payment_methods", "payment_method"),
    ("payouts", "payout"),
    ("refunds", "refund"),
    ("setup_intents", "setup_intent"),
];
/// By these fields a list can be narrowed.
const FILTERS: &[&str] = &["payment_intent", "charge", "customer", "status", "type"];

/// The fields of a form or of a query.
pub(super) struct Fields(pub(super) Vec<(String, String)>);

impl Fields {
    pub(super) fn parse(text: &str) -> Self {
        Self(
            url::form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    fn value(&self, name: &str) -> Value {
        self.get(name).map_or(Value::Null, |text| json!(text))
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.parse().ok()
    }

    fn needed(&self, name: &str) -> Result<&str, Problem> {
        self.get(name)
            .ok_or_else(|| Problem::invalid(&format!("Missing required param: {name}."), Some(name)))
    }

    /// What is in `start[…]`.
    fn map(&self, start: &str) -> Value {
        let inner = |(name, value): &(String, String)| {
            let name = name.strip_prefix(start)?.strip_prefix('[')?.strip_suffix(']')?;
            Some((name.to_owned(), json!(value)))
        };
        Value::Object(self.0.iter().filter_map(inner).collect::<Map<String, Value>>())
    }

    fn expands(&self) -> Vec<String> {
        let is_expand = |(name, _): &&(String, String)| name.starts_with("expand[");
        self.0
            .iter()
            .filter(is_expand)
            .map(|(_, path)| path.clone())
            .collect()
    }
}

/// A refusal in Stripe's words.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl Problem {
    pub(super) fn new(status: u16, message: &str) -> Self {
        let body = json!({ "error": { "type": "invalid_request_error", "message": message } });
        Self { status, body }
    }

    fn invalid(message: &str, param: Option<&str>) -> Self {
        let mut problem = Self::new(400, message);
        problem.body["error"]["param"] = json!(param);
        problem
    }

    fn missing(kind: &str, id: &str) -> Self {
        let mut problem = Self::new(404, &format!("No such {}: '{id}'", kind.replace(['.', '_'], " ")));
        problem.body["error"]["code"] = json!("resource_missing");
        problem
    }
}

type Answer = Result<Value, Problem>;

impl Till<'_> {
    pub(super) fn call(&mut self, method: &str, path: &str, fields: &Fields) -> Answer {
        let Some(path) = path.strip_prefix("/v1/") else {
            return Err(Problem::new(
                404,
                &format!("Unrecognized request URL ({method}: {path})."),
            ));
        };
        let mut answer = match (method, path) {
            ("GET", "balance") => Ok(self.balance()),
            ("GET", _) => self.read(path, fields),
            ("POST", "checkout/sessions") => self.open(fields),
            ("POST", "payment_intents") => self.create_intent(fields),
            ("POST", "refunds") => self.create_refund(fields),
            ("POST", "customers") => {
                Ok(self.create_customer(&fields.value("email"), &fields.map("metadata")))
            }
            ("POST", _) => self.act_on(path),
            _ => Err(unknown(method, path)),
        }?;
        for path in fields.expands() {
            self.expand(&mut answer, &path.split('.').collect::<Vec<_>>());
        }
        hide(&mut answer);
        Ok(answer)
    }

    fn balance(&self) -> Value {
        let balances = self.balances();
        let parts: Vec<Value> = match balances.is_empty() {
            true => vec![json!({ "amount": 0, "currency": "usd" })],
            false => balances
                .iter()
                .map(|(currency, amount)| json!({ "amount": amount, "currency": currency }))
                .collect(),
        };
        json!({ "object": "balance", "livemode": false, "available": parts, "pending": [] })
    }

    fn read(&self, path: &str, fields: &Fields) -> Answer {
        for (collection, kind) in COLLECTIONS {
            match path.strip_prefix(collection) {
                Some("") => return self.list(path, kind, fields),
                Some(rest) if rest.starts_with('/') => return self.find(kind, &rest[1..]),
                _ => {}
            }
        }
        Err(unknown("GET", path))
    }

    fn find(&self, kind: &str, id: &str) -> Answer {
        let found = self.get(id).filter(|object| object["object"] == kind);
        found.cloned().ok_or_else(|| Problem::missing(kind, id))
    }

    /// The newest first.
    fn list(&self, path: &str, kind: &str, fields: &Fields) -> Answer {
        let since = fields.number("created[gte]").unwrap_or(0);
        let fits = |object: &&Value| {
            number_of(&object["created"]) >= since
                && FILTERS
                    .iter()
                    .all(|name| fields.get(name).is_none_or(|wanted| object[*name] == wanted))
        };
        let mut found: Vec<&Value> = self.of_kind(kind).filter(fits).collect();
        let place = |object: &Value| {
            (
                number_of(&object["created"]),
                object["id"].as_str().unwrap_or_default().to_owned(),
            )
        };
        found.sort_by_key(|object| std::cmp::Reverse(place(object)));
        if let Some(after) = fields.get("starting_after") {
            let at = found.iter().position(|object| object["id"] == after);
            let at = at.ok_or_else(|| Problem::missing(kind, after))?;
            found.drain(..=at);
        }
        let limit = fields
            .number("limit")
            .and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.unwrap_or(10).clamp(1, PAGE_MAX);
        let has_more = found.len() > limit;
        found.truncate(limit);
        Ok(json!({ "object": "list", "url": format!("/v1/{path}"), "data": found, "has_more": has_more }))
    }

    /// Puts objects in place of their ids along a path, in every object of a list.
    fn expand(&self, value: &mut Value, path: &[&str]) {
        if let Value::Array(parts) = value {
            return parts.iter_mut().for_each(|part| self.expand(part, path));
        }
        let Some((first, rest)) = path.split_first() else {
            return;
        };
        let Some(field) = value.get_mut(*first) else {
            return;
        };
        if let Some(object) = field.as_str().and_then(|id| self.get(id)) {
            *field = object.clone();
        }
        self.expand(field, rest);
    }

    fn open(&mut self, fields: &Fields) -> Answer {
        let mode = fields.needed("mode")?;
        let (mut lines, mut amount) = (Vec::new(), 0);
        while let Some(unit) = fields.number(&format!("line_items[{}][price_data][unit_amount]", lines.len()))
        {
            let start = format!("line_items[{}]", lines.len());
            let quantity = fields.number(&format!("{start}[quantity]")).unwrap_or(1);
            let name = fields.value(&format!("{start}[price_data][product_data][name]"));
            amount += unit * quantity;
            lines.push(json!({ "name": name, "amount": unit * quantity }));
        }
        let currency = match mode {
            "setup" => fields.value("currency"),
            _ => fields.value("line_items[0][price_data][currency]"),
        };
        match mode {
            "payment" if amount > 0 => {}
            "payment" => {
                return Err(Problem::invalid(
                    "line_items must have an amount.",
                    Some("line_items"),
                ));
            }
            "setup" => {}
            _ => return Err(Problem::invalid("mode must be payment or setup.", Some("mode"))),
        }
        let expires_at = fields.number("expires_at").unwrap_or(self.now + SESSION_SECONDS);
        if expires_at <= self.now {
            let message = "The `expires_at` timestamp must be in the future.";
            return Err(Problem::invalid(message, Some("expires_at")));
        }
        let id = self.new_id("cs_test");
        let setup = match mode {
            "setup" => {
                let setup = json!({
                    "id": self.new_id("seti"), "object": "setup_intent", "status": "requires_payment_method",
                    "created": self.now, "livemode": false, "customer": fields.value("customer"), "payment_method": null,
                    "last_setup_error": null, "usage": "off_session", "metadata": fields.map("setup_intent_data[metadata]"),
                });
                self.put(&setup);
                setup["id"].clone()
            }
            _ => Value::Null,
        };
        let session = json!({
            "id": id, "object": "checkout.session", "mode": mode, "status": "open", "livemode": false,
            "payment_status": if mode == "setup" { "no_payment_required" } else { "unpaid" },
            "payment_intent": null, "setup_intent": setup, "customer": fields.value("customer"),
            "customer_email": fields.value("customer_email"), "customer_creation": fields.value("customer_creation"),
            "client_reference_id": fields.value("client_reference_id"), "metadata": fields.map("metadata"),
            "amount_total": amount, "currency": currency, "created": self.now, "expires_at": expires_at,
            "success_url": fields.needed("success_url")?, "cancel_url": fields.value("cancel_url"),
            "url": format!("{}{id}", self.pages),
            OURS: {
                "lines": lines, "metadata": fields.map("payment_intent_data[metadata]"),
                "saves": fields.get("payment_intent_data[setup_future_usage]").is_some(),
            },
        });
        self.put(&session);
        Ok(session)
    }

    /// Charges a saved card while the payer is not there.
    fn create_intent(&mut self, fields: &Fields) -> Answer {
        let amount: i64 = fields.needed("amount")?.parse().unwrap_or(0);
        if amount <= 0 {
            return Err(Problem::invalid("Invalid positive integer", Some("amount")));
        }
        if fields.get("confirm") != Some("true") {
            let message = "The demo's provider charges at once: send confirm=true.";
            return Err(Problem::invalid(message, Some("confirm")));
        }
        let method = self.find("payment_method", fields.needed("payment_method")?)?;
        let customer = fields.value("customer");
        if method["customer"].is_null() || method["customer"] != customer {
            let message =
                "The payment method does not belong to the customer: it was detached, or is another's.";
            return Err(Problem::invalid(message, Some("payment_method")));
        }
        let order = Order {
            amount,
            currency: json!(fields.needed("currency")?.to_ascii_lowercase()),
            metadata: fields.map("metadata"),
            customer,
            description: fields.value("description"),
        };
        let (intent, is_paid) = self.collect(&order, None, &method);
        if is_paid {
            return Ok(intent);
        }
        let mut error = intent["last_payment_error"].clone();
        error["charge"] = intent["latest_charge"].clone();
        error["payment_intent"] = intent;
        Err(Problem {
            status: 402,
            body: json!({ "error": error }),
        })
    }

    fn create_refund(&mut self, fields: &Fields) -> Answer {
        let charge = match fields.get("charge") {
            Some(id) => Some(self.find("charge", id)?),
            None => self.charge_of(fields.needed("payment_intent")?),
        };
        let charge = charge.filter(|charge| charge["paid"] == true);
        let charge = charge.ok_or_else(|| Problem::invalid("This payment has no money to refund.", None))?;
        if charge["disputed"] == true {
            return Err(Problem::invalid(
                "The charge was disputed and cannot be refunded.",
                None,
            ));
        }
        let left = number_of(&charge["amount"]) - number_of(&charge["amount_refunded"]);
        let amount = fields.number("amount").unwrap_or(left);
        if amount <= 0 || amount > left {
            let message =
                format!("Refund amount ({amount}) is greater than unrefunded amount on charge ({left})");
            return Err(Problem::invalid(&message, Some("amount")));
        }
        Ok(self.refund(charge, amount, &fields.map("metadata")))
    }

    pub(super) fn create_customer(&mut self, email: &Value, metadata: &Value) -> Value {
        let customer = json!({
            "id": self.new_id("cus"), "object": "customer", "created": self.now, "livemode": false, "email": email,
            "metadata": metadata,
        });
        self.put(&customer);
        customer
    }

    /// `collection/id/verb`.
    fn act_on(&mut self, path: &str) -> Answer {
        let unknown = || unknown("POST", path);
        let (place, verb) = path.rsplit_once('/').ok_or_else(unknown)?;
        let (collection, id) = place.rsplit_once('/').ok_or_else(unknown)?;
        match (collection, verb) {
            ("checkout/sessions", "expire") => {
                let mut session = self.find("checkout.session", id)?;
                if session["status"] != "open" {
                    return Err(Problem::invalid(
                        "Only Checkout Sessions with a status in open can be expired.",
                        None,
                    ));
                }
                session["status"] = json!("expired");
                self.put(&session);
                self.report("checkout.session.expired", &session);
                Ok(session)
            }
            ("payment_methods", "detach") => {
                let mut method = self.find("payment_method", id)?;
                if method["customer"].is_null() {
                    return Err(Problem::invalid(
                        "The payment method is not attached to a customer.",
                        None,
                    ));
                }
                method["customer"] = Value::Null;
                self.put(&method);
                Ok(method)
            }
            ("disputes", "close") => {
                let dispute = self.find("dispute", id)?;
                match dispute["status"].as_str() {
                    Some("won" | "lost") => Err(Problem::invalid("This dispute is already closed.", None)),
                    _ => Ok(self.close(dispute, false)),
                }
            }
            _ => Err(unknown()),
        }
    }
}

fn unknown(method: &str, path: &str) -> Problem {
    Problem::new(404, &format!("Unrecognized request URL ({method}: /v1/{path})."))
}

fn hide(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove(OURS);
            fields.values_mut().for_each(hide);
        }
        Value::Array(parts) => parts.iter_mut().for_each(hide),
        _ => {}
    }
}
