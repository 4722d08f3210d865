//! An OpenID Connect provider that signs what a test tells it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openidconnect::core::{CoreEdDsaPrivateSigningKey, CoreJwsSigningAlgorithm};
use openidconnect::{JsonWebKeyId, PrivateSigningKey as _};
use serde_json::{Value, json};

/// Two keys, in the order in which the provider uses them.
const KEYS: [&str; 2] = [
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIIvJ8EYpDKx2ZiBpWzv25VhmRiSbG1wjAy3zazIvGYXm\n-----END PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIPt77Vj3FlLmEWA5Mng0kLtGaMNXn0iotDupEV/kzhs5\n-----END PRIVATE KEY-----\n",
];

/// How the provider behaves now.
#[derive(Clone)]
pub(crate) struct Told {
    /// The claims of the next ID token.
    pub(crate) claims: Value,
    pub(crate) algorithm: &'static str,
    /// The key that signs, and the one that is published.
    pub(crate) signs_with: usize,
    pub(crate) publishes: usize,
    /// The key's name in the token.
    pub(crate) names: usize,
}

/// Stays with the test's process.
pub(crate) struct Provider {
    pub(crate) issuer: String,
    told: Arc<Mutex<Told>>,
    /// The forms that were sent to the token endpoint, each after its head.
    redeemed: Arc<Mutex<Vec<(String, String)>>>,
}

impl Provider {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let provider = Self {
            issuer: format!("http://{}", listener.local_addr().unwrap()),
            told: Arc::new(Mutex::new(Told {
                claims: json!({}),
                algorithm: "EdDSA",
                signs_with: 0,
                publishes: 0,
                names: 0,
            })),
            redeemed: Arc::default(),
        };
        let (issuer, told, redeemed) = (
            provider.issuer.clone(),
            Arc::clone(&provider.told),
            Arc::clone(&provider.redeemed),
        );
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                serve(stream, &issuer, &told, &redeemed);
            }
        });
        provider
    }

    pub(crate) fn tell(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.told.lock().unwrap());
    }

    /// The head and the form of the last request for a token.
    pub(crate) fn redeemed(&self) -> (String, String) {
        self.redeemed.lock().unwrap().last().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    issuer: &str,
    told: &Mutex<Told>,
    redeemed: &Mutex<Vec<(String, String)>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_ascii_lowercase();
    let length = lower
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"));
    let mut body = vec![0; length.map_or(0, |text| text.trim().parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    let told = told.lock().unwrap().clone();
    let reply = match head.split(' ').nth(1)? {
        "/.well-known/openid-configuration" => json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/auth"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/jwks"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA", "HS256", "none"],
        }),
        "/jwks" => json!({ "keys": [published(told.publishes)] }),
        "/token" => {
            let form = String::from_utf8(body).unwrap();
            redeemed.lock().unwrap().push((head, form));
            json!({ "access_token": "x", "token_type": "Bearer", "id_token": token(&told) })
        }
        other => panic!("{other}"),
    };
    let reply = reply.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        reply.len()
    );
    stream.write_all(format!("{head}{reply}").as_bytes()).ok()
}

fn key(number: usize) -> CoreEdDsaPrivateSigningKey {
    let name = JsonWebKeyId::new(format!("key-{number}"));
    CoreEdDsaPrivateSigningKey::from_ed25519_pem(KEYS[number], Some(name)).unwrap()
}

fn published(number: usize) -> Value {
    serde_json::to_value(key(number).as_verification_key()).unwrap()
}

fn token(told: &Told) -> String {
    let head = json!({ "alg": told.algorithm, "kid": format!("key-{}", told.names) });
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&head), part(&told.claims));
    let signature = match told.algorithm {
        "none" => Vec::new(),
        _ => key(told.signs_with)
            .sign(&CoreJwsSigningAlgorithm::EdDsa, signed.as_bytes())
            .unwrap(),
    };
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}
