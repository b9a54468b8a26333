use super::*;

fn guarded(settings: &Settings, source: WindowSource, load: Load, used: Tokens) -> Option<Reply> {
    let window = Window { tokens: 200_000, source };
    let outlook = Outlook { window, ..outlook(settings) };
    let event = EventKind::Loading(load);
    let state = SessionState::default();
    let decision = decide(&outlook, &call(&event), Some(&reading(used)), &|| 0, &state);
    decision.speech.map(|speech| {
        speech.reply(&Words { variable: "PLIMSOLL_CONTEXT_WINDOW", ..words("/compact") })
    })
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
