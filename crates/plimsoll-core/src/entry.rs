//! A transcript line in our words.
//!
//! An adapter turns each line into an [`Entry`], or into nothing when the line is no part of the
//! conversation. What the line's text weighs is asked for separately ([`crate::weight`]), because a
//! reading needs that of a few lines only.

use crate::{Millis, Tokens};

/// The place of a record: its first byte in the transcript, counted from 1. `tail -c +PLACE` begins
/// with it. 0 where it is not known.
pub type Place = u64;

/// The identity of an entry, as its successors name it.
///
/// Agents write UUIDs; those are kept as they are, any other text by its hash.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct EntryId(u128);

impl EntryId {
    /// The identity that `text` stands for.
    pub fn new(text: &[u8]) -> Self {
        Self(uuid(text).unwrap_or_else(|| fnv1a(text)))
    }
}

impl std::fmt::Display for EntryId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

fn uuid(text: &[u8]) -> Option<u128> {
    if text.len() != 36 {
        return None;
    }
    let has_dashes = [8, 13, 18, 23].iter().all(|at| text[*at] == b'-');
    let parts = [[0, 4], [9, 14], [19, 24], [28, 32]];
    let number = parts.into_iter().try_fold(0, |number, [one, other]| {
        let half =
            |from: usize| u64::from(u32::from_be_bytes([0, 1, 2, 3].map(|at| text[from + at])));
        Some(number << u32::BITS | u128::from(digits(half(one) << u32::BITS | half(other))?))
    });
    number.filter(|_| has_dashes)
}

/// What eight digits stand for, a byte each, all of them at once; only small letters are digits.
fn digits(text: u64) -> Option<u64> {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    let letters = (text >> 6) & EACH;
    let values = (text & (EACH * 0x0f)) + letters * 9;
    let above_nine = ((values + EACH * 6) >> 4) & EACH;
    let as_text = values + EACH * u64::from(b'0') + above_nine * u64::from(b'a' - b'0' - 10);
    if as_text != text || values & (EACH * 0xf0) != 0 {
        return None;
    }
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    Some((fours | fours >> 16) & u64::from(u32::MAX))
}

fn fnv1a(text: &[u8]) -> u128 {
    text.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

/// One line of a transcript that belongs to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What its successors call it.
    pub id: Option<EntryId>,
    /// The entry it follows; absent at the start of a conversation and at a compaction.
    pub parent: Option<EntryId>,
    /// When it was written.
    pub time: Option<Millis>,
    /// The client that wrote it.
    pub version: Option<&'a str>,
    /// What it is.
    pub kind: Kind<'a>,
}

/// What an entry is to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// A piece of a model's response, with the usage the service counted for it.
    Response(Response<'a>),
    /// Something said to the model by the user, or by a machine in the user's place.
    Prompt,
    /// What a tool gave back.
    ToolResult,
    /// Something the client added by itself: a file, a reminder, a hook's words.
    Attachment,
    /// The point where everything before was replaced by a summary.
    Boundary(Boundary),
    /// The summary that replaced it.
    Summary,
    /// A link of the chain that the model never sees.
    Link,
}

/// One content block of a response. All blocks of a response carry the same usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// The response it belongs to.
    pub message: EntryId,
    /// The model that answered.
    pub model: &'a str,
    /// The model was asked for with a long-context mark.
    pub long_context: bool,
    /// Tokens of the prompt that this answers: what the window held.
    pub prompt_tokens: Tokens,
    /// Tokens of the answer; a running count while `complete` is false.
    pub output_tokens: Tokens,
    /// Whether `output_tokens` is the final figure.
    pub complete: bool,
    /// The place of this block in the response, where the client says.
    pub block: Option<u64>,
}

/// A compaction as the client recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Started by the client, not by the user.
    pub automatic: bool,
    /// What the window held before.
    pub tokens_before: Option<Tokens>,
    /// What the conversation itself holds after, without the client's own prompt and tools.
    pub tokens_after: Option<Tokens>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_kept_and_any_other_text_is_hashed() {
        let id = EntryId::new(b"45bef045-bf76-4c4c-8815-d7b3542f05b3");
        assert_eq!(id.0, 0x45be_f045_bf76_4c4c_8815_d7b3_542f_05b3);
        assert_ne!(EntryId::new(b"msg_1"), EntryId::new(b"msg_2"));
        assert_eq!(uuid(b"45bef045-bf76-4c4c-8815-d7b3542f05bX"), None);
        assert_eq!(uuid(b"45bef045+bf76-4c4c-8815-d7b3542f05b3"), None);
    }

    #[test]
    fn digits_are_those_of_a_number_in_small_letters() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut text = *b"0a9f1b8e";
                text[at] = byte;
                let number = std::str::from_utf8(&text).ok();
                let number = number.and_then(|text| u64::from_str_radix(text, 16).ok());
                let is_digit = matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                assert_eq!(digits(u64::from_be_bytes(text)), number.filter(|_| is_digit));
            }
        }
    }
}
