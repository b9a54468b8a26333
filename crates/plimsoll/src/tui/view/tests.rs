//! Snapshots of the drawn dashboard.

use plimsoll_core::run::{Run, RunId};
use plimsoll_engine::clock::wall_time;
use plimsoll_engine::criteria::Criteria;
use plimsoll_extract::board::PathClaim;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::*;
use crate::tui::keys::Key;
use crate::tui::session::DashboardSession;
use crate::tui::state::tests::{sealed, session, with_subagents};

const MINUTE: Millis = 60_000;
/// 22:50 UTC on the first day of the epoch.
const NOW: Millis = 1_370 * MINUTE;
/// Start of the curve: on the same day as [`NOW`] in every time zone.
const BEGUN: Millis = NOW - 40 * MINUTE;

fn picture(
    state: &DashboardState,
    columns: u16,
    rows: u16,
    has_colour: bool,
) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let mut picture = DashboardView { theme: Theme { has_colour }, table: TableState::default() };
    terminal.draw(|frame| picture.draw(frame, state, NOW)).unwrap();
    terminal
}

/// Returns the drawn text without trailing blanks.
fn text(state: &DashboardState, columns: u16, rows: u16) -> String {
    let drawn = picture(state, columns, rows, false).backend().to_string();
    let lines = drawn.lines().map(|line| line.trim_matches('"').trim_end().to_owned());
    // Times are local, so normalise them.
    let text = lines.collect::<Vec<_>>().join("\n");
    let clock = |moment: Millis| wall_time(moment).clock();
    text.replace(&clock(BEGUN), "00:00").replace(&clock(BEGUN + 39 * MINUTE), "00:39")
}

fn sample_state() -> DashboardState {
    let mut state = DashboardState::default();
    let curve: Vec<(Millis, u64)> =
        (0..40).map(|at| (BEGUN + at * MINUTE, 4_000 * at as u64 % 120_000 + 4_000)).collect();
    let mut full = session("5f2c1a90-full", "harbour", 160_000);
    full.forecast.minutes = Some(77.0);
    full.forecast.turns = Some(3.0);
    full.compactions = vec![BEGUN + 30 * MINUTE];
    full.curve = curve;
    state.set_sessions(vec![
        with_subagents(sealed(full, "2026-11-15-0558", NOW - 3 * MINUTE), &["a1b2c3d4e5f6"]),
        DashboardSession {
            phase: SessionPhase::Idle,
            ..session("77aa0031-half", "a/very/long/path/to/pumps", 90_000)
        },
        DashboardSession {
            phase: SessionPhase::Ended,
            ..session("90bb1142-past", "ledger", 10_000)
        },
    ]);
    state
}

fn press(state: &mut DashboardState, key: Key) {
    state.press(key);
}

#[test]
fn all_sessions_are_seen_on_eighty_columns() {
    insta::assert_snapshot!(text(&sample_state(), 80, 7), @"
    plimsoll · 2 running of 3 sessions · by load
    SESSION      LOAD             % TREND     LEFT      AHEAD SEALED PROJECT
    ●5f2c1a90+1  ██████████│░   80! ▂▃▄▄▅▅▁▂    7k 1 h 17 min  3 min ~/harbour
    ○77aa0031    ██████░░░░│░   45             77k             never …path/to/pumps
     90bb1142    █░░░░░░░░░│░    5            157k             never ~/ledger

    ? keys · q quit · ⏎ detail · / filter · s sort · c checkpoint · y copy resume
    ");
}

/// A run of two jobs; the first is done.
fn run(session: &str) -> Run {
    let lines = [
        r#"{"at":0,"what":"begun","sort":"task","project":"/p","title":"Careen the hull","command":[]}"#,
        r#"{"at":0,"what":"conducted","by":{"pid":1,"started":1}}"#,
        r#"{"at":0,"what":"job_begun","job":1,"title":"One"}"#,
        r#"{"at":0,"what":"job_done","job":1}"#,
        r#"{"at":0,"what":"job_begun","job":2,"title":"Two"}"#,
        &format!(
            r#"{{"at":{},"what":"leg_begun","job":2,"leg":1,"attempt":1,"session":"{session}"}}"#,
            NOW - 5 * MINUTE
        ),
    ];
    let id = RunId::new("019a8f00-0000-7000-8000-0123456789ab").unwrap();
    Run::fold(id, lines.map(|line| serde_json::from_str(line).unwrap())).unwrap()
}

#[test]
fn runs_are_shown_and_their_sessions_marked() {
    let mut state = sample_state();
    let members = [String::from("5f2c1a90-full")].into();
    state.set_runs(vec![run("5f2c1a90-full")], members);
    insta::assert_snapshot!(text(&state, 80, 10), @"
    plimsoll · 2 running of 3 sessions · by load
    ▸ 456789ab · 1 of 2 done · in 5f2c1a90 · 160k · 22 h 50 min · Careen the hull
    SESSION      LOAD             % TREND     LEFT      AHEAD SEALED PROJECT
    ●5f2c1a90▸+1 ██████████│░   80! ▂▃▄▄▅▅▁▂    7k 1 h 17 min  3 min ~/harbour
    ○77aa0031    ██████░░░░│░   45             77k             never …path/to/pumps
     90bb1142    █░░░░░░░░░│░    5            157k             never ~/ledger



    ? keys · q quit · ⏎ detail · / filter · s sort · c checkpoint · y copy resume
    ");
    state.set_runs((0..5).map(|_| run("x")).collect(), Default::default());
    let drawn = text(&state, 80, 12);
    assert_eq!(drawn.matches("▸ 456789ab").count(), 3);
    assert!(drawn.contains("  and 2 more runs"), "{drawn}");
    assert!(!text(&state, 80, 9).contains('▸'), "a small terminal is for the list");
}

#[test]
fn a_wide_terminal_shows_more() {
    insta::assert_snapshot!(text(&sample_state(), 150, 5), @"
    plimsoll · 2 running of 3 sessions · by load
    SESSION      LOAD                               % TREND             LEFT      AHEAD SEALED PROJECT                                  MODEL
    ●5f2c1a90+1  ████████████████████████░│░░░░   80! ▁▁▂▂▃▃▄▄▅▅▁▁▂▂      7k 1 h 17 min  3 min ~/harbour                                opus-4-6
    ○77aa0031    ██████████████░░░░░░░░░░░│░░░░   45                     77k             never ~/a/very/long/path/to/pumps              opus-4-6
    ? keys · q quit · ⏎ detail · / filter · s sort · c checkpoint · y copy resume · o open
    ");
}

#[test]
fn a_session_is_shown_with_its_curve_and_its_checkpoint() {
    let mut state = sample_state();
    press(&mut state, Key::Enter);
    state.request_missing_text();
    let lines = ["## What Changed", "- [src/pump.rs:12] - it leaks no more"];
    state.set_checkpoint_text("2026-11-15-0558", lines.map(str::to_owned).to_vec());
    insta::assert_snapshot!(text(&state, 80, 24), @"
    plimsoll · 2 running of 3 sessions · by load
    SESSION      LOAD             % TREND     LEFT      AHEAD SEALED PROJECT
    ●5f2c1a90+1  ██████████│░   80! ▂▃▄▄▅▅▁▂    7k 1 h 17 min  3 min ~/harbour
    ○77aa0031    ██████░░░░│░   45             77k             never …path/to/pumps
     90bb1142    █░░░░░░░░░│░    5            157k             never ~/ledger
    5f2c1a90-full running · ~/harbour · opus-4-6 · last word 22 h ago
    160,000 of 200,000 tokens · compacts at 167,000 · 7,000 left
     200k│┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
         │
         │                                               ▁▁▂▂▃▄▄▅▅
         │                              ▁▁▂▂▃▃▄▅▅▆▆▇▇█████████████
         │               ▁▁▂▂▃▃▄▅▅▆▆▇▇████████████████████████████               ▁▁▂
         │▁▁▂▂▃▃▄▅▅▆▆▇▇███████████████████████████████████████████▁▁▂▂▃▃▄▄▅▅▆▇▇█████
        0└────────────────────────────────────────────────────────▼────────────◆────
          00:00                 ▼ compacted  ◆ last checkpoint                 00:39
     2026-11-15-0558 ───────────────────────────────────────────────────────────────
    ## What Changed
    - [src/pump.rs:12] - it leaks no more





    ? keys · q quit · ⏎ detail · / filter · s sort · c checkpoint · y copy resume
    ");
}

#[test]
fn claims_are_shown_with_the_session() {
    let mut state = DashboardState::default();
    let claim = |path: &str, holder: &str| PathClaim {
        path: path.into(),
        holder: holder.to_owned(),
        since: NOW,
        until: NOW + MINUTE,
    };
    let mut own = session("5f2c1a90-full", "harbour", 160_000);
    own.claims = vec![
        claim("/home/ada/harbour/src", "5f2c1a90-full"),
        claim("/home/ada/harbour/docs", "ann"),
    ];
    state.set_sessions(vec![own]);
    press(&mut state, Key::Enter);
    let drawn = text(&state, 80, 24);
    assert!(drawn.contains("src is claimed by it · docs is claimed by ann"), "{drawn}");
}

#[test]
fn i_shows_the_criteria() {
    let mut state = sample_state();
    press(&mut state, Key::Character('i'));
    assert!(text(&state, 80, 24).contains("looking…"));
    state.criteria = Some(Criteria { days: 7, phantoms: 2, manual: 7, ..Criteria::default() });
    let drawn = text(&state, 80, 24);
    assert!(drawn.contains("In the last 7 days\n phantom checkpoints  2\n"), "{drawn}");
    assert!(drawn.contains("1.0 by hand"), "{drawn}");
}

#[test]
fn subagents_and_the_filter_are_shown() {
    let mut state = sample_state();
    press(&mut state, Key::Character(' '));
    press(&mut state, Key::Character('/'));
    press(&mut state, Key::Character('h'));
    insta::assert_snapshot!(text(&state, 60, 7), @"
    plimsoll · 2 running of 3 sessions · by load  /h▏
    SESSION      LOAD                 %  LEFT      AHEAD SEALED
    ●5f2c1a90    █████████████│░░   80!    7k 1 h 17 min  3 min
      └ a1b2c3d4 ████░░░░░░░░░│░░   20   127k
    ○77aa0031    ████████░░░░░│░░   45    77k             never

    a part of a name, project or model; ⏎ keeps it, Esc drops it
    ");
}

#[test]
fn no_information_depends_on_colour() {
    let coloured = |has_colour| {
        let terminal = picture(&sample_state(), 80, 24, has_colour);
        let cells = terminal.backend().buffer().content().to_vec();
        cells.into_iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert_eq!(coloured(false), 0);
    assert!(coloured(true) > 20);
    assert!(text(&sample_state(), 80, 24).contains("80!"), "a full window is marked");
}

#[test]
fn any_terminal_size_can_be_drawn() {
    let mut state = sample_state();
    for pane in ["", "\n", "?"] {
        if let Some(key) = pane.chars().next() {
            let enter = Key::Enter;
            let key = if key == '\n' { enter } else { Key::Character(key) };
            press(&mut state, key);
        }
        for columns in [0, 1, 2, 7, 13, 30, 79, 119, 121, 400] {
            for rows in [0, 1, 2, 3, 5, 11, 12, 13, 60] {
                picture(&state, columns, rows, true);
            }
        }
    }
    picture(&DashboardState::default(), 10, 10, true);
}
