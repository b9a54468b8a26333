//! Tests the testbed against the real client, with shell scripts as hooks.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use plimsoll_testbed::model_server::UNSCRIPTED;
use plimsoll_testbed::{
    AnswerUsage, Client, Hooks, ModelAnswer, ModelServer, RequestKind, Sandbox, Script,
};
use serde_json::{Value, json};

#[test]
fn a_plain_turn_is_answered_and_recorded() {
    check_plain_turn(&Client::current());
}

#[test]
fn a_plain_turn_works_with_the_old_client() {
    check_plain_turn(&Client::old());
}

fn check_plain_turn(client: &Client) {
    let usage = AnswerUsage { input: 7, cache_read: 30_000, cache_creation: 400, output: 33 };
    let server =
        ModelServer::start(Script::new().main([ModelAnswer::text("hello back").usage(usage)]));
    let sandbox = Sandbox::new(client, &server);

    let outcome = sandbox.prompt("say hello").run();

    assert!(outcome.status.success(), "{outcome:?}");
    assert_eq!(outcome.text(), "hello back");
    let turns = server.main_turns();
    assert_eq!(turns.len(), 1);
    assert!(turns[0].first_text().contains("say hello"));
    assert_eq!(turns[0].session_id, Some(outcome.session_id()));
    assert_eq!(turns[0].usage, Some(usage));
    let transcript = outcome.transcript();
    let answer = records_of_type(&transcript.records, "assistant")[0];
    assert_eq!(answer["version"], client.version());
    assert_eq!(answer["message"]["usage"]["cache_read_input_tokens"], 30_000);
    assert_eq!(answer["message"]["usage"]["output_tokens"], 33);
}

#[test]
fn context_from_a_tool_hook_reaches_the_model() {
    check_tool_turn(&Client::current());
}

#[test]
fn context_from_a_tool_hook_reaches_the_model_with_the_old_client() {
    check_tool_turn(&Client::old());
}

fn check_tool_turn(client: &Client) {
    let server = ModelServer::start(
        Script::new().main([bash("echo from-the-tool"), ModelAnswer::text("all done")]),
    );
    let sandbox = Sandbox::new(client, &server);
    let hook = sandbox
        .write_script("hook", &format!("{RECORDING_HOOK}\n{}", inject("PostToolUse", "LOAD-71")));
    let hooks = Hooks::new().on_matching("PostToolUse", "Bash", &hook, &["an arg"]);
    sandbox.write_user_settings(&hooks.settings());

    let outcome = sandbox.prompt("run it").run();

    assert_eq!(outcome.text(), "all done");
    let events = recorded_events(&sandbox);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["hook_event_name"], "PostToolUse");
    assert_eq!(events[0]["tool_response"]["stdout"], "from-the-tool");
    let path = outcome.transcript().path;
    assert_eq!(events[0]["transcript_path"], path.to_str().expect("a text path"));
    let turns = server.main_turns();
    assert_eq!(turns.len(), 2);
    assert!(!turns[0].all_text().contains("LOAD-71"));
    assert!(turns[1].all_text().contains("from-the-tool"));
    assert!(turns[1].all_text().contains("LOAD-71"));
}

#[test]
fn project_hooks_fire_and_parallel_results_arrive_in_one_request() {
    let server = ModelServer::start(
        Script::new().main([
            ModelAnswer::thinking("two at once")
                .then_text("Both.")
                .then_tool("Bash", json!({ "command": "echo first-call" }))
                .then_tool("Bash", json!({ "command": "echo second-call" })),
            ModelAnswer::text("both done"),
        ]),
    );
    let sandbox = Sandbox::new(&Client::current(), &server);
    let hook = sandbox.write_script("hook", RECORDING_HOOK);
    sandbox.write_project_settings(&Hooks::new().on("PostToolBatch", &hook, &[]).settings());

    let outcome = sandbox.prompt("run both").run();

    assert_eq!(outcome.text(), "both done");
    assert_eq!(recorded_events(&sandbox).len(), 1);
    let turns = server.main_turns();
    assert_eq!(turns.len(), 2);
    let text = turns[1].all_text();
    for expected in ["two at once", "Both.", "first-call", "second-call"] {
        assert!(text.contains(expected), "{expected} is missing");
    }
    let transcript = outcome.transcript();
    let answers = records_of_type(&transcript.records, "assistant");
    let first = answers.iter().filter(|line| line["message"]["id"] == answers[0]["message"]["id"]);
    assert_eq!(first.count(), 4, "one record for each content block");
}

#[test]
fn a_subagent_has_its_own_script_and_its_events_carry_its_id() {
    check_subagent(&Client::current());
}

#[test]
fn a_subagent_of_the_old_client_has_its_own_script() {
    check_subagent(&Client::old());
}

fn check_subagent(client: &Client) {
    let task = json!({
        "description": "count",
        "prompt": "SUBTASK count the files",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let server = ModelServer::start(
        Script::new()
            .main([ModelAnswer::tool("Agent", task), ModelAnswer::text("main done")])
            .subagent("SUBTASK", [bash("echo in-the-subagent"), ModelAnswer::text("sub done")]),
    );
    let sandbox = Sandbox::new(client, &server);
    let hook = sandbox.write_script("hook", RECORDING_HOOK);
    let hooks = Hooks::new().on("PreToolUse", &hook, &[]).on("PostToolUse", &hook, &[]);
    sandbox.write_user_settings(&hooks.settings());

    let outcome = sandbox.prompt("delegate it").run();

    assert_eq!(outcome.text(), "main done");
    assert_eq!(server.main_turns().len(), 2);
    assert!(server.main_turns()[1].all_text().contains("sub done"));
    let turns = server.subagent_turns();
    assert_eq!(turns.len(), 2);
    assert!(turns[1].all_text().contains("in-the-subagent"));

    let events = recorded_events(&sandbox);
    let (inside, outside): (Vec<_>, Vec<_>) =
        events.iter().partition(|event| event["agent_id"].is_string());
    assert_eq!(names(&inside), ["PreToolUse", "PostToolUse"]);
    assert_eq!(names(&outside), ["PreToolUse", "PostToolUse"]);
    let agent = inside[0]["agent_id"].as_str();
    assert_eq!(agent, turns[0].agent_id.as_deref());
    let subagents = outcome.transcript().subagents;
    assert_eq!(subagents.len(), 1);
    let name = subagents[0].path.file_stem().and_then(|name| name.to_str());
    assert_eq!(name.and_then(|name| name.strip_prefix("agent-")), agent);
    assert_eq!(records_of_type(&subagents[0].records, "assistant").len(), 2);
}

#[test]
fn a_background_subagent_is_compacted_separately() {
    let task = json!({
        "description": "count",
        "prompt": "SUBTASK count the files",
        "subagent_type": "general-purpose",
    });
    let server = ModelServer::start(
        Script::new()
            .main([
                ModelAnswer::tool("Agent", task),
                ModelAnswer::text("waiting"),
                ModelAnswer::text("main done"),
            ])
            .subagent(
                "SUBTASK",
                [
                    bash("seq 1 300").prompt_tokens(30_000),
                    bash("seq 1 300").prompt_tokens(90_000),
                    ModelAnswer::text("sub done"),
                ],
            ),
    );
    let sandbox = Sandbox::new(&Client::current(), &server);

    let outcome =
        sandbox.prompt("delegate it").env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000").run();

    assert_eq!(outcome.text(), "main done");
    let turns = server.main_turns();
    assert!(turns.last().is_some_and(|turn| turn.all_text().contains("sub done")));
    let transcript = outcome.transcript();
    assert!(transcript.boundaries().is_empty());
    assert_eq!(transcript.subagents[0].boundaries().len(), 1);
    assert_eq!(server.summaries()[0].agent_id, server.subagent_turns()[0].agent_id);
}

#[test]
fn an_overflowing_turn_is_compacted_and_continues() {
    check_compaction(&Client::current());
}

#[test]
fn the_old_client_compacts_an_overflowing_turn() {
    check_compaction(&Client::old());
}

fn check_compaction(client: &Client) {
    let server = ModelServer::start(
        Script::new()
            .main([
                bash("seq 1 300").prompt_tokens(30_000),
                bash("seq 1 300").prompt_tokens(90_000),
                ModelAnswer::text("went on").prompt_tokens(12_000),
            ])
            .summaries([ModelAnswer::summary("SUMMARY-OF-IT")]),
    );
    let sandbox = Sandbox::new(client, &server);
    let hook = sandbox.write_script("hook", RECORDING_HOOK);
    let restore = sandbox.write_script("restore", &inject("SessionStart", "RESTORED-9"));
    let hooks = Hooks::new()
        .on("PreCompact", &hook, &[])
        .on("PostCompact", &hook, &[])
        .on_matching("SessionStart", "compact", &restore, &[]);
    sandbox.write_user_settings(&hooks.settings());

    let outcome =
        sandbox.prompt("run the steps").env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000").run();

    assert_eq!(outcome.text(), "went on");
    assert_eq!(server.summaries().len(), 1);
    let turns = server.main_turns();
    assert_eq!(turns.len(), 3);
    assert!(turns[2].all_text().contains("SUMMARY-OF-IT"));
    assert!(turns[2].all_text().contains("RESTORED-9"));
    let events = recorded_events(&sandbox);
    assert_eq!(names(&events.iter().collect::<Vec<_>>()), ["PreCompact", "PostCompact"]);
    assert_eq!(events[0]["trigger"], "auto");
    let transcript = outcome.transcript();
    let boundaries = transcript.boundaries();
    assert_eq!(boundaries.len(), 1);
    assert_eq!(boundaries[0]["compactMetadata"]["trigger"], "auto");
    let before = boundaries[0]["compactMetadata"]["preTokens"].as_u64().expect("a size");
    assert!((90_000..95_000).contains(&before), "{before}");
}

#[test]
fn a_refused_prompt_is_compacted_and_sent_again() {
    let server = ModelServer::start(
        Script::new()
            .main([
                bash("echo one"),
                bash("echo two"),
                ModelAnswer::prompt_too_long(210_000, 200_000),
                ModelAnswer::text("fits now"),
            ])
            .summaries([ModelAnswer::summary("SHORTER")]),
    );
    let sandbox = Sandbox::new(&Client::current(), &server);

    let outcome = sandbox.prompt("run the steps").run();

    assert_eq!(outcome.text(), "fits now");
    assert_eq!(outcome.transcript().boundaries().len(), 1);
    let turns = server.main_turns();
    assert_eq!(turns.len(), 4);
    assert_eq!(turns[2].usage, None);
    assert!(turns[3].all_text().contains("SHORTER"));
}

#[test]
fn an_api_error_ends_the_turn() {
    let server = ModelServer::start(Script::new().main([ModelAnswer::overloaded()]));
    let sandbox = Sandbox::new(&Client::current(), &server);

    let outcome = sandbox.prompt("try it").env("CLAUDE_CODE_MAX_RETRIES", "0").run();

    assert!(!outcome.status.success());
    assert!(outcome.text().contains("529"), "{outcome:?}");
    assert_eq!(server.main_turns().len(), 1);
    let transcript = outcome.transcript();
    let answers = records_of_type(&transcript.records, "assistant");
    assert_eq!(answers[0]["message"]["model"], "<synthetic>");
}

#[test]
fn a_session_is_continued_in_the_same_transcript() {
    let server = ModelServer::start(
        Script::new().main([ModelAnswer::text("first"), ModelAnswer::text("second")]),
    );
    let sandbox = Sandbox::new(&Client::current(), &server);

    let first = sandbox.prompt("begin").model("claude-sonnet-4-6").run();
    let second = sandbox.prompt("go on").model("claude-sonnet-4-6").continue_last_session().run();

    assert_eq!(second.text(), "second");
    assert_eq!(first.session_id(), second.session_id());
    let turns = server.main_turns();
    assert_eq!(turns[1].model(), "claude-sonnet-4-6");
    assert!(turns[1].all_text().contains("begin"));
    assert_eq!(records_of_type(&second.transcript().records, "assistant").len(), 2);
}

#[test]
fn a_script_may_be_a_closure_and_unanswered_requests_get_a_default() {
    let script = Script::new().rule(|request| {
        let told = request.all_text().contains("magic word");
        told.then(|| ModelAnswer::text(format!("heard by {}", request.model())))
    });
    let server = ModelServer::start(script);
    let sandbox = Sandbox::new(&Client::current(), &server);

    let heard = sandbox.prompt("the magic word").model("claude-opus-4-8").run();
    assert_eq!(heard.text(), "heard by claude-opus-4-8");
    assert_eq!(sandbox.prompt("something else").run().text(), UNSCRIPTED);
}

#[test]
fn side_requests_do_not_use_up_scripted_answers() {
    let server =
        ModelServer::start(Script::new().main([bash("echo one"), ModelAnswer::text("done")]));
    let sandbox = Sandbox::new(&Client::current(), &server);
    let judge = |kind| json!([{ "hooks": [{ "type": kind, "prompt": "may it? $ARGUMENTS" }] }]);
    sandbox.write_user_settings(&json!({
        "hooks": { "PreToolUse": judge("prompt"), "PostToolUse": judge("agent") },
    }));

    let outcome = sandbox.prompt("run it").run();

    assert_eq!(outcome.text(), "done");
    assert_eq!(server.main_turns().len(), 2);
    assert!(
        server.requests().iter().filter(|request| request.kind == RequestKind::Side).count() >= 2
    );
}

#[test]
fn a_prompt_may_start_in_another_folder() {
    let server = ModelServer::start(Script::new().main([bash("pwd"), ModelAnswer::text("done")]));
    let sandbox = Sandbox::new(&Client::current(), &server);
    let folder = sandbox.home().join("elsewhere");
    fs::create_dir(&folder).expect("a folder can be made");

    let _ = sandbox.prompt("where?").directory(&folder).run();

    assert!(server.main_turns()[1].all_text().contains("/home/elsewhere"));
}

#[test]
fn a_slow_answer_pauses_before_every_event() {
    let pause = Duration::from_millis(300);
    let server =
        ModelServer::start(Script::new().main([ModelAnswer::text("at last").with_pause(pause)]));
    let sandbox = Sandbox::new(&Client::current(), &server);

    let started = Instant::now();
    let outcome = sandbox.prompt("hurry").run();

    assert_eq!(outcome.text(), "at last");
    assert!(started.elapsed() >= 6 * pause, "a text is six events");
}

#[test]
fn the_client_contacts_only_the_model() {
    let server = ModelServer::start(Script::new().main([ModelAnswer::text("ok")]));
    let sandbox = Sandbox::new(&Client::current(), &server);

    sandbox.prompt("anything").run();

    assert_eq!(server.other_calls(), [""; 0]);
    assert!(server.requests().iter().all(|request| request.kind == RequestKind::Turn));
}

#[test]
fn a_hanging_client_is_killed_with_its_children() {
    let server = ModelServer::start(
        Script::new().main([bash("echo $$ > \"$HOME/shell\"; tail -f /dev/null")]),
    );
    let sandbox = Sandbox::new(&Client::current(), &server);

    let hanging = sandbox.prompt("wait").timeout(Duration::from_secs(25));
    let panic = catch_unwind(AssertUnwindSafe(|| hanging.run())).expect_err("it hangs");

    let message = panic.downcast_ref::<String>().expect("a panic with a message");
    assert!(message.starts_with("the client did not end within 25s"), "{message}");
    let shell = fs::read_to_string(sandbox.home().join("shell")).expect("the shell has started");
    drop(sandbox);
    let command = fs::read(format!("/proc/{}/cmdline", shell.trim())).unwrap_or_default();
    assert!(command.is_empty(), "the shell is still there");
}

/// Hook script that appends each payload to a file.
const RECORDING_HOOK: &str = r#"payload=$(cat); printf '%s\n' "$payload" >> "$HOME/events.jsonl""#;

/// Returns a hook script that adds a text to the model's context.
fn inject(event: &str, text: &str) -> String {
    let output = json!({ "hookEventName": event, "additionalContext": text });
    format!("echo '{}'", json!({ "hookSpecificOutput": output }))
}

fn recorded_events(sandbox: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.home().join("events.jsonl")).expect("a hook fired");
    text.lines().map(|line| serde_json::from_str(line).expect("a payload is JSON")).collect()
}

fn names<'a>(events: &[&'a Value]) -> Vec<&'a str> {
    events.iter().filter_map(|event| event["hook_event_name"].as_str()).collect()
}

fn records_of_type<'a>(lines: &'a [Value], name: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == name).collect()
}

fn bash(command: &str) -> ModelAnswer {
    ModelAnswer::tool("Bash", json!({ "command": command, "description": "a step" }))
}
