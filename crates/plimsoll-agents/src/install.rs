//! Putting plimsoll into an agent's own files and taking it out again: text in, text out.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plimsoll_core::event::SessionId;

use crate::Home;

/// What plimsoll needs to know of an agent to install itself there.
pub trait Installer: Sync {
    /// The files of a scope that we may write to.
    fn files(&self, scope: Scope, home: &Home<'_>, project: &Path) -> Files;

    /// The client's program, as users call it.
    fn program(&self) -> &'static str;

    /// The client's version, by what it prints when asked for it.
    fn version(&self, printed: &str) -> Option<Version>;

    /// The oldest and the newest version that plimsoll was tried with.
    fn tried(&self) -> (Version, Version);

    /// The command that updates the client.
    fn update(&self) -> &'static str;

    /// The command line that takes a session up again.
    fn resume(&self, session: &SessionId) -> String;

    /// The client's own command that shows its hooks.
    fn hooks_command(&self) -> &'static str;

    /// The events at which a client of that version is to call us; if the version is unknown, the
    /// events that every client knows.
    fn events(&self, client: Option<Version>) -> Vec<&'static str>;

    /// The command line of a hook that calls `program`.
    fn hook_line(&self, program: &str) -> String;

    /// Returns the file in which the client records which folders the user trusts, if it asks for that.
    fn trust_file(&self, home: &Home<'_>) -> Option<PathBuf>;

    /// Whether, by that file's text, the user trusts the folder of a project.
    fn is_trusted(&self, text: &str, project: &Path) -> bool;

    /// Whether a client of that version knows the hook event called `event`.
    fn knows(&self, client: Version, event: &str) -> bool;

    /// A settings text with plimsoll in it as wished. Everything else stays as it is, byte for byte,
    /// and so does the whole text if nothing is missing.
    fn install(&self, text: &str, wish: &Wish<'_>) -> Result<String, Unfit>;

    /// A settings text without plimsoll. What is known of the installation tells which empty lists
    /// and which values were the user's own. Without it lists that become empty go: most users had
    /// none, an empty one means the same to the client, and the caller keeps a copy. The point of
    /// compaction stays, for it means something.
    fn uninstall(&self, text: &str, installed: Option<&Installed<'_>>) -> Result<String, Unfit>;

    /// What a settings text says that concerns us.
    fn inspect(&self, text: &str) -> Result<Inspection, Unfit>;

    /// The commands that we offer to users of the client.
    fn commands(&self) -> &'static [UserCommand];

    /// What the model should know about us, for the file of its instructions.
    fn paragraph(&self) -> &'static str;
}

/// For whom something is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user, in every project.
    User,
    /// Everybody who works in the project.
    Project,
    /// The user, in this project.
    Local,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// The scope's name, as users write it.
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
    /// The folder of the user's commands, where the scope has one.
    pub commands: Option<PathBuf>,
}

/// The version of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Reads the version that a text begins with, such as `2.1.325 (Claude Code)`.
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

/// How plimsoll is to be installed.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// Our program, as hooks call it.
    pub program: &'a str,
    /// The client's version, if it is known.
    pub client: Option<Version>,
    /// Whether the status line is ours.
    pub status_line: bool,
    /// Where the client is to compact, in percent; it is left as it is if this is nothing.
    pub compact_at: Option<u8>,
}

/// What an installation did to a text.
#[derive(Clone, Copy, Debug)]
pub struct Installed<'a> {
    /// The text before; blank if there was no file.
    pub before: &'a str,
    /// The text that was written.
    pub after: &'a str,
}

/// Why a text cannot be changed. It stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It cannot be parsed.
    #[error("it is not JSON: {why} in line {line}, column {column}")]
    Syntax {
        /// What is wrong.
        why: String,
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
    },
    /// A key is there twice, so that readers differ in what it means.
    #[error("`{0}` is there twice")]
    Twice(String),
    /// Something has another form than it should have.
    #[error("{what} is not {expected}")]
    Form {
        /// What it is, as a sentence names it.
        what: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The client is older than any that plimsoll was tried with.
    #[error("the client is version {found}, and plimsoll needs {needed} or newer")]
    OldClient {
        /// The client's version.
        found: Version,
        /// The oldest that works.
        needed: Version,
        /// The command that updates it.
        update: &'static str,
    },
    /// The paragraph in the instructions has no end.
    #[error("`{PARAGRAPH_BEGIN}` is there without `{PARAGRAPH_END}`")]
    OpenParagraph,
}

/// What a settings text says that concerns us.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspection {
    /// All hooks, whoever's.
    pub hooks: Vec<HookEntry>,
    /// Events with hooks that no client we know has.
    pub unknown_events: Vec<String>,
    /// The client runs no hooks at all.
    pub hooks_disabled: bool,
    /// The status line.
    pub status_line: Option<StatusLine>,
    /// `PLIMSOLL`, which may switch us off, as the client hands it on.
    pub switch: Option<String>,
    /// The percentage at which the client is to compact, as it is written.
    pub compact_at: Option<String>,
    /// Keys on our path that are there twice.
    pub twice: Vec<String>,
    /// Why the client passes over the whole text, although we can read it.
    pub ignored: Option<String>,
}

impl Inspection {
    /// Whether anything in the text is ours.
    pub fn has_ours(&self) -> bool {
        let status_line = self.status_line.as_ref().is_some_and(|line| line.is_ours);
        status_line || self.hooks.iter().any(|hook| hook.is_ours)
    }
}

/// One hook in a settings text.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEntry {
    /// The event it is called at.
    pub event: String,
    /// What the event must concern.
    pub matcher: Option<String>,
    /// The program, or a line for the shell if there are no arguments.
    pub command: String,
    /// The program's arguments.
    pub args: Option<Vec<String>>,
    /// How long it may take.
    pub timeout: Timeout,
    /// It is plimsoll's.
    pub is_ours: bool,
}

/// How long a hook may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timeout {
    /// As long as the client thinks right.
    Unset,
    /// So many seconds.
    Seconds(f64),
    /// What is written there is no number: the client passes over the hook.
    Invalid,
}

/// The status line in a settings text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLine {
    /// The line for the shell.
    pub command: String,
    /// It is plimsoll's.
    pub is_ours: bool,
    /// The command that ours is wrapped around.
    pub wraps: Option<String>,
}

/// A command for users of the client: a file in the folder of their commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserCommand {
    /// Its name, without the slash.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What a user should know before it is installed.
    pub note: Option<&'static str>,
    /// The file's text, with `{program}` where ours is called.
    pub text: &'static str,
}

impl UserCommand {
    /// The file's name.
    pub fn file(&self) -> String {
        format!("{}.md", self.name)
    }

    /// Whether a text is this one, wherever our program was then.
    pub fn wrote(&self, text: &str) -> bool {
        let mut parts = self.text.split("{program}");
        let (Some(before), Some(after)) = (parts.next(), parts.next()) else {
            return text == self.text;
        };
        let program = text.strip_prefix(before).and_then(|rest| rest.split(after).next());
        program.is_some_and(|program| text == self.text.replace("{program}", program))
    }

    /// The file's text where our program is `program`.
    pub fn text(&self, program: &str) -> String {
        self.text.replace("{program}", &plimsoll_core::shell::quote(program))
    }
}

/// What begins our paragraph in a file of instructions.
pub const PARAGRAPH_BEGIN: &str = "<!-- plimsoll:begin -->";
/// What ends it.
pub const PARAGRAPH_END: &str = "<!-- plimsoll:end -->";

/// The instructions with our paragraph at the end, after a blank line.
///
/// The paragraph ends with a newline where the text did, so that taking it out gives back every byte.
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

/// The instructions without our paragraph.
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
