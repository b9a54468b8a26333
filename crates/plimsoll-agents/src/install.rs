//! Installs plimsoll into an agent's own files and removes it again. Texts in, texts out.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plimsoll_core::event::SessionId;

use crate::Home;

/// An agent's settings files and commands, as far as the installation needs them.
pub trait Installer: Sync {
    /// Returns the files of a scope that plimsoll may write.
    fn files(&self, scope: Scope, home: &Home<'_>, project: &Path) -> Files;

    /// Returns the client's program, as users call it.
    fn program(&self) -> &'static str;

    /// Parses the version that the client prints.
    fn version(&self, printed: &str) -> Option<Version>;

    /// Returns the oldest and the newest version that plimsoll was tested with.
    fn tried(&self) -> (Version, Version);

    /// Returns the command that updates the client.
    fn update(&self) -> &'static str;

    /// Returns the command line that resumes a session.
    fn resume(&self, session: &SessionId) -> String;

    /// Returns the client's own command that shows its hooks.
    fn hooks_command(&self) -> &'static str;

    /// Returns the events at which a client of this version should call us. If the version is
    /// unknown, returns the events that every client knows.
    fn events(&self, client: Option<Version>) -> Vec<&'static str>;

    /// Returns the command line of a hook that calls `program`.
    fn hook_line(&self, program: &str) -> String;

    /// Returns the file in which the client records which folders the user trusts, if it asks for
    /// that.
    fn trust_file(&self, home: &Home<'_>) -> Option<PathBuf>;

    /// Returns whether the user trusts a project's folder, according to the text of the trust file.
    fn is_trusted(&self, text: &str, project: &Path) -> bool;

    /// Returns whether a client of this version knows the hook event `event`.
    fn knows(&self, client: Version, event: &str) -> bool;

    /// Adds plimsoll to a settings text as `wish` says. Leaves everything else unchanged, byte for
    /// byte, and the whole text if nothing is missing.
    fn install(&self, text: &str, wish: &Wish<'_>) -> Result<String, Unfit>;

    /// Removes plimsoll from a settings text.
    ///
    /// `installed` shows which empty lists and which values were the user's own. Without it, lists
    /// that become empty are removed: most users had none, an empty list means the same to the
    /// client, and the caller has a backup. The compaction percentage stays, because removing it
    /// would change the client's behavior.
    fn uninstall(&self, text: &str, installed: Option<&Installed<'_>>) -> Result<String, Unfit>;

    /// Reads the parts of a settings text that concern us.
    fn inspect(&self, text: &str) -> Result<Inspection, Unfit>;

    /// Returns the commands that plimsoll offers to users of the client.
    fn commands(&self) -> &'static [UserCommand];

    /// Returns the paragraph about plimsoll for the model's instructions.
    fn paragraph(&self) -> &'static str;
}

/// The users and projects that an installation affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user, in every project.
    User,
    /// Everyone who works on the project.
    Project,
    /// The user, in this project.
    Local,
}

impl Scope {
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// Returns the name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// The files of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The client's settings.
    pub settings: PathBuf,
    /// The instructions for the model.
    pub instructions: PathBuf,
    /// The folder of user commands; `None` if the scope has none.
    pub commands: Option<PathBuf>,
}

/// The version of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Parses the version at the start of a text, such as `2.1.325 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split_whitespace().next()?.splitn(3, '.');
        let mut number = || parts.next()?.split(['-', '+']).next()?.parse().ok();
        Some(Self(number()?, number()?, number()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The options of an installation.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// Our program, as hooks call it.
    pub program: &'a str,
    /// The client's version, if known.
    pub client: Option<Version>,
    /// Installs our status line.
    pub status_line: bool,
    /// The percentage at which the client should compact; `None` leaves it unchanged.
    pub compact_at: Option<u8>,
}

/// The texts before and after an installation.
#[derive(Clone, Copy, Debug)]
pub struct Installed<'a> {
    /// Blank if there was no file.
    pub before: &'a str,
    pub after: &'a str,
}

/// The reason why a text cannot be changed. The text stays unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The text cannot be parsed.
    #[error("it is not JSON: {why} in line {line}, column {column}")]
    Syntax {
        why: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// A key occurs twice, so readers disagree about its meaning.
    #[error("`{0}` is there twice")]
    Twice(String),
    /// A value has the wrong type.
    #[error("{what} is not {expected}")]
    Form {
        /// The name of the value in a sentence.
        what: String,
        expected: &'static str,
    },
    /// The client is older than any version that plimsoll was tested with.
    #[error("the client is version {found}, and plimsoll needs {needed} or newer")]
    OldClient {
        found: Version,
        /// The oldest supported version.
        needed: Version,
        /// The command that updates the client.
        update: &'static str,
    },
    /// The paragraph in the instructions has no end mark.
    #[error("`{PARAGRAPH_BEGIN}` is there without `{PARAGRAPH_END}`")]
    OpenParagraph,
}

/// The parts of a settings text that concern us.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspection {
    /// All hooks, including those of others.
    pub hooks: Vec<HookEntry>,
    /// Events with hooks that no known client has.
    pub unknown_events: Vec<String>,
    /// The client runs no hooks at all.
    pub hooks_disabled: bool,
    pub status_line: Option<StatusLine>,
    /// The value of `PLIMSOLL` that the client passes on. It may disable plimsoll.
    pub switch: Option<String>,
    /// The percentage at which the client should compact, as written.
    pub compact_at: Option<String>,
    /// Keys that occur twice and matter to us.
    pub twice: Vec<String>,
    /// Why the client ignores the whole text although we can read it.
    pub ignored: Option<String>,
}

impl Inspection {
    /// Returns whether anything in the text is ours.
    pub fn has_ours(&self) -> bool {
        let status_line = self.status_line.as_ref().is_some_and(|line| line.is_ours);
        status_line || self.hooks.iter().any(|hook| hook.is_ours)
    }
}

/// A hook in a settings text.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEntry {
    pub event: String,
    /// The pattern that filters events.
    pub matcher: Option<String>,
    /// The program, or a shell command line if there are no arguments.
    pub command: String,
    pub args: Option<Vec<String>>,
    pub timeout: Timeout,
    pub is_ours: bool,
}

/// The timeout of a hook.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timeout {
    /// The client's default.
    Unset,
    Seconds(f64),
    /// Not a number: the client ignores the hook.
    Invalid,
}

/// The status line in a settings text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLine {
    /// A shell command line.
    pub command: String,
    pub is_ours: bool,
    /// The user's command that ours wraps.
    pub wraps: Option<String>,
}

/// A slash command for users of the client: a file in their command folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserCommand {
    /// The name without the slash.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// A note to show before the installation.
    pub note: Option<&'static str>,
    /// The file's text, with `{program}` in place of our program.
    pub text: &'static str,
}

impl UserCommand {
    /// Returns the file name.
    pub fn file(&self) -> String {
        format!("{}.md", self.name)
    }

    /// Returns whether a text was generated from this command, with any path of our program.
    pub fn wrote(&self, text: &str) -> bool {
        let mut parts = self.text.split("{program}");
        let (Some(before), Some(after)) = (parts.next(), parts.next()) else {
            return text == self.text;
        };
        let program = text.strip_prefix(before).and_then(|rest| rest.split(after).next());
        program.is_some_and(|program| text == self.text.replace("{program}", program))
    }

    /// Returns the file's text with the path of our program.
    pub fn text(&self, program: &str) -> String {
        self.text.replace("{program}", &plimsoll_core::shell::quote(program))
    }
}

/// Begins our paragraph in a file of instructions.
pub const PARAGRAPH_BEGIN: &str = "<!-- plimsoll:begin -->";
/// Ends our paragraph in a file of instructions.
pub const PARAGRAPH_END: &str = "<!-- plimsoll:end -->";

/// Appends our paragraph to the instructions, after a blank line.
///
/// The paragraph ends with a newline if the text did, so that removing it restores every byte.
pub fn with_paragraph(text: &str, paragraph: &str) -> Result<String, Unfit> {
    let place = paragraph_place(text)?;
    let newline =
        place.as_ref().map_or_else(|| newline(text), |place| newline(&text[place.clone()]));
    let paragraph = [PARAGRAPH_BEGIN, paragraph.trim(), PARAGRAPH_END].join("\n");
    let paragraph = paragraph.replace('\n', newline);
    if let Some(place) = place {
        return Ok([&text[..place.start], &paragraph, &text[place.end..]].concat());
    }
    Ok(match text {
        "" => format!("{paragraph}{newline}"),
        _ if text.ends_with('\n') => format!("{text}{newline}{paragraph}{newline}"),
        _ => format!("{text}{newline}{newline}{paragraph}"),
    })
}

/// Removes our paragraph from the instructions.
pub fn without_paragraph(text: &str) -> Result<String, Unfit> {
    let Some(place) = paragraph_place(text)? else { return Ok(text.to_owned()) };
    let newline = newline(&text[place.clone()]);
    let less = |text: &str| text.strip_suffix(newline).unwrap_or(text).len();
    let before = &text[..less(&text[..place.start])];
    let after = &text[place.end..];
    Ok(match after.strip_prefix(newline) {
        Some(after) => format!("{before}{after}"),
        None => format!("{}{after}", &before[..less(before)]),
    })
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn paragraph_place(text: &str) -> Result<Option<Range<usize>>, Unfit> {
    let Some(begin) = text.find(PARAGRAPH_BEGIN) else { return Ok(None) };
    let end = text[begin..].find(PARAGRAPH_END).ok_or(Unfit::OpenParagraph)?;
    Ok(Some(begin..begin + end + PARAGRAPH_END.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_paragraph_stands_at_the_end_after_a_blank_line() {
        let ours = "<!-- plimsoll:begin -->\nIt is full.\n<!-- plimsoll:end -->";
        let with = |text| with_paragraph(text, "It is full.\n").unwrap();
        assert_eq!(with("# Mine\n"), format!("# Mine\n\n{ours}\n"));
        assert_eq!(with("# Mine"), format!("# Mine\n\n{ours}"));
        assert_eq!(with(""), format!("{ours}\n"));
        assert_eq!(with_paragraph(&with("# Mine\n"), "Else").unwrap().matches("begin").count(), 1);
    }

    #[test]
    fn what_was_written_after_it_stays() {
        let text = with_paragraph("a\n", "b").unwrap() + "c\n";
        assert_eq!(without_paragraph(&text).unwrap(), "a\nc\n");
        assert_eq!(without_paragraph(PARAGRAPH_BEGIN), Err(Unfit::OpenParagraph));
    }

    proptest! {
        #[test]
        fn taking_a_paragraph_out_gives_back_every_byte(text in "[a#\r\n ]{0,12}", own in "[b\n]{1,5}") {
            let with = with_paragraph(&text, &own).unwrap();
            prop_assert_eq!(with_paragraph(&with, &own).unwrap(), with.clone());
            prop_assert_eq!(without_paragraph(&with).unwrap(), text);
        }
    }
}
