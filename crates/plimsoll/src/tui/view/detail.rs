//! Detail pane: a session's curve and the text of its last checkpoint.

use plimsoll_core::Millis;
use plimsoll_engine::clock::wall_time;
use plimsoll_extract::board::PathClaim;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};

use super::curve::Curve;
use super::{Theme, age};
use crate::cmd::ahead;
use crate::layout::fit;
use crate::past::counted;
use crate::tui::session::DashboardSession;
use crate::tui::state::DashboardState;
use crate::ui::{short_tokens, strip_control, thousands};

/// Minimum width to place both side by side.
const SIDE_BY_SIDE_COLUMNS: u16 = 120;
/// Maximum height of the curve.
const CURVE_ROWS: u16 = 12;

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    theme: Theme,
    state: &DashboardState,
    now: Millis,
) {
    let Some(session) = state.selected_session() else { return };
    let facts = facts(theme, session, area.width.into(), now);
    let rows = Constraint::Length(facts.height() as u16);
    let [above, rest] = Layout::vertical([rows, Constraint::Min(0)]).areas(area);
    frame.render_widget(facts, above);
    let (curve, text) = match area.width >= SIDE_BY_SIDE_COLUMNS {
        true => {
            let halves = [Constraint::Percentage(50), Constraint::Percentage(50)];
            let [curve, text] = Layout::horizontal(halves).spacing(1).areas(rest);
            (Rect { height: curve.height.min(CURVE_ROWS), ..curve }, text)
        }
        false => {
            let curve = Constraint::Length((rest.height / 2).min(CURVE_ROWS));
            Layout::vertical([curve, Constraint::Min(0)]).areas::<2>(rest).into()
        }
    };
    frame.render_widget(draw_curve(theme, session, curve, now), curve);
    frame.render_widget(checkpoint(theme, state, session), text);
}

/// Returns the lines of facts above the curve.
fn facts(theme: Theme, session: &DashboardSession, columns: usize, now: Millis) -> Text<'static> {
    let load = &session.load;
    let compacts = load.trigger.map(|trigger| format!("compacts at {}", thousands(trigger)));
    let first = [
        format!("{} {}", session.id, session.phase.label()),
        session.project.clone(),
        session.model.clone(),
        format!("last word {} ago", age(now, session.last_active)),
    ];
    let second = [
        format!("{} of {} tokens", thousands(load.used), thousands(load.window)),
        compacts.unwrap_or_else(|| "no trigger".to_owned()),
        format!("{} left", thousands(session.forecast.tokens)),
        ahead(&session.forecast),
        match session.compactions.len() as u64 {
            0 => String::new(),
            many => counted(many, "compaction", "compactions"),
        },
        match session.subagents.len() as u64 {
            0 => String::new(),
            many => counted(many, "subagent", "subagents"),
        },
    ];
    let mut lines =
        vec![Line::styled(fit(&first, columns), theme.bold()), Line::raw(fit(&second, columns))];
    if !session.claims.is_empty() {
        lines.push(Line::raw(fit(&claims(session), columns)));
    }
    Text::from(lines)
}

/// Describes the claims in the project.
fn claims(session: &DashboardSession) -> Vec<String> {
    let claim = |claim: &PathClaim| {
        let path = claim.path.strip_prefix(&session.folder).unwrap_or(&claim.path);
        let path = if path.as_os_str().is_empty() { &claim.path } else { path };
        let holder = if claim.holder == session.id.as_str() { "it" } else { &claim.holder };
        strip_control(&format!("{} is claimed by {holder}", path.display()))
    };
    session.claims.iter().map(claim).collect()
}

/// Draws the curve with its axes. Marks compactions and the last checkpoint.
fn draw_curve(
    theme: Theme,
    session: &DashboardSession,
    area: Rect,
    now: Millis,
) -> Paragraph<'static> {
    let [axis, margin] = [2, 6];
    let (columns, rows) = (area.width.saturating_sub(margin), area.height.saturating_sub(axis));
    if columns == 0 || rows == 0 || session.curve.is_empty() {
        return Paragraph::new(Line::styled("no answer yet", theme.dim()));
    }
    let (columns, rows) = (usize::from(columns), usize::from(rows));
    let load = &session.load;
    let curve = Curve { readings: &session.curve, window: load.window, trigger: load.trigger };
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (at, row) in curve.rows(columns, rows).into_iter().enumerate() {
        let label = if at == 0 { short_tokens(load.window) } else { String::new() };
        let bar = ratatui::text::Span::styled(row, theme.band(load.band));
        lines.push(Line::from(vec![format!("{label:>5}│").into(), bar]));
    }
    lines.push(Line::raw(format!("    0└{}", marks(&curve, session, columns))));
    lines.push(Line::styled(format!("      {}", times(session, columns, now)), theme.dim()));
    Paragraph::new(lines)
}

/// Draws the time axis, with a mark for each compaction and for the last checkpoint.
fn marks(curve: &Curve<'_>, session: &DashboardSession, columns: usize) -> String {
    let mut axis = vec!['─'; columns];
    let sealed = session.checkpoint.iter().map(|last| (last.created, '◆'));
    let compacted = session.compactions.iter().map(|time| (*time, '▼'));
    for (moment, mark) in compacted.chain(sealed) {
        if let Some(at) = curve.column(moment, columns) {
            axis[at] = mark;
        }
    }
    axis.into_iter().collect()
}

/// Returns the start and end times, with a legend if there is room.
fn times(session: &DashboardSession, columns: usize, now: Millis) -> String {
    let shown = |at: Millis| wall_time(at).seen_from(wall_time(now));
    let time = |at: Option<&(Millis, _)>| at.map_or_else(String::new, |(at, _)| shown(*at));
    let (first, last) = (time(session.curve.first()), time(session.curve.last()));
    let legend = "▼ compacted  ◆ last checkpoint";
    let used = first.chars().count() + last.chars().count();
    let gap = columns.saturating_sub(used);
    let legend = if gap > legend.chars().count() + 4 { legend } else { "" };
    format!("{first}{legend:^gap$}{last}")
}

fn checkpoint(
    theme: Theme,
    state: &DashboardState,
    session: &DashboardSession,
) -> Paragraph<'static> {
    let title = match &session.checkpoint {
        Some(last) => format!(" {} ", last.id),
        None => " no checkpoint yet; c makes one ".to_owned(),
    };
    let own = session.checkpoint.as_ref().map(|last| &last.id);
    let lines = state.checkpoint.as_ref().filter(|(id, _)| own == Some(id));
    let lines = lines.map_or(&[][..], |(_, lines)| lines);
    let styled = |line: &String| match line.starts_with('#') {
        true => Line::styled(line.clone(), theme.bold()),
        false => Line::raw(line.clone()),
    };
    let text: Vec<Line<'static>> = lines.iter().skip(state.scroll_offset).map(styled).collect();
    let block = Block::new().borders(Borders::TOP).title(title);
    Paragraph::new(text).wrap(Wrap { trim: false }).block(block)
}
