use super::*;
use crate::checkpoint::Occasion;

/// A situation of the session itself about which nothing is known yet.
fn situation<'a>(
    event: &'a EventKind,
    settings: &'a Settings,
    state: &'a SessionState,
) -> Situation<'a> {
    Situation {
        event,
        subagent: None,
        accepts: Accepts { to_model: true, to_user: true, ..Accepts::default() },
        settings,
        state,
        last_label: None,
        window: None,
        mail: Mail { is_empty: true, request: None },
        compaction: None,
        is_run: false,
        is_headless: false,
        last_session: None,
        now: 7,
    }
}

#[track_caller]
fn check(event: EventKind, main: &[Effect], subagent: &[Effect]) {
    let (settings, state) = (Settings::default(), SessionState::default());
    let situation = situation(&event, &settings, &state);
    assert_eq!(decide(&situation).effects, main);
    assert_eq!(decide(&Situation { subagent: Some("Explore"), ..situation }).effects, subagent);
}

fn checkpoint(coverage: Coverage, if_worth_it: bool) -> Effect {
    Effect::Checkpoint { occasion: Occasion::Auto, coverage, requested: None, if_worth_it }
}

#[test]
fn only_the_session_itself_gets_checkpoints_and_restores() {
    let all = checkpoint(Coverage::Everything, false);
    let certain = EventKind::Compacting { certain: true };
    check(certain, &[all, Effect::Steer, Effect::Ingest], &[Effect::Ingest]);
    check(EventKind::Compacted, &[Effect::Restore], &[]);
    check(EventKind::Started, &[Effect::Begin(Beginning::Offer)], &[]);
    check(EventKind::Cleared, &[Effect::ShowHowToLoad], &[]);
    check(EventKind::Resumed, &[Effect::ListChanges], &[]);
    let at_the_end = checkpoint(Coverage::Everything, true);
    check(EventKind::Ended, &[at_the_end, Effect::Ingest, Effect::Prune], &[]);
    check(EventKind::Other, &[], &[]);
}

#[test]
fn a_compaction_that_may_not_follow_is_no_reason_to_steer_it() {
    let changes = checkpoint(Coverage::Changes, false);
    check(EventKind::Compacting { certain: false }, &[changes], &[Effect::Ingest]);
}

#[test]
fn a_session_of_a_run_is_given_what_its_runner_names() {
    let (settings, state) = (Settings::default(), SessionState::default());
    for event in [EventKind::Started, EventKind::Cleared] {
        let run = Situation { is_run: true, ..situation(&event, &settings, &state) };
        assert_eq!(decide(&run).effects, [Effect::ContinueRun]);
    }
}

#[test]
fn a_session_without_a_transcript_is_marked_once_a_tool_has_run() {
    let (settings, state) = (Settings::default(), SessionState::default());
    let marked = |event: EventKind, last_label: Option<&str>| {
        decide(&Situation { last_label, ..situation(&event, &settings, &state) }).label
    };
    assert_eq!(marked(EventKind::ToolFinished, None), label::UNSEEN);
    assert_eq!(marked(EventKind::ToolFinished, Some(label::STARTED)), label::UNSEEN);
    assert_eq!(marked(EventKind::ToolFinished, Some("warned")), "");
    assert_eq!(marked(EventKind::Prompted, None), "");
}

#[test]
fn a_compaction_that_no_event_reports_is_restored_at_the_next_one() {
    let (settings, state) = (Settings::default(), SessionState::default());
    let event = EventKind::Prompted;
    let noticed = Situation { compaction: Some(Some(9)), ..situation(&event, &settings, &state) };
    let decision = decide(&noticed);
    assert_eq!(decision.effects, [Effect::Restore]);
    let restored = Some(Restored { steps: 1, turns: 1, times: 1, budget: 2_000 });
    let outcomes =
        Outcomes { restored, compaction: Some(9), is_waiting: true, ..Outcomes::default() };
    let state = settle(&noticed, &decision, outcomes).state.unwrap();
    assert_eq!((state.compaction, state.restored, state.waiting), (Some(9), restored, true));
}

/// A decision to stop a session, settled after a checkpoint was saved or not.
fn stopped(is_covered: bool) -> Settled {
    let (settings, state) = (Settings::default(), SessionState::default());
    let event = EventKind::ToolFinished;
    let window = outlook(&settings);
    let (call, reading) = (call(&event), reading(180_000));
    let situation = Situation {
        window: Some(WindowSituation {
            outlook: window,
            call,
            reading: Some(&reading),
            growth: &|| 0,
        }),
        is_run: true,
        ..situation(&event, &settings, &state)
    };
    let decision = decide(&situation);
    assert!(decision.stops);
    let checkpoint = Some(CheckpointOutcome { seal: None, is_covered });
    let phrases = Some(Phrases::default());
    let outcomes = Outcomes { is_remembered: true, checkpoint, phrases, ..Outcomes::default() };
    settle(&situation, &decision, outcomes)
}

#[test]
fn a_session_is_stopped_only_once_a_checkpoint_is_there() {
    let settled = stopped(true);
    assert!(settled.reply.stop.is_some() && settled.state.unwrap().stopped.is_some());
    let settled = stopped(false);
    assert_eq!(settled.reply, Reply::default());
    assert_eq!((settled.label, settled.state.unwrap().stopped), (label::UNSEALED, None));
}

#[test]
fn nothing_but_a_refusal_is_said_where_nothing_can_be_remembered() {
    let settings = Settings { guard: GuardMode::Strict, ..Settings::default() };
    let state = SessionState::default();
    let reading = reading(180_000);
    let said = |event: EventKind| {
        let situation = Situation {
            window: Some(WindowSituation {
                outlook: outlook(&settings),
                call: call(&event),
                reading: Some(&reading),
                growth: &|| 0,
            }),
            ..situation(&event, &settings, &state)
        };
        let decision = decide(&situation);
        assert!(decision.speech.is_some());
        let phrases = Some(Phrases::default());
        settle(&situation, &decision, Outcomes { phrases, ..Outcomes::default() })
    };
    assert_eq!(said(EventKind::Prompted), Settled::default());
    let refused = said(EventKind::Loading(Load::Agent("Explore".to_owned())));
    assert!(refused.reply.refusal.is_some() && refused.state.is_none());
}

#[test]
fn a_compaction_without_a_transcript_voids_what_was_said_and_claims_no_restore() {
    let settings = Settings::default();
    let event = EventKind::Compacted;
    let settled = |state: &SessionState, last_label: Option<&str>| {
        let situation = Situation { last_label, ..situation(&event, &settings, state) };
        settle(&situation, &decide(&situation), Outcomes::default())
    };
    let warned = SessionState { warned: Some(17), ..SessionState::default() };
    let voided = settled(&warned, Some("warned"));
    assert_eq!((voided.label, voided.state), (label::REPLACED, Some(SessionState::default())));
    assert_eq!(settled(&SessionState::default(), Some(label::UNSEEN)), Settled::default());
}
