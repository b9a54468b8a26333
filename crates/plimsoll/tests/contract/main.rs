//! The contract: what plimsoll does for every agent that it supports.
//!
//! Each test runs for each agent, through the binary. An agent enters the suite with a [`Client`], which
//! writes the transcripts and payloads of that agent's client and reads plimsoll's answers as it does. The
//! paper agent differs from the others wherever agents differ; it is there to keep the rest of plimsoll from
//! depending on one agent's shape.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod claude_code;
mod client;
#[expect(dead_code, reason = "the suite `cli` uses all of it")]
#[path = "../cli/env.rs"]
mod env;
mod paper;
#[expect(dead_code, reason = "the suite `cli` uses all of it")]
#[path = "../cli/transcript.rs"]
mod transcript;

use std::fs;
use std::io::{BufRead, BufReader};

use serde_json::Value;

use client::{Client, Event, Reply, Session};
use env::TestEnv;

/// Every supported agent.
const CLIENTS: [&dyn Client; 2] = [&claude_code::ClaudeCode, &paper::Paper];

/// The size of the windows in these tests.
const WINDOW: u64 = 200_000;

#[test]
fn every_supported_agent_is_in_the_suite() {
    let supported = plimsoll_agents::ALL.iter().map(|agent| agent.id().as_str());
    assert_eq!(supported.collect::<Vec<_>>(), CLIENTS.map(|client| client.agent()));
}

#[test]
fn a_transcript_is_measured_and_its_agent_recognised() {
    for client in CLIENTS {
        let env = TestEnv::new();
        let session = Session::new(client, &env, "s-1");
        session.work().respond(100_000);
        let path = session.transcript();
        let ran = env.plimsoll(&format!("measure --transcript {} --tokens", path.display()));
        let used: u64 = ran.stdout.trim().parse().unwrap_or_else(|_| panic!("{ran}"));
        assert!((100_000..100_100).contains(&used), "{}: {used}", client.agent());
    }
}

#[test]
fn a_warning_comes_once_per_five_points() {
    for client in CLIENTS {
        let env = TestEnv::new();
        let session = Session::new(client, &env, "s-1");
        session.work().respond(WINDOW * 50 / 100);
        assert_eq!(session.hook(Event::Prompt), Reply::default(), "{}", client.agent());
        // Between the warning threshold and the agent's own compaction.
        session.respond(client.warned_at());
        let warned = session.hook(Event::Prompt);
        let text = warned.to_user.unwrap_or_else(|| panic!("{} warns nobody", client.agent()));
        assert!(text.contains('%') || text.contains("tokens"), "{text}");
        assert!(warned.to_model.is_some(), "the model hears nothing from {}", client.agent());
        assert_eq!(session.hook(Event::Prompt), Reply::default(), "{}", client.agent());
    }
}

#[test]
fn the_guard_warns_and_in_strict_mode_refuses() {
    for client in CLIENTS {
        for is_strict in [false, true] {
            let strict = if is_strict { "on" } else { "off" };
            let env = TestEnv::new().with("PLIMSOLL_CONTEXT_STRICT", strict);
            let session = Session::new(client, &env, "s-1");
            session.work().respond(WINDOW * 50 / 100);
            let reply = session.hook(Event::SpawnAgent);
            assert_eq!(reply.refusal.is_some(), is_strict, "{}: {reply:?}", client.agent());
            assert_eq!(reply.to_user.is_some(), !is_strict, "{}: {reply:?}", client.agent());
        }
    }
}

#[test]
fn a_checkpoint_is_saved_when_its_threshold_is_crossed() {
    for client in CLIENTS {
        let env = TestEnv::new();
        let session = Session::new(client, &env, "s-1");
        session.work().respond(WINDOW * 62 / 100);
        session.hook(Event::ToolDone);
        let saved = checkpoint(&env, client);
        assert!(saved.contains("hull.rs"), "{}: {saved}", client.agent());
        assert!(saved.contains("Paint the hull"), "{}: {saved}", client.agent());
        assert!(saved.contains(&format!("agent: {}", client.agent())), "{saved}");
        let verified = env.plimsoll("checkpoint verify");
        assert!(verified.status.success(), "{}: {verified}", client.agent());
    }
}

/// Returns the text of the only checkpoint, which lies in the agent's folder.
fn checkpoint(env: &TestEnv, client: &dyn Client) -> String {
    let folder = env.project().join(client.checkpoint_folder());
    let files = fs::read_dir(&folder).unwrap_or_else(|_| panic!("no {}", folder.display()));
    let files = files.map(|file| file.unwrap().path());
    let is_checkpoint = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|it| it == "md") && path.file_stem().unwrap() != "latest"
    };
    let mut checkpoints: Vec<_> = files.filter(is_checkpoint).collect();
    assert_eq!(checkpoints.len(), 1, "{checkpoints:?}");
    fs::read_to_string(checkpoints.remove(0)).unwrap()
}

#[test]
fn after_a_compaction_the_model_is_given_the_work_back_once() {
    for client in CLIENTS {
        let env = TestEnv::new();
        let session = Session::new(client, &env, "s-1");
        session.work().respond(WINDOW * 62 / 100);
        session.hook(Event::ToolDone);
        let restored = session.compact();
        let text = restored.unwrap_or_else(|| panic!("{} restores nothing", client.agent()));
        assert!(text.contains("Paint the hull"), "{}: {text}", client.agent());
        assert!(text.contains("hull.rs"), "{}: {text}", client.agent());
        session.respond(20_000);
        let next = session.hook(Event::Prompt);
        assert_eq!(next.to_model, None, "{} restores twice", client.agent());
    }
}

#[test]
fn a_restore_waits_for_an_event_that_can_tell_the_model() {
    let env = TestEnv::new();
    let session = Session::new(&paper::Paper, &env, "s-1");
    session.work().respond(WINDOW * 62 / 100);
    session.hook(Event::ToolDone);
    paper::Paper.record_compaction(&session);
    assert_eq!(session.hook(Event::ToolDone).to_model, None, "the agent would drop it here");
    let text = session.hook(Event::Prompt).to_model.unwrap();
    assert!(text.contains("Paint the hull"), "{text}");
    assert_eq!(session.hook(Event::Prompt).to_model, None);
}

#[test]
fn a_message_outlasts_a_compaction_that_no_event_reports() {
    let env = TestEnv::new();
    let session = Session::new(&paper::Paper, &env, "s-1");
    session.work().respond(WINDOW * 62 / 100);
    session.hook(Event::ToolDone);
    let posted = env.run(env.command(&["board", "post", "--to", "s-1@paper", "ebb tide"]), b"");
    assert!(posted.status.success(), "{posted}");
    paper::Paper.record_compaction(&session);
    let restored = session.hook(Event::Prompt).to_model.unwrap();
    assert!(restored.contains("Paint the hull") && !restored.contains("ebb tide"), "{restored}");
    let told = session.hook(Event::Prompt).to_model.unwrap_or_default();
    assert!(told.contains("ebb tide"), "{told}");
}

#[test]
fn usage_may_come_with_the_payload_and_the_transcript_be_missing() {
    let env = TestEnv::new();
    let session = Session::new(&paper::Paper, &env, "s-1");
    let usage = |used: u64| serde_json::json!({"used": used, "window": 100_000});
    assert_eq!(session.hook_with(Event::Prompt, "usage", usage(50_000)), Reply::default());
    let warned = session.hook_with(Event::Prompt, "usage", usage(82_000));
    assert!(warned.to_user.is_some_and(|text| text.contains("82%")));
}

#[test]
fn status_lists_the_sessions_of_all_agents() {
    let env = TestEnv::new();
    // The same id in every agent: they are different sessions.
    for client in CLIENTS {
        Session::new(client, &env, "s-1").work().respond(100_000).hook(Event::Prompt);
    }
    let listed: Value = serde_json::from_str(&env.plimsoll("status --all --json").stdout).unwrap();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), CLIENTS.len(), "{listed:#?}");
    for client in CLIENTS {
        let of_agent: Vec<&Value> =
            listed.iter().filter(|it| it["agent"] == client.agent()).collect();
        assert_eq!(of_agent.len(), 1, "{}", client.agent());
        let used = of_agent[0]["reading"]["used"].as_u64().unwrap();
        assert!((100_000..100_100).contains(&used), "{}: {used}", client.agent());
        let shown = env.plimsoll(&format!("status {}", of_agent[0]["session"].as_str().unwrap()));
        assert!(shown.status.success(), "{shown}");
    }
}

#[test]
fn the_watcher_follows_a_growing_session() {
    for client in CLIENTS {
        let env = TestEnv::new();
        let session = Session::new(client, &env, "s-1");
        session.work().respond(90_000);
        let mut child = env.command(&["watch", "--json"]).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut reading = || -> u64 {
            lines
                .find_map(|line| {
                    let news: Value = serde_json::from_str(&line.unwrap()).unwrap();
                    (news["change"] == "reading").then(|| news["reading"]["used"].as_u64().unwrap())
                })
                .unwrap()
        };
        assert!((90_000..90_100).contains(&reading()), "{}", client.agent());
        session.respond(95_000);
        assert!((95_000..95_100).contains(&reading()), "{}", client.agent());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn installing_and_removing_gives_back_every_byte() {
    for client in CLIENTS {
        let env = client.installed_on(TestEnv::new());
        let settings = env.home().join(client.settings_file());
        fs::create_dir_all(settings.parent().unwrap()).unwrap();
        fs::write(&settings, client.user_settings()).unwrap();
        let agent = client.agent();
        let init = env.plimsoll(&format!("init --agent {agent} --yes"));
        assert!(init.status.success(), "{agent}: {init}");
        let with = fs::read_to_string(&settings).unwrap();
        assert!(with.contains("plimsoll") && with.contains(" hook"), "{agent}: {with}");
        let doctor = env.plimsoll(&format!("doctor --agent {agent} --json"));
        let findings: Value = serde_json::from_str(&doctor.stdout).unwrap();
        let hooks = findings.as_array().unwrap().iter().filter(|it| it["subject"] == "hooks");
        let hooks: Vec<&Value> = hooks.collect();
        assert!(!hooks.is_empty(), "{agent}: {doctor}");
        assert!(hooks.iter().all(|it| it["state"] != "broken"), "{agent}: {hooks:#?}");
        let uninstall = env.plimsoll(&format!("uninstall --agent {agent} --yes"));
        assert!(uninstall.status.success(), "{agent}: {uninstall}");
        assert_eq!(fs::read_to_string(&settings).unwrap(), client.user_settings(), "{agent}");
    }
}

#[test]
fn doctor_names_hooks_that_are_missing() {
    for client in CLIENTS {
        let env = client.installed_on(TestEnv::new());
        let doctor = env.plimsoll(&format!("doctor --agent {} --json", client.agent()));
        let findings: Value = serde_json::from_str(&doctor.stdout).unwrap();
        let is_missing = |it: &Value| it["subject"] == "hooks" && it["state"] == "broken";
        assert!(findings.as_array().unwrap().iter().any(is_missing), "{doctor}");
    }
}

#[test]
fn a_hook_fails_open() {
    for client in CLIENTS {
        let env = TestEnv::new();
        for payload in ["", "{", "[]", "{\"event\":\"future\",\"hook_event_name\":\"Future\"}"] {
            let command = env.command(&["hook", "--agent", client.agent()]);
            let ran = env.run(command, payload.as_bytes());
            assert!(ran.is_silent(), "{}: {payload}: {ran}", client.agent());
        }
    }
}
