use super::*;
use crate::settings::Percent;

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

/// A session that goes through `uses` one after the other; the words of each call.
fn warnings(uses: &[Tokens]) -> Vec<Option<String>> {
    let settings = Settings::default();
    let mut state = SessionState::default();
    let call = |used: &Tokens| {
        let decision = decide(
            &outlook(&settings),
            &EventKind::ToolFinished,
            None,
            &reading(*used),
            &|| 0,
            &state,
        );
        state = decision.remember.unwrap_or_else(|| state.clone());
        decision.speech.and_then(|speech| speech.reply("/compact", "W").to_user)
    };
    uses.iter().map(call).collect()
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
    let state = SessionState { warned: Some(17), ..SessionState::default() };
    assert_eq!(replaced(&state).remember, Some(SessionState::default()));
    assert_eq!(replaced(&SessionState::default()).remember, None);
}

#[test]
fn saving_is_suggested_once_where_there_is_a_command_for_it() {
    let settings = Settings::default();
    let spoken = |can_save: bool| {
        let outlook = Outlook { can_save, ..outlook(&settings) };
        let mut state = SessionState::default();
        let mut call = |used: Tokens| {
            if nothing_due(&outlook, &EventKind::ToolFinished, &state, used, 0) {
                return None;
            }
            let event = EventKind::ToolFinished;
            let decision = decide(&outlook, &event, None, &reading(used), &|| 0, &state);
            state = decision.remember.unwrap_or_else(|| state.clone());
            decision.speech.and_then(|speech| speech.reply("/ss", "W").to_user)
        };
        [139_999, 140_000, 145_000, 159_999, 160_000].map(&mut call)
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
    let silent = decide(&outlook(&quiet), &event, None, &reading(164_000), &|| 0, &state);
    assert_eq!(silent, Decision::default());
    let loud = Settings::default();
    assert!(!nothing_due(&outlook(&loud), &event, &state, 164_000, 0));
}

#[test]
fn a_quiet_or_disabled_plimsoll_says_nothing() {
    for settings in [
        Settings { quiet: true, ..Settings::default() },
        Settings { enabled: false, ..Settings::default() },
    ] {
        let event = EventKind::Prompted;
        let state = SessionState::default();
        let decision = decide(&outlook(&settings), &event, None, &reading(190_000), &|| 0, &state);
        assert_eq!(decision.speech, None);
    }
}

#[test]
fn the_model_gets_a_verdict_and_the_user_a_choice() {
    let settings = Settings::default();
    let trigger = Trigger::At { tokens: 167_000, source: crate::trigger::TriggerSource::Formula };
    let outlook = Outlook { trigger, ..outlook(&settings) };
    let state = SessionState::default();
    let decision = decide(&outlook, &EventKind::Prompted, None, &reading(161_000), &|| 0, &state);
    let reply = decision.speech.map(|speech| speech.reply("/compact", "W")).unwrap();
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
    assert!(nothing_due(&outlook, &EventKind::ToolFinished, &state, 100_000, 10_000));
    assert!(
        !nothing_due(&outlook, &EventKind::ToolFinished, &state, 100_000, 40_000),
        "may be 80,000 tokens"
    );
    assert!(!nothing_due(&outlook, &EventKind::ToolFinished, &state, 160_000, 0));
    let warned = SessionState { warned: Some(17), ..state };
    assert!(
        !nothing_due(&outlook, &EventKind::ToolFinished, &warned, 30_000, 0),
        "the fall must be noticed"
    );
}

#[test]
fn with_a_trigger_the_line_is_looked_at_halfway() {
    let settings = Settings::default();
    let trigger = Trigger::At { tokens: 167_000, source: crate::trigger::TriggerSource::Formula };
    let outlook = Outlook { trigger, ..outlook(&settings) };
    let mut state = SessionState::default();
    assert!(nothing_due(&outlook, &EventKind::ToolFinished, &state, 40_000, 0));
    assert!(!nothing_due(&outlook, &EventKind::ToolFinished, &state, 41_750, 0));
    let mut looks = 0;
    for used in (40_000..152_000).step_by(500) {
        if !nothing_due(&outlook, &EventKind::ToolFinished, &state, used, 0) {
            let event = EventKind::ToolFinished;
            let decision = decide(&outlook, &event, None, &reading(used), &|| 500, &state);
            assert_eq!(decision.speech, None);
            looks += usize::from(decision.remember.is_some());
            state = decision.remember.unwrap_or(state);
        }
    }
    assert!(looks < 12, "{looks} looks");
    assert!(!nothing_due(&outlook, &EventKind::ToolFinished, &state, 152_000, 0));
}

#[test]
fn a_change_of_settings_is_noticed_at_once() {
    let settings = Settings::default();
    let event = EventKind::ToolFinished;
    let state = SessionState::default();
    let decision = decide(&outlook(&settings), &event, None, &reading(100_000), &|| 0, &state);
    let state = decision.remember.unwrap();
    let mut lower = settings.clone();
    lower.lines.warn = Percent::whole(45);
    assert!(nothing_due(&outlook(&settings), &EventKind::ToolFinished, &state, 100_000, 0));
    assert!(!nothing_due(&outlook(&lower), &EventKind::ToolFinished, &state, 100_000, 0));
}

fn guarded(settings: &Settings, source: WindowSource, load: Load, used: Tokens) -> Option<Reply> {
    let window = Window { tokens: 200_000, source };
    let outlook = Outlook { window, ..outlook(settings) };
    let event = EventKind::Loading(load);
    let state = SessionState::default();
    let decision = decide(&outlook, &event, None, &reading(used), &|| 0, &state);
    decision.speech.map(|speech| speech.reply("/compact", "PLIMSOLL_CONTEXT_WINDOW"))
}

fn explore() -> Load {
    Load::Agent("Explore".to_owned())
}

fn strict() -> Settings {
    Settings { guard: GuardMode::Strict, ..Settings::default() }
}

#[test]
fn the_guard_warns_at_the_ceiling_and_not_below() {
    let settings = Settings::default();
    assert_eq!(guarded(&settings, WindowSource::Table, explore(), 79_999), None);
    let reply = guarded(&settings, WindowSource::Table, explore(), 80_000).unwrap();
    assert_eq!(
        reply.to_user.unwrap(),
        "CONTEXT: ~40% used, above the 40% ceiling while loading `Explore`. Consider /compact first."
    );
    assert_eq!(
        reply.to_model.unwrap(),
        "CONTEXT: ~40% used, above the 40% ceiling. `Explore` adds to it."
    );
    assert_eq!(reply.refusal, None);
}

#[test]
fn strict_mode_refuses_every_time() {
    let refusal = "CONTEXT: ~45% used, above the 40% ceiling: `Explore` was not loaded. Summarize or finish first; recovery skills still run.";
    for _ in 0..2 {
        let reply = guarded(&strict(), WindowSource::Table, explore(), 90_000).unwrap();
        assert_eq!(reply, Reply { refusal: Some(refusal.to_owned()), ..Reply::default() });
    }
}

#[test]
fn a_guessed_window_is_never_a_reason_to_refuse() {
    let reply = guarded(&strict(), WindowSource::Default, explore(), 90_000).unwrap();
    assert_eq!(reply.refusal, None);
    assert!(reply.to_user.unwrap().ends_with("is a guess: set PLIMSOLL_CONTEXT_WINDOW."));
}

#[test]
fn a_cap_in_tokens_needs_no_window() {
    let settings = Settings { ceiling_tokens: Some(50_000), ..strict() };
    assert_eq!(guarded(&settings, WindowSource::Default, explore(), 49_999), None);
    let reply = guarded(&settings, WindowSource::Default, explore(), 50_000).unwrap();
    assert!(reply.refusal.unwrap().contains("above the 50000-token ceiling"));
}

#[test]
fn recovery_skills_are_never_gated() {
    for skill in crate::settings::RECOVERY_SKILLS {
        let load = Load::Skill(skill.to_owned());
        assert_eq!(guarded(&strict(), WindowSource::Table, load, 190_000), None);
    }
    let agent = Load::Agent("checkpoint".to_owned());
    assert!(guarded(&strict(), WindowSource::Table, agent, 190_000).is_some());
}

#[test]
fn the_guard_can_be_off() {
    let off = Settings { guard: GuardMode::Off, ..Settings::default() };
    assert_eq!(guarded(&off, WindowSource::Table, explore(), 190_000), None);
}

#[test]
fn an_inferred_window_is_remembered() {
    let settings = Settings::default();
    let window = Window { tokens: 1_000_000, source: WindowSource::Inferred };
    let outlook = Outlook { window, ..outlook(&settings) };
    let state = SessionState::default();
    assert!(!nothing_due(&outlook, &EventKind::ToolFinished, &state, 250_000, 0));
    let event = EventKind::ToolFinished;
    let next = decide(&outlook, &event, None, &reading(250_000), &|| 0, &state).remember.unwrap();
    assert_eq!(next.proven(Some("claude-opus-4-5")), Some(window));
    assert_eq!(next.proven(Some("claude-haiku-4-5")), None);
    assert!(nothing_due(&outlook, &EventKind::ToolFinished, &next, 250_000, 0));
}

#[test]
fn compactions_one_right_after_the_other_are_given_less_and_less() {
    let (first, budget) = compacted(&SessionState::default(), 40);
    assert_eq!(budget, 2_000);
    let (second, budget) = compacted(&first, 43);
    assert_eq!(budget, 500);
    let (third, budget) = compacted(&second, 44);
    assert_eq!(budget, 0);
    assert_eq!(compacted(&third, 60).1, 2_000, "work went on in between");
}
