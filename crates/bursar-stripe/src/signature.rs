//! Stripe signs its reports: `Stripe-Signature: t=SECONDS,v1=HEX`, HMAC-SHA256 over `SECONDS.BODY` with the endpoint's secret
//! (<https://docs.stripe.com/webhooks#verify-manually>).

use bursar_domain::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

pub const HEADER: &str = "stripe-signature";
/// How old a report may be, and how far ahead Stripe's clock.
pub const TOLERANCE_SECONDS: i64 = 300;
/// Signatures that are looked at. While a secret is rolled over there are two.
const SIGNATURES_MAX: usize = 8;

/// Whether the body was signed with the secret within the last minutes. Takes the same time for every wrong signature.
pub fn is_valid(header: &str, body: &[u8], secret: &str, now: Timestamp) -> bool {
    let (mut seconds, mut signatures) = (None, Vec::new());
    for part in header.split(',') {
        match part.trim().split_once('=') {
            Some(("t", value)) if seconds.is_none() => {
                seconds = value.parse::<i64>().ok().map(|t| (t, value))
            }
            Some(("v1", value)) if signatures.len() < SIGNATURES_MAX => signatures.extend(hex(value)),
            _ => {}
        }
    }
    let Some((seconds, text)) = seconds else {
        return false;
    };
    let age = now.micros().div_euclid(1_000_000).saturating_sub(seconds);
    if age.unsigned_abs() > TOLERANCE_SECONDS.unsigned_abs() {
        return false;
    }
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return false;
    };
    mac.update(text.as_bytes());
    mac.update(b".");
    mac.update(body);
    let mut is_valid = false;
    for signature in &signatures {
        is_valid |= mac.clone().verify_slice(signature).is_ok();
    }
    is_valid
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| {
        char::from(c)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    let pairs = text.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    });
    bytes.collect()
}

/// For tests: a header that is valid at this time.
pub fn sign(body: &[u8], secret: &str, seconds: i64) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(format!("{seconds}.").as_bytes());
    mac.update(body);
    let code = mac.finalize().into_bytes();
    let code: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("t={seconds},v1={code}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_test_secret";
    const BODY: &[u8] = br#"{"id": "evt_test_webhook", "object": "event"}"#;
    const AT: i64 = 1_790_000_000;

    fn now(after: i64) -> Timestamp {
        Timestamp::from_micros((AT + after) * 1_000_000)
    }

    /// Made by `stripe.WebhookSignature._compute_signature` of Stripe's own library.
    #[test]
    fn a_signature_of_stripes_library() {
        let header = "t=1790000000,v1=82187f7e6b91ca4ee0e000615eca577fe849f6b3ab70a1a3f259dacd56244d2a";
        assert!(is_valid(header, BODY, SECRET, now(0)));
        assert_eq!(sign(BODY, SECRET, AT).as_deref(), Some(header));
    }

    #[test]
    fn only_the_secret_the_body_and_the_time_are_valid() {
        let header = sign(BODY, SECRET, AT).unwrap();
        for after in [-300, 0, 300] {
            assert!(is_valid(&header, BODY, SECRET, now(after)), "{after}");
        }
        for after in [-301, 301, i64::from(i32::MAX)] {
            assert!(!is_valid(&header, BODY, SECRET, now(after)), "{after}");
        }
        assert!(!is_valid(&header, b"{}", SECRET, now(0)));
        assert!(!is_valid(&header, BODY, "whsec_other", now(0)));
        for at in 0..header.len() {
            let mut changed = header.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert!(!is_valid(&changed, BODY, SECRET, now(0)), "{changed}");
        }
        for header in [
            "",
            "t=1790000000",
            "v1=00",
            "t=x,v1=00",
            "t=1790000000,v1=",
            "t=1790000000,v1=0",
        ] {
            assert!(!is_valid(header, BODY, SECRET, now(0)), "{header}");
        }
    }

    #[test]
    fn one_of_several_signatures_is_enough() {
        let good = sign(BODY, SECRET, AT).unwrap();
        let other = sign(BODY, "whsec_other", AT).unwrap();
        let (_, other) = other.split_once(',').unwrap();
        let (time, code) = good.split_once(',').unwrap();
        for header in [
            format!("{time},{other},{code}"),
            format!("{time},v0=ab,{code},{other}"),
            format!("{code},{time}"),
        ] {
            assert!(is_valid(&header, BODY, SECRET, now(0)), "{header}");
        }
        assert!(!is_valid(&format!("{time},{other}"), BODY, SECRET, now(0)));
    }
}
