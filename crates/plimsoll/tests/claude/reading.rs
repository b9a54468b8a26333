//! `plimsoll measure` on transcripts that the real client wrote.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;

use plimsoll_testbed::{AnswerUsage, Client, ClientTranscript, ModelAnswer, Script};
use serde_json::Value;

use crate::bed::{Bed, PLAIN, PROSE, agent, bash, step};

#[test]
fn a_reading_is_what_the_service_counted_and_a_little_for_what_follows() {
    measured(&Client::current());
}

#[test]
fn a_reading_of_the_old_clients_transcript_is_what_the_service_counted_too() {
    measured(&Client::old());
}

fn measured(client: &Client) {
    let usage = AnswerUsage { input: 11, cache_read: 88_000, cache_creation: 4_321, output: 765 };
    let script = Script::new().main([step(60_000), ModelAnswer::text("all done").usage(usage)]);
    let bed = Bed::with(client, script);

    let transcript = bed.prompt("go").run().transcript().path;

    let counted = usage.prompt() + usage.output;
    let used = bed.measure_tokens(&transcript);
    assert!((counted..counted + 50).contains(&used), "{used} tokens, {counted} counted");
    let json = bed.measure_json(&transcript);
    assert_eq!(json["used"], used);
    assert_eq!(json["source"], "measured");
    assert_eq!(json["window"]["tokens"], 200_000);
    assert_eq!(json["window"]["source"], "table");
    assert_eq!(json["model"], PLAIN);
    assert_eq!(json["client_version"], client.version());
    assert_eq!(json["trigger"]["source"], "on_refusal");
    assert_eq!(json["counted"]["prompt_tokens"], usage.prompt());
    assert_eq!(json["counted"]["output_tokens"], usage.output);
    assert_eq!(json["percent"].as_f64().unwrap(), (used as f64 / 200.0).round() / 10.0);
}

#[test]
fn a_reading_predicts_the_next_prompt() {
    predicted(&Client::current());
}

#[test]
fn a_reading_of_the_old_clients_transcript_predicts_the_next_prompt_too() {
    predicted(&Client::old());
}

fn predicted(client: &Client) {
    let answers = [
        bash("cat notes"),
        bash("cat notes notes"),
        ModelAnswer::text("so far"),
        bash("echo short"),
        bash("cat notes"),
        ModelAnswer::text("all done"),
    ];
    let bed = Bed::with(client, counting(answers));
    fs::write(bed.sandbox.project().join("notes"), PROSE.repeat(20)).unwrap();

    bed.prompt("begin").run();
    let outcome = bed.prompt("go on").continue_last_session().run();

    assert_eq!(outcome.text(), "all done");
    let usages: Vec<AnswerUsage> =
        bed.server.main_turns().iter().filter_map(|turn| turn.usage).collect();
    assert_eq!(usages.len(), 6);
    let prefixes = before_each_response(&bed, &outcome.transcript());
    assert_eq!(prefixes.len(), usages.len());
    for (pair, prefix) in usages.windows(2).zip(&prefixes[1..]) {
        let (before, prompt) = (pair[0].prompt() + pair[0].output, pair[1].prompt());
        let added = prompt - before;
        let used = bed.measure_tokens(prefix);
        let error = used.abs_diff(prompt);
        assert!(error <= added / 10 + 60, "{used} tokens read, {prompt} sent, {added} of them new");
    }
}

/// A session whose service counts as the real one does: the prompt before, the answer to it, and
/// what is new, which is [`PROSE`] for the most part.
fn counting(answers: impl IntoIterator<Item = ModelAnswer>) -> Script {
    let mut answers: VecDeque<ModelAnswer> = answers.into_iter().collect();
    let (mut tokens, mut letters) = (30_000, None);
    Script::new().rule(move |request| {
        let answer = answers.pop_front()?;
        let all = request.all_text().len() as u64;
        let new = all - letters.replace(all).unwrap_or(all);
        let usage = AnswerUsage::of_prompt(tokens + new * 10 / 43);
        tokens = usage.prompt() + usage.output;
        Some(answer.usage(usage))
    })
}

/// Copies of the transcript, each as it was when a response was asked for.
fn before_each_response(bed: &Bed, transcript: &ClientTranscript) -> Vec<PathBuf> {
    let text = fs::read_to_string(&transcript.path).unwrap();
    let mut seen = Vec::new();
    let mut copies = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        let message = &record["message"]["id"];
        if record["type"] == "assistant" && !seen.contains(message) {
            seen.push(message.clone());
            let copy = bed.sandbox.home().join(format!("before-{at}.jsonl"));
            let before: Vec<&str> = text.lines().take(at).collect();
            fs::write(&copy, before.join("\n") + "\n").unwrap();
            copies.push(copy);
        }
    }
    copies
}

#[test]
fn a_subagents_transcript_is_measured_by_its_own_figures() {
    let script = Script::new()
        .main([agent().prompt_tokens(30_000), ModelAnswer::text("all done").prompt_tokens(31_000)])
        .subagent("SUBTASK", [step(50_000), ModelAnswer::text("counted").prompt_tokens(52_000)]);
    let bed = Bed::new(script);

    let transcript = bed.prompt("go").run().transcript();

    let used = bed.measure_tokens(&transcript.subagents[0].path);
    assert!((52_020..52_070).contains(&used), "{used}");
    let used = bed.measure_tokens(&transcript.path);
    assert!((31_020..31_070).contains(&used), "{used}");
}

#[test]
fn the_window_is_the_one_that_the_client_asked_for() {
    // As the client itself says in the result of a call.
    for (model, tokens, source) in [
        ("claude-sonnet-4-6", 200_000, "table"),
        ("claude-opus-4-8", 1_000_000, "table"),
        ("claude-sonnet-4-5[1m]", 1_000_000, "mark"),
    ] {
        let bed = Bed::new(Script::new().main([ModelAnswer::text("all done")]));

        let outcome = bed.sandbox.prompt("go").model(model).run();

        let window = bed.measure_json(&outcome.transcript().path)["window"].clone();
        assert_eq!(window["tokens"], tokens, "{model}");
        assert_eq!(window["source"], source, "{model}");
        let usage = &outcome.result()["modelUsage"];
        assert_eq!(usage[model]["contextWindow"], tokens, "{model}: {usage}");
    }
}
