//! The user's key, which distinguishes the user's own checkpoints from all others.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::meta::{self, Meta};

/// The key that seals checkpoints.
#[derive(Clone, PartialEq, Eq)]
pub struct SealingKey([u8; SealingKey::LEN]);

impl SealingKey {
    /// Length in bytes.
    pub const LEN: usize = 32;

    /// Creates a key from bytes, which should be random.
    pub fn new(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Seals a body: adds hash and mac to the front matter and returns it with the whole file.
    pub fn seal(&self, mut meta: Meta, body: &str) -> (Meta, String) {
        meta.sha256 = Some(sha256(body.as_bytes()));
        meta.mac = None;
        meta.mac = Some(self.mac(&meta::signed_lines(&meta)));
        let text = meta::render(&meta, body);
        (meta, text)
    }

    /// Computes the mac of a front matter, prefixed with the key's name.
    fn mac(&self, vouched: &str) -> String {
        let tag = self.hmac(SEAL, vouched).finalize().into_bytes();
        format!("{}:{}", self.key_id(), encode_hex(&tag))
    }

    /// Returns whether `mac` matches a front matter, in constant time.
    pub(super) fn verifies(&self, mac: &str, vouched: &str) -> bool {
        let tag = mac.split_once(':').and_then(|(_, tag)| decode_hex(tag));
        tag.is_some_and(|tag| self.hmac(SEAL, vouched).verify_slice(&tag).is_ok())
    }

    /// Returns whether `mac` names this key.
    pub(super) fn is_key_of(&self, mac: &str) -> bool {
        mac.split_once(':').is_some_and(|(name, _)| name == self.key_id())
    }

    /// Returns a name that distinguishes keys without revealing them.
    fn key_id(&self) -> String {
        encode_hex(&self.hmac(NAME, "").finalize().into_bytes()[..4])
    }

    fn hmac(&self, purpose: &str, text: &str) -> Hmac<Sha256> {
        let mut hmac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length will do");
        hmac.update(purpose.as_bytes());
        hmac.update(text.as_bytes());
        hmac
    }
}

/// Each mac starts with its purpose, so that one cannot serve as another.
const SEAL: &str = "plimsoll checkpoint seal 1\n";
const NAME: &str = "plimsoll checkpoint key name 1\n";

impl std::fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Returns the SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    encode_hex(&Sha256::digest(bytes))
}

fn encode_hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn decode_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = hex.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_matches_known_values() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
        assert_eq!(decode_hex("00ff1a"), Some(vec![0, 255, 26]));
        assert_eq!((decode_hex("0"), decode_hex("0g"), decode_hex("+1")), (None, None, None));
    }

    #[test]
    fn a_mac_is_valid_only_for_its_text_and_key() {
        let (key, other) = (SealingKey::new([7; 32]), SealingKey::new([8; 32]));
        let mac = key.mac("text");
        assert!(key.verifies(&mac, "text") && key.is_key_of(&mac));
        assert!(!key.verifies(&mac, "texT"));
        assert!(!other.verifies(&mac, "text") && !other.is_key_of(&mac));
        for bad in ["", ":", "x", &mac[..mac.len() - 2], &format!("{mac}00")] {
            assert!(!key.verifies(bad, "text"), "{bad}");
        }
    }
}
