//! Access tokens: their text form and checksum.
//!
//! `bursar_pat_` or `bursar_svc_`, 30 base-62 characters of secret and six of checksum. A scanner can
//! recognise one offline, and a mistyped one costs no look-up.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::words;

words! {
    /// Who acts with a token.
    TokenKind {
        /// A person, with the live role in the organization.
        Personal "personal",
        /// The organization, with the role it was made with.
        Service "service",
    }
}

impl TokenKind {
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Personal => "bursar_pat_",
            Self::Service => "bursar_svc_",
        }
    }
}

/// For secret scanners: matches every token. One in 62^6 other matches passes the checksum too.
pub const SCANNER_PATTERN: &str = r"\bbursar_(?:pat|svc)_[0-9A-Za-z]{36}\b";

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_CHARS: usize = 30;
const CHECK_CHARS: usize = 6;
/// For one secret: enough that running out of unbiased bytes never happens in practice.
pub const ENTROPY_BYTES: usize = 64;

/// What the database keeps of a token.
pub type TokenHash = [u8; 32];

/// `None` if too few bytes can be used without bias (once in 10^13 times): retry with new ones.
pub fn compose(kind: TokenKind, entropy: &[u8; ENTROPY_BYTES]) -> Option<String> {
    // 248 is the largest multiple of 62 in a byte. Above it, the first digits would be likelier.
    let digits: Vec<u8> = entropy
        .iter()
        .filter(|b| **b < 248)
        .map(|b| ALPHABET[usize::from(b % 62)])
        .take(SECRET_CHARS)
        .collect();
    let secret = String::from_utf8(digits)
        .ok()
        .filter(|s| s.len() == SECRET_CHARS)?;
    let mut text = format!("{}{secret}", kind.prefix());
    text.extend(checksum(&secret).map(char::from));
    Some(text)
}

/// `None` unless the form and the checksum are right.
pub fn recognise(text: &str) -> Option<TokenKind> {
    let kind = TokenKind::ALL
        .iter()
        .copied()
        .find(|kind| text.starts_with(kind.prefix()))?;
    let rest = &text[kind.prefix().len()..];
    let well_formed =
        rest.len() == SECRET_CHARS + CHECK_CHARS && rest.bytes().all(|b| b.is_ascii_alphanumeric());
    (well_formed && checksum(&rest[..SECRET_CHARS]) == rest.as_bytes()[SECRET_CHARS..]).then_some(kind)
}

/// Cuts every token in the text to its prefix, for messages that repeat what a caller sent.
pub fn masked(text: &str) -> Cow<'_, str> {
    let first = |text: &str| {
        TokenKind::ALL
            .iter()
            .filter_map(|kind| text.find(kind.prefix()).map(|at| at + kind.prefix().len()))
            .min()
    };
    if first(text).is_none() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(end) = first(rest) {
        out.push_str(&rest[..end]);
        out.push('…');
        rest = rest[end..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The hash that a token is looked up by.
pub fn hash(text: &str) -> TokenHash {
    Sha256::digest(text.as_bytes()).into()
}

/// CRC-32 (IEEE) of the secret in base 62, padded to six characters.
fn checksum(secret: &str) -> [u8; CHECK_CHARS] {
    let mut value = crc32fast::hash(secret.as_bytes());
    let mut digits = [b'0'; CHECK_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(value % 62) as usize];
        value /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_and_checksum() {
        let entropy: [u8; ENTROPY_BYTES] = std::array::from_fn(|i| u8::try_from(i * 37 % 256).unwrap());
        for kind in [TokenKind::Personal, TokenKind::Service] {
            let text = compose(kind, &entropy).unwrap();
            assert_eq!(text.len(), 11 + 36);
            assert_eq!(recognise(&text), Some(kind));
            for i in 0..text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[i] = if bytes[i] == b'x' { b'y' } else { b'x' };
                assert_eq!(
                    recognise(std::str::from_utf8(&bytes).unwrap()),
                    None,
                    "position {i}"
                );
            }
        }
        for bad in [
            "",
            "bursar_pat_",
            "bursar_xyz_",
            "bursar_pat_é",
            &"bursar_pat_".repeat(5),
        ] {
            assert_eq!(recognise(bad), None);
        }
    }

    /// Worked out with zlib's CRC-32: of thirty zeros it is 2011552642.
    #[test]
    fn a_checksum_worked_out_elsewhere() {
        assert_eq!(checksum(&"0".repeat(30)), *b"2C8GjS");
        assert_eq!(
            crc32fast::hash(b"123456789"),
            0xCBF4_3926,
            "the check value of CRC-32/IEEE"
        );
    }

    #[test]
    fn secrets_are_masked() {
        let token = compose(TokenKind::Service, &[7; ENTROPY_BYTES]).unwrap();
        assert_eq!(masked("nothing to hide"), "nothing to hide");
        assert_eq!(
            masked(&format!("{token} and {token}=1")),
            "bursar_svc_… and bursar_svc_…=1"
        );
        assert_eq!(masked("bursar_pat_"), "bursar_pat_…");
    }

    #[test]
    fn too_little_entropy_is_told() {
        assert_eq!(compose(TokenKind::Personal, &[255; ENTROPY_BYTES]), None);
    }
}
