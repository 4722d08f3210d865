//! Secrets that must be read back are kept encrypted: AES-256-GCM, with what they belong to as associated data, so that a
//! sealed secret cannot be moved to another owner.

use std::fmt;

use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub const KEY_BYTES: usize = 32;
pub const NONCE_BYTES: usize = 12;
/// What proves that a sealed secret was not changed.
pub const TAG_BYTES: usize = 16;

/// The operator's key.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey([u8; KEY_BYTES]);

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

impl SecretKey {
    pub const fn new(random: [u8; KEY_BYTES]) -> Self {
        Self(random)
    }

    /// Base64 of 32 bytes; space around it is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.trim()).ok()?;
        bytes.try_into().ok().map(Self)
    }

    /// As it is kept in its file.
    pub fn text(&self) -> String {
        format!("{}\n", STANDARD.encode(self.0))
    }

    /// The nonce must be random. `owner` is what the secret belongs to.
    pub fn seal(&self, nonce: [u8; NONCE_BYTES], owner: &[u8], secret: &[u8]) -> Vec<u8> {
        let payload = Payload {
            msg: secret,
            aad: owner,
        };
        #[expect(clippy::expect_used, reason = "only gigabytes cannot be encrypted")]
        let sealed = self
            .cipher()
            .encrypt(&Nonce::from(nonce), payload)
            .expect("a short secret");
        [&nonce[..], &sealed].concat()
    }

    /// `None` if it was sealed with another key or for another owner, or was changed.
    pub fn open(&self, owner: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload {
            msg: sealed,
            aad: owner,
        };
        self.cipher().decrypt(&Nonce::from(*nonce), payload).ok()
    }

    fn cipher(&self) -> Aes256Gcm {
        Aes256Gcm::new(&self.0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_and_the_owner_open_it() {
        let (key, other) = (SecretKey::new([1; 32]), SecretKey::new([2; 32]));
        let sealed = key.seal([3; 12], b"owner", b"secret");
        assert_eq!(sealed.len(), NONCE_BYTES + 6 + TAG_BYTES);
        assert_eq!(key.open(b"owner", &sealed).as_deref(), Some(&b"secret"[..]));
        assert_eq!(key.open(b"other", &sealed), None);
        assert_eq!(other.open(b"owner", &sealed), None);
        for i in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[i] ^= 1;
            assert_eq!(key.open(b"owner", &changed), None, "byte {i}");
        }
        assert_eq!(key.open(b"owner", &sealed[..11]), None);
    }

    /// Test case 14 of the specification of GCM.
    #[test]
    fn a_published_vector() {
        let sealed = SecretKey::new([0; 32]).seal([0; 12], b"", &[0; 16]);
        let hex: String = sealed[12..].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
        );
    }

    #[test]
    fn the_text_of_a_key() {
        let key = SecretKey::new([5; 32]);
        assert_eq!(SecretKey::parse(&key.text()), Some(key.clone()));
        assert_eq!(format!("{key:?}"), "SecretKey(…)");
        for wrong in ["", "AAAA", "not base64", &STANDARD.encode([1; 31])] {
            assert_eq!(SecretKey::parse(wrong), None, "{wrong}");
        }
    }
}
