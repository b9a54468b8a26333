//! The limits that end a run before its work is done.

use serde::{Deserialize, Serialize};

use crate::Tokens;
use crate::text;

/// The limits of a run. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u32>,
    /// Sum of the tokens in the windows of all sessions at their ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Maximum active time, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Maximum number of failed jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<u32>,
}

/// The resources that a run has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    pub sessions: u32,
    /// Sum of the tokens in the windows of ended sessions at their ends.
    pub tokens: Tokens,
    /// Active time, in seconds.
    pub seconds: u64,
    pub failures: u32,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// See [`Limits::sessions`].
    Sessions(u32),
    /// See [`Limits::tokens`].
    Tokens(Tokens),
    /// See [`Limits::seconds`].
    Seconds(u64),
    /// See [`Limits::failures`].
    Failures(u32),
}

impl Limits {
    /// Returns the limit that forbids another session; `None` if none does.
    pub fn reached(&self, spent: &Spent) -> Option<Limit> {
        let sessions = self.sessions.filter(|most| spent.sessions >= *most).map(Limit::Sessions);
        let tokens = self.tokens.filter(|most| spent.tokens >= *most).map(Limit::Tokens);
        let seconds = self.seconds.filter(|most| spent.seconds >= *most).map(Limit::Seconds);
        let failures = self.failures.filter(|most| spent.failures >= *most).map(Limit::Failures);
        sessions.or(tokens).or(seconds).or(failures)
    }

    /// Fills unset limits from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            sessions: self.sessions.or(other.sessions),
            tokens: self.tokens.or(other.tokens),
            seconds: self.seconds.or(other.seconds),
            failures: self.failures.or(other.failures),
        }
    }
}

impl Limit {
    /// Returns the command-line option that doubles the limit.
    pub fn raised(&self) -> String {
        match self {
            Self::Sessions(most) => format!("--max-sessions {}", most.saturating_mul(2)),
            Self::Tokens(most) => format!("--max-tokens {}", most.saturating_mul(2)),
            Self::Seconds(most) => match most.saturating_mul(2) {
                hours if hours.is_multiple_of(3600) => format!("--max-time {}h", hours / 3600),
                minutes if minutes.is_multiple_of(60) => format!("--max-time {}m", minutes / 60),
                seconds => format!("--max-time {seconds}s"),
            },
            Self::Failures(most) => format!("--max-failures {}", most.saturating_mul(2)),
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sessions(1) => f.write_str("the limit of 1 session is reached"),
            Self::Sessions(most) => write!(f, "the limit of {most} sessions is reached"),
            Self::Tokens(most) => {
                write!(f, "the limit of {} tokens is reached", text::thousands(*most))
            }
            Self::Seconds(most) => {
                write!(f, "the limit of {} is reached", text::duration(*most))
            }
            Self::Failures(1) => f.write_str("a batch has failed"),
            Self::Failures(most) => write!(f, "{most} batches have failed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_reached_at_it_and_not_before() {
        let limits = Limits { sessions: Some(3), tokens: Some(100), ..Limits::default() };
        let spent = |sessions, tokens| Spent { sessions, tokens, ..Spent::default() };
        assert_eq!(limits.reached(&spent(2, 99)), None);
        assert_eq!(limits.reached(&spent(3, 0)), Some(Limit::Sessions(3)));
        assert_eq!(limits.reached(&spent(2, 100)), Some(Limit::Tokens(100)));
        assert_eq!(Limits::default().reached(&spent(u32::MAX, u64::MAX)), None);
    }

    #[test]
    fn what_is_said_here_comes_before_what_is_said_elsewhere() {
        let here = Limits { sessions: Some(3), ..Limits::default() };
        let elsewhere = Limits { sessions: Some(9), seconds: Some(60), ..Limits::default() };
        let both = here.or(elsewhere);
        assert_eq!((both.sessions, both.seconds), (Some(3), Some(60)));
    }
}
