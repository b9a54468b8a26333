//! Windows of subagents: each is measured, warned about and guarded by itself.

use plimsoll_testbed::{ModelAnswer, Script};

use crate::bed::{Bed, agent, counting, shown, skill, step, tool_result, words};

#[test]
fn a_subagents_warning_goes_to_the_subagent_alone() {
    let bed = Bed::new(counting(166_000));

    let outcome = bed.prompt("go").run();

    assert_eq!(outcome.text(), "all done");
    let inside: Vec<_> = bed.server.subagent_turns().iter().map(words).collect();
    assert_eq!(inside, [vec![], vec!["CONTEXT: ~83% used."]]);
    assert!(bed.heard().iter().all(Vec::is_empty), "{:?}", bed.heard());
    let transcript = outcome.transcript();
    assert_eq!(shown(&transcript), [""; 0]);
    assert_eq!(
        shown(&transcript.subagents[0]),
        ["CONTEXT: ~83% used in subagent general-purpose."]
    );
    let agent = bed.server.subagent_turns()[0].agent_id.clone().unwrap();
    assert_eq!(bed.spools(), [format!("{}.{agent}.jsonl", outcome.session_id())]);
}

#[test]
fn a_full_main_window_is_nothing_to_its_subagent() {
    let script = Script::new()
        .main([
            step(166_000),
            agent().prompt_tokens(166_200),
            ModelAnswer::text("all done").prompt_tokens(166_400),
        ])
        .subagent("SUBTASK", [step(30_000), ModelAnswer::text("counted").prompt_tokens(31_000)]);
    let bed = Bed::new(script);

    let outcome = bed.prompt("go").run();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.server.subagent_turns().len(), 2);
    assert!(bed.server.subagent_turns().iter().all(|turn| words(turn).is_empty()));
    let ceiling = "CONTEXT: Agent general-purpose starts while the window is at 83 %, above the 40 % \
        ceiling. Its report will add to the window.";
    assert_eq!(bed.heard_at_last(), ["CONTEXT: ~83% used.", ceiling]);
    let transcript = outcome.transcript();
    assert_eq!(shown(&transcript).len(), 2);
    assert_eq!(shown(&transcript.subagents[0]), [""; 0]);
}

#[test]
fn inside_a_subagent_the_guard_goes_by_the_subagents_window() {
    let script = Script::new()
        .main([agent().prompt_tokens(30_000), ModelAnswer::text("all done").prompt_tokens(31_000)])
        .subagent(
            "SUBTASK",
            [
                step(90_000),
                skill("deploy").prompt_tokens(90_200),
                ModelAnswer::text("counted").prompt_tokens(90_400),
            ],
        );
    let bed = Bed::new(script);
    bed.skill(&bed.sandbox.project().join(".claude"), "deploy", "BODY-OF-deploy");

    let outcome = bed.run_strictly();

    assert_eq!(outcome.text(), "all done");
    let inside = bed.server.subagent_turns();
    let result = tool_result(&inside[2]);
    let place = "the window of subagent general-purpose is at 45 %, above the 40 % ceiling";
    assert!(result.contains(place), "{result}");
    assert!(!inside[2].all_text().contains("BODY-OF-deploy"));
    assert_eq!(bed.heard_at_last(), [""; 0]);
}
