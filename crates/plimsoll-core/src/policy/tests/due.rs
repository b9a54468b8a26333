use super::*;
use crate::checkpoint::Occasion;
use crate::session::Seal;
use crate::settings::OnLine;

fn due(call: &Call<'_>, used: Tokens, state: &SessionState) -> Option<Due> {
    let settings = Settings::default();
    let outlook = outlook(&settings);
    let decision = decide_window(&outlook, call, Some(&reading(used)), &|| 0, state);
    assert!(decision.due.is_none() || !nothing_due(&outlook, call, state, used, 0));
    decision.due
}

#[test]
fn a_checkpoint_is_due_where_its_line_is_crossed_and_once() {
    let settings = Settings::default();
    let (outlook, finished) = (outlook(&settings), call(&EventKind::ToolFinished));
    let state = SessionState::default();
    assert_eq!(due(&finished, 119_999, &state), None);
    let crossing = decide_window(&outlook, &finished, Some(&reading(120_000)), &|| 0, &state);
    assert_eq!(crossing.due, Some(Due::Line));
    let after = crossing.remember.unwrap();
    assert_eq!(due(&finished, 125_000, &after), None);
    assert!(nothing_due(&outlook, &finished, &after, 125_000, 0), "and then it is quiet again");
    let fallen = decide_window(&outlook, &finished, Some(&reading(20_000)), &|| 0, &after);
    assert_eq!(due(&finished, 121_000, &fallen.remember.unwrap()), Some(Due::Line));
}

#[test]
fn a_prompt_makes_no_checkpoint_but_the_tool_after_it_does() {
    let state = SessionState::default();
    let settings = Settings::default();
    let prompted = call(&EventKind::Prompted);
    let decision =
        decide_window(&outlook(&settings), &prompted, Some(&reading(125_000)), &|| 0, &state);
    assert_eq!(decision.due, None);
    let state = decision.remember.unwrap_or_default();
    assert_eq!(due(&call(&EventKind::ToolFinished), 126_000, &state), Some(Due::Line));
    assert_eq!(due(&call(&EventKind::Stopped), 126_000, &state), Some(Due::Line));
}

#[test]
fn a_compaction_that_follows_at_once_makes_its_own_checkpoint() {
    let settings = Settings::default();
    let trigger = at(167_000);
    let outlook = Outlook { trigger, ..outlook(&settings) };
    let decision = decide_window(
        &outlook,
        &call(&EventKind::ToolFinished),
        Some(&reading(167_000)),
        &|| 0,
        &SessionState::default(),
    );
    assert_eq!(decision.due, None);
}

#[test]
fn work_does_not_go_on_for_long_without_a_checkpoint() {
    let state = SessionState { since: Some(1_000), ..SessionState::default() };
    let kind = EventKind::ToolFinished;
    let at = |now| Call { now, ..call(&kind) };
    assert_eq!(due(&at(1_000 + LONGEST_WITHOUT - 1), 10_000, &state), None);
    assert_eq!(due(&at(1_000 + LONGEST_WITHOUT), 10_000, &state), Some(Due::Time));
    let subagent = Call { subagent: Some("explore"), ..at(u64::MAX) };
    assert_eq!(due(&subagent, 10_000, &state), None, "a subagent's work is its own");
}

#[test]
fn a_session_whose_start_no_hook_saw_has_worked_since_its_first_record() {
    let kind = EventKind::ToolFinished;
    let now = 5 * LONGEST_WITHOUT;
    let begun = |ago| Call { now, session_start: Some(now - ago), ..call(&kind) };
    let unknown = SessionState::default();
    assert_eq!(due(&begun(LONGEST_WITHOUT - 1), 10_000, &unknown), None);
    assert_eq!(due(&begun(LONGEST_WITHOUT), 10_000, &unknown), Some(Due::Time));
    let sealed_since = SessionState { since: Some(now - 1_000), ..unknown };
    assert_eq!(due(&begun(LONGEST_WITHOUT), 10_000, &sealed_since), None);
}

#[test]
fn a_checkpoint_of_a_call_that_began_later_is_no_clock_set_back() {
    let kind = EventKind::ToolFinished;
    let at = |now| Call { now, ..call(&kind) };
    let state = SessionState { since: Some(5_000_000), ..SessionState::default() };
    assert_eq!(due(&at(4_999_999), 10_000, &state), None);
    assert_eq!(due(&at(4_000_000), 10_000, &state), Some(Due::Time), "a clock that was set back");
}

#[test]
fn where_the_watcher_decides_neither_line_nor_clock_makes_a_hook_act() {
    let settings = Settings { on_line: OnLine::Watcher, ..Settings::default() };
    let outlook = outlook(&settings);
    let state = SessionState { since: Some(0), ..SessionState::default() };
    let kind = EventKind::ToolFinished;
    let late = Call { now: 2 * LONGEST_WITHOUT, ..call(&kind) };
    let decided = |call: &Call<'_>, state: &SessionState| {
        decide_window(&outlook, call, Some(&reading(130_000)), &|| 0, state)
    };
    let decision = decided(&late, &state);
    assert_eq!(decision.due, None);
    let next = decision.remember.unwrap();
    assert!(nothing_due(&outlook, &late, &next, 130_000, 100), "and no call looks closely for it");
    let commit = Call { at_breakpoint: true, ..late };
    assert_eq!(decided(&commit, &state).due, Some(Due::Breakpoint));

    let reason = Reason::Line(Percent::whole(60));
    let asked =
        with_request(&outlook, &late, Some(130_000), &reason, decided(&late, &state), &state);
    assert_eq!(asked.due.map(Due::occasion), Some(Occasion::Watcher));
    let next = asked.remember.unwrap();
    assert_eq!((next.crossed, next.since), (Some(13), Some(late.now)));
}

#[test]
fn a_crossing_is_asked_about_once_and_not_where_there_is_a_checkpoint() {
    let line = Crossing::Line { bucket: 12 };
    let fresh = SessionState::default();
    let asked = to_ask(&fresh, line, 5_000, 6_000).unwrap();
    assert_eq!(asked.asked, Some(12));
    assert_eq!(to_ask(&asked, line, 5_000, 6_000), None);
    assert!(to_ask(&asked.emptied(), line, 5_000, 6_000).is_some(), "another window");
    let crossed = SessionState { crossed: Some(12), ..fresh.clone() };
    assert_eq!(to_ask(&crossed, line, 5_000, 6_000), None);
    let seal = |at| Some(Seal { at, id: String::new(), mark: 0, steps: 0, covers: 0 });
    let sealed = |at| SessionState { sealed: seal(at), ..fresh.clone() };
    assert_eq!(to_ask(&sealed(5_000), line, 5_000, 6_000), None);
    assert!(to_ask(&sealed(4_999), line, 5_000, 6_000).is_some());
    assert!(to_ask(&sealed(900_000), line, 5_000, 6_000).is_some(), "the clock was set back");
}

#[test]
fn long_work_is_asked_about_once_until_there_is_a_checkpoint() {
    let late = 1_000 + LONGEST_WITHOUT;
    let time = Crossing::Time { since: 1_000 };
    let state = SessionState { since: Some(1_000), ..SessionState::default() };
    let asked = to_ask(&state, time, late, late).unwrap();
    assert_eq!(to_ask(&asked, time, late, late), None);
    let sealed = SessionState { since: Some(late), ..asked };
    assert_eq!(to_ask(&sealed, time, late, late), None, "there is one since");
    let later = Crossing::Time { since: late };
    assert!(to_ask(&sealed, later, late + LONGEST_WITHOUT, late + LONGEST_WITHOUT).is_some());
}

#[test]
fn breakpoints_lie_five_minutes_apart() {
    let kind = EventKind::ToolFinished;
    let at = |now| Call { now, at_breakpoint: true, ..call(&kind) };
    let fresh = SessionState::default();
    assert_eq!(due(&at(1_000), 10_000, &fresh), Some(Due::Breakpoint));
    let paused = SessionState { paused: Some(1_000), ..fresh };
    assert_eq!(due(&at(300_999), 10_000, &paused), None);
    assert_eq!(due(&at(301_000), 10_000, &paused), Some(Due::Breakpoint));
}

#[test]
fn with_a_checkpoint_at_hand_nobody_need_do_anything() {
    let left = Left::InWindow(9);
    let occupancy = Occupancy { percent: 82.3, left, client_compacts: true };
    let speech = Speech::Warning { occupancy, subagent: None, is_saved: false };
    let reply = speech.reply(&Words { sealed: Some(&sealed()), ..words("/compact") });
    let said = "CONTEXT: ~82% used. Checkpoint saved 14:02; no action needed.";
    assert_eq!(reply.to_user.as_deref(), Some(said));
    let zoned = said.replace("14:02", "14:02 +02:00");
    assert_eq!(reply.to_model, Some(format!("{zoned} About 9 tokens are left.")));
}

#[test]
fn before_a_compaction_the_last_checkpoint_has_to_cover_every_record() {
    let seal = Seal { at: 0, id: String::new(), mark: 7, steps: 3, covers: 100 };
    let state = SessionState { sealed: Some(seal), ..SessionState::default() };
    let progress = Progress { mark: 7, steps: 3, newest: 100 };
    assert!(is_covered(&state, &progress, Coverage::Everything));
    let talk = Progress { newest: 101, ..progress };
    assert!(!is_covered(&state, &talk, Coverage::Everything));
    assert!(is_covered(&state, &talk, Coverage::Changes), "it would say the same");
    let reads = Progress { steps: 7, ..talk };
    assert!(is_covered(&state, &reads, Coverage::Changes));
    assert!(!is_covered(&state, &Progress { steps: 8, ..talk }, Coverage::Changes));
    assert!(!is_covered(&state, &Progress { mark: 8, ..progress }, Coverage::Changes));
    assert!(!is_covered(&SessionState::default(), &progress, Coverage::Everything));
}

#[test]
fn a_short_talk_is_not_worth_a_checkpoint() {
    let fresh = SessionState::default();
    assert!(!is_worth_sealing(&fresh, 0, 2));
    assert!(is_worth_sealing(&fresh, 1, 1), "a tool was used");
    assert!(is_worth_sealing(&fresh, 0, 3), "a longer talk");
    let seal = Seal { at: 0, id: String::new(), mark: 7, steps: 0, covers: 100 };
    let sealed = SessionState { sealed: Some(seal), ..fresh };
    assert!(is_worth_sealing(&sealed, 0, 2), "its checkpoint would be out of date");
}
