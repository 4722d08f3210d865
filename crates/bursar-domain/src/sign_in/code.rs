//! Codes that are mailed to people who sign in. A code belongs to the browser that asked for it.

use sha2::{Digest, Sha256};

use super::{ENTROPY_BYTES, SecretHash};
use crate::ids::UserId;
use crate::time::Timestamp;

const SECONDS: i64 = 10 * 60;
/// Wrong tries, after which a code is worthless.
pub const TRIES_MAX: i64 = 5;
/// Codes that are mailed to one address in a day.
pub const A_DAY_MAX: i64 = 10;
const DIGITS: usize = 8;

/// A code as it is kept. One for an unknown address is kept too, so that nobody can tell the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The hash of the browser's cookie.
    pub browser: SecretHash,
    /// As it was typed, in lower case.
    pub email: String,
    pub user: Option<UserId>,
    pub hash: SecretHash,
    pub tries: i64,
    /// The login that it links when it is entered, as it was kept.
    pub login: Option<String>,
    pub created_at: Timestamp,
}

impl Code {
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.tries < TRIES_MAX && now < expiry(self.created_at)
    }
}

/// When a code of this time ends.
pub fn expiry(created_at: Timestamp) -> Timestamp {
    created_at.plus_seconds(SECONDS)
}

/// Codes are counted and kept since this time.
pub fn counted_since(now: Timestamp) -> Timestamp {
    now.plus_days(-1)
}

/// The digits of a new code.
pub fn digits(entropy: &[u8; ENTROPY_BYTES]) -> String {
    let mut number = [0; 16];
    number.copy_from_slice(&entropy[..16]);
    // The remainder of 128 bits is as good as even.
    format!("{:0DIGITS$}", u128::from_be_bytes(number) % 10_u128.pow(8))
}

/// As people read it: `1234 5678`.
pub fn spaced(digits: &str) -> String {
    let half = digits.len() / 2;
    format!("{} {}", &digits[..half], &digits[half..])
}

/// With the browser's secret in it, the few digits cannot be found from what the database keeps.
pub fn hash(browser: &str, typed: &str) -> SecretHash {
    let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
    SecretHash(Sha256::digest(format!("{browser}:{digits}").as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(0).plus_seconds(seconds)
    }

    #[test]
    fn a_code_has_eight_digits_and_is_read_with_spaces() {
        assert_eq!(digits(&[0; 32]), "00000000");
        let code = digits(&std::array::from_fn(|i| u8::try_from(i * 7 + 1).unwrap()));
        assert_eq!(code.len(), 8);
        assert!(code.chars().all(|c| c.is_ascii_digit()));
        assert_eq!(spaced("12345678"), "1234 5678");
        assert_eq!(hash("b", "12345678"), hash("b", " 1234 5678 "));
        assert_ne!(hash("b", "12345678"), hash("c", "12345678"));
        assert_ne!(hash("b", "12345678"), hash("b", "12345679"));
    }

    #[test]
    fn a_code_lives_ten_minutes_and_five_tries() {
        let code = |tries| Code {
            browser: SecretHash::of("b"),
            email: "ada@example.org".into(),
            user: None,
            hash: SecretHash::of("c"),
            tries,
            login: None,
            created_at: at(0),
        };
        for (tries, seconds, expected) in [(0, 599, true), (0, 600, false), (4, 0, true), (5, 0, false)] {
            assert_eq!(
                code(tries).is_in_force(at(seconds)),
                expected,
                "{tries} tries, {seconds} s"
            );
        }
    }
}
