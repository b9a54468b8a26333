//! Tests of key handling.

use plimsoll_core::forecast::Forecast;
use plimsoll_core::reading::Band;
use plimsoll_store::LastCheckpoint;

use super::*;
use crate::tui::session::WindowFill;

pub(crate) fn id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// A session that uses this many tokens of a window of 200,000.
pub(crate) fn session(name: &str, project: &str, used: u64) -> DashboardSession {
    let (window, trigger): (u64, u64) = (200_000, 167_000);
    let tokens = trigger.saturating_sub(used);
    DashboardSession {
        id: id(name),
        folder: format!("/home/ada/{project}").into(),
        project: format!("~/{project}"),
        model: "opus-4-6".to_owned(),
        phase: SessionPhase::Running,
        load: WindowFill {
            used,
            window,
            trigger: Some(trigger),
            warn: 152_000,
            band: Band::of(used, window),
            is_estimated: false,
        },
        forecast: Forecast { tokens, turns: None, minutes: None },
        last_active: 0,
        checkpoint: None,
        compactions: Vec::new(),
        curve: Vec::new(),
        subagents: Vec::new(),
        claims: Vec::new(),
    }
}

pub(crate) fn with_subagents(mut session: DashboardSession, names: &[&str]) -> DashboardSession {
    let load = WindowFill { used: 40_000, ..session.load };
    let subagent =
        |name: &&str| DashboardSubagent { id: id(name), model: "haiku".to_owned(), load };
    session.subagents = names.iter().map(subagent).collect();
    session
}

pub(crate) fn sealed(mut session: DashboardSession, name: &str, created: i64) -> DashboardSession {
    session.checkpoint = Some(LastCheckpoint { id: name.to_owned(), created });
    session
}

/// Three sessions: half full, nearly full, nearly empty.
fn sample_state() -> DashboardState {
    let mut state = DashboardState::default();
    state.set_sessions(vec![
        sealed(session("half", "pumps", 100_000), "one", 5),
        with_subagents(session("full", "harbour", 160_000), &["a1", "b2"]),
        sealed(session("light", "ledger", 10_000), "two", 3),
    ]);
    state
}

fn names(state: &DashboardState) -> Vec<String> {
    state.rows().iter().map(|row| row.owner()).map(owner_name).collect()
}

fn owner_name(owner: Owner) -> String {
    owner.subagent.unwrap_or(owner.session).to_string()
}

fn selected(state: &DashboardState) -> String {
    state.selected_index().map(|at| names(state)[at].clone()).unwrap_or_default()
}

/// Presses the keys of a string and returns the action of the last one.
fn press(state: &mut DashboardState, keys: &str) -> KeyAction {
    let key = |character| match character {
        '\n' => Key::Enter,
        '\x1b' => Key::Escape,
        '\x08' => Key::Backspace,
        other => Key::Character(other),
    };
    let mut act = KeyAction::None;
    for character in keys.chars() {
        act = state.press(key(character));
    }
    act
}

#[test]
fn fullest_first_and_s_changes_the_order() {
    let mut state = sample_state();
    assert_eq!(names(&state), ["full", "half", "light"]);
    press(&mut state, "r");
    assert_eq!(names(&state), ["light", "half", "full"]);
    press(&mut state, "rss");
    assert_eq!(
        (state.sort, names(&state)),
        (SortOrder::Checkpoint, list(["full", "light", "half"]))
    );
    press(&mut state, "ss");
    assert_eq!((state.sort, names(&state)), (SortOrder::Project, list(["full", "light", "half"])));
    press(&mut state, "s");
    assert_eq!(state.sort, SortOrder::Load);
}

fn list<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

#[test]
fn running_sessions_come_before_ended_ones() {
    let mut state = DashboardState::default();
    let over =
        DashboardSession { phase: SessionPhase::Ended, ..session("gone", "ledger", 190_000) };
    state.set_sessions(vec![over, session("here", "pumps", 10_000)]);
    assert_eq!(names(&state), ["here", "gone"]);
}

#[test]
fn the_selection_follows_its_session() {
    let mut state = sample_state();
    assert_eq!(selected(&state), "full");
    press(&mut state, "j");
    assert_eq!(selected(&state), "half");
    state.set_sessions(vec![session("half", "pumps", 190_000), session("full", "harbour", 20_000)]);
    assert_eq!((selected(&state), names(&state)), ("half".to_owned(), list(["half", "full"])));
    state.set_sessions(vec![session("new", "pumps", 1), session("full", "harbour", 20_000)]);
    assert_eq!(selected(&state), "full", "its place is taken by the next");
    state.set_sessions(Vec::new());
    assert_eq!((selected(&state), press(&mut state, "c")), (String::new(), KeyAction::None));
}

#[test]
fn the_selection_stops_at_the_ends_of_the_list() {
    let mut state = sample_state();
    press(&mut state, "kkk");
    assert_eq!(selected(&state), "full");
    press(&mut state, "G");
    assert_eq!(selected(&state), "light");
    press(&mut state, "jg");
    assert_eq!(selected(&state), "full");
    state.press(Key::PageDown);
    assert_eq!(selected(&state), "light");
}

#[test]
fn subagents_are_hidden_until_space_is_pressed() {
    let mut state = sample_state();
    press(&mut state, " jj");
    assert_eq!(names(&state), ["full", "a1", "b2", "half", "light"]);
    assert_eq!(selected(&state), "b2");
    assert_eq!(
        press(&mut state, "c"),
        KeyAction::Seal(id("full")),
        "a checkpoint is its session's"
    );
    press(&mut state, " ");
    assert_eq!((names(&state).len(), selected(&state)), (3, "full".to_owned()));
}

#[test]
fn slash_filters_and_escape_clears_the_filter() {
    let mut state = sample_state();
    press(&mut state, "j/LEDq");
    assert_eq!(names(&state), Vec::<String>::new());
    press(&mut state, "\x08");
    assert_eq!((names(&state), selected(&state)), (list(["light"]), "light".to_owned()));
    press(&mut state, "\n");
    assert!(!state.is_typing);
    assert_eq!(press(&mut state, "\x1b"), KeyAction::None);
    assert_eq!((state.filter.as_str(), names(&state).len()), ("", 3));
    press(&mut state, "/opus\x1b");
    assert_eq!((state.filter.as_str(), state.is_typing), ("", false));
}

#[test]
fn escape_closes_what_is_open_and_then_quits() {
    let mut state = sample_state();
    press(&mut state, "\n");
    assert_eq!(state.pane, Some(Pane::Detail));
    press(&mut state, "?");
    assert_eq!(state.pane, Some(Pane::Help));
    assert_eq!((press(&mut state, "\x1b"), state.pane), (KeyAction::None, None));
    assert_eq!(press(&mut state, "\x1b"), KeyAction::Quit);
    assert_eq!(press(&mut state, "q"), KeyAction::Quit);
    assert_eq!(state.press(Key::Interrupt), KeyAction::Quit);
    press(&mut state, "/");
    assert_eq!(state.press(Key::Interrupt), KeyAction::Quit, "while typing too");
}

#[test]
fn opening_the_criteria_requests_them() {
    let mut state = sample_state();
    assert_eq!(
        (press(&mut state, "i"), state.pane),
        (KeyAction::ReadCriteria, Some(Pane::Criteria))
    );
    assert_eq!((press(&mut state, "i"), state.pane), (KeyAction::None, None));
}

#[test]
fn actions_apply_to_the_selected_session() {
    let mut state = sample_state();
    assert_eq!(press(&mut state, "y"), KeyAction::Copy(id("full")));
    assert_eq!(press(&mut state, "o"), KeyAction::None);
    assert!(state.message.as_ref().unwrap().contains("no checkpoint"), "{:?}", state.message);
    assert_eq!(press(&mut state, "jo"), KeyAction::Page(id("half"), "one".to_owned()));
    assert_eq!(state.message, None, "the next key takes the word away");
}

#[test]
fn a_checkpoint_is_requested_once_and_only_when_shown() {
    let mut state = sample_state();
    press(&mut state, "j");
    assert_eq!(state.request_missing_text(), None);
    press(&mut state, "\n");
    assert_eq!(state.request_missing_text(), Some((id("half"), "one".to_owned())));
    assert_eq!(state.request_missing_text(), None);
    press(&mut state, "j");
    assert_eq!(state.request_missing_text(), Some((id("light"), "two".to_owned())));
    state.set_checkpoint_text("one", vec!["late".to_owned()]);
    assert_eq!(state.checkpoint, Some(("two".to_owned(), Vec::new())));
    state.set_checkpoint_text("two", vec!["line".to_owned(); 25]);
    for _ in 0..5 {
        state.press(Key::PageDown);
    }
    assert_eq!(state.scroll_offset, 24, "not past its end");
    press(&mut state, "k");
    assert_eq!(state.scroll_offset, 0, "another begins at its beginning");
}
