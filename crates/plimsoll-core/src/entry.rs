//! Transcript records in a form common to all agents.
//!
//! An agent turns each record into an [`Entry`], or into nothing if the record is no part of the
//! conversation. The weight of a record's text is computed separately ([`crate::weight`]), because
//! a reading needs it for a few records only.

use crate::{Millis, Tokens};

/// The place of a record: the position of its first byte in the transcript, counted from 1, so that
/// `tail -c +PLACE` starts with it. 0 if unknown.
pub type Place = u64;

/// The identity of an entry, by which later entries refer to it.
///
/// Agents write UUIDs, which are stored unchanged. Any other text is hashed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct EntryId(u128);

impl EntryId {
    /// Parses a UUID, or hashes any other text.
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

/// Parses eight hex digits at once, one per byte. Accepts lowercase letters only.
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

/// A transcript record that belongs to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// `None` if no entry can refer to this one.
    pub id: Option<EntryId>,
    pub follows: Follows,
    pub time: Option<Millis>,
    /// The version of the client that wrote the entry.
    pub version: Option<&'a str>,
    pub kind: Kind<'a>,
}

/// The entry that an entry continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follows {
    #[default]
    /// The previous entry in the file: the log is flat.
    Previous,
    /// The entry with this id: entries form chains, and a rewind starts a second branch.
    Entry(EntryId),
    /// No entry: a conversation starts here, or was compacted.
    Nothing,
}

impl Follows {
    /// Returns the predecessor of an entry in a log whose entries name their parent.
    pub fn parent(parent: Option<EntryId>) -> Self {
        parent.map_or(Self::Nothing, Self::Entry)
    }
}

/// The role of an entry in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// Part of a model's response, with the usage that the service counted for it.
    Response(Response<'a>),
    /// A message to the model, from the user or from a program in the user's place.
    Prompt,
    /// The result of a tool call.
    ToolResult,
    /// Text that the client added automatically: a file, a reminder, a hook's output.
    Attachment,
    /// The point where a summary replaced everything before.
    Boundary(Boundary),
    /// The summary after a [`Kind::Boundary`].
    Summary,
    /// Names the model or the window of the responses after it.
    ModelChange(ModelChange<'a>),
    /// A link in the chain of entries that the model never sees.
    Link,
}

/// A change of the model or its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelChange<'a> {
    /// `None` if only the window is named.
    pub model: Option<&'a str>,
    /// `None` if only the model is named.
    pub window: Option<Tokens>,
}

/// One content block of a response. All blocks of a response carry the same usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// The response that this block belongs to.
    pub message: EntryId,
    /// `None` if the record does not name the model.
    pub model: Option<&'a str>,
    /// The model's window; `None` if the record does not name it.
    pub window: Option<Tokens>,
    /// The model was requested with a long-context mark.
    pub long_context: bool,
    /// Tokens in the window when the model was called.
    pub prompt_tokens: Tokens,
    /// Tokens of the answer. A running count while `complete` is false.
    pub output_tokens: Tokens,
    /// Whether `output_tokens` is final.
    pub complete: bool,
    /// Index of this block in the response; `None` if the client does not record it.
    pub block: Option<u64>,
}

/// A compaction as the client recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// The client started it, not the user.
    pub automatic: bool,
    pub tokens_before: Option<Tokens>,
    /// Tokens of the conversation after the compaction, without the client's own prompt and tools.
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
