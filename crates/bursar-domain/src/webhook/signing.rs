//! Signatures as in Standard Webhooks: HMAC-SHA256 over `id.timestamp.body` with a secret that both sides know.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Of a secret in text.
pub const SECRET_PREFIX: &str = "whsec_";
/// Bytes of a secret that is made here.
pub const SECRET_BYTES: usize = 32;
/// Standard Webhooks allows secrets of 24 to 64 bytes.
const SECRET_BYTES_MIN: usize = 24;
const SECRET_BYTES_MAX: usize = 64;
/// Before each signature. It names the algorithm.
const VERSION: &str = "v1,";

pub const ID_HEADER: &str = "webhook-id";
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
pub const SIGNATURE_HEADER: &str = "webhook-signature";

/// What a receiver verifies deliveries with.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    pub fn new(random: [u8; SECRET_BYTES]) -> Self {
        Self(random.to_vec())
    }

    /// `None` for what is no secret of 24 to 64 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (SECRET_BYTES_MIN..=SECRET_BYTES_MAX)
            .contains(&bytes.len())
            .then(|| Self(bytes.to_vec()))
    }

    /// Reads `whsec_` and base64. The rule reads on after the field's name and never repeats the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bytes = text
            .strip_prefix(SECRET_PREFIX)
            .and_then(|base64| STANDARD.decode(base64).ok());
        bytes.and_then(|bytes| Self::from_bytes(&bytes)).ok_or_else(|| {
            format!(
                "must be {SECRET_PREFIX} and the base64 of {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} bytes"
            )
        })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// As its owner gets to see it, once.
    pub fn text(&self) -> String {
        format!("{SECRET_PREFIX}{}", STANDARD.encode(&self.0))
    }

    fn mac(&self, id: &str, seconds: i64, body: &[u8]) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key");
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        mac
    }

    /// One signature. `seconds` is the time of the attempt since 1970.
    pub fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        let code = self.mac(id, seconds, body).finalize().into_bytes();
        format!("{VERSION}{}", STANDARD.encode(code))
    }

    /// Whether one of the signatures in a header is of this secret. Takes the same time for every wrong one.
    pub fn verifies(&self, signatures: &str, id: &str, seconds: i64, body: &[u8]) -> bool {
        signatures
            .split(' ')
            .filter_map(|signature| STANDARD.decode(signature.strip_prefix(VERSION)?).ok())
            .any(|code| self.mac(id, seconds, body).verify_slice(&code).is_ok())
    }
}

/// The value of `webhook-signature`: one signature for each secret that is valid now.
pub fn signatures(secrets: &[Secret], id: &str, seconds: i64, body: &[u8]) -> String {
    let signed: Vec<String> = secrets
        .iter()
        .map(|secret| secret.sign(id, seconds, body))
        .collect();
    signed.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const AT: i64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;

    /// Worked out with Python's hmac.
    #[test]
    fn a_signature_worked_out_elsewhere() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        assert_eq!(
            secret.sign(ID, AT, BODY),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn the_text_of_a_secret() {
        let secret = Secret::new(std::array::from_fn(|i| u8::try_from(i).unwrap()));
        assert_eq!(
            secret.text(),
            "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        );
        assert_eq!(Secret::parse(&secret.text()), Ok(secret.clone()));
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        for wrong in [
            "",
            "whsec_",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "WHSEC_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
            "whsec_AAEC",
            &format!("whsec_{}", STANDARD.encode([1; 65])),
        ] {
            let rule = Secret::parse(wrong).unwrap_err();
            assert!(
                rule.starts_with("must be whsec_") && !rule.contains("AAEC"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn what_was_changed_is_not_verified() {
        let (old, new) = (Secret::new([1; 32]), Secret::new([2; 32]));
        let header = signatures(&[new.clone(), old.clone()], ID, AT, BODY);
        assert_eq!(header.split(' ').count(), 2);
        for secret in [&old, &new] {
            assert!(secret.verifies(&header, ID, AT, BODY));
            assert!(!secret.verifies(&header, "msg_other", AT, BODY));
            assert!(!secret.verifies(&header, ID, AT + 1, BODY));
            assert!(!secret.verifies(&header, ID, AT, br#"{"test": 2432232315}"#));
            assert!(!secret.verifies("", ID, AT, BODY));
            assert!(!secret.verifies(&header.replace("v1,", "v1a,"), ID, AT, BODY));
        }
        assert!(!Secret::new([3; 32]).verifies(&header, ID, AT, BODY));
    }
}
