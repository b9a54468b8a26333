mod decision;
mod due;
mod guard;

use super::*;
use crate::event::{Accepts, Load, Reply};
use crate::reading::ReadingSource;
use crate::session::{Restored, label};
use crate::settings::{ClientSetting, GuardMode, Percent};
use crate::trigger::TriggerSource;

fn outlook(settings: &Settings) -> Outlook<'_> {
    Outlook {
        settings,
        can_save: false,
        window: Window { tokens: 200_000, source: WindowSource::Table },
        trigger: Trigger::OnRefusal,
        model: Some("claude-opus-4-5"),
    }
}

fn reading(used: Tokens) -> Reading {
    Reading { used, source: ReadingSource::Measured, anchor: None }
}

fn call(kind: &EventKind) -> Call<'_> {
    Call { kind, subagent: None, at_breakpoint: false, session_start: None, now: 0 }
}

fn words(command: &str) -> Words<'_> {
    let (fresh_command, ceiling_setting) = ("/clear", "lines.ceiling");
    Words {
        command,
        fresh_command,
        variable: "W",
        ceiling_setting,
        sealed: None,
        saved: None,
        advised: false,
    }
}

fn sealed() -> SealedAt {
    SealedAt { local: "14:02".to_owned(), zoned: "14:02 +02:00".to_owned() }
}

/// Compacts at so many tokens, by the client's own formula.
fn at(tokens: Tokens) -> Trigger {
    Trigger::At { tokens, source: TriggerSource::Formula, lowered_by: None }
}

/// Compacts at so many tokens, because the user has set it.
fn lowered(tokens: Tokens) -> Trigger {
    let lowered_by = Some(ClientSetting::ForcedWindow);
    Trigger::At { tokens, source: TriggerSource::Formula, lowered_by }
}

/// A session that goes through `uses` one after the other; the words of each call.
fn warnings(uses: &[Tokens]) -> Vec<Option<String>> {
    let settings = Settings::default();
    let mut state = SessionState::default();
    let spoken = |used: &Tokens| {
        let event = call(&EventKind::ToolFinished);
        let decision =
            decide_window(&outlook(&settings), &event, Some(&reading(*used)), &|| 0, &state);
        state = decision.remember.unwrap_or_else(|| state.clone());
        decision.speech.and_then(|speech| speech.reply(&words("/compact")).to_user)
    };
    uses.iter().map(spoken).collect()
}

fn spoken(uses: &[Tokens]) -> Vec<bool> {
    warnings(uses).iter().map(Option::is_some).collect()
}

#[test]
fn the_warn_line_fires_at_it_and_not_below() {
    assert_eq!(spoken(&[159_999]), [false]);
    assert_eq!(
        warnings(&[160_000]),
        [Some("CONTEXT: ~80% used. Consider /compact before context exhaustion.".to_owned())]
    );
}

#[test]
fn a_warning_comes_once_per_bucket() {
    let uses = [160_000, 165_000, 169_999, 170_000, 170_001, 181_000];
    assert_eq!(spoken(&uses), [true, false, false, true, false, true]);
}

#[test]
fn buckets_begin_anew_when_the_reading_falls() {
    assert_eq!(spoken(&[172_000, 30_000, 161_000]), [true, false, true]);
    assert_eq!(spoken(&[170_100, 169_900, 170_100]), [true, false, false], "noise at an edge");
}

#[test]
fn a_replaced_window_begins_anew() {
    let settings = Settings::default();
    let replaced = |state: &SessionState| {
        decide(&Situation {
            event: &EventKind::Compacted,
            subagent: Some("Explore"),
            accepts: Accepts::default(),
            settings: &settings,
            state,
            last_label: Some(label::QUIET),
            window: None,
            mail: Mail { is_empty: true, request: None },
            compaction: None,
            is_run: false,
            is_headless: false,
            last_session: None,
            now: 0,
        })
        .next
    };
    let state = SessionState { warned: Some(17), ..SessionState::default() };
    assert_eq!(replaced(&state), Some(SessionState::default()));
    assert_eq!(replaced(&SessionState::default()), None);
}

#[test]
fn saving_is_suggested_once_where_there_is_a_command_for_it() {
    let settings = Settings::default();
    let spoken = |can_save: bool| {
        let outlook = Outlook { can_save, ..outlook(&settings) };
        let mut state = SessionState::default();
        let mut said = |used: Tokens| {
            if nothing_due(&outlook, &call(&EventKind::ToolFinished), &state, used, 0) {
                return None;
            }
            let event = EventKind::ToolFinished;
            let decision =
                decide_window(&outlook, &call(&event), Some(&reading(used)), &|| 0, &state);
            state = decision.remember.unwrap_or_else(|| state.clone());
            decision.speech.and_then(|speech| speech.reply(&words("/ss")).to_user)
        };
        [139_999, 140_000, 145_000, 159_999, 160_000].map(&mut said)
    };
    let save = Some("CONTEXT: ~70% used. Consider /ss to save the session.".to_owned());
    let warn = Some("CONTEXT: ~80% used. Consider /ss before context exhaustion.".to_owned());
    assert_eq!(spoken(true), [None, save, None, None, warn.clone()]);
    assert_eq!(spoken(false), [None, None, None, None, warn]);
}

#[test]
fn names_from_outside_stay_on_one_short_line() {
    assert_eq!(brief("Explore"), "Explore");
    assert_eq!(brief("a\nb\u{1b}[31mc"), "ab[31mc");
    assert_eq!(brief(&"x".repeat(20_000)).len(), 80);
}

#[test]
fn silence_ends_when_the_user_ends_it() {
    let quiet = Settings { quiet: true, ..Settings::default() };
    let event = EventKind::Prompted;
    let state = SessionState::default();
    let silent =
        decide_window(&outlook(&quiet), &call(&event), Some(&reading(164_000)), &|| 0, &state);
    assert_eq!(silent, WindowDecision::default());
    let loud = Settings::default();
    assert!(!nothing_due(&outlook(&loud), &call(&event), &state, 164_000, 0));
}

#[test]
fn a_quiet_or_disabled_plimsoll_says_nothing() {
    for settings in [
        Settings { quiet: true, ..Settings::default() },
        Settings { enabled: false, ..Settings::default() },
    ] {
        let event = EventKind::Prompted;
        let state = SessionState::default();
        let decision = decide_window(
            &outlook(&settings),
            &call(&event),
            Some(&reading(190_000)),
            &|| 0,
            &state,
        );
        assert_eq!(decision.speech, None);
    }
}

#[test]
fn the_model_gets_a_verdict_and_the_user_a_choice() {
    let settings = Settings::default();
    let trigger = at(167_000);
    let outlook = Outlook { trigger, ..outlook(&settings) };
    let state = SessionState::default();
    let decision = decide_window(
        &outlook,
        &call(&EventKind::Prompted),
        Some(&reading(161_000)),
        &|| 0,
        &state,
    );
    let reply = decision.speech.map(|speech| speech.reply(&words("/compact"))).unwrap();
    assert_eq!(
        reply.to_model.unwrap(),
        "CONTEXT: ~80% used. About 6000 tokens are left before the conversation is compacted."
    );
    assert!(reply.to_user.unwrap().contains("Consider /compact"));
}

#[test]
fn levels_stay_clear_of_the_trigger_in_their_order() {
    let levels = Levels::of(&Lines::default(), 200_000);
    assert_eq!(levels.clear_of(None, 90_000), levels);
    let moved = levels.clear_of(Some(167_000), 1_000);
    assert_eq!(
        (moved.ceiling, moved.save, moved.warn, moved.restart),
        (80_000, 140_000, 152_000, 152_000)
    );
    let steep = levels.clear_of(Some(167_000), 20_000);
    assert_eq!((steep.ceiling, steep.checkpoint, steep.warn), (80_000, 107_000, 107_000));
}

#[test]
fn nothing_is_due_below_the_line_whatever_was_appended() {
    let settings = Settings::default();
    let outlook = outlook(&settings);
    let state = SessionState::default();
    assert!(nothing_due(&outlook, &call(&EventKind::ToolFinished), &state, 79_000, 10_000));
    assert!(
        !nothing_due(&outlook, &call(&EventKind::ToolFinished), &state, 79_000, 41_000),
        "may be 80,000 tokens"
    );
    assert!(!nothing_due(&outlook, &call(&EventKind::ToolFinished), &state, 160_000, 0));
    let warned = SessionState { warned: Some(17), ..state };
    assert!(
        !nothing_due(&outlook, &call(&EventKind::ToolFinished), &warned, 30_000, 0),
        "the fall must be noticed"
    );
}

#[test]
fn with_a_trigger_the_line_is_looked_at_halfway() {
    let settings = Settings::default();
    let trigger = at(167_000);
    let outlook = Outlook { trigger, ..outlook(&settings) };
    let mut state = SessionState::default();
    assert!(nothing_due(&outlook, &call(&EventKind::ToolFinished), &state, 40_000, 0));
    assert!(!nothing_due(&outlook, &call(&EventKind::ToolFinished), &state, 41_750, 0));
    let mut looks = 0;
    for used in (40_000..152_000).step_by(500) {
        if !nothing_due(&outlook, &call(&EventKind::ToolFinished), &state, used, 0) {
            let event = EventKind::ToolFinished;
            let decision =
                decide_window(&outlook, &call(&event), Some(&reading(used)), &|| 500, &state);
            assert_eq!(decision.speech, None);
            looks += usize::from(decision.remember.is_some());
            state = decision.remember.unwrap_or(state);
        }
    }
    assert!(looks < 12, "{looks} looks");
    assert!(!nothing_due(&outlook, &call(&EventKind::ToolFinished), &state, 152_000, 0));
}

#[test]
fn a_change_of_settings_is_noticed_at_once() {
    let settings = Settings::default();
    let event = EventKind::ToolFinished;
    let state = SessionState::default();
    let decision =
        decide_window(&outlook(&settings), &call(&event), Some(&reading(100_000)), &|| 0, &state);
    let state = decision.remember.unwrap();
    let mut lower = settings.clone();
    lower.lines.warn = Percent::whole(45);
    assert!(nothing_due(&outlook(&settings), &call(&EventKind::ToolFinished), &state, 100_000, 0));
    assert!(!nothing_due(&outlook(&lower), &call(&EventKind::ToolFinished), &state, 100_000, 0));
}

#[test]
fn an_inferred_window_is_remembered() {
    let settings = Settings::default();
    let window = Window { tokens: 1_000_000, source: WindowSource::Inferred };
    let outlook = Outlook { window, ..outlook(&settings) };
    let state = SessionState::default();
    assert!(!nothing_due(&outlook, &call(&EventKind::ToolFinished), &state, 250_000, 0));
    let event = EventKind::ToolFinished;
    let next = decide_window(&outlook, &call(&event), Some(&reading(250_000)), &|| 0, &state)
        .remember
        .unwrap();
    assert_eq!(next.proven(Some("claude-opus-4-5")), Some(window));
    assert_eq!(next.proven(Some("claude-haiku-4-5")), None);
    assert!(nothing_due(&outlook, &call(&EventKind::ToolFinished), &next, 250_000, 0));
}

#[test]
fn compactions_one_right_after_the_other_are_given_less_and_less() {
    let budgets = |turns: &[u32]| {
        let mut state = SessionState::default();
        let given = turns.iter().map(|turns| {
            // Several tools may run in one turn.
            let restored = restore_after(&state, 4 * turns, *turns, 2_000);
            state.restored = Some(restored);
            restored.budget
        });
        given.collect::<Vec<usize>>()
    };
    assert_eq!(budgets(&[40, 43, 44, 60]), [2_000, 500, 0, 2_000]);
}

/// A session that goes through `uses`, one finished tool after the other; whether each saves it, and
/// what is said.
fn saves(outlook: &Outlook<'_>, uses: &[Tokens]) -> Vec<(bool, Option<&'static str>)> {
    let mut state = SessionState::default();
    let event = EventKind::ToolFinished;
    let mut decided = |used: &Tokens| {
        if nothing_due(outlook, &call(&event), &state, *used, 0) {
            return (false, None);
        }
        let decision = decide_window(outlook, &call(&event), Some(&reading(*used)), &|| 0, &state);
        state = decision.remember.unwrap_or_else(|| state.clone());
        (decision.saves, decision.speech.map(|speech| speech.label()))
    };
    uses.iter().map(&mut decided).collect()
}

#[test]
fn a_session_is_saved_at_the_restart_line_once_per_crossing() {
    let settings = Settings::default();
    let uses = [150_000, 160_000, 169_999, 170_000, 171_000, 181_000, 40_000, 175_000];
    let expected = [
        (false, None),
        (false, Some("warned")),
        (false, None),
        (true, Some("saved")),
        (false, None),
        (false, Some("warned")),
        (false, None),
        (true, Some("saved")),
    ];
    assert_eq!(saves(&outlook(&settings), &uses), expected);
}

#[test]
fn once_saved_every_later_warning_of_the_window_says_so() {
    let settings = Settings::default();
    let (outlook, event) = (outlook(&settings), EventKind::ToolFinished);
    let mut state = SessionState::default();
    let mut said = |used: Tokens| {
        let decision = decide_window(&outlook, &call(&event), Some(&reading(used)), &|| 0, &state);
        state = decision.remember.unwrap_or_else(|| state.clone());
        let speech = decision.speech.unwrap();
        let saved = speech.names_save().then_some("/rs development");
        speech
            .reply(&Words { sealed: Some(&sealed()), saved, ..words("/compact") })
            .to_user
            .unwrap()
    };
    let carry_on =
        |percent| format!("CONTEXT: ~{percent}% used. Checkpoint saved 14:02; no action needed.");
    let new_session = |percent| {
        format!(
            "CONTEXT: ~{percent}% used. Session saved. Run '/rs development' in a new session to continue."
        )
    };
    assert_eq!(said(162_000), carry_on(81));
    assert_eq!(said(176_000), new_session(88));
    assert_eq!(said(186_000), new_session(93), "never milder than before");
}

#[test]
fn where_the_client_is_set_to_compact_early_the_tokens_until_then_come_first() {
    let settings = Settings::default();
    let window = Window { tokens: 1_000_000, source: WindowSource::Table };
    let outlook = Outlook { window, trigger: lowered(167_000), ..outlook(&settings) };
    let state = SessionState::default();
    let reply = |used: Tokens, sealed: Option<&SealedAt>| {
        let prompted = call(&EventKind::Prompted);
        let decision = decide_window(&outlook, &prompted, Some(&reading(used)), &|| 15_333, &state);
        decision.speech.map(|speech| speech.reply(&Words { sealed, ..words("/checkpoint") }))
    };
    let fact = "CONTEXT: about 46,000 tokens until the conversation is compacted (12% of the window used).";
    let said = reply(121_001, None).unwrap();
    assert_eq!(said.to_user, Some(format!("{fact} Consider /checkpoint before then.")));
    assert_eq!(said.to_model.as_deref(), Some(fact));
    let said = reply(121_001, Some(&sealed())).unwrap();
    let ending = "Checkpoint saved 14:02; no action needed.";
    assert_eq!(said.to_user, Some(format!("{fact} {ending}")));
    let said = reply(168_000, None).unwrap().to_user.unwrap();
    let any_moment =
        "CONTEXT: the conversation may be compacted at any moment (17% of the window used).";
    assert!(said.starts_with(any_moment), "{said}");
    assert_eq!(reply(120_000, None), None);
}

#[test]
fn a_pretended_window_changes_percentages_and_announces_no_compaction() {
    let settings = Settings::default();
    let window = Window { tokens: 60_000, source: WindowSource::Override };
    let outlook = Outlook { window, trigger: at(167_000), ..outlook(&settings) };
    let mut state = SessionState::default();
    let mut said = |used: Tokens| {
        let finished = call(&EventKind::ToolFinished);
        let decision = decide_window(&outlook, &finished, Some(&reading(used)), &|| 3_000, &state);
        state = decision.remember.unwrap_or_else(|| state.clone());
        decision.speech.map(|speech| speech.reply(&words("/compact")))
    };
    let warned = |percent| {
        Some(format!("CONTEXT: ~{percent}% used. Consider /compact before context exhaustion."))
    };
    assert_eq!(said(47_999), None);
    let first = said(48_000).unwrap();
    assert_eq!(first.to_user, warned(80));
    assert_eq!(first.to_model.unwrap(), "CONTEXT: ~80% used. About 12000 tokens are left.");
    assert_eq!(said(50_999), None);
    assert_eq!(said(51_000).unwrap().to_user, warned(85));
    assert_eq!(said(54_000).unwrap().to_user, warned(90));
}

#[test]
fn where_the_client_never_compacts_a_checkpoint_is_no_reason_to_do_nothing() {
    let settings = Settings::default();
    let outlook = Outlook { trigger: Trigger::SwitchedOff, ..outlook(&settings) };
    let (prompted, state) = (call(&EventKind::Prompted), SessionState::default());
    let decision = decide_window(&outlook, &prompted, Some(&reading(164_000)), &|| 0, &state);
    let reply =
        decision.speech.unwrap().reply(&Words { sealed: Some(&sealed()), ..words("/compact") });
    assert_eq!(
        reply.to_user.unwrap(),
        "CONTEXT: ~82% used. Checkpoint saved 14:02. Consider /compact before context exhaustion."
    );
    assert_eq!(
        reply.to_model.unwrap(),
        "CONTEXT: ~82% used. Checkpoint saved 14:02 +02:00. About 36000 tokens are left."
    );
}

#[test]
fn a_restart_line_between_two_buckets_is_not_passed_over() {
    let lines = Lines { restart: Percent::whole(83), ..Lines::default() };
    let settings = Settings { lines, ..Settings::default() };
    let uses = [160_000, 165_999, 166_000, 167_000];
    let expected = [(false, Some("warned")), (false, None), (true, Some("saved")), (false, None)];
    assert_eq!(saves(&outlook(&settings), &uses), expected);
    let late = Lines { warn: Percent::whole(95), ..lines };
    let settings = Settings { lines: late, ..Settings::default() };
    let expected = [(false, None), (true, Some("saved")), (false, Some("warned"))];
    assert_eq!(saves(&outlook(&settings), &[150_000, 170_000, 190_000]), expected);
}

#[test]
fn where_the_client_compacts_a_session_is_saved_before_that_and_without_a_word() {
    let settings = Settings::default();
    let trigger = at(167_000);
    let outlook = Outlook { trigger, ..outlook(&settings) };
    let expected = [(false, None), (true, Some("warned")), (false, None)];
    assert_eq!(saves(&outlook, &[151_000, 152_000, 153_000]), expected);
    let at_the_trigger = saves(&outlook, &[168_000])[0].0;
    assert!(!at_the_trigger, "the compaction has a checkpoint of its own");
}

#[test]
fn quiet_saves_without_a_word_and_the_switch_saves_nothing() {
    let quiet = Settings { quiet: true, ..Settings::default() };
    assert_eq!(saves(&outlook(&quiet), &[170_000, 171_000]), [(true, None), (false, None)]);
    let off = Settings { enabled: false, ..Settings::default() };
    assert_eq!(saves(&outlook(&off), &[170_000]), [(false, None)]);
}

/// A decision in a session that is conducted.
fn decided_for_a_conductor(kind: &EventKind, used: Tokens, state: &SessionState) -> WindowDecision {
    let settings = Settings::default();
    let (outlook, call) = (outlook(&settings), call(kind));
    let decision = decide_window(&outlook, &call, Some(&reading(used)), &|| 0, state);
    match is_over_restart(&outlook, &call, used, &|| 0) {
        true => in_run(&outlook, &call, used, decision, state),
        false => decision,
    }
}

#[test]
fn a_conducted_session_is_stopped_at_the_restart_line_and_not_saved() {
    let state = SessionState::default();
    let below = decided_for_a_conductor(&EventKind::ToolFinished, 169_999, &state);
    assert!(!below.stops);
    let at_it = decided_for_a_conductor(&EventKind::ToolFinished, 170_000, &state);
    assert!(at_it.stops && !at_it.saves);
    let next = at_it.remember.unwrap();
    assert_eq!((next.stopped, next.saved), (Some(0), None));
    let reply =
        at_it.speech.unwrap().reply(&Words { sealed: Some(&sealed()), ..words("/compact") });
    let stop =
        "CONTEXT: ~85% used. Checkpoint saved 14:02 +02:00; a fresh session continues the work.";
    assert_eq!(reply, Reply { stop: Some(stop.to_owned()), ..Reply::default() });
}

#[test]
fn what_cannot_stop_a_conducted_session_leaves_it_to_the_next_call() {
    let state = SessionState::default();
    for kind in [EventKind::ToolFailed, EventKind::Prompted, EventKind::Stopped] {
        let decision = decided_for_a_conductor(&kind, 180_000, &state);
        assert!(!decision.stops && !decision.saves, "{kind:?}");
        let next = decision.remember.unwrap();
        assert_eq!((next.stopped, next.quiet), (None, None), "{kind:?}");
        let settings = Settings::default();
        let finished = call(&EventKind::ToolFinished);
        assert!(!nothing_due(&outlook(&settings), &finished, &next, 180_000, 0), "{kind:?}");
    }
}

#[test]
fn a_subagents_window_stops_nobody() {
    let settings = Settings::default();
    let own = Call { subagent: Some("Explore"), ..call(&EventKind::ToolFinished) };
    assert!(!is_over_restart(&outlook(&settings), &own, 199_000, &|| 0));
}
