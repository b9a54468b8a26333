//! What is said, and to whom: verdicts to the model, choices to the user.

use crate::Tokens;
use crate::event::{Load, Reply};
use crate::text::thousands;

/// How much room a window has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Tokens until the client compacts.
    UntilCompaction(Tokens),
    /// Tokens until the client compacts, if a setting makes it compact earlier than by default.
    UntilEarlyCompaction(Tokens),
    /// Tokens until the window is full.
    InWindow(Tokens),
}

impl Left {
    fn sentence(self) -> String {
        match self {
            Self::UntilCompaction(0) | Self::UntilEarlyCompaction(0) => {
                "The conversation may be compacted at any moment.".to_owned()
            }
            Self::UntilCompaction(left) | Self::UntilEarlyCompaction(left) => {
                format!("About {left} tokens are left before the conversation is compacted.")
            }
            Self::InWindow(left) => format!("About {left} tokens are left."),
        }
    }
}

/// How full a window is, and what follows from that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occupancy {
    /// Used share of the window, in percent.
    pub percent: f64,
    /// Tokens left before the client compacts, or else in the window.
    pub left: Left,
    /// The client makes room by itself when it has to.
    pub client_compacts: bool,
}

impl Occupancy {
    /// The beginning of a text, up to its first full stop.
    ///
    /// A percentage says how full the window is. Where the client is set to compact early, that says
    /// little: the tokens until then come first.
    fn fact(&self) -> String {
        let Self { percent, left, .. } = self;
        match *left {
            Left::UntilEarlyCompaction(0) => format!(
                "CONTEXT: the conversation may be compacted at any moment ({percent:.0}% of the window used)"
            ),
            Left::UntilEarlyCompaction(left) => format!(
                "CONTEXT: about {} tokens until the conversation is compacted ({percent:.0}% of the window used)",
                about(left)
            ),
            Left::UntilCompaction(_) | Left::InWindow(_) => {
                format!("CONTEXT: ~{percent:.0}% used")
            }
        }
    }

    /// The same for the model, which is told how much is left in every case.
    fn fact_with_rest(&self, saved: &str) -> String {
        match self.left {
            Left::UntilEarlyCompaction(_) => format!("{}.{saved}", self.fact()),
            left => format!("{}.{saved} {}", self.fact(), left.sentence()),
        }
    }

    /// What a command is worth considering for.
    fn purpose(&self) -> &'static str {
        match self.left {
            Left::UntilEarlyCompaction(_) => "before then",
            Left::UntilCompaction(_) | Left::InWindow(_) => "before context exhaustion",
        }
    }
}

/// A count of tokens to the next hundred: nobody plans by single ones.
fn about(tokens: Tokens) -> String {
    thousands(if tokens < 1_000 { tokens } else { tokens.saturating_add(50) / 100 * 100 })
}

/// What the words of a speech depend on besides.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// A command that the user can run.
    pub command: &'a str,
    /// The command that begins an empty conversation.
    pub fresh_command: &'a str,
    /// The variable that sets the window.
    pub variable: &'a str,
    /// The setting that raises the ceiling.
    pub ceiling_setting: &'a str,
    /// When the checkpoint was sealed that is at hand.
    pub sealed: Option<&'a SealedAt>,
    /// The command that goes on from the save that was made of the session.
    pub saved: Option<&'a str>,
    /// An earlier warning about this window has told the user to act: no later one says less.
    pub advised: bool,
}

impl Words<'_> {
    /// When the checkpoint was sealed that makes it needless to act: the client makes room by itself, and
    /// the user was not told otherwise before.
    fn suffices(&self, occupancy: &Occupancy) -> Option<&SealedAt> {
        self.sealed.filter(|_| occupancy.client_compacts && !self.advised)
    }
}

/// When a checkpoint was sealed, as people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedAt {
    /// By the user's own clock.
    pub local: String,
    /// The same with the zone of that clock, for the model.
    pub zoned: String,
}

/// Something to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Speech {
    /// The window is filling up.
    Warning {
        /// How full it is.
        occupancy: Occupancy,
        /// The subagent whose window it is.
        subagent: Option<String>,
        /// The session was saved before, and the user was told to continue in a new one.
        is_saved: bool,
    },
    /// It is time to save the session.
    Save {
        /// How full the window is.
        occupancy: Occupancy,
    },
    /// The window is nearly full, and the session was saved.
    Saved {
        /// How full it is.
        occupancy: Occupancy,
    },
    /// The window is nearly full, and a fresh session goes on.
    Stopped {
        /// How full it is.
        occupancy: Occupancy,
    },
    /// An agent or a skill is being loaded above the ceiling.
    Ceiling(AboveCeiling),
}

/// A load above the ceiling.
#[derive(Clone, Debug, PartialEq)]
pub struct AboveCeiling {
    /// How full the window is.
    pub occupancy: Occupancy,
    /// The ceiling.
    pub ceiling: Ceiling,
    /// What is being loaded.
    pub load: Load,
    /// The subagent that loads it.
    pub subagent: Option<String>,
    /// The skills that are still allowed, where the call is refused.
    pub refused: Option<Vec<String>>,
    /// The window is a guess of this size.
    pub guessed: Option<Tokens>,
}

/// The ceiling that a load is above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ceiling {
    /// A percentage of the window that the user can change.
    Percent(f64),
    /// A percentage of the window, lower than the user's because the client compacts early.
    Lowered(f64),
    /// A count of tokens.
    Tokens(Tokens),
}

impl Speech {
    /// Returns the name of the decision, for the record.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Warning { .. } => "warned",
            Self::Save { .. } => "suggested",
            Self::Saved { .. } => "saved",
            Self::Stopped { .. } => "stopped",
            Self::Ceiling(AboveCeiling { refused: None, .. }) => "guarded",
            Self::Ceiling(AboveCeiling { refused: Some(_), .. }) => "refused",
        }
    }

    /// Whether it refuses a call.
    pub fn refuses(&self) -> bool {
        matches!(self, Self::Ceiling(AboveCeiling { refused: Some(_), .. }))
    }

    /// Whether the words name the save that was made of the session.
    pub fn names_save(&self) -> bool {
        matches!(self, Self::Saved { .. } | Self::Warning { is_saved: true, .. })
    }

    /// Whether these words tell the user to act.
    pub fn advises(&self, words: &Words<'_>) -> bool {
        match self {
            Self::Warning { occupancy, subagent: None, .. } => words.suffices(occupancy).is_none(),
            _ => false,
        }
    }

    /// The words.
    pub fn reply(&self, words: &Words<'_>) -> Reply {
        match self {
            Self::Saved { occupancy } | Self::Warning { occupancy, is_saved: true, .. } => {
                match words.saved {
                    Some(restore) => saved_words(occupancy, restore),
                    None => warning(occupancy, words),
                }
            }
            Self::Stopped { occupancy } => {
                let sealed = words.sealed.map(|sealed| checkpoint_saved(&sealed.zoned) + ";");
                let fact = format!("{}.{}", occupancy.fact(), sealed.unwrap_or_default());
                let stop = Some(format!("{fact} a fresh session continues the work."));
                Reply { stop, ..Reply::default() }
            }
            Self::Warning { occupancy, subagent: None, .. } => warning(occupancy, words),
            Self::Warning { occupancy, subagent, .. } => {
                let to_user = Some(format!("{}{}.", occupancy.fact(), in_subagent(subagent)));
                let to_model = Some(occupancy.fact_with_rest(""));
                Reply { to_user, to_model, ..Reply::default() }
            }
            Self::Save { occupancy } => Reply {
                to_user: Some(format!(
                    "{}. Consider {} to save the session.",
                    occupancy.fact(),
                    words.command
                )),
                ..Reply::default()
            },
            Self::Ceiling(above) => above.reply(words),
        }
    }
}

impl AboveCeiling {
    fn reply(&self, words: &Words<'_>) -> Reply {
        let place = self.place();
        let (begins, begun, adds) = match &self.load {
            Load::Agent(_) => ("starts", "started", "Its report will add to the window."),
            Load::Skill(_) => ("is loaded", "loaded", "Its text will stay in the window."),
        };
        let name = self.name();
        if let Some(skills) = &self.refused {
            let refusal = format!(
                "CONTEXT: {name} was not {begun} because {place}. \
                 Finish or summarize first. Still allowed: all other tools, and the skills {}.",
                skills.join(", ")
            );
            return Reply { refusal: Some(refusal), ..Reply::default() };
        }
        let guess = self.guessed.map_or_else(String::new, |window| {
            format!(" The window of {window} tokens is a guess: set {}.", words.variable)
        });
        let fact = format!("CONTEXT: {name} {begins} while {place}.");
        Reply {
            to_user: Some(format!("{fact}{}{guess}", self.advice(words))),
            to_model: Some(format!("{fact} {adds}")),
            ..Reply::default()
        }
    }

    fn name(&self) -> String {
        let kind = match &self.load {
            Load::Agent(_) => "Agent",
            Load::Skill(_) => "Skill",
        };
        format!("{kind} {}", super::brief(self.load.name()))
    }

    /// How full the window is, compared with the ceiling.
    fn place(&self) -> String {
        let window = match self.subagent.as_deref() {
            None => "the window".to_owned(),
            Some("") => "the window of a subagent".to_owned(),
            Some(kind) => format!("the window of subagent {kind}"),
        };
        let at = format!("{:.0} %", self.occupancy.percent);
        let (ceiling, is_above) = match self.ceiling {
            Ceiling::Percent(ceiling) | Ceiling::Lowered(ceiling) => {
                let ceiling = format!("{ceiling:.0} %");
                let is_above = ceiling != at;
                (ceiling, is_above)
            }
            Ceiling::Tokens(tokens) => (format!("{}-token", thousands(tokens)), true),
        };
        let than = if is_above { "above" } else { "at" };
        let early = match self.occupancy.left {
            Left::UntilEarlyCompaction(left) => {
                format!(", about {} tokens before the conversation is compacted", about(left))
            }
            Left::UntilCompaction(_) | Left::InWindow(_) => String::new(),
        };
        format!("{window} is at {at}, {than} the {ceiling} ceiling{early}")
    }

    /// What helps. A subagent's window is nothing that a command of the user's could empty.
    fn advice(&self, words: &Words<'_>) -> String {
        let Words { fresh_command, ceiling_setting, .. } = words;
        let fresh = match self.subagent {
            Some(_) => String::new(),
            None => format!(" For new work, {fresh_command} first."),
        };
        let raise = match self.ceiling {
            Ceiling::Lowered(_) => String::new(),
            Ceiling::Percent(_) | Ceiling::Tokens(_) => {
                format!(" If that is too low, raise {ceiling_setting}.")
            }
        };
        fresh + &raise
    }
}

/// What was saved is there for a new session; whether to begin one is the user's choice.
fn saved_words(occupancy: &Occupancy, restore: &str) -> Reply {
    let fact = format!("{}. Session saved.", occupancy.fact());
    Reply {
        to_user: Some(format!("{fact} Run '{restore}' in a new session to continue.")),
        to_model: Some(occupancy.fact_with_rest(" Session saved.")),
        ..Reply::default()
    }
}

fn warning(occupancy: &Occupancy, words: &Words<'_>) -> Reply {
    let suffices = words.suffices(occupancy).is_some();
    let ending = if suffices { "; no action needed." } else { "." };
    let saved = |time: fn(&SealedAt) -> &str| {
        words.sealed.map_or_else(String::new, |sealed| checkpoint_saved(time(sealed)) + ending)
    };
    let consider = format!(" Consider {} {}.", words.command, occupancy.purpose());
    let advice = saved(|sealed| &sealed.local) + if suffices { "" } else { &consider };
    let saved = saved(|sealed| &sealed.zoned);
    Reply {
        to_user: Some(format!("{}.{advice}", occupancy.fact())),
        to_model: Some(occupancy.fact_with_rest(&saved)),
        ..Reply::default()
    }
}

fn checkpoint_saved(time: &str) -> String {
    format!(" Checkpoint saved {time}")
}

/// Whose window it is, for the user; the subagent knows.
fn in_subagent(subagent: &Option<String>) -> String {
    match subagent.as_deref() {
        None => String::new(),
        Some("") => " in a subagent".to_owned(),
        Some(kind) => format!(" in subagent {kind}"),
    }
}
