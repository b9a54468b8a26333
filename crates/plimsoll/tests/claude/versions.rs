//! Every supported version of the client, with our hooks as `init` writes them.
//!
//! | version | what it does with our hooks |
//! |---|---|
//! | 2.1.42 | passes over a settings file that names `PostCompact`, which it does not know; calls its subagents `Task` |
//! | 2.1.90, 2.1.120 | ignore `args` and give `command` alone to a shell |
//! | 2.1.140 and newer | know `args` and `PostCompact` |
//!
//! All of them pass our words on to the model, and let the strict guard refuse.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use plimsoll_testbed::{Client, ModelAnswer, ModelRequest, SUPPORTED_VERSIONS, Script};
use serde_json::{Value, json};

use crate::bed::{Bed, PLAIN, PLIMSOLL, path, step, tool_result};

/// How `init` learns which client there is.
#[derive(Clone, Copy, Debug)]
enum Found {
    OnPath,
    Nowhere,
}

/// Installs plimsoll as a user does.
fn init(bed: &Bed, client: &Client, found: Found) {
    let path = match found {
        Found::OnPath => with_client(client),
        Found::Nowhere => path(),
    };
    let output = plimsoll(bed, &["init", "--yes"], &path);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.contains("is not on your PATH"), matches!(found, Found::Nowhere), "{said}");
}

/// A search path with a client on it.
fn with_client(client: &Client) -> String {
    format!("{}:{}", client.program().parent().unwrap().display(), path())
}

fn plimsoll(bed: &Bed, arguments: &[&str], path: &str) -> Output {
    Command::new(PLIMSOLL)
        .args(arguments)
        .current_dir(bed.sandbox.project())
        .env_clear()
        .env("HOME", bed.sandbox.home())
        .env("PATH", path)
        .output()
        .unwrap()
}

/// A subagent, by the name that this version has for the tool.
fn delegate(version: &str) -> ModelAnswer {
    let tool = if version == "2.1.42" { "Task" } else { "Agent" };
    let input = json!({
        "description": "count",
        "prompt": "SUBTASK count the files",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    ModelAnswer::tool(tool, input)
}

/// A session above the warning threshold that starts a subagent.
fn working(version: &str) -> Script {
    Script::new().when(is_subtask, [ModelAnswer::text("counted")]).main([
        step(166_000),
        delegate(version).prompt_tokens(166_200),
        ModelAnswer::text("all done").prompt_tokens(166_400),
    ])
}

/// Whether a subagent asks. The oldest client does not say so in a header.
fn is_subtask(request: &ModelRequest) -> bool {
    request.first_text().contains("SUBTASK")
}

fn subtasks(bed: &Bed) -> usize {
    let turns = [bed.server.main_turns(), bed.server.subagent_turns()].concat();
    turns.iter().filter(|turn| is_subtask(turn)).count()
}

fn check_prompt_and_warning(found: Found) {
    for version in SUPPORTED_VERSIONS {
        let client = Client::install(version);
        let bed = Bed::bare(&client, working(version));
        init(&bed, &client, found);

        let outcome = bed.prompt("make it 2 m").run();

        assert_eq!(outcome.text(), "all done", "{version}");
        let turns = bed.server.main_turns();
        assert!(turns[0].all_text().contains("make it 2 m"), "{version}");
        let heard = bed.heard_at_last();
        assert!(
            heard.iter().any(|words| words.starts_with("CONTEXT: ~83% used.")),
            "{version}: {heard:?}"
        );
        assert!(!bed.data().join("hook.log").exists(), "{version}");
    }
}

#[test]
fn every_version_sends_prompts_and_passes_warnings_on() {
    check_prompt_and_warning(Found::OnPath);
}

#[test]
fn every_version_does_so_if_init_does_not_find_it() {
    check_prompt_and_warning(Found::Nowhere);
}

#[test]
fn every_version_lets_the_strict_guard_refuse() {
    for version in SUPPORTED_VERSIONS {
        let client = Client::install(version);
        let bed = Bed::bare(&client, working(version));
        init(&bed, &client, Found::OnPath);

        let outcome = bed.run_strictly();

        assert_eq!(outcome.text(), "all done", "{version}");
        assert_eq!(subtasks(&bed), 0, "{version}");
        let result = tool_result(bed.server.main_turns().last().unwrap());
        assert!(result.contains("Agent general-purpose was not started"), "{version}: {result}");
    }
}

/// Programs that cannot answer a hook call.
fn broken_programs(folder: &Path) -> Vec<PathBuf> {
    let make = |name: &str, bytes: &[u8], mode: u32| {
        let path = folder.join(name).join("plimsoll");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let page = b"<!DOCTYPE html>\n<p>if then (not found) fi &</p>\n";
    vec![
        folder.join("missing/plimsoll"),
        make("not executable", b"#!/bin/sh\n", 0o644),
        make("a page", page, 0o755),
        make("a cut program", &fs::read(PLIMSOLL).unwrap()[..4_000], 0o755),
        make("zeros", &[0; 4_000], 0o755),
        make("empty", b"", 0o755),
    ]
}

/// The settings that `init` wrote, with hooks that call each of these programs instead.
fn call_instead(settings: &Value, programs: &[PathBuf]) -> Value {
    let mut settings = settings.clone();
    for (_, groups) in settings["hooks"].as_object_mut().unwrap() {
        let ours = groups[0]["hooks"][0].clone();
        let line = ours["command"].as_str().unwrap();
        let hooks = programs.iter().map(|program| {
            let mut hook = ours.clone();
            let quoted = format!("'{}'", program.display());
            hook["command"] = line.replace(PLIMSOLL, &quoted).into();
            hook
        });
        groups[0]["hooks"] = hooks.collect();
    }
    settings
}

#[test]
fn a_missing_or_broken_program_blocks_nothing() {
    for version in SUPPORTED_VERSIONS {
        let client = Client::install(version);
        let bed = Bed::bare(&client, working(version));
        init(&bed, &client, Found::OnPath);
        let path = bed.sandbox.home().join(".claude/settings.json");
        let settings = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let programs = broken_programs(&bed.sandbox.home());
        bed.sandbox.write_user_settings(&call_instead(&settings, &programs));

        let outcome = bed.prompt("make it 2 m").run();

        assert_eq!(outcome.text(), "all done", "{version}");
        assert_eq!(subtasks(&bed), 1, "{version}");
        assert_eq!(bed.heard_at_last(), [""; 0], "{version}");
    }
}

#[test]
fn no_version_asks_anything_about_the_settings_at_its_start() {
    for version in SUPPORTED_VERSIONS {
        let client = Client::install(version);
        let bed = Bed::bare(&client, Script::new().main([ModelAnswer::text("all done")]));
        init(&bed, &client, Found::OnPath);
        let terminal = bed.sandbox.terminal(80, 24).model(PLAIN).start();
        terminal.type_line("make it 2 m");
        terminal.wait_for(|screen| screen.contains("all done"), Duration::from_secs(60));
        assert!(bed.data().join("spool").exists(), "{version}: no hook was run");
    }
}

#[test]
fn settings_for_a_newer_client_block_no_older_one_and_the_doctor_names_them() {
    let older = Client::install(SUPPORTED_VERSIONS[0]);
    let bed = Bed::bare(&older, working(older.version()));
    init(&bed, &Client::current(), Found::OnPath);

    assert_eq!(bed.prompt("make it 2 m").run().text(), "all done");

    assert_eq!(bed.heard_at_last(), [""; 0], "the client passes over the whole file");
    let doctor = plimsoll(&bed, &["doctor"], &with_client(&older)).stdout;
    let doctor = String::from_utf8(doctor).unwrap();
    assert!(doctor.contains("`PostCompact`") && doctor.contains("→ plimsoll init"), "{doctor}");
    init(&bed, &older, Found::OnPath);
    let doctor = plimsoll(&bed, &["doctor"], &with_client(&older)).stdout;
    assert!(!String::from_utf8(doctor).unwrap().contains("PostCompact"));
}

#[test]
fn hooks_of_release_0_1_0_work_in_every_version() {
    for version in SUPPORTED_VERSIONS {
        let client = Client::install(version);
        let bed = Bed::bare(&client, working(version));
        init(&bed, &client, Found::OnPath);
        let path = bed.sandbox.home().join(".claude/settings.json");
        let text = fs::read_to_string(&path).unwrap();
        let now = format!("\"{PLIMSOLL} hook || :\"");
        let then = format!("\"{PLIMSOLL}\", \"args\": [\"hook\"]");
        fs::write(&path, text.replace(&now, &then)).unwrap();

        let outcome = bed.prompt("make it 2 m").run();

        assert_eq!(outcome.text(), "all done", "{version}");
        let heard = bed.heard_at_last();
        assert!(
            heard.iter().any(|words| words.starts_with("CONTEXT: ~83% used.")),
            "{version}: {heard:?}"
        );
    }
}
