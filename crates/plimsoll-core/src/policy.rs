//! When the agent is advised, nudged or stopped.

use crate::event::{EventKind, Load, Reply};
use crate::reading::{Reading, ReadingSource};
use crate::session::{Basis, Bucket, ProvenWindow, Quiet, Restored, SessionState};
use crate::settings::{GuardMode, Lines, Settings};
use crate::trigger::Trigger;
use crate::window::{Window, WindowSource};
use crate::{Tokens, weight};

/// The lines in tokens of one window, kept clear of the client's trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// See [`Lines::ceiling`].
    pub ceiling: Tokens,
    /// See [`Lines::checkpoint`].
    pub checkpoint: Tokens,
    /// See [`Lines::save`].
    pub save: Tokens,
    /// See [`Lines::warn`].
    pub warn: Tokens,
    /// See [`Lines::restart`].
    pub restart: Tokens,
}

impl Levels {
    /// Where the lines lie in a window of `window` tokens.
    pub fn of(lines: &Lines, window: Tokens) -> Self {
        Self {
            ceiling: lines.ceiling.of(window),
            checkpoint: lines.checkpoint.of(window),
            save: lines.save.of(window),
            warn: lines.warn.of(window),
            restart: lines.restart.of(window),
        }
    }

    /// Moves every level that the client's compaction would forestall: at a usual pace three calls
    /// must fit between the level and the trigger.
    pub fn clear_of(self, trigger: Option<Tokens>, growth: Tokens) -> Self {
        const LEAST_ROOM: Tokens = 15_000;
        let Some(trigger) = trigger else { return self };
        let highest = trigger.saturating_sub(LEAST_ROOM.max(growth.saturating_mul(3)));
        Self {
            ceiling: self.ceiling.min(highest),
            checkpoint: self.checkpoint.min(highest),
            save: self.save.min(highest),
            warn: self.warn.min(highest),
            restart: self.restart.min(highest),
        }
    }
}

/// What is known about a window, its reading aside.
#[derive(Clone, Copy, Debug)]
pub struct Outlook<'a> {
    /// What the user has set.
    pub settings: &'a Settings,
    /// Whether the user has a command that saves the session.
    pub can_save: bool,
    /// The window.
    pub window: Window,
    /// The client's trigger.
    pub trigger: Trigger,
    /// The model that answered last.
    pub model: Option<&'a str>,
}

impl Outlook<'_> {
    fn basis(&self) -> Basis {
        Basis {
            window: self.window.tokens,
            trigger: self.trigger.tokens(),
            save: self.settings.lines.save.of(self.window.tokens),
            warn: self.settings.lines.warn.of(self.window.tokens),
        }
    }

    /// The effective levels of a session that grows so much from call to call.
    pub fn levels(&self, growth: Tokens) -> Levels {
        Levels::of(&self.settings.lines, self.window.tokens).clear_of(self.trigger.tokens(), growth)
    }

    /// One level. Growth can only lower it, so above the level without growth it is not asked for.
    fn level(
        &self,
        pick: fn(&Levels) -> Tokens,
        used: Tokens,
        growth: &dyn Fn() -> Tokens,
    ) -> Tokens {
        let highest = pick(&self.levels(0));
        if used >= highest || self.trigger.tokens().is_none() {
            return highest;
        }
        pick(&self.levels(growth()))
    }

    fn percent(&self, used: Tokens) -> f64 {
        used as f64 * 100.0 / self.window.tokens.max(1) as f64
    }

    fn bucket(&self, used: Tokens) -> Bucket {
        (used.saturating_mul(20) / self.window.tokens.max(1)) as Bucket
    }
}

/// Whether `event` can call for nothing at `counted` tokens and `bytes_since` of transcript after
/// them.
///
/// This is what all but a few hook calls come to, so it needs neither the weight of what was
/// appended nor the session's growth: with a trigger that growth may move a line, but never below
/// a quarter of the trigger, for no growth is larger than the reading it led to.
pub fn nothing_due(
    outlook: &Outlook<'_>,
    event: &EventKind,
    state: &SessionState,
    counted: Tokens,
    bytes_since: u64,
) -> bool {
    let at_most = counted.saturating_add(weight::at_most(bytes_since));
    let unproven = outlook.window.source == WindowSource::Inferred
        && state.window.as_ref().is_none_or(|proven| proven.tokens != outlook.window.tokens);
    at_most < quiet_below(outlook, event, state)
        && !has_fallen(outlook.bucket(at_most), state.spoken())
        && !unproven
}

/// Under how many tokens `event` can call for nothing.
fn quiet_below(outlook: &Outlook<'_>, event: &EventKind, state: &SessionState) -> Tokens {
    let basis = outlook.basis();
    let levels = outlook.levels(0);
    let line = match event {
        EventKind::Loading(load) if !is_gated(outlook.settings, load) => return Tokens::MAX,
        EventKind::Loading(_) => {
            levels.ceiling.min(outlook.settings.ceiling_tokens.unwrap_or(Tokens::MAX))
        }
        _ => match state.quiet {
            Some(quiet) if quiet.basis == basis => return quiet.below,
            _ => levels.save.min(levels.warn),
        },
    };
    basis.trigger.map_or(line, |trigger| line.min(trigger / 4))
}

/// A reading that fell by more than a bucket is of another window, not noise at the edge of one.
fn has_fallen(bucket: Bucket, spoken: Option<Bucket>) -> bool {
    spoken.is_some_and(|spoken| bucket + 1 < spoken)
}

/// What to say and what to remember.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// Words for user and model, or a refusal.
    pub speech: Option<Speech>,
    /// The session's state from now on, where it changes or something is said.
    pub remember: Option<SessionState>,
}

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
            Self::Ceiling { refused: false, .. } => "guarded",
            Self::Ceiling { refused: true, .. } => "refused",
        }
    }

    /// Whether it refuses a call.
    pub fn refuses(&self) -> bool {
        matches!(self, Self::Ceiling { refused: true, .. })
    }

    /// The words. `command` is one that the user can run, and `variable` sets the window.
    pub fn reply(&self, command: &str, variable: &str) -> Reply {
        match self {
            Self::Warning { percent, left, subagent } => {
                warning(*percent, *left, subagent, command)
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
                    refusal: None,
                }
            }
        }
    }
}

fn warning(percent: f64, left: Left, subagent: &Option<String>, command: &str) -> Reply {
    let fact = format!("CONTEXT: ~{percent:.0}% used");
    let to_user = match subagent {
        Some(_) => format!("{fact}{}.", in_subagent(subagent)),
        None => format!("{fact}. Consider {command} before context exhaustion."),
    };
    let to_model = format!("{fact}. {}", left.sentence());
    Reply { to_user: Some(to_user), to_model: Some(to_model), refusal: None }
}

/// Whose window it is, for the user; the subagent knows.
fn in_subagent(subagent: &Option<String>) -> String {
    match subagent.as_deref() {
        None => String::new(),
        Some("") => " in a subagent".to_owned(),
        Some(kind) => format!(" in subagent {kind}"),
    }
}

/// Decides what to do about `event` in a window loaded as `reading` says.
///
/// The agent is warned once per bucket, not on every call: advice that repeats is advice that gets
/// ignored. `growth` gives the session's median growth per call, which is asked for only where it
/// matters, and `subagent` is whose window it is.
pub fn decide(
    outlook: &Outlook<'_>,
    event: &EventKind,
    subagent: Option<&str>,
    reading: &Reading,
    growth: &dyn Fn() -> Tokens,
    state: &SessionState,
) -> Decision {
    let mut next = forget_what_has_fallen(outlook, reading.used, state);
    prove(outlook, &mut next);
    let speech = match event {
        EventKind::Prompted | EventKind::ToolFinished => {
            warn(outlook, subagent, reading, growth, &mut next)
        }
        EventKind::Loading(load) => guard(outlook, load, subagent, reading, growth, &mut next),
        EventKind::Started
        | EventKind::Compacting
        | EventKind::Compacted
        | EventKind::Cleared
        | EventKind::Ended
        | EventKind::Other => None,
    };
    let news = next != *state || speech.is_some();
    Decision { speech, remember: news.then_some(next) }
}

/// The state of a window whose contents were replaced.
pub fn replaced(state: &SessionState) -> Decision {
    let (window, sealed) = (state.window.clone(), state.sealed);
    let next = SessionState { window, sealed, ..SessionState::default() };
    Decision { speech: None, remember: (next != *state).then_some(next) }
}

/// How many tokens are given back after a compaction.
const RESTORE: usize = 2_000;
/// How many after one that came right behind another.
const BRIEF_RESTORE: usize = 500;

/// The state of a window that was compacted after so many tool calls, and how many tokens may be
/// given back.
///
/// A client gives up on a session whose window is full again right after each of several compactions:
/// what we give back must not be what fills it.
pub fn compacted(state: &SessionState, steps: u32) -> (SessionState, usize) {
    const SOON: u32 = 3;
    let again = state.restored.filter(|last| steps.saturating_sub(last.steps) <= SOON);
    let times = again.map_or(1, |last| last.times + 1);
    let budget = match times {
        1 => RESTORE,
        2 => BRIEF_RESTORE,
        _ => 0,
    };
    let (window, sealed) = (state.window.clone(), state.sealed);
    let restored = Some(Restored { steps, times });
    (SessionState { window, sealed, restored, ..SessionState::default() }, budget)
}

fn forget_what_has_fallen(
    outlook: &Outlook<'_>,
    used: Tokens,
    state: &SessionState,
) -> SessionState {
    let bucket = outlook.bucket(used);
    if !has_fallen(bucket, state.spoken()) {
        return state.clone();
    }
    let still = |spoken: Option<Bucket>| spoken.filter(|spoken| *spoken <= bucket);
    SessionState {
        warned: still(state.warned),
        guarded: still(state.guarded),
        suggested: false,
        quiet: None,
        ..state.clone()
    }
}

/// Keeps what only this reading shows of the window.
fn prove(outlook: &Outlook<'_>, next: &mut SessionState) {
    if let (WindowSource::Inferred, Some(model)) = (outlook.window.source, outlook.model) {
        let Window { tokens, source } = outlook.window;
        next.window = Some(ProvenWindow { tokens, source, model: model.to_owned() });
    }
}

fn warn(
    outlook: &Outlook<'_>,
    subagent: Option<&str>,
    reading: &Reading,
    growth: &dyn Fn() -> Tokens,
    next: &mut SessionState,
) -> Option<Speech> {
    if outlook.settings.quiet || !outlook.settings.enabled {
        return None;
    }
    let used = reading.used;
    let line = outlook.level(|levels| levels.warn, used, growth);
    let save = outlook.level(|levels| levels.save, used, growth);
    let bucket = outlook.bucket(used);
    let percent = outlook.percent(used);
    let speech = if used >= line && next.warned.is_none_or(|warned| warned < bucket) {
        (next.warned, next.suggested) = (Some(bucket), true);
        let left = match outlook.trigger.tokens() {
            Some(trigger) => Left::UntilCompaction(trigger.saturating_sub(used)),
            None => Left::InWindow(outlook.window.tokens.saturating_sub(used)),
        };
        Some(Speech::Warning { percent, left, subagent: subagent.map(brief) })
    } else if used >= save && outlook.can_save && subagent.is_none() && !next.suggested {
        next.suggested = true;
        Some(Speech::Save { percent })
    } else {
        None
    };
    let due = if used < save && outlook.can_save && !next.suggested { save } else { line };
    next.quiet = Some(quiet(outlook, used, due, next.quiet));
    speech
}

/// Whether a character of a text from outside may be shown: none that moves the cursor or turns the
/// direction of writing.
pub fn is_plain(character: char) -> bool {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !character.is_control() && !turns
}

/// A name from outside, fit to stand in a sentence of ours: one line, and not a long one.
pub fn brief(name: &str) -> String {
    const LONGEST: usize = 80;
    name.chars().filter(|character| is_plain(*character)).take(LONGEST).collect()
}

/// Until when nothing can be due again.
///
/// Below the line growth may still move it, so it is looked at again halfway; each look halves the
/// distance, so a session has a handful of them.
fn quiet(outlook: &Outlook<'_>, used: Tokens, line: Tokens, now: Option<Quiet>) -> Quiet {
    let basis = outlook.basis();
    if let Some(now) = now.filter(|now| now.basis == basis && used < now.below) {
        return now;
    }
    let near = outlook.window.tokens / 50;
    let below = if used >= line {
        next_bucket(outlook, used)
    } else if basis.trigger.is_none() || line - used <= near {
        line
    } else {
        used + (line - used) / 2
    };
    Quiet { below, basis }
}

fn next_bucket(outlook: &Outlook<'_>, used: Tokens) -> Tokens {
    let next = u128::from(outlook.bucket(used)) + 1;
    (next * u128::from(outlook.window.tokens)).div_ceil(20) as Tokens
}

fn guard(
    outlook: &Outlook<'_>,
    load: &Load,
    subagent: Option<&str>,
    reading: &Reading,
    growth: &dyn Fn() -> Tokens,
    next: &mut SessionState,
) -> Option<Speech> {
    let settings = outlook.settings;
    let line = outlook.level(|levels| levels.ceiling, reading.used, growth);
    let over_line = reading.used >= line;
    let over_cap = settings.ceiling_tokens.is_some_and(|cap| reading.used >= cap);
    if !is_gated(settings, load) || !(over_line || over_cap) {
        return None;
    }
    let guess = outlook.window.source.is_guess();
    // A guessed window proves nothing about the line, but a cap in tokens does not need it.
    let refused = settings.guard == GuardMode::Strict
        && reading.source == ReadingSource::Measured
        && (over_cap || !guess);
    let bucket = outlook.bucket(reading.used);
    let repeated = next.guarded.is_some_and(|guarded| guarded >= bucket);
    if !refused && (settings.quiet || repeated) {
        return None;
    }
    if !refused {
        next.guarded = Some(bucket);
    }
    let ceiling = match settings.ceiling_tokens {
        Some(cap) if over_cap && cap <= line => format!("{cap}-token"),
        _ => format!("{:.0}%", outlook.percent(line)),
    };
    Some(Speech::Ceiling {
        percent: outlook.percent(reading.used),
        ceiling,
        load: brief(load.name()),
        subagent: subagent.map(brief),
        refused,
        guessed: guess.then_some(outlook.window.tokens),
    })
}

/// Whether the guard looks at `load` at all.
fn is_gated(settings: &Settings, load: &Load) -> bool {
    settings.enabled
        && settings.guard != GuardMode::Off
        && !matches!(load, Load::Skill(name) if settings.recovers(name))
}

#[cfg(test)]
mod tests;
