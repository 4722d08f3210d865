//! A server that stands in for Stripe: checkout pages that a test pays, intents, fees and refunds.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// What each payment costs, in minor units.
pub(crate) const FEE: i64 = 60;
/// A moment within the tests' time.
const CREATED: i64 = 1_794_900_000;

#[derive(Clone)]
pub(crate) struct CardDesk {
    address: SocketAddr,
    till: Arc<Till>,
}

#[derive(Default)]
struct Till {
    is_down: AtomicBool,
    /// Amount and whether it was paid, by the name of the session.
    sessions: Mutex<BTreeMap<String, (i64, bool)>>,
    /// By the name of the intent.
    refunds: Mutex<BTreeMap<String, Vec<Value>>>,
}

impl CardDesk {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, till) = (listener.local_addr().unwrap(), Arc::new(Till::default()));
        let kept = Arc::clone(&till);
        // The threads end with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let till = Arc::clone(&kept);
                thread::spawn(move || till.serve(&stream));
            }
        });
        Self { address, till }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn down(&self, is_down: bool) {
        self.till.is_down.store(is_down, Ordering::SeqCst);
    }

    /// The payer pays on this page.
    pub(crate) fn pay(&self, page: &str) {
        let session = page.rsplit('/').next().unwrap();
        self.till.sessions.lock().unwrap().get_mut(session).unwrap().1 = true;
    }

    /// What was paid back, in minor units.
    pub(crate) fn refunded(&self) -> i64 {
        let refunds = self.till.refunds.lock().unwrap();
        refunds
            .values()
            .flatten()
            .map(|refund| refund["amount"].as_i64().unwrap())
            .sum()
    }
}

impl Till {
    fn serve(&self, stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            match header.trim_end().to_lowercase().split_once(": ") {
                Some(("content-length", text)) => length = text.parse().ok()?,
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = String::from_utf8(body)
            .ok()?
            .replace("%5B", "[")
            .replace("%5D", "]");
        let mut words = line.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        let (status, answer) = match self.is_down.load(Ordering::SeqCst) {
            true => (503, json!({ "error": { "message": "down" } })),
            false => (200, self.answer(method, path, &body)?),
        };
        let answer = answer.to_string();
        let head = format!(
            "HTTP/1.1 {status} Any\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        (&*stream).write_all(format!("{head}{answer}").as_bytes()).ok()
    }

    fn answer(&self, method: &str, path: &str, body: &str) -> Option<Value> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let fields: Vec<(&str, &str)> = body
            .split('&')
            .chain(query.split('&'))
            .filter_map(|f| f.split_once('='))
            .collect();
        let field = |name: &str| {
            fields
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        };
        let mut sessions = self.sessions.lock().unwrap();
        Some(match (method, path) {
            ("POST", "/v1/checkout/sessions") => {
                let parts = fields.iter().filter(|(name, _)| name.ends_with("[unit_amount]"));
                let amount: i64 = parts.map(|(_, value)| value.parse::<i64>().unwrap()).sum();
                let id = format!("cs_{}", sessions.len() + 1);
                sessions.insert(id.clone(), (amount, false));
                json!({ "id": id, "status": "open", "url": format!("https://cards.example.org/pay/{id}") })
            }
            ("POST", "/v1/refunds") => {
                let intent = field("payment_intent")?.to_owned();
                let mut refunds = self.refunds.lock().unwrap();
                let of = refunds.entry(intent.clone()).or_default();
                let refund = json!({
                    "id": format!("re_{intent}_{}", of.len()), "amount": field("amount")?.parse::<i64>().ok()?,
                    "currency": "usd", "status": "succeeded", "created": CREATED, "payment_intent": intent,
                    "metadata": { "bursar_refund": field("metadata[bursar_refund]")? },
                });
                of.push(refund.clone());
                refund
            }
            ("GET", "/v1/refunds") => {
                let refunds = self.refunds.lock().unwrap();
                let of = field("payment_intent").and_then(|intent| refunds.get(intent).cloned());
                json!({ "data": of.unwrap_or_default(), "has_more": false })
            }
            ("GET", path) => match path.rsplit_once('/') {
                Some(("/v1/checkout/sessions", id)) => match sessions.get(id)? {
                    (_, true) => {
                        json!({ "id": id, "status": "complete", "payment_intent": format!("pi_{id}") })
                    }
                    (_, false) => json!({ "id": id, "status": "open", "payment_intent": null }),
                },
                Some(("/v1/payment_intents", id)) => {
                    let (amount, _) = sessions.get(id.strip_prefix("pi_")?)?;
                    json!({
                        "id": id, "status": "succeeded", "amount": amount, "amount_received": amount, "currency": "usd",
                        "created": CREATED, "latest_charge": {
                            "id": format!("ch_{id}"), "created": CREATED, "disputed": false,
                            "balance_transaction": { "fee": FEE, "currency": "usd" },
                        },
                    })
                }
                _ => json!({ "data": [], "has_more": false }),
            },
            _ => return None,
        })
    }
}
