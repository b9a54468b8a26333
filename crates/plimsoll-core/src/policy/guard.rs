//! The guard: agents and skills that are loaded above the ceiling.

use super::{AboveCeiling, Ceiling, Outlook, Speech, brief};
use crate::Tokens;
use crate::event::Load;
use crate::reading::{Reading, ReadingSource};
use crate::session::SessionState;
use crate::settings::{GuardMode, Settings};

/// Decides about an agent or a skill that is loaded above the ceiling.
pub(super) fn guard(
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
    let percent = outlook.percent(line);
    let ceiling = match settings.ceiling_tokens {
        Some(cap) if over_cap && cap <= line => Ceiling::Tokens(cap),
        _ if line < settings.lines.ceiling.of(outlook.window.tokens) => Ceiling::Lowered(percent),
        _ => Ceiling::Percent(percent),
    };
    Some(Speech::Ceiling(AboveCeiling {
        occupancy: outlook.occupancy(reading.used),
        ceiling,
        load: load.clone(),
        subagent: subagent.map(brief),
        refused: refused.then(|| settings.allowed_skills()),
        guessed: guess.then_some(outlook.window.tokens),
    }))
}

/// Whether the guard looks at `load` at all.
pub(super) fn is_gated(settings: &Settings, load: &Load) -> bool {
    settings.enabled
        && settings.guard != GuardMode::Off
        && !matches!(load, Load::Skill(name) if settings.recovers(name))
}
