//! The board: messages for sessions, and claims on paths.
//!
//! The JSON of both is a promise to users: `plimsoll board --json` prints it, the inboxes contain
//! it, and other tools read it from `.coordination/blackboard.json`. The engine delivers messages.

mod claim;
mod render;

pub use claim::PathClaim;
pub use render::{HEADING, checkpoint_saved_notice, render_messages};

use plimsoll_core::Millis;
use plimsoll_core::board::Reason;
use plimsoll_core::event::SessionId;
use plimsoll_core::time;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::work::sanitize as kept;

/// Sender of the messages that the watcher posts.
pub const WATCHER: &str = "watcher";

/// Id of a message: letters, digits and `-`, so that it can name a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MessageId(String);

impl MessageId {
    /// Validates an id; `None` if `text` is not a valid one.
    pub fn new(text: &str) -> Option<Self> {
        let fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        ((1..=64).contains(&text.len()) && text.bytes().all(fit)).then(|| Self(text.to_owned()))
    }

    /// Formats a UUID's number as an id.
    pub fn from_uuid(number: u128) -> Self {
        let digits = format!("{number:032x}");
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
        Self(parts.join("-"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for MessageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for MessageId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text).ok_or("the name of a message has letters, digits and `-` only")
    }
}

impl From<MessageId> for String {
    fn from(id: MessageId) -> Self {
        id.0
    }
}

/// A message for one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Identifies the message, so that a message delivered twice is handled once.
    pub id: MessageId,
    /// The receiving session.
    pub to: SessionId,
    /// The project of the receiving session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Sender: a session, the watcher or a person.
    pub from: String,
    /// Content.
    #[serde(flatten)]
    pub what: MessageContent,
    /// Time of posting.
    #[serde(with = "moment")]
    pub timestamp: Millis,
    /// Expiry time; the message is dropped afterwards.
    #[serde(with = "moment")]
    pub expires: Millis,
}

/// Content of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageContent {
    /// Asks the session to make a checkpoint.
    CheckpointTrigger {
        /// Why the checkpoint is needed.
        reason: Reason,
    },
    /// A text for the session's user or agent.
    Message {
        /// The text, of one or more lines.
        text: String,
    },
}

/// Maximum length of a text in characters: several must fit into one hook reply.
pub const MAX_TEXT_CHARS: usize = 1_000;
/// Maximum length of a name or a reason.
const LONGEST_NAME: usize = 128;

impl Message {
    pub fn has_expired(&self, now: Millis) -> bool {
        self.expires <= now
    }

    /// Returns the reason for a checkpoint, if the message asks for one.
    pub fn checkpoint_reason(&self) -> Option<&Reason> {
        match &self.what {
            MessageContent::CheckpointTrigger { reason } => Some(reason),
            MessageContent::Message { .. } => None,
        }
    }

    /// Makes the message safe to store and to show: removes secrets and control characters, and
    /// limits lengths.
    #[must_use]
    pub fn sanitized(self) -> Self {
        let what = match self.what {
            MessageContent::CheckpointTrigger { reason: Reason::Other(word) } => {
                MessageContent::CheckpointTrigger { reason: Reason::Other(sanitize_name(&word)) }
            }
            MessageContent::Message { text } => {
                MessageContent::Message { text: sanitize_text(&text) }
            }
            what @ MessageContent::CheckpointTrigger { .. } => what,
        };
        Self { from: sanitize_name(&self.from), what, ..self }
    }
}

/// Cleans a name and puts it on one line.
fn sanitize_name(text: &str) -> String {
    kept::first_chars(&kept::sanitize_name(text), LONGEST_NAME)
}

fn sanitize_text(text: &str) -> String {
    kept::first_chars(&kept::sanitize(text), MAX_TEXT_CHARS)
}

/// A time in UTC, in the form that people and other tools read.
mod moment {
    use super::{Deserialize, Deserializer, Millis, Serializer, time};

    pub(super) fn serialize<S: Serializer>(moment: &Millis, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&time::utc(*moment))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Millis, D::Error> {
        let text = String::deserialize(from)?;
        time::moment(&text).ok_or_else(|| serde::de::Error::custom("not a moment in UTC"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use plimsoll_core::settings::Percent;

    use super::*;

    pub(crate) fn message(what: MessageContent) -> Message {
        Message {
            id: MessageId::new("0198-a").unwrap(),
            to: SessionId::new("s1").unwrap(),
            project: None,
            from: WATCHER.to_owned(),
            what,
            timestamp: 1_794_722_294_946,
            expires: 1_794_722_295_946,
        }
    }

    fn text(text: &str) -> MessageContent {
        MessageContent::Message { text: text.to_owned() }
    }

    #[test]
    fn triggers_have_the_json_that_other_tools_expect() {
        let reason = Reason::Line(Percent::whole(60));
        let posted = message(MessageContent::CheckpointTrigger { reason });
        let json = serde_json::to_string(&posted).unwrap();
        assert_eq!(
            json,
            r#"{"id":"0198-a","to":"s1","from":"watcher","type":"checkpoint_trigger","reason":"context_60_percent","timestamp":"2026-11-15T05:58:14.946Z","expires":"2026-11-15T05:58:15.946Z"}"#
        );
        assert_eq!(serde_json::from_str::<Message>(&json).unwrap(), posted);
    }

    #[test]
    fn sanitized_messages_have_no_secrets_or_control_characters() {
        let said = text("use ghp_0123456789abcdefghijABCDEFGHIJ456789 \u{1b}[31m\nthen rest");
        let posted = Message { from: "a\nb\u{202e}".to_owned(), ..message(said) }.sanitized();
        assert_eq!(posted.from, "ab");
        let MessageContent::Message { text } = posted.what else { panic!("another kind") };
        assert!(text.starts_with("use [redacted:") && text.ends_with("\nthen rest"), "{text}");
    }

    #[test]
    fn secrets_split_by_a_control_character_are_redacted() {
        let said = text("use ghp_0123456789\u{8}abcdefghijABCDEFGHIJ456789");
        let MessageContent::Message { text } = message(said).sanitized().what else {
            panic!("another kind")
        };
        assert_eq!(text, "use [redacted:github-token]");
    }

    #[test]
    fn uuids_have_the_usual_form() {
        let id = MessageId::from_uuid(0x45be_f045_bf76_4c4c_8815_d7b3_542f_05b3);
        assert_eq!(id.as_str(), "45bef045-bf76-4c4c-8815-d7b3542f05b3");
    }

    #[test]
    fn ids_that_could_escape_the_folder_are_rejected() {
        for bad in ["", "..", "a/b", "a.b", "über", &"x".repeat(65)] {
            assert_eq!(MessageId::new(bad), None, "{bad:?}");
        }
        let json = serde_json::to_string(&message(text("hi"))).unwrap();
        let forged = json.replace("0198-a", "../x");
        assert!(serde_json::from_str::<Message>(&forged).is_err());
        let forged = json.replace("\"s1\"", "\"../s1\"");
        assert!(serde_json::from_str::<Message>(&forged).is_err());
    }
}
