//! The active runs, one line each.

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::name::short;
use plimsoll_core::run::Run;
use plimsoll_core::text::duration;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::layout::fit;
use crate::past::counted;
use crate::tui::state::DashboardState;
use crate::ui::{short_tokens, strip_control};

/// Further runs are only counted.
const MAX_RUNS: usize = 3;
/// Number of sessions to name.
const MAX_NAMED: usize = 2;
/// Minimum height of a terminal that shows runs.
const MIN_ROWS: u16 = 10;

pub(super) fn lines(state: &DashboardState, area: Rect, now: Millis) -> Vec<Line<'static>> {
    if area.height < MIN_ROWS {
        return Vec::new();
    }
    let columns = area.width.into();
    let shown = state.runs.iter().take(MAX_RUNS);
    let mut lines: Vec<Line<'static>> =
        shown.map(|run| Line::raw(line(state, run, columns, now))).collect();
    if let Some(more @ 1..) = state.runs.len().checked_sub(MAX_RUNS) {
        lines.push(Line::raw(format!("  and {}", counted(more as u64, "more run", "more runs"))));
    }
    lines
}

fn line(state: &DashboardState, run: &Run, columns: usize, now: Millis) -> String {
    let (progress, spent) = (run.progress(), run.spent(now));
    let at_work: Vec<_> = run.at_work().filter_map(|(_, leg)| leg.begun.session.as_ref()).collect();
    let known = state.sessions().iter().filter(|known| at_work.contains(&&known.id));
    let known: Vec<_> = known.map(|session| session.load.used).collect();
    let tokens = run.held().into_iter().chain(known).reduce(|sum, more| sum + more);
    let counted = || counted(spent.sessions.into(), "session", "sessions");
    let parts = [
        format!("▸ {}", run.id.short()),
        format!("{} of {} done", progress.done, progress.of),
        working_sessions(&at_work).unwrap_or_else(counted),
        tokens.map(short_tokens).unwrap_or_default(),
        duration(spent.seconds),
        strip_control(&run.begun.title),
    ];
    fit(&parts, columns)
}

/// Names the sessions that are working right now; `None` if there are none.
fn working_sessions(at_work: &[&SessionId]) -> Option<String> {
    let some = at_work.iter().take(MAX_NAMED).map(|session| short(session.as_str()));
    let some = some.collect::<Vec<_>>().join(" ");
    match at_work.len() {
        0 => None,
        many if many > MAX_NAMED => Some(format!("in {some} +{}", many - MAX_NAMED)),
        _ => Some(format!("in {some}")),
    }
}
