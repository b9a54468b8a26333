//! The hook events that Claude Code has, and those that we listen to.

use crate::install::Version;

/// The oldest client that plimsoll was tried with. An older one may not know `args`, and would call
/// us without a word of what for.
pub(super) const OLDEST: Version = Version(2, 1, 197);

/// The newest one.
pub(super) const NEWEST: Version = Version(2, 1, 325);

/// The command that updates a client.
pub(super) const UPDATE: &str = "claude update";

/// An event that we listen to.
pub(super) struct Listened {
    pub(super) event: &'static str,
    pub(super) matcher: Option<&'static str>,
    /// In seconds.
    pub(super) timeout: u32,
}

/// The events that we listen to, in the order in which they are written.
pub(super) const LISTENED: [Listened; 9] = [
    Listened { event: "UserPromptSubmit", matcher: None, timeout: 5 },
    Listened { event: "PostToolUse", matcher: None, timeout: 5 },
    Listened { event: "PostToolUseFailure", matcher: None, timeout: 5 },
    Listened { event: "PreToolUse", matcher: Some("Agent|Task|Skill"), timeout: 5 },
    Listened { event: "PreCompact", matcher: None, timeout: 5 },
    Listened { event: "PostCompact", matcher: None, timeout: 3 },
    Listened { event: "SessionStart", matcher: None, timeout: 3 },
    Listened { event: "Stop", matcher: None, timeout: 3 },
    Listened { event: "SessionEnd", matcher: None, timeout: 3 },
];

/// Every event that a client has, with a version that is known to have it.
const KNOWN: [(&str, Version); 33] = [
    ("SessionStart", OLDEST),
    ("UserPromptSubmit", OLDEST),
    ("UserPromptExpansion", OLDEST),
    ("PreToolUse", OLDEST),
    ("PermissionRequest", OLDEST),
    ("PermissionDenied", OLDEST),
    ("PostToolUse", OLDEST),
    ("PostToolUseFailure", OLDEST),
    ("PostToolBatch", OLDEST),
    ("SubagentStart", OLDEST),
    ("SubagentStop", OLDEST),
    ("Stop", OLDEST),
    ("StopFailure", OLDEST),
    ("PreCompact", OLDEST),
    ("PostCompact", OLDEST),
    ("PreModelSwitch", NEWEST),
    ("PostModelSwitch", NEWEST),
    ("SessionEnd", OLDEST),
    ("Setup", OLDEST),
    ("Notification", OLDEST),
    ("InstructionsLoaded", OLDEST),
    ("ConfigChange", OLDEST),
    ("CwdChanged", OLDEST),
    ("FileChanged", OLDEST),
    ("DirectoryAdded", NEWEST),
    ("TaskCreated", OLDEST),
    ("TaskCompleted", OLDEST),
    ("TeammateIdle", OLDEST),
    ("Elicitation", OLDEST),
    ("ElicitationResult", OLDEST),
    ("WorktreeCreate", OLDEST),
    ("WorktreeRemove", OLDEST),
    ("MessageDisplay", OLDEST),
];

/// Whether a client of that version knows the event; any client if no version is given.
pub(super) fn knows(client: Option<Version>, event: &str) -> bool {
    let fits = |since: Version| client.is_none_or(|client| client >= since);
    KNOWN.iter().any(|(name, since)| *name == event && fits(*since))
}
