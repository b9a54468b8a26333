//! The ceiling guard, before agents and skills are loaded.
//!
//! The client asks before the response that wants the load is on disk, so the guard goes by the
//! response before it: every script has a step first.

use std::fs;

use plimsoll_testbed::{Client, ModelAnswer, Script};

use crate::bed::{Bed, agent, shown, skill, step, tool_result};

const REFUSAL: &str = "CONTEXT: Agent general-purpose was not started because the window is at 45 %, \
    above the 40 % ceiling. Finish or summarize first. Still allowed: all other tools, and the skills \
    context-summarization, context-loading-protocol, continue, review-summary, session-review, \
    checkpoint, resume-work, ss, rs, handoff.";

/// A session at 45 % that starts a subagent.
fn delegating() -> Script {
    Script::new()
        .main([
            step(90_000),
            agent().prompt_tokens(90_200),
            ModelAnswer::text("all done").prompt_tokens(90_400),
        ])
        .subagent("SUBTASK", [ModelAnswer::text("counted the files")])
}

#[test]
fn an_agent_over_the_ceiling_is_warned_about_and_still_runs() {
    let bed = Bed::new(delegating());

    let outcome = bed.prompt("go").run();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.server.subagent_turns().len(), 1);
    assert!(tool_result(&bed.server.main_turns()[2]).contains("counted the files"));
    let fact = "CONTEXT: Agent general-purpose starts while the window is at 45 %, above the 40 % ceiling.";
    let to_model = format!("{fact} Its report will add to the window.");
    assert_eq!(bed.heard(), [vec![], vec![], vec![to_model]]);
    let advice = "For new work, /clear first. If that is too low, raise lines.ceiling.";
    assert_eq!(shown(&outcome.transcript()), [format!("{fact} {advice}")]);
}

#[test]
fn an_agent_under_the_ceiling_is_not_the_guards_business() {
    let script = Script::new()
        .main([
            step(79_000),
            agent().prompt_tokens(79_200),
            ModelAnswer::text("all done").prompt_tokens(79_400),
        ])
        .subagent("SUBTASK", [ModelAnswer::text("counted")]);
    let bed = Bed::new(script);

    let outcome = bed.run_strictly();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.server.subagent_turns().len(), 1);
    assert_eq!(bed.heard_at_last(), [""; 0]);
}

#[test]
fn strict_mode_refuses_an_agent_over_the_ceiling() {
    refused(&Client::current(), "PLIMSOLL_CONTEXT_STRICT");
}

#[test]
fn strict_mode_by_its_older_name_refuses_too() {
    refused(&Client::current(), "DEV_TEAM_CONTEXT_STRICT");
}

#[test]
fn strict_mode_refuses_with_the_old_client() {
    refused(&Client::old(), "PLIMSOLL_CONTEXT_STRICT");
}

fn refused(client: &Client, variable: &str) {
    let bed = Bed::with(client, delegating());

    let outcome = bed.prompt("go").env(variable, "on").run();

    assert!(outcome.status.success(), "{outcome:?}");
    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.server.subagent_turns().len(), 0);
    let result = tool_result(&bed.server.main_turns()[2]);
    assert!(result.contains(REFUSAL), "{result}");
    assert_eq!(bed.heard_at_last(), [REFUSAL]);
    assert_eq!(outcome.transcript().subagents.len(), 0);
}

#[test]
fn strict_mode_refuses_every_time() {
    let script = Script::new().main([
        step(90_000),
        agent().prompt_tokens(90_200),
        agent().prompt_tokens(90_400),
        ModelAnswer::text("all done").prompt_tokens(90_600),
    ]);
    let bed = Bed::new(script);

    let outcome = bed.run_strictly();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.heard_at_last(), [REFUSAL, REFUSAL]);
    assert_eq!(bed.server.subagent_turns().len(), 0);
}

/// A session at 45 % that loads one skill after the other, each of which says its name.
fn loading(skills: &[&str]) -> Bed {
    let loads = skills.iter().map(|name| skill(name).prompt_tokens(90_200));
    let end = ModelAnswer::text("all done").prompt_tokens(90_400);
    let bed = Bed::new(Script::new().main([step(90_000)].into_iter().chain(loads).chain([end])));
    for name in ["checkpoint", "deploy"] {
        let body = format!("BODY-OF-{name}");
        bed.skill(&bed.sandbox.project().join(".claude"), name, &body);
    }
    let plugin = bed.sandbox.home().join("kit");
    for name in ["handoff", "release"] {
        bed.skill(&plugin, name, &format!("BODY-OF-{name}"));
    }
    fs::create_dir(plugin.join(".claude-plugin")).unwrap();
    let manifest = r#"{"name": "kit", "version": "1.0.0", "description": "for a test"}"#;
    fs::write(plugin.join(".claude-plugin/plugin.json"), manifest).unwrap();
    bed
}

#[test]
fn strict_mode_lets_recovery_skills_through_and_no_others() {
    let bed = loading(&["checkpoint", "deploy", "kit:handoff", "kit:release"]);

    let outcome = bed
        .prompt("go")
        .env("PLIMSOLL_CONTEXT_STRICT", "on")
        .arg("--plugin-dir")
        .arg(bed.sandbox.home().join("kit"))
        .run();

    assert_eq!(outcome.text(), "all done");
    let text = bed.server.main_turns().pop().unwrap().all_text();
    assert!(text.contains("BODY-OF-checkpoint") && text.contains("BODY-OF-handoff"), "{text}");
    assert!(!text.contains("BODY-OF-deploy") && !text.contains("BODY-OF-release"), "{text}");
    let heard = bed.heard_at_last();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard[0].contains("Skill deploy was not loaded"), "{heard:?}");
    assert!(heard[1].contains("Skill release was not loaded"), "{heard:?}");
}

#[test]
fn a_guard_that_is_off_lets_everything_through() {
    let script = Script::new()
        .main([
            step(90_000),
            agent().prompt_tokens(90_200),
            skill("deploy").prompt_tokens(90_400),
            ModelAnswer::text("all done").prompt_tokens(90_600),
        ])
        .subagent("SUBTASK", [ModelAnswer::text("counted")]);
    let bed = Bed::new(script);
    bed.skill(&bed.sandbox.project().join(".claude"), "deploy", "BODY-OF-deploy");

    let outcome = bed
        .prompt("go")
        .env("DEV_TEAM_CONTEXT_CEILING", "off")
        .env("DEV_TEAM_CONTEXT_STRICT", "on")
        .run();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.server.subagent_turns().len(), 1);
    let text = bed.server.main_turns().pop().unwrap().all_text();
    assert!(text.contains("BODY-OF-deploy"), "{text}");
    assert_eq!(bed.heard_at_last(), [""; 0]);
    assert_eq!(shown(&outcome.transcript()), [""; 0]);
}

#[test]
fn a_guessed_window_is_no_reason_to_refuse_and_the_variable_that_settles_it_is_named() {
    let bed = Bed::new(delegating());

    let outcome =
        bed.sandbox.prompt("go").model("mystery-9").env("PLIMSOLL_CONTEXT_STRICT", "on").run();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.server.subagent_turns().len(), 1);
    let shown = shown(&outcome.transcript());
    assert_eq!(shown.len(), 1, "{shown:?}");
    let expected = "The window of 200000 tokens is a guess: set PLIMSOLL_CONTEXT_WINDOW.";
    assert!(shown[0].ends_with(expected), "{shown:?}");
}

#[test]
fn a_window_that_the_user_sets_is_no_guess() {
    let bed = Bed::new(delegating());

    let outcome = bed
        .sandbox
        .prompt("go")
        .model("mystery-9")
        .env("PLIMSOLL_CONTEXT_STRICT", "on")
        .env("PLIMSOLL_CONTEXT_WINDOW", "200000")
        .run();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.server.subagent_turns().len(), 0);
    assert_eq!(bed.heard_at_last(), [REFUSAL]);
}
