//! What is said, and to whom: verdicts to the model, choices to the user.

use crate::Tokens;
use crate::event::Reply;

/// How much room a window has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Until the client compacts.
    UntilCompaction(Tokens),
    /// Until the window is full.
    InWindow(Tokens),
}

impl Left {
    fn sentence(self) -> String {
        match self {
            Self::UntilCompaction(0) => {
                "The conversation may be compacted at any moment.".to_owned()
            }
            Self::UntilCompaction(left) => {
                format!("About {left} tokens are left before the conversation is compacted.")
            }
            Self::InWindow(left) => format!("About {left} tokens are left."),
        }
    }
}

/// What the words of a speech depend on besides.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// A command that the user can run.
    pub command: &'a str,
    /// The variable that sets the window.
    pub variable: &'a str,
    /// When the checkpoint was sealed that is at hand, as people read it.
    pub sealed: Option<&'a str>,
    /// The command that goes on from the save that was just made.
    pub saved: Option<&'a str>,
}

/// Something to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Speech {
    /// The window is filling up.
    Warning {
        /// How full it is.
        percent: f64,
        /// Tokens left before the client compacts, or else in the window.
        left: Left,
        /// The subagent whose window it is.
        subagent: Option<String>,
    },
    /// It is time to save the session.
    Save {
        /// How full the window is.
        percent: f64,
    },
    /// The window is nearly full, and the session was saved.
    Saved {
        /// How full it is.
        percent: f64,
        /// Tokens left.
        left: Left,
    },
    /// The window is nearly full, and a fresh session goes on.
    Stopped {
        /// How full it is.
        percent: f64,
    },
    /// Something is being loaded above the ceiling.
    Ceiling {
        /// How full the window is.
        percent: f64,
        /// The ceiling that was passed.
        ceiling: String,
        /// What is being loaded.
        load: String,
        /// The subagent that loads it.
        subagent: Option<String>,
        /// Whether the call is refused.
        refused: bool,
        /// The window is a guess of this size.
        guessed: Option<Tokens>,
    },
}

impl Speech {
    /// The name of what was decided, as the log of decisions has it.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Warning { .. } => "warned",
            Self::Save { .. } => "suggested",
            Self::Saved { .. } => "saved",
            Self::Stopped { .. } => "stopped",
            Self::Ceiling { refused: false, .. } => "guarded",
            Self::Ceiling { refused: true, .. } => "refused",
        }
    }

    /// Whether it refuses a call.
    pub fn refuses(&self) -> bool {
        matches!(self, Self::Ceiling { refused: true, .. })
    }

    /// The words.
    pub fn reply(&self, words: &Words<'_>) -> Reply {
        let Words { command, variable, sealed, saved } = words;
        match self {
            Self::Saved { percent, left } => match saved {
                Some(restore) => saved_words(*percent, *left, restore),
                None => warning(*percent, *left, command, *sealed),
            },
            Self::Stopped { percent } => {
                let sealed = sealed.map(|time| format!(" Checkpoint {time} is sealed;"));
                let fact = format!("CONTEXT: ~{percent:.0}% used.{}", sealed.unwrap_or_default());
                let stop = Some(format!("{fact} a fresh session goes on with the work."));
                Reply { stop, ..Reply::default() }
            }
            Self::Warning { percent, left, subagent: None } => {
                warning(*percent, *left, command, *sealed)
            }
            Self::Warning { percent, left, subagent } => {
                let fact = format!("CONTEXT: ~{percent:.0}% used");
                let to_user = Some(format!("{fact}{}.", in_subagent(subagent)));
                let to_model = Some(format!("{fact}. {}", left.sentence()));
                Reply { to_user, to_model, ..Reply::default() }
            }
            Self::Save { percent } => Reply {
                to_user: Some(format!(
                    "CONTEXT: ~{percent:.0}% used. Consider {command} to save the session."
                )),
                ..Reply::default()
            },
            Self::Ceiling { percent, ceiling, load, subagent, refused, guessed } => {
                let fact = format!("CONTEXT: ~{percent:.0}% used, above the {ceiling} ceiling");
                if *refused {
                    let refusal = format!(
                        "{fact}: `{load}` was not loaded. Summarize or finish first; recovery skills still run."
                    );
                    return Reply { refusal: Some(refusal), ..Reply::default() };
                }
                let guess = guessed.map_or_else(String::new, |window| {
                    format!(" The window of {window} tokens is a guess: set {variable}.")
                });
                // A subagent's window is nothing that a command of the user's could empty.
                let advice = match subagent {
                    Some(_) => String::new(),
                    None => format!(" Consider {command} first."),
                };
                let whose = in_subagent(subagent);
                Reply {
                    to_user: Some(format!("{fact} while loading `{load}`{whose}.{advice}{guess}")),
                    to_model: Some(format!("{fact}. `{load}` adds to it.")),
                    ..Reply::default()
                }
            }
        }
    }
}

/// What was saved is there for a new session; whether to begin one is the user's choice.
fn saved_words(percent: f64, left: Left, restore: &str) -> Reply {
    let fact = format!("CONTEXT: ~{percent:.0}% used. Session saved.");
    Reply {
        to_user: Some(format!("{fact} Run '{restore}' in a new session to continue.")),
        to_model: Some(format!("{fact} {}", left.sentence())),
        ..Reply::default()
    }
}

/// With a checkpoint at hand there is nothing that anybody need do.
fn warning(percent: f64, left: Left, command: &str, sealed: Option<&str>) -> Reply {
    let fact = format!("CONTEXT: ~{percent:.0}% used");
    let left = left.sentence();
    let (to_user, to_model) = match sealed {
        Some(time) => {
            let fact = format!("{fact}. Checkpoint {time} is sealed; carry on.");
            (fact.clone(), format!("{fact} {left}"))
        }
        None => {
            let advice = format!("{fact}. Consider {command} before context exhaustion.");
            (advice, format!("{fact}. {left}"))
        }
    };
    Reply { to_user: Some(to_user), to_model: Some(to_model), ..Reply::default() }
}

/// Whose window it is, for the user; the subagent knows.
fn in_subagent(subagent: &Option<String>) -> String {
    match subagent.as_deref() {
        None => String::new(),
        Some("") => " in a subagent".to_owned(),
        Some(kind) => format!(" in subagent {kind}"),
    }
}
