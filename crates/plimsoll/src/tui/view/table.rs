//! The list: one row per session, with as many columns as fit.

use plimsoll_core::Millis;
use plimsoll_core::name::short;
use plimsoll_core::text::duration;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Cell, Paragraph, Row as TableRow, Table};

use super::curve::trend;
use super::{DashboardView, Theme, age};
use crate::layout::end;
use crate::tui::session::{DashboardSession, SessionPhase, WindowFill};
use crate::tui::state::{DashboardState, ListRow};
use crate::ui::{gauge, short_tokens};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Name,
    Gauge,
    Share,
    Trend,
    Left,
    Ahead,
    Checkpoint,
    Project,
    Model,
}

/// Columns in display order: title, minimum and maximum width, and priority (0 is kept longest).
const COLUMNS: [(Column, &str, u16, u16, u8); 9] = [
    (Column::Name, "SESSION", 12, 12, 0),
    (Column::Gauge, "LOAD", 12, 30, 2),
    (Column::Share, "%", 5, 5, 1),
    (Column::Trend, "TREND", 8, 16, 6),
    (Column::Left, "LEFT", 5, 5, 3),
    (Column::Ahead, "AHEAD", 10, 10, 4),
    (Column::Checkpoint, "SEALED", 6, 6, 5),
    (Column::Project, "PROJECT", 10, 40, 7),
    (Column::Model, "MODEL", 14, 30, 8),
];
/// Columns that get the remaining width, in this order.
const GROWING_COLUMNS: [Column; 4] = [Column::Project, Column::Gauge, Column::Trend, Column::Model];

/// Returns the columns that fit, with their widths.
fn fitting_columns(width: u16) -> Vec<(Column, &'static str, u16)> {
    let mut by_worth = COLUMNS;
    by_worth.sort_by_key(|(.., worth)| *worth);
    let mut left = width;
    let mut chosen = Vec::new();
    for (column, _, least, ..) in by_worth {
        let Some(rest) = left.checked_sub(least + 1) else { break };
        left = rest;
        chosen.push(column);
    }
    let mut grown = COLUMNS.to_vec();
    grown.retain(|(column, ..)| chosen.contains(column));
    for grows in GROWING_COLUMNS {
        for (_, _, width, most, _) in grown.iter_mut().filter(|(column, ..)| *column == grows) {
            let more = left.min(*most - *width);
            (left, *width) = (left - more, *width + more);
        }
    }
    grown.into_iter().map(|(column, title, width, ..)| (column, title, width)).collect()
}

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    picture: &mut DashboardView,
    state: &DashboardState,
    now: Millis,
) {
    let rows = state.rows();
    if rows.is_empty() {
        let text = match (state.sessions().is_empty(), state.progress) {
            (true, None) => {
                "No session was active in the last 24 hours; `plimsoll top --all` shows older ones."
            }
            (true, Some(_)) => "",
            (false, _) => "No session fits the filter; Esc drops it.",
        };
        frame.render_widget(Paragraph::new(text).wrap(Default::default()), area);
        return;
    }
    let (theme, columns) = (picture.theme, fitting_columns(area.width));
    let title =
        |(column, title, _): &(Column, &'static str, u16)| align(*column, title.to_string());
    let titles = TableRow::new(columns.iter().map(title)).style(theme.dim());
    let line = |row: &ListRow<'_>| {
        let cells = columns.iter().map(|(column, _, width)| {
            align(*column, cell(theme, state, row, *column, (*width).into(), now))
        });
        TableRow::new(cells.collect::<Vec<_>>())
    };
    let widths = columns.iter().map(|(.., width)| Constraint::Length(*width));
    let table = Table::new(rows.iter().map(line), widths)
        .header(titles)
        .column_spacing(1)
        .row_highlight_style(theme.selected());
    picture.table.select(state.selected_index());
    frame.render_stateful_widget(table, area, &mut picture.table);
}

/// Aligns numbers right and text left.
fn align<'a>(column: Column, content: impl Into<Text<'a>>) -> Cell<'a> {
    let text = content.into();
    let is_figure =
        matches!(column, Column::Share | Column::Left | Column::Ahead | Column::Checkpoint);
    Cell::new(if is_figure { text.right_aligned() } else { text })
}

fn cell(
    theme: Theme,
    state: &DashboardState,
    row: &ListRow<'_>,
    column: Column,
    width: usize,
    now: Millis,
) -> Text<'static> {
    let (session, load, model) = match row {
        ListRow::Session(session) => (Some(*session), &session.load, &session.model),
        ListRow::Subagent(_, subagent) => (None, &subagent.load, &subagent.model),
    };
    let of_session = |text: fn(&DashboardSession, Millis) -> String| {
        Text::from(session.map(|session| text(session, now)).unwrap_or_default())
    };
    match column {
        Column::Name => name(theme, state, row),
        Column::Gauge => {
            let bar = gauge(load.used, load.window, load.trigger, width);
            Span::styled(bar, theme.band(load.band)).into()
        }
        Column::Share => Span::styled(share(load), theme.band(load.band)).into(),
        Column::Trend => {
            let curve = session.map_or(&[][..], |session| &session.curve);
            Text::from(trend(curve, load.window, width))
        }
        Column::Left => {
            let level = load.trigger.unwrap_or(load.window);
            Text::from(short_tokens(level.saturating_sub(load.used)))
        }
        Column::Ahead => of_session(time_to_compaction),
        Column::Checkpoint => of_session(checkpoint_age),
        Column::Project => {
            Text::from(session.map_or_else(String::new, |it| end(&it.project, width)))
        }
        Column::Model => Text::from(model.clone()),
    }
}

/// Returns the name cell: phase mark, short id, and the number of hidden subagents.
fn name(theme: Theme, state: &DashboardState, row: &ListRow<'_>) -> Text<'static> {
    match row {
        ListRow::Subagent(_, subagent) => {
            Text::from(format!("  └ {}", short(subagent.id.as_str())))
        }
        ListRow::Session(session) => {
            let mark = match session.phase {
                SessionPhase::Running => "●",
                SessionPhase::Idle => "○",
                SessionPhase::Died => "✕",
                SessionPhase::Ended => " ",
            };
            let folded = match session.subagents.len() {
                0 => String::new(),
                _ if state.is_unfolded(session) => String::new(),
                many => format!("+{many}"),
            };
            let name = Span::styled(format!("{:<8}", short(session.id.as_str())), theme.bold());
            let of_run = if state.belongs_to_run(session) { "▸" } else { "" };
            Line::from(vec![Span::raw(mark), name, Span::raw(of_run), Span::raw(folded)]).into()
        }
    }
}

/// Returns the percentage, with marks for an estimate and for a reached warning threshold.
fn share(load: &WindowFill) -> String {
    let about = if load.is_estimated { "~" } else { "" };
    let mark = if load.is_above_warning() { "!" } else { " " };
    format!("{about}{:.0}{mark}", load.percent())
}

/// Returns the forecast time until compaction.
fn time_to_compaction(session: &DashboardSession, _: Millis) -> String {
    const FAR: f64 = 24.0 * 60.0;
    match session.forecast.minutes {
        Some(minutes) if minutes < FAR => duration((minutes * 60.0) as u64),
        _ => String::new(),
    }
}

/// Returns the age of the last checkpoint.
fn checkpoint_age(session: &DashboardSession, now: Millis) -> String {
    session.checkpoint.as_ref().map_or_else(|| "never".to_owned(), |last| age(now, last.created))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_has_fewer_columns_and_none_is_too_wide() {
        for width in 0..300 {
            let columns = fitting_columns(width);
            let taken: u16 = columns.iter().map(|(.., width)| width + 1).sum();
            assert!(taken <= width.max(1), "{width}: {columns:?}");
        }
        let names =
            |width| fitting_columns(width).iter().map(|(column, ..)| *column).collect::<Vec<_>>();
        assert_eq!(names(20), [Column::Name, Column::Share]);
        assert!(!names(80).contains(&Column::Model));
        assert!(names(80).contains(&Column::Project));
        assert_eq!(names(200).len(), COLUMNS.len());
    }
}
