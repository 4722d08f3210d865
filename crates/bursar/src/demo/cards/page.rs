//! The page on which a payer pays or saves a card, without a script and on a phone first.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;
use bursar_http::reply::Reply;
use bursar_stripe::amount::{currency_of, from_stripe};
use http_body_util::Full;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, LOCATION, REFERRER_POLICY,
};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::PATH;
use super::test_cards::{TO_PAY, TO_SAVE, TestCard};
use super::till::{OURS, Order, Till, number_of};

const STYLE: &str = include_str!("page.css");
pub(super) const STYLE_PATH: &str = "style.css";

/// What a page says above its form.
#[derive(Clone, Copy, Default)]
pub(super) struct Said<'a> {
    wrong: Option<&'a str>,
}

impl Till<'_> {
    /// The payer sent the form. Where to go next, or the page again.
    pub(super) fn chosen(&mut self, id: &str, last4: Option<&str>) -> Reply {
        let Some(mut session) = self
            .get(id)
            .filter(|object| object["object"] == "checkout.session")
            .cloned()
        else {
            return missing();
        };
        if session["status"] != "open" {
            return self.show(id, Said::default());
        }
        let is_setup = session["mode"] == "setup";
        let cards = if is_setup { TO_SAVE } else { TO_PAY };
        let Some((card, _)) = cards.iter().find(|(card, _)| Some(card.last4) == last4) else {
            let wrong = Some("Choose a card.");
            return self.show(id, Said { wrong });
        };
        let is_done = match is_setup {
            true => self.save(&mut session, card),
            false => self.pay(&mut session, card),
        };
        if !is_done {
            self.put(&session);
            let wrong = Some("Your card was declined. Nothing was paid. Try another card.");
            return self.show(id, Said { wrong });
        }
        session["status"] = json!("complete");
        self.put(&session);
        self.report("checkout.session.completed", &session);
        away(&session["success_url"])
    }

    /// Returns whether the card pays.
    fn pay(&mut self, session: &mut Value, card: &TestCard) -> bool {
        if session["customer"].is_null()
            && (session["customer_creation"] == "always" || session[OURS]["saves"] == true)
        {
            session["customer"] =
                self.create_customer(&session["customer_email"].clone(), &json!({}))["id"].clone();
        }
        let kept_for = match session[OURS]["saves"] == true {
            true => session["customer"].clone(),
            false => Value::Null,
        };
        let method = self.method(card, &kept_for);
        let order = Order {
            amount: number_of(&session["amount_total"]),
            currency: session["currency"].clone(),
            metadata: session[OURS]["metadata"].clone(),
            customer: session["customer"].clone(),
            description: Value::Null,
        };
        let known = session["payment_intent"]
            .as_str()
            .and_then(|id| self.get(id))
            .cloned();
        let (intent, is_paid) = self.collect(&order, known, &method);
        session["payment_intent"] = intent["id"].clone();
        if is_paid {
            session["payment_status"] = json!("paid");
        }
        is_paid
    }

    /// Returns whether the card was saved.
    fn save(&mut self, session: &mut Value, card: &TestCard) -> bool {
        let Some(mut setup) = session["setup_intent"]
            .as_str()
            .and_then(|id| self.get(id))
            .cloned()
        else {
            return false;
        };
        let is_saved = card.behaviour != super::test_cards::Behaviour::Declined;
        if is_saved {
            if session["customer"].is_null() {
                let email = session["customer_email"].clone();
                session["customer"] = self.create_customer(&email, &json!({}))["id"].clone();
            }
            let method = self.method(card, &session["customer"]);
            setup["status"] = json!("succeeded");
            setup["customer"] = session["customer"].clone();
            setup["payment_method"] = method["id"].clone();
            setup["last_setup_error"] = Value::Null;
        } else {
            setup["last_setup_error"] = json!({
                "type": "card_error", "code": "card_declined", "decline_code": "generic_decline",
                "message": "Your card was declined.",
            });
        }
        self.put(&setup);
        self.report(
            match is_saved {
                true => "setup_intent.succeeded",
                false => "setup_intent.setup_failed",
            },
            &setup,
        );
        is_saved
    }

    pub(super) fn show(&self, id: &str, said: Said<'_>) -> Reply {
        let Some(session) = self
            .get(id)
            .filter(|object| object["object"] == "checkout.session")
        else {
            return missing();
        };
        match session["status"].as_str() {
            Some("complete") => return away(&session["success_url"]),
            Some("open") if number_of(&session["expires_at"]) > self.now => {}
            _ => {
                let back = html_escaped(session["cancel_url"].as_str().unwrap_or("/"));
                let text = format!(
                    "<h1>This page has expired</h1><p>Nothing was paid here.</p><p><a href=\"{back}\">Back</a></p>"
                );
                return page(StatusCode::GONE, "This page has expired", &text);
            }
        }
        let is_setup = session["mode"] == "setup";
        let whom = self.account.name.as_deref().map(html_escaped).unwrap_or_default();
        let amount = words(session, number_of(&session["amount_total"]));
        let (title, act) = match is_setup {
            true => ("Save a card".to_owned(), "Save this card".to_owned()),
            false => (format!("Pay {amount}"), format!("Pay {amount}")),
        };
        let mut text = String::new();
        if !whom.is_empty() {
            let _ = write!(text, "<p class=\"whom\">{whom}</p>");
        }
        let _ = write!(text, "<h1>{title}</h1>");
        if is_setup {
            text.push_str("<p>The card is charged when dues fall due, until you turn that off.</p>");
        }
        let lines = session[OURS]["lines"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if !lines.is_empty() {
            text.push_str("<ul class=\"lines\">");
            for line in lines {
                let name = html_escaped(line["name"].as_str().unwrap_or("Payment"));
                let part = words(session, number_of(&line["amount"]));
                let _ = write!(
                    text,
                    "<li><span>{name}</span><span class=\"amount\">{part}</span></li>"
                );
            }
            text.push_str("</ul>");
        }
        if let Some(wrong) = said.wrong {
            let _ = write!(text, "<p class=\"wrong\" role=\"alert\">{wrong}</p>");
        }
        let _ = write!(
            text,
            "<form method=\"post\" action=\"{PATH}pay/{id}\"><fieldset><legend>Choose a test card</legend>"
        );
        for (at, (card, what)) in (if is_setup { TO_SAVE } else { TO_PAY }).iter().enumerate() {
            let last4 = card.last4;
            let checked = if at == 0 { " checked" } else { "" };
            let _ = write!(
                text,
                "<label><input type=\"radio\" name=\"card\" value=\"{last4}\" required{checked}>\
                 <span><strong>Visa •••• {last4}</strong><span class=\"hint\">{what}</span></span></label>"
            );
        }
        let _ = write!(text, "</fieldset><button>{act}</button></form>");
        if let Some(back) = session["cancel_url"].as_str() {
            let words = if is_setup {
                "Back without saving"
            } else {
                "Back without paying"
            };
            let _ = write!(
                text,
                "<p class=\"back\"><a href=\"{}\">{words}</a></p>",
                html_escaped(back)
            );
        }
        let status = match said.wrong {
            Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
            None => StatusCode::OK,
        };
        page(status, &title, &text)
    }
}

fn words(session: &Value, count: i64) -> String {
    let money = currency_of(&session["currency"]).and_then(|currency| from_stripe(count, currency));
    money.map_or_else(
        || count.to_string(),
        |money| format!("{money} {}", money.currency),
    )
}

pub(super) fn missing() -> Reply {
    let text =
        "<h1>There is no such page</h1><p>Go back to where you came from and start the payment again.</p>";
    page(StatusCode::NOT_FOUND, "There is no such page", text)
}

fn page(status: StatusCode, title: &str, content: &str) -> Reply {
    let text = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"robots\" content=\"noindex\">\
         <title>{title} · Demo card payments</title><link rel=\"stylesheet\" href=\"{PATH}{STYLE_PATH}\">\
         <link rel=\"icon\" href=\"data:,\"></head><body><main>\
         <p class=\"demo\"><strong>Demo:</strong> no real card, no money moves.</p>{content}</main></body></html>"
    );
    let mut reply = Response::new(Full::from(text));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // A form is held to the addresses of this page, also where it is led on; the way back is one of them.
    let policy = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; \
                  frame-ancestors 'none'";
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    reply
}

pub(super) fn style() -> Reply {
    let mut reply = Response::new(Full::from(STYLE));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

/// Back to bursar.
fn away(url: &Value) -> Reply {
    let to = HeaderValue::from_str(url.as_str().unwrap_or("/"));
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = StatusCode::SEE_OTHER;
    let headers = reply.headers_mut();
    headers.insert(LOCATION, to.unwrap_or(HeaderValue::from_static("/")));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    reply
}
