//! Draws the state; decides nothing.

mod curve;
mod detail;
mod runs;
mod table;
#[cfg(test)]
mod tests;

use plimsoll_core::Millis;
use plimsoll_core::reading::Band;
use plimsoll_core::text::duration;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, TableState};

use super::session::SessionPhase;
use super::state::{DashboardState, Pane};
use crate::layout::fit;
use crate::past::counted;

/// View data that persists between frames.
pub(crate) struct DashboardView {
    pub(crate) theme: Theme,
    /// Scroll position of the list.
    pub(crate) table: TableState,
}

/// Styles. No information is conveyed by colour alone, because colours may be disabled.
#[derive(Clone, Copy)]
pub(crate) struct Theme {
    pub(crate) has_colour: bool,
}

impl Theme {
    fn band(self, band: Band) -> Style {
        match band {
            Band::Healthy => self.in_colour(Color::Green),
            Band::Warning => self.in_colour(Color::Yellow),
            Band::Critical => self.in_colour(Color::Magenta),
            Band::Overflow => self.in_colour(Color::Red).add_modifier(Modifier::BOLD),
        }
    }

    fn in_colour(self, colour: Color) -> Style {
        if self.has_colour { Style::new().fg(colour) } else { Style::new() }
    }

    fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

/// Minimum useful height of the list.
const MIN_LIST_ROWS: u16 = 4;

impl DashboardView {
    /// Draws the state as of `now`.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, state: &DashboardState, now: Millis) {
        let foot = footer(self.theme, state, frame.area().width.into());
        let runs = runs::lines(state, frame.area(), now);
        let rows = [1, runs.len() as u16, foot.len() as u16].map(Constraint::Length);
        let [head, runs_at, body, below] =
            Layout::vertical([rows[0], rows[1], Constraint::Min(0), rows[2]]).areas(frame.area());
        frame.render_widget(header(self.theme, state, head.width.into()), head);
        frame.render_widget(Paragraph::new(runs), runs_at);
        let (list, pane) = split_area(state, body);
        if list.height > 0 {
            table::draw(frame, list, self, state, now);
        }
        match state.pane {
            None => {}
            Some(Pane::Detail) => detail::draw(frame, pane, self.theme, state, now),
            Some(Pane::Criteria) => frame.render_widget(criteria(self.theme, state), pane),
            Some(Pane::Help) => frame.render_widget(help(self.theme), pane),
        }
        frame.render_widget(Paragraph::new(foot), below);
    }
}

/// Divides the area between list and pane. Hides the list if there is no room for both.
fn split_area(state: &DashboardState, body: Rect) -> (Rect, Rect) {
    if state.pane.is_none() {
        return (body, Rect::default());
    }
    let wanted = state.rows().len() as u16 + 1;
    let list = wanted.min(body.height / 3).max(MIN_LIST_ROWS);
    let list = if body.height >= 3 * MIN_LIST_ROWS { list } else { 0 };
    let [list, pane] = Layout::vertical([Constraint::Length(list), Constraint::Min(0)]).areas(body);
    (list, pane)
}

fn header(theme: Theme, state: &DashboardState, columns: usize) -> Line<'static> {
    let sessions = state.sessions();
    let running = sessions.iter().filter(|it| it.phase <= SessionPhase::Idle).count();
    let reading = state.progress.map(|(done, of)| format!("reading {done} of {of}"));
    let order = if state.is_reversed { "reversed" } else { "" };
    let parts = [
        "plimsoll".to_owned(),
        format!("{running} running of {}", counted(sessions.len() as u64, "session", "sessions")),
        format!("by {} {order}", state.sort.label()).trim_end().to_owned(),
        reading.unwrap_or_default(),
    ];
    let mut line = vec![Span::styled(fit(&parts, columns), theme.bold())];
    if state.is_typing || !state.filter.is_empty() {
        let cursor = if state.is_typing { "▏" } else { "" };
        line.push(Span::raw(format!("  /{}{cursor}", state.filter)));
    }
    Line::from(line)
}

/// Returns the result of the last action in full, so that users can copy it by hand; else the key
/// hints.
fn footer(theme: Theme, state: &DashboardState, columns: usize) -> Vec<Line<'static>> {
    const KEYS: [&str; 8] = [
        "? keys",
        "q quit",
        "⏎ detail",
        "/ filter",
        "s sort",
        "c checkpoint",
        "y copy resume",
        "o open",
    ];
    const TYPING: &str = "a part of a name, project or model; ⏎ keeps it, Esc drops it";
    match &state.message {
        Some(told) => {
            let letters: Vec<char> = told.chars().collect();
            let lines = letters.chunks(columns.max(1));
            lines.map(|line| Line::raw(line.iter().collect::<String>())).collect()
        }
        None if state.is_typing => vec![Line::styled(TYPING, theme.dim())],
        None => vec![Line::styled(fit(&KEYS.map(str::to_owned), columns), theme.dim())],
    }
}

fn criteria(theme: Theme, state: &DashboardState) -> Paragraph<'static> {
    let Some(found) = &state.criteria else { return Paragraph::new("looking…") };
    let line = |(name, told): (&'static str, String)| {
        Line::from(vec![Span::styled(format!(" {name:<20} "), theme.dim()), Span::raw(told)])
    };
    let title = Line::styled(found.title(), theme.bold());
    Paragraph::new([vec![title], found.told().map(line).to_vec()].concat())
}

fn help(theme: Theme) -> Paragraph<'static> {
    const KEYS: [(&str, &str); 13] = [
        ("↑ ↓ j k", "go to another row; Home, End, g and G to the first and last"),
        ("⏎", "the session's curve and last checkpoint; PgUp, PgDn turn its pages"),
        ("space", "show or fold the subagents of a session"),
        ("/", "show only what has a text in its name, project or model"),
        ("s", "sort by load, distance, checkpoint, activity, project, in turn"),
        ("r", "the other way round"),
        ("c", "make a checkpoint of the session now"),
        ("y", "copy the command that takes the session up again, and show it"),
        ("o", "open its last checkpoint in $PAGER"),
        ("i", "whether all this does what it is for: the figures of the last days"),
        ("Esc", "close what is open; then quit"),
        ("q", "quit"),
        (
            "marks",
            "● runs  ○ idle  ✕ died  ! above the warn line  ~ estimate  │ compacts  ▸ of a run",
        ),
    ];
    let line = |(key, what): (&'static str, &'static str)| {
        Line::from(vec![Span::styled(format!(" {key:<9}"), theme.bold()), Span::raw(what)])
    };
    Paragraph::new(KEYS.map(line).to_vec())
}

/// Formats the time since a moment.
fn age(now: Millis, moment: Millis) -> String {
    let seconds = u64::try_from((now - moment) / 1000).unwrap_or(0);
    let whole = duration(seconds);
    // From an hour on, the larger unit is enough.
    match whole.split_once(" h ") {
        Some((hours, _)) if seconds < 86_400 => format!("{hours} h"),
        _ if seconds >= 86_400 => format!("{} d", seconds / 86_400),
        _ => whole,
    }
}
