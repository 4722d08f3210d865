//! Logins: accounts that people have at an OpenID Connect provider, and that sign them in here.

use serde::{Deserialize, Serialize};

use super::SecretHash;
use crate::email::check_email;
use crate::ids::UserId;
use crate::time::Timestamp;

/// How long somebody may be away at the provider, and how long a new login waits for its code.
const CEREMONY_SECONDS: i64 = 10 * 60;
/// By how much the provider's clock may be behind ours.
const CLOCKS_APART_SECONDS: i64 = 60;
/// Logins of one person.
pub const MAX: usize = 20;
/// The standard allows no longer subject.
const SUBJECT_CHARS_MAX: usize = 255;

/// A login that the provider has vouched for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proven {
    pub issuer: String,
    /// Whose account it is at the issuer. It never changes, and nobody else gets it.
    pub subject: String,
    /// The address that the provider has, so that people recognise the login; it can be empty. It proves nothing here.
    pub email: String,
}

impl Proven {
    /// An address that is none is left out.
    pub fn new(issuer: &str, subject: &str, email: Option<&str>) -> Result<Self, String> {
        let is_plain = !subject.is_empty() && !subject.chars().any(char::is_control);
        if !is_plain || subject.chars().count() > SUBJECT_CHARS_MAX {
            return Err(format!(
                "the subject must have 1 to {SUBJECT_CHARS_MAX} characters and no control characters"
            ));
        }
        let email = email.and_then(|email| check_email(email).ok());
        Ok(Self {
            issuer: issuer.to_owned(),
            subject: subject.to_owned(),
            email: email.unwrap_or_default(),
        })
    }
}

/// A login that belongs to a person here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    pub issuer: String,
    pub subject: String,
    pub email: String,
    pub user: UserId,
    pub created_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

impl Login {
    /// Names it in forms.
    pub fn key(&self) -> SecretHash {
        // An issuer is a URL, which has no line feed.
        SecretHash::of(&format!("{}\n{}", self.issuer, self.subject))
    }
}

/// Ceremonies begun before this have ended.
pub fn ceremonies_end(now: Timestamp) -> Timestamp {
    now.plus_seconds(-CEREMONY_SECONDS)
}

/// Whether somebody who was asked at `asked_at` to prove it again did so since.
pub fn is_proved_again(proved_at: Option<Timestamp>, asked_at: Timestamp) -> bool {
    proved_at.is_some_and(|proved_at| proved_at >= asked_at.plus_seconds(-CLOCKS_APART_SECONDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(0).plus_seconds(seconds)
    }

    #[test]
    fn a_subject_is_kept_as_it_is_and_an_address_only_if_it_is_one() {
        let made = Proven::new("https://id.example", " A|b ", Some("ada@example.org")).unwrap();
        assert_eq!(
            (made.subject.as_str(), made.email.as_str()),
            (" A|b ", "ada@example.org")
        );
        for email in [
            None,
            Some(""),
            Some("Ada <b>"),
            Some("a@b.example\r\nBcc: x@y.example"),
        ] {
            assert_eq!(Proven::new("i", "s", email).unwrap().email, "");
        }
        assert!(Proven::new("i", &"s".repeat(255), None).is_ok());
        for subject in [String::new(), "a\0".to_owned(), "s".repeat(256)] {
            assert!(Proven::new("i", &subject, None).is_err(), "{subject:?}");
        }
    }

    #[test]
    fn an_old_proof_is_not_proved_again() {
        for (proved_at, expected) in [
            (None, false),
            (Some(at(939)), false),
            (Some(at(940)), true),
            (Some(at(2_000)), true),
        ] {
            assert_eq!(is_proved_again(proved_at, at(1_000)), expected, "{proved_at:?}");
        }
    }
}
