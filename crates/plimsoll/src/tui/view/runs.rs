//! The runs that are conducted right now, a line each.

use plimsoll_core::Millis;
use plimsoll_core::run::Run;
use plimsoll_core::text::duration;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::cmd::short;
use crate::layout::fit;
use crate::past::counted;
use crate::tui::state::State;
use crate::ui::{plain, short_tokens};

/// More runs than these are only counted.
const MOST: usize = 3;
/// A terminal of fewer rows is for the list alone.
const LEAST: u16 = 10;

pub(super) fn lines(state: &State, area: Rect, now: Millis) -> Vec<Line<'static>> {
    if area.height < LEAST {
        return Vec::new();
    }
    let columns = area.width.into();
    let shown = state.runs.iter().take(MOST);
    let mut lines: Vec<Line<'static>> =
        shown.map(|run| Line::raw(line(state, run, columns, now))).collect();
    if let Some(more @ 1..) = state.runs.len().checked_sub(MOST) {
        lines.push(Line::raw(format!("  and {}", counted(more as u64, "more run", "more runs"))));
    }
    lines
}

fn line(state: &State, run: &Run, columns: usize, now: Millis) -> String {
    let (progress, spent) = (run.progress(), run.spent(now));
    let session = run.current().and_then(|(_, leg)| leg.begun.session.as_ref());
    let known = state.sessions().iter().find(|known| Some(&known.id) == session);
    let tokens = spent.tokens + known.map_or(0, |session| session.load.used);
    let session = session.map(|session| format!("in {}", short(session.as_str())));
    let parts = [
        format!("▸ {}", run.id.short()),
        format!("{} of {} done", progress.done, progress.of),
        session.unwrap_or_else(|| counted(spent.sessions.into(), "session", "sessions")),
        short_tokens(tokens),
        duration(spent.seconds),
        plain(&run.begun.title),
    ];
    fit(&parts, columns)
}
