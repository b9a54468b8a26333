//! Which sessions are asked for a checkpoint, and how often.

use std::fs;

use plimsoll_core::event::SessionId;
use plimsoll_core::reading::ReadingSource;
use plimsoll_core::session::{Seal, SessionState};
use plimsoll_engine::board;
use plimsoll_engine::watch::{Change, Notice, Standing};
use plimsoll_engine::world::now;
use plimsoll_extract::board::Message;

use crate::{Home, Watched, world};

/// Creates a home in which only the watcher decides.
fn home() -> Home {
    let home = Home::with_project();
    configure(&home, "checkpoint: {on_line: watcher}\n");
    home
}

fn configure(home: &Home, text: &str) {
    let config = home.path(".config/plimsoll/config.yaml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(config, text).unwrap();
}

/// Returns the messages waiting for a session.
fn waiting(home: &Home, session: &str) -> Vec<Message> {
    let posted = board::list(&world(home.0.path()).paths).unwrap().into_iter();
    posted.map(|posted| posted.message).filter(|it| it.to.as_str() == session).collect()
}

fn reasons(home: &Home, session: &str) -> Vec<String> {
    waiting(home, session).iter().map(|it| it.checkpoint_reason().unwrap().to_string()).collect()
}

fn asks(watched: &Watched, session: &str) -> Notice {
    watched.tells(session, |change| matches!(change, Change::Asked(_)))
}

/// Waits until each of these sessions is asked, in any order.
fn ask_all(watched: &Watched, sessions: &[&str]) {
    let mut left = sessions.to_vec();
    while !left.is_empty() {
        let asked = watched.until(|notice| matches!(notice.change, Change::Asked(_)));
        left.retain(|session| *session != asked.owner.session.as_str());
    }
}

/// Waits until a new session is asked: everything due before is done then.
fn fence(home: &Home, watched: &Watched, name: &str) {
    home.transcript(name).answers(130_000);
    asks(watched, name);
}

#[test]
fn a_session_over_the_line_is_asked_once() {
    let home = home();
    configure(&home, "checkpoint: {on_line: watcher}\nlines: {checkpoint: 55}\n");
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(100_000);
    watched.reads(&home, &session);
    assert!(waiting(&home, "one").is_empty());
    session.answers(112_000);
    asks(&watched, "one");
    session.answers(115_000).answers(120_000);
    watched.reads(&home, &session);
    fence(&home, &watched, "two");
    assert_eq!(reasons(&home, "one"), ["context_55_percent"]);
    assert_eq!(waiting(&home, "one")[0].project.as_deref(), Some("/app"));
}

#[test]
fn subagents_and_sessions_that_are_over_are_not_asked() {
    let home = home();
    let watched = home.watch();
    home.transcript("one").answers(20_000);
    home.subagent("one", "x").answers(150_000);
    home.spool("gone", plimsoll_engine::spool::ENDED);
    home.transcript("gone").answers(150_000);
    fence(&home, &watched, "two");
    assert!(waiting(&home, "one").is_empty() && waiting(&home, "gone").is_empty());
}

#[test]
fn the_next_watcher_does_not_ask_again_whenever_the_first_was_killed() {
    let home = home();
    let watched = home.watch();
    home.transcript("one").answers(130_000);
    asks(&watched, "one");
    watched.stop();
    let watched = home.watch();
    fence(&home, &watched, "two");
    watched.stop();
    assert_eq!(waiting(&home, "one").len(), 1);
    // As if the watcher was killed after writing the message and before writing the session's
    // spool.
    let spool = world(home.0.path()).paths.spool_of(&SessionId::new("one").unwrap(), None);
    fs::remove_file(&spool).unwrap();
    let watched = home.watch();
    fence(&home, &watched, "three");
    assert_eq!(waiting(&home, "one").len(), 1);
    assert!(fs::read_to_string(&spool).unwrap().contains("\"asked\""));
}

#[test]
fn the_next_crossing_is_another() {
    let home = home();
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(130_000);
    asks(&watched, "one");
    let first = waiting(&home, "one").remove(0);
    let paths = world(home.0.path()).paths;
    board::acknowledge(&paths, &first.to, std::slice::from_ref(&first.id)).unwrap();
    // The window is compacted, and a hook records that.
    home.spool("one", "replaced");
    session.answers(20_000);
    watched.reads(&home, &session);
    session.answers(130_000);
    asks(&watched, "one");
    assert_eq!(waiting(&home, "one").len(), 1);
}

#[test]
fn half_an_hour_of_work_is_asked_about_once_and_idleness_is_not() {
    const HALF_AN_HOUR: u64 = 30 * 60 * 1000;
    let home = home();
    let since = |age: u64| SessionState { since: Some(now() - age), ..SessionState::default() };
    home.transcript("idle").answers(10_000);
    home.remember("idle", "started", since(2 * HALF_AN_HOUR));
    home.transcript("fresh").answers(10_000);
    home.remember("fresh", "started", since(HALF_AN_HOUR - 600_000));
    home.remember("one", "started", since(HALF_AN_HOUR + 1));
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(10_000);
    asks(&watched, "one");
    session.answers(11_000);
    home.transcript("fresh").answers(11_000);
    fence(&home, &watched, "two");
    assert_eq!(reasons(&home, "one"), ["checkpoint_age_30_minutes"]);
    assert!(waiting(&home, "idle").is_empty() && waiting(&home, "fresh").is_empty());
}

#[test]
fn a_session_whose_hook_seals_in_time_is_not_asked() {
    let home = home();
    configure(&home, "");
    let watched = home.watch();
    let written = now();
    home.transcript("sealed").answers(130_000);
    home.transcript("crossed").answers(130_000);
    let mut late = home.transcript("late");
    late.answers(130_000);
    watched.reads(&home, &late);
    let seal = Seal { at: now() + 1, id: "x".to_owned(), mark: 0, steps: 0, covers: 0 };
    let sealed = SessionState { sealed: Some(seal), ..SessionState::default() };
    home.remember("sealed", "sealed", sealed);
    let crossed = SessionState { crossed: Some(13), ..SessionState::default() };
    home.remember("crossed", "sealed", crossed);
    asks(&watched, "late");
    assert!(now() - written >= 10_000, "its hook has ten seconds");
    watched.stop();
    assert!(waiting(&home, "sealed").is_empty() && waiting(&home, "crossed").is_empty());
    assert_eq!(reasons(&home, "late"), ["context_60_percent"]);
}

#[test]
fn a_reading_tells_how_the_context_stands() {
    let home = home();
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(50_000).answers(130_000);
    let seal = Seal { at: 1_794_722_294_946, id: "x".to_owned(), mark: 0, steps: 0, covers: 0 };
    let state = SessionState { sealed: Some(seal), ..SessionState::default() };
    home.remember("one", "sealed", state);
    let told = watched.until(
        |notice| matches!(&notice.change, Change::Read(standing) if standing.sealed.is_some()),
    );
    let Change::Read(standing) = told.change else { panic!("another change") };
    let metrics = standing.metrics();
    assert_eq!((metrics.message_count, metrics.tool_calls), (2, 0));
    assert!((0.65..0.66).contains(&metrics.estimated_usage), "{metrics:?}");
    assert_eq!(metrics.last_checkpoint.as_deref(), Some("2026-11-15T05:58:14.946Z"));
    assert_eq!(standing.status().label(), "context_high");
    assert_eq!(standing.status().action(), "trigger_checkpoint");
}

#[test]
fn a_checkpoint_since_the_crossing_is_enough_until_the_next() {
    let home = home();
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(50_000).answers(130_000);
    // Later than everything written so far.
    let seal = Seal { at: now() + 1, id: "x".to_owned(), mark: 0, steps: 0, covers: 0 };
    home.remember("one", "sealed", SessionState { sealed: Some(seal), ..SessionState::default() });
    let status = |is_wanted: &dyn Fn(&Standing) -> bool| {
        let told = watched.until(
            |notice| matches!(&notice.change, Change::Read(standing) if is_wanted(standing)),
        );
        let Change::Read(standing) = told.change else { panic!("another change") };
        (standing.status().label(), standing.status().action())
    };
    assert_eq!(status(&|standing| standing.sealed.is_some()), ("context_high", "none"));
    session.answers(135_000);
    assert_eq!(status(&|standing| standing.reading.used >= 135_000), ("context_high", "none"));
    session.answers(20_000);
    assert_eq!(status(&|standing| standing.reading.used < 50_000), ("normal", "none"));
}

#[test]
fn work_counts_from_the_sessions_beginning_not_from_the_first_look() {
    const HALF_AN_HOUR: u64 = 30 * 60 * 1000;
    let home = home();
    let mut short = home.transcript("short").written_before(HALF_AN_HOUR - 600_000);
    let mut long = home.transcript("long").written_before(HALF_AN_HOUR + 1_000);
    short.answers(10_000);
    long.answers(10_000);
    let watched = home.watch();
    short.answers(11_000);
    long.answers(11_000);
    asks(&watched, "long");
    fence(&home, &watched, "two");
    assert_eq!(reasons(&home, "long"), ["checkpoint_age_30_minutes"]);
    assert!(waiting(&home, "short").is_empty());
}

#[test]
fn where_nothing_was_counted_what_was_done_tells_how_full_a_window_is() {
    let home = home();
    let watched = home.watch();
    home.transcript("one").prompts(65);
    asks(&watched, "one");
    assert_eq!(reasons(&home, "one"), ["context_60_percent"]);
}

#[test]
fn without_counts_a_session_is_asked_at_sixty_percent_and_at_any_later_one() {
    let home = home();
    let watched = home.watch();
    home.transcript("below").prompts(59);
    home.transcript("at").prompts(60);
    // First seen when it is full: estimates from activity do not show that a compaction follows.
    home.transcript("full").prompts(150);
    ask_all(&watched, &["at", "full"]);
    fence(&home, &watched, "two");
    assert_eq!(reasons(&home, "at"), ["context_60_percent"]);
    assert_eq!(reasons(&home, "full"), ["context_60_percent"]);
    assert!(waiting(&home, "below").is_empty());
}

#[test]
fn without_counts_every_figure_of_a_session_is_the_same() {
    let home = home();
    let watched = home.watch();
    home.transcript("one").prompts(70);
    let told = watched.until(
        |notice| matches!(&notice.change, Change::Read(standing) if standing.counts.messages == 70),
    );
    let Change::Read(standing) = told.change else { panic!("another change") };
    assert_eq!(standing.reading.source, ReadingSource::Estimated);
    assert_eq!((standing.reading.used, standing.window.tokens), (140_000, 200_000));
    assert_eq!(standing.metrics().estimated_usage, 0.7);
    assert_eq!(standing.status().action(), "trigger_checkpoint");
}
