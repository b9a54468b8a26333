//! When user and model are warned, and when the session is suggested to be saved.

use super::{Call, Outlook, Speech, brief, checkpoint_due};
use crate::Tokens;
use crate::session::{Quiet, SessionState};

/// The levels at which something is done, whatever is said.
pub(super) struct Marks {
    pub(super) checkpoint: Tokens,
    pub(super) restart: Tokens,
}

/// Warns, or suggests saving, once a line is passed, and notes until when nothing can be due.
pub(super) fn warn(
    outlook: &Outlook<'_>,
    call: &Call<'_>,
    used: Tokens,
    marks: Marks,
    growth: &dyn Fn() -> Tokens,
    next: &mut SessionState,
) -> Option<Speech> {
    if outlook.settings.is_silent() {
        return None;
    }
    let line = outlook.level(|levels| levels.warn, used, growth);
    let save = outlook.level(|levels| levels.save, used, growth);
    let speech = if used >= line { warning(outlook, call, used, next) } else { None };
    let suggests = call.subagent.is_none() && outlook.can_save && !next.suggested;
    let speech = match speech {
        None if used >= save && suggests => {
            next.suggested = true;
            Some(Speech::Save { occupancy: outlook.occupancy(used) })
        }
        speech => speech,
    };
    let Marks { checkpoint, restart } = marks;
    let is_main = call.subagent.is_none();
    let seals = is_main && next.crossed.is_none() && checkpoint_due::acts(outlook.settings);
    let saves = is_main && next.saved.is_none();
    next.quiet = if seals && used >= checkpoint || saves && used >= restart {
        // Whoever comes next and may make a checkpoint is to look.
        None
    } else {
        let ahead = [(seals, checkpoint), (suggests, save), (saves, restart)];
        let ahead = ahead.into_iter().filter(|(open, level)| *open && used < *level);
        let due = ahead.map(|(_, level)| level).min().map_or(line, |level| match used < line {
            true => level.min(line),
            // A warning is due in the next bucket, whatever else is.
            false => level.min(next_bucket(outlook, used)),
        });
        Some(quiet(outlook, used, due, next.quiet))
    };
    speech
}

/// The warning, unless it was given in this bucket.
///
/// After the advice to continue a saved session in a new one, every later warning about the same
/// window repeats it: a saved session is never followed by milder advice.
fn warning(
    outlook: &Outlook<'_>,
    call: &Call<'_>,
    used: Tokens,
    next: &mut SessionState,
) -> Option<Speech> {
    let bucket = outlook.bucket(used);
    if next.warned.is_some_and(|warned| warned >= bucket) {
        return None;
    }
    (next.warned, next.suggested) = (Some(bucket), true);
    let is_saved =
        call.subagent.is_none() && next.saved.is_some() && outlook.trigger.tokens().is_none();
    let (occupancy, subagent) = (outlook.occupancy(used), call.subagent.map(brief));
    Some(Speech::Warning { occupancy, subagent, is_saved })
}

/// What is said where the session is saved, in the place of a warning. A client that compacts by itself
/// goes on by itself, and nobody need do anything.
pub(super) fn saved(outlook: &Outlook<'_>, used: Tokens, saves: bool) -> Option<Speech> {
    let is_told = saves && outlook.trigger.tokens().is_none() && !outlook.settings.is_silent();
    is_told.then(|| Speech::Saved { occupancy: outlook.occupancy(used) })
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
    } else if outlook.trigger.tokens().is_none() || line - used <= near {
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
