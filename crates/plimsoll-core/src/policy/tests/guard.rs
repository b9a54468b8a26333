use super::*;

fn guarded(settings: &Settings, source: WindowSource, load: Load, used: Tokens) -> Option<Reply> {
    let window = Window { tokens: 200_000, source };
    let outlook = Outlook { window, ..outlook(settings) };
    let event = EventKind::Loading(load);
    let state = SessionState::default();
    let decision = decide_window(&outlook, &call(&event), Some(&reading(used)), &|| 0, &state);
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
        "CONTEXT: Agent Explore starts while the window is at 40 %, at the 40 % ceiling. \
         For new work, /clear first. If that is too low, raise lines.ceiling."
    );
    assert_eq!(
        reply.to_model.unwrap(),
        "CONTEXT: Agent Explore starts while the window is at 40 %, at the 40 % ceiling. \
         Its report will add to the window."
    );
    assert_eq!(reply.refusal, None);
}

#[test]
fn strict_mode_refuses_every_time() {
    let refusal = "CONTEXT: Agent Explore was not started because the window is at 45 %, \
        above the 40 % ceiling. Finish or summarize first. Still allowed: all other tools, and the \
        skills context-summarization, context-loading-protocol, continue, review-summary, \
        session-review, checkpoint, resume-work, ss, rs, handoff.";
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
    assert!(reply.refusal.unwrap().contains("above the 50,000-token ceiling"));
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
fn a_skill_is_named_as_one_and_so_is_what_the_user_allows() {
    let settings = Settings { recovery_skills: vec!["tidy".to_owned()], ..strict() };
    let skill = || Load::Skill("deploy".to_owned());
    let reply = guarded(&Settings::default(), WindowSource::Table, skill(), 84_000).unwrap();
    let said = reply.to_user.unwrap();
    let fact =
        "CONTEXT: Skill deploy is loaded while the window is at 42 %, above the 40 % ceiling.";
    assert!(said.starts_with(fact), "{said}");
    assert!(!said.contains("/compact"), "{said}");
    let refusal =
        guarded(&settings, WindowSource::Table, skill(), 84_000).unwrap().refusal.unwrap();
    assert!(refusal.ends_with("ss, rs, handoff, tidy."), "{refusal}");
}

#[test]
fn a_ceiling_that_an_early_compaction_lowers_is_not_the_users_to_raise() {
    let settings = Settings::default();
    let window = Window { tokens: 1_000_000, source: WindowSource::Table };
    let outlook = Outlook { window, trigger: lowered(167_000), ..outlook(&settings) };
    let event = EventKind::Loading(explore());
    let state = SessionState::default();
    let decision = decide_window(&outlook, &call(&event), Some(&reading(157_000)), &|| 0, &state);
    assert_eq!(
        decision.speech.unwrap().reply(&words("/compact")).to_user.unwrap(),
        "CONTEXT: Agent Explore starts while the window is at 16 %, above the 15 % ceiling, \
         about 10,000 tokens before the conversation is compacted. For new work, /clear first."
    );
}
