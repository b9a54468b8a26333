//! Claude Code's hook events, and those that we use.

use crate::install::Version;

/// The oldest client that plimsoll was tested with.
pub(super) const OLDEST: Version = Version(2, 1, 40);

/// The newest client that plimsoll was tested with.
pub(super) const NEWEST: Version = Version(2, 1, 325);

/// The command that updates a client.
pub(super) const UPDATE: &str = "claude update";

/// A hook event that we use.
pub(super) struct Listened {
    pub(super) event: &'static str,
    pub(super) matcher: Option<&'static str>,
    /// In seconds.
    pub(super) timeout: u32,
}

/// The hook events that we use, in the order in which they are written.
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

/// Versions known to have events that older ones lack.
const V2_1_76: Version = Version(2, 1, 76);
const V2_1_90: Version = Version(2, 1, 90);
const V2_1_120: Version = Version(2, 1, 120);
const V2_1_197: Version = Version(2, 1, 197);

/// Every event of the client, with a version known to have it.
///
/// If a settings file names an unknown event, client 2.1.42 ignores the whole file, and client
/// 2.1.325 asks the user at every start.
const KNOWN: [(&str, Version); 33] = [
    ("SessionStart", OLDEST),
    ("UserPromptSubmit", OLDEST),
    ("UserPromptExpansion", V2_1_120),
    ("PreToolUse", OLDEST),
    ("PermissionRequest", OLDEST),
    ("PermissionDenied", V2_1_90),
    ("PostToolUse", OLDEST),
    ("PostToolUseFailure", OLDEST),
    ("PostToolBatch", V2_1_120),
    ("SubagentStart", OLDEST),
    ("SubagentStop", OLDEST),
    ("Stop", OLDEST),
    ("StopFailure", V2_1_90),
    ("PreCompact", OLDEST),
    ("PostCompact", V2_1_76),
    ("PreModelSwitch", NEWEST),
    ("PostModelSwitch", NEWEST),
    ("SessionEnd", OLDEST),
    ("Setup", OLDEST),
    ("Notification", OLDEST),
    ("InstructionsLoaded", V2_1_90),
    ("ConfigChange", V2_1_90),
    ("CwdChanged", V2_1_90),
    ("FileChanged", V2_1_90),
    ("DirectoryAdded", NEWEST),
    ("TaskCreated", V2_1_90),
    ("TaskCompleted", OLDEST),
    ("TeammateIdle", OLDEST),
    ("Elicitation", V2_1_90),
    ("ElicitationResult", V2_1_90),
    ("WorktreeCreate", V2_1_90),
    ("WorktreeRemove", V2_1_90),
    ("MessageDisplay", V2_1_197),
];

/// Returns the hook events that we use with a client of this version. If the version is unknown,
/// returns the events that every client knows.
pub(super) fn listened(client: Option<Version>) -> impl Iterator<Item = &'static Listened> {
    let client = client.unwrap_or(OLDEST);
    LISTENED.iter().filter(move |listened| knows(Some(client), listened.event))
}

/// Returns whether a client of this version knows the event, or any client if `None`.
pub(super) fn knows(client: Option<Version>, event: &str) -> bool {
    let fits = |since: Version| client.is_none_or(|client| client >= since);
    KNOWN.iter().any(|(name, since)| *name == event && fits(*since))
}
