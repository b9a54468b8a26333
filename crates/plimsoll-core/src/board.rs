//! The reasons for which the board asks for a checkpoint. The rest of the board is in
//! `plimsoll-extract`.

use serde::{Deserialize, Serialize};

use crate::settings::Percent;

/// The reason for a checkpoint request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Reason {
    /// The session crossed the checkpoint threshold, which is at this share of the window.
    Line(Percent),
    /// The session has worked for half an hour without a checkpoint.
    Age,
    /// Any other reason, as the sender wrote it.
    Other(String),
}

const AGE: &str = "checkpoint_age_30_minutes";

impl From<String> for Reason {
    fn from(text: String) -> Self {
        let percent = text.strip_prefix("context_").and_then(|rest| rest.strip_suffix("_percent"));
        match percent.and_then(|percent| Percent::new(percent.parse().ok()?)) {
            Some(percent) => Self::Line(percent),
            None if text == AGE => Self::Age,
            None => Self::Other(text),
        }
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.to_string()
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(percent) => write!(f, "context_{percent}_percent"),
            Self::Age => f.write_str(AGE),
            Self::Other(word) => f.write_str(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_understood_again() {
        for (reason, word) in [
            (Reason::Line(Percent::whole(60)), "context_60_percent"),
            (Reason::Line(Percent::new(55.5).unwrap()), "context_55.5_percent"),
            (Reason::Age, "checkpoint_age_30_minutes"),
            (Reason::Other("context_0_percent".to_owned()), "context_0_percent"),
            (Reason::Other("review".to_owned()), "review"),
        ] {
            assert_eq!(reason.to_string(), word);
            assert_eq!(Reason::from(word.to_owned()), reason);
        }
    }
}
