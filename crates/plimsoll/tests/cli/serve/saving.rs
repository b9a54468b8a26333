//! What is saved, and what is not.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Answer, PATIENCE, Running};
use super::local::Local;
use crate::env::TestEnv;

#[test]
fn a_nearly_full_window_is_saved_in_the_seeds_words() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    let body = json!({"environment": "development", "used_tokens": 170_000, "max_tokens": 200_000});
    let answer = server.post("/context/auto-save", &body).json();
    let [save] = &server.saves()[..] else { panic!("{:?}", server.saves()) };
    assert_eq!(
        answer,
        json!({
            "status": "saved",
            "session_id": save["id"],
            "percent_at_save": 85.0,
            "restart_command": "rs development",
            "message": "Session saved. Run 'rs development' to continue.",
        })
    );
    assert_eq!(save["task"], "[Auto-save at 85% context]");
    assert_eq!(save["context"], "Automatic save triggered at 170000/200000 tokens");
    assert_eq!(save["next_steps"], "Continue from auto-save point");
    assert_eq!(save["tags"], json!(["auto-save", "tokens-170000"]));
    let body = json!({"environment": "x", "used_tokens": 1, "inferred_task": "T", "inferred_context": "C"});
    server.post("/context/auto-save", &body);
    assert_eq!(
        (&server.saves()[0]["task"], &server.saves()[0]["context"]),
        (&json!("T"), &json!("C"))
    );
}

#[test]
fn the_save_of_a_session_tells_what_it_was_about() {
    let env = TestEnv::new();
    let session = env.session("5f2c-1");
    session.fill(170_000);
    let server = Local::new(&env);
    for body in [
        json!({"environment": "e", "used_tokens": 170_000, "session_id": "5f2c-1"}),
        json!({"environment": "e", "used_tokens": 170_000, "transcript_path": session.transcript}),
    ] {
        let answer = server.post("/context/auto-save", &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        let save = &server.saves()[0];
        assert_eq!(save["session"], "5f2c-1");
        assert!(save["checkpoint"].is_string(), "{save}");
        assert_ne!(save["task"], "[Auto-save at 85% context]", "{save}");
        assert_eq!(save["tags"], json!(["auto-save", "tokens-170000"]));
    }
}

#[test]
fn only_transcripts_of_the_agent_are_read() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    env.session("real").fill(1000);
    let secret = env.write("home/secret.jsonl", "{}");
    let link = env.home().join(".claude/projects/-project/link.jsonl");
    std::os::unix::fs::symlink(&secret, &link).unwrap();
    let up = env.home().join(".claude/projects/-project/../../../secret.jsonl");
    for path in [
        "/etc/passwd",
        "",
        "relative.jsonl",
        secret.to_str().unwrap(),
        link.to_str().unwrap(),
        up.to_str().unwrap(),
    ] {
        let body = json!({"environment": "e", "used_tokens": 1, "transcript_path": path});
        server.post("/context/auto-save", &body).refuses(404);
    }
    let body = json!({"environment": "e", "used_tokens": 1, "session_id": "nobody"});
    server.post("/context/auto-save", &body).refuses(404);
    assert!(server.saves().is_empty());
}

fn commit(server: &Local, sha: &str) -> Answer {
    server.post("/hooks/git-commit", &commit_of(sha))
}

fn commit_of(sha: &str) -> Value {
    json!({
        "environment": "development",
        "commit_sha": sha,
        "commit_message": "Mend the \"parser\"\n\nAll of it.",
        "branch": "main",
        "files_changed": 3,
    })
}

#[test]
fn a_commit_is_saved_once() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let answer = commit(&server, sha).json();
    let [save] = &server.saves()[..] else { panic!("{:?}", server.saves()) };
    assert_eq!(answer, json!({"status": "saved", "session_id": save["id"], "commit": "01234567"}));
    assert_eq!(save["task"], "Commit: Mend the \"parser\"");
    assert_eq!(save["context"], "Branch: main, SHA: 01234567, Files: 3");
    assert_eq!(save["tags"], json!(["git-commit", "main", "01234567"]));
    assert_eq!(commit(&server, sha).json(), answer);
    assert_eq!(commit(&server, &sha.to_uppercase()[..10]).json()["session_id"], save["id"]);
    assert_eq!(server.saves().len(), 1);
    for sha in ["", "012345", "xyzxyzxyz", &"0".repeat(65)] {
        commit(&server, sha).refuses(400);
    }
}

#[test]
fn a_commit_belongs_to_the_session_that_wrote_last_in_its_repository() {
    let env = TestEnv::new().with("PATH", "/usr/bin:/bin");
    let server = Running::start(&env, &[]);
    let commits = |at: &str| {
        let steps = "git init -q && git config user.name A && git config user.email a@b.c \
             && git commit -q --allow-empty -m \"$1\" && git rev-parse HEAD";
        let ran = env.run(env.shell(steps, &[at]), b"");
        assert!(ran.status.success(), "{ran}");
        ran.stdout.trim().to_owned()
    };
    let live = |count: usize| {
        let began = Instant::now();
        while server.get("/api/sessions").json()["live"].as_array().unwrap().len() < count {
            assert!(began.elapsed() < PATIENCE, "it is never live");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let saved = |sha: &str| {
        assert_eq!(server.post("/hooks/git-commit", &commit_of(sha)).status, 200);
        server.saves()[0].clone()
    };
    assert!(saved(&commits("nobody is there"))["session"].is_null());
    for (at, id) in ["5f2c-1", "81aa-2"].into_iter().enumerate() {
        env.session(id).fill(1_000);
        live(at + 1);
        assert_eq!(saved(&commits(id))["session"], id);
    }
    let elsewhere = "0123456789abcdef0123456789abcdef01234567";
    assert!(saved(elsewhere)["session"].is_null(), "no repository here is at it");
}

#[test]
fn tests_are_saved_whether_they_passed_or_not() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    let body =
        json!({"environment": "e", "passed": true, "test_count": 42, "duration_seconds": 1.24});
    let answer = server.post("/hooks/test-result", &body).json();
    let save = &server.saves()[0];
    let expected = json!({"status": "saved", "session_id": save["id"], "tests_passed": true});
    assert_eq!(answer, expected);
    assert_eq!(save["task"], "Tests passed: 42 tests in 1.2s");
    assert_eq!(save["tags"], json!(["tests-passed", "count-42"]));
    assert_eq!(save["context"], Value::Null);
    let body = json!({"environment": "e", "passed": false, "test_count": 42, "failed_count": 2, "duration_seconds": 3, "test_command": "cargo test"});
    assert_eq!(server.post("/hooks/test-result", &body).json()["tests_passed"], false);
    let save = &server.saves()[0];
    assert_eq!(save["task"], "Tests failed: 2/42 failed");
    assert_eq!(save["tags"], json!(["tests-failed", "failed-2"]));
    assert_eq!(save["context"], "Command: cargo test");
}

#[test]
fn a_hook_that_is_switched_off_stores_nothing() {
    let env = TestEnv::new();
    env.user_config("auto_context:\n  hooks: {git_commit: false, test_result: false}\n");
    let server = Local::new(&env);
    let disabled = json!({"status": "disabled"});
    assert_eq!(commit(&server, "0123456789").json(), disabled);
    let body = json!({"environment": "e", "passed": true, "test_count": 1, "duration_seconds": 1});
    assert_eq!(server.post("/hooks/test-result", &body).json(), disabled);
    assert!(server.saves().is_empty());
    drop(server);
    env.user_config("auto_context:\n  enabled: false\n");
    let server = Local::new(&env);
    let body = json!({"environment": "e", "used_tokens": 1});
    assert_eq!(server.post("/context/auto-save", &body).json(), disabled);
    assert_eq!(commit(&server, "0123456789").json(), disabled);
    let body = json!({"environment": "e", "passed": true, "test_count": 1, "duration_seconds": 1});
    assert_eq!(server.post("/hooks/test-result", &body).json(), disabled);
    assert!(server.saves().is_empty());
}

#[test]
fn nothing_is_recommended_where_advice_is_switched_off() {
    let env = TestEnv::new();
    env.user_config("auto_context: {enabled: false}\n");
    let session = env.session("11111111-one");
    session.fill_now(180_000);
    for ran in [session.prompted(), session.tool_finished(), session.loads_agent()] {
        assert!(ran.is_silent(), "{ran}");
    }
    let server = Running::start(&env, &[]);
    for query in ["used_tokens=180000", "session_id=11111111-one"] {
        let answer = server.get(&format!("/context/usage?{query}")).json();
        assert_eq!((&answer["percent"], &answer["status"]), (&json!(90.0), &json!("overflow")));
        assert_eq!(answer["action"], json!({"type": "none"}), "{query}");
    }
    let began = std::time::Instant::now();
    let live = loop {
        let live = server.get("/api/sessions").json()["live"][0].clone();
        if live.is_object() || began.elapsed().as_secs() > 60 {
            break live;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!(live["recommended_action"], "none", "{live}");
    assert!(server.saves().is_empty());
}

#[test]
fn saves_are_found_again_by_newness_and_by_words() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    for (environment, task) in [("a", "mend the lexer"), ("a", "write the parser"), ("b", "rest")] {
        let body = json!({"environment": environment, "task": task, "tags": ["t"], "key_artifacts": ["src/x.rs"]});
        let answer = server.post("/ss", &body).json();
        assert_eq!(answer["restart_command"], format!("rs {environment}"));
    }
    server.post("/context/auto-save", &json!({"environment": "b", "used_tokens": 5}));
    let tasks = |body: Value| -> Vec<String> {
        let answer = server.post("/rs", &body).json();
        let saves = answer["sessions"].as_array().unwrap();
        saves.iter().map(|save| save["task"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(tasks(json!({"environment": "a"})), ["write the parser", "mend the lexer"]);
    assert_eq!(tasks(json!({"environment": "a", "limit": 1})), ["write the parser"]);
    assert_eq!(tasks(json!({"environment": "a", "query": "lexer"})), ["mend the lexer"]);
    assert_eq!(tasks(json!({"environment": "a", "query": "lexr"})), ["mend the lexer"]);
    assert!(tasks(json!({"environment": "nothing"})).is_empty());
    let listed = server.get("/sessions?environment=b").json();
    assert_eq!((&listed["count"], &listed["sessions"][1]["task"]), (&json!(2), &json!("rest")));
    // Saves of commits and tests only if they are asked for.
    let tests = json!({"environment": "b", "passed": true, "test_count": 3, "duration_seconds": 1});
    server.post("/hooks/test-result", &tests);
    assert_eq!(server.get("/sessions?environment=b").json()["count"], 2);
    assert_eq!(
        tasks(json!({"environment": "b", "query": "passed"})),
        ["Tests passed: 3 tests in 1.0s"]
    );
    for all in ["all", "include_auto"] {
        assert_eq!(server.get(&format!("/sessions?environment=b&{all}=true")).json()["count"], 3);
        assert_eq!(tasks(json!({"environment": "b", all: true})).len(), 3);
        assert_eq!(tasks(json!({"environment": "b", all: false})).len(), 2);
    }
    assert_eq!(tasks(json!({"environment": "b", "all": false, "include_auto": true})).len(), 3);
    // Where there is nothing else, they are what there is.
    server.post(
        "/hooks/test-result",
        &json!({"environment": "c", "passed": true, "test_count": 1, "duration_seconds": 1}),
    );
    assert_eq!(tasks(json!({"environment": "c"})).len(), 1);
    // The command line finds the same.
    let ran = env.plimsoll("rs a --json");
    assert!(ran.stdout.contains("write the parser"), "{ran}");
}

#[test]
fn secrets_are_not_stored() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    let secret = ["ghp_0123456789", "abcdefghijABCDEFGHIJ456789"].concat();
    server.post(
        "/ss",
        &json!({"task": format!("use {secret}"), "tags": [secret], "context": secret}),
    );
    assert_eq!(server.saves().len(), 1);
    for file in env.all_under(&env.data()).iter().filter(|path| path.is_file()) {
        let bytes = std::fs::read(file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(&secret), "{}", file.display());
    }
}

/// Every request that takes a body, with one that is accepted.
fn bodies() -> [(&'static str, Value); 5] {
    [
        ("/ss", json!({"environment": "e", "task": "t"})),
        ("/rs", json!({"environment": "e"})),
        ("/context/auto-save", json!({"environment": "e", "used_tokens": 1})),
        (
            "/hooks/git-commit",
            json!({"environment": "e", "commit_sha": "0123456789", "commit_message": "m",
                "branch": "b", "files_changed": 1}),
        ),
        (
            "/hooks/test-result",
            json!({"environment": "e", "passed": true, "test_count": 1, "failed_count": 0,
                "duration_seconds": 1}),
        ),
    ]
}

#[test]
fn an_array_is_no_body_and_no_error_names_a_type_of_the_program() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    let error = |path: &str, body: &Value| {
        let answer = server.post(path, body);
        answer.refuses(400);
        let problem = answer.json();
        assert!(problem["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{problem}");
        problem["error"].as_str().unwrap().to_owned()
    };
    for (path, body) in bodies() {
        let members: Vec<Value> = body.as_object().unwrap().values().cloned().collect();
        let refused = error(path, &Value::Array(members));
        assert_eq!(refused, "the body must be a JSON object, not an array", "{path}");
        for wrong in
            [json!([1]), json!({"a": 1}), json!(null), json!(true), json!("x"), json!(-1.5)]
        {
            for name in body.as_object().unwrap().keys() {
                let mut body = body.clone();
                body[name] = wrong.clone();
                let answer = server.post(path, &body);
                if answer.status == 200 {
                    continue;
                }
                let told = answer.json()["error"].as_str().unwrap().to_owned();
                let typed = [
                    "struct ",
                    "u64",
                    "f64",
                    "sequence",
                    "invalid type",
                    "Request",
                    "missing field",
                ];
                assert!(!typed.iter().any(|name| told.contains(name)), "{path} {name}: {told}");
            }
        }
    }
    let body = json!({"environment": "e"});
    assert_eq!(error("/context/auto-save", &body), "`used_tokens` is missing");
}

#[test]
fn a_commit_is_saved_once_in_each_environment() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    let post = |environment: &str| {
        let body = json!({"environment": environment, "commit_sha": "0123456789abcdef",
            "commit_message": "m", "branch": "main", "files_changed": 1});
        server.post("/hooks/git-commit", &body).json()["session_id"].clone()
    };
    let (first, second) = (post("staging"), post("release"));
    assert_ne!(first, second);
    assert_eq!((post("staging"), post("release")), (first, second));
    assert_eq!(server.saves().len(), 2);
    for environment in ["staging", "release"] {
        let body = json!({"environment": environment});
        assert_eq!(server.post("/rs", &body).json()["sessions"][0]["task"], "Commit: m");
    }
}

#[test]
fn a_body_that_makes_no_sense_stores_nothing() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    let tests = |field: &str, value: Value| {
        let mut body =
            json!({"environment": "e", "passed": true, "test_count": 1, "duration_seconds": 1});
        body[field] = value;
        ("/hooks/test-result", body)
    };
    let full = |field: &str, value: Value| {
        let mut body = json!({"environment": "e", "used_tokens": 1});
        body[field] = value;
        ("/context/auto-save", body)
    };
    for (path, body) in [
        full("used_tokens", json!(-1)),
        full("used_tokens", json!(1.5)),
        full("used_tokens", json!("1")),
        full("used_tokens", json!(null)),
        full("used_tokens", json!(1_000_000_001_u64)),
        full("used_tokens", json!(1e300)),
        full("max_tokens", json!(0)),
        full("max_tokens", json!(-200_000)),
        full("environment", json!("a b")),
        full("environment", json!("../etc")),
        full("environment", json!("")),
        full("environment", json!("x".repeat(65))),
        full("environment", json!(5)),
        full("inferred_task", json!(["x"])),
        full("session_id", json!("a/b")),
        tests("passed", json!("yes")),
        tests("passed", json!(null)),
        tests("test_count", json!(-1)),
        tests("failed_count", json!("2")),
        tests("duration_seconds", json!(-0.1)),
        tests("duration_seconds", json!("1")),
        tests("duration_seconds", json!(1e12)),
        ("/context/auto-save", json!({"environment": "e"})),
        ("/context/auto-save", json!({"used_tokens": 1})),
        ("/context/auto-save", json!([])),
        ("/context/auto-save", json!(null)),
        ("/hooks/git-commit", json!({"environment": "e", "commit_sha": "0123456789"})),
        ("/ss", json!({"environment": "e"})),
        ("/ss", json!({"task": "  "})),
        ("/ss", json!({"task": "x", "tags": "x"})),
        ("/rs", json!({"limit": 0})),
        ("/rs", json!({"limit": 101})),
        ("/rs", json!({"limit": 10.5})),
        ("/rs", json!({"query": 5})),
    ] {
        server.post(path, &body).refuses(400);
    }
    let json = [("Content-Type", "application/json")];
    for body in ["", "{", "nonsense", "{} {}", r#"{"environment":"e","used_tokens":NaN}"#, "\u{0}"]
    {
        server.ask("POST", "/context/auto-save", &json, body).refuses(400);
    }
    let nested = "[".repeat(100_000);
    server.ask("POST", "/ss", &json, &nested).refuses(400);
    let good = r#"{"task":"x"}"#;
    server.ask("POST", "/ss", &[], good).refuses(415);
    server.ask("POST", "/ss", &[("Content-Type", "text/plain")], good).refuses(415);
    let large = format!(r#"{{"task":"{}"}}"#, "x".repeat(1 << 20));
    server.ask("POST", "/ss", &json, &large).refuses(413);
    for query in ["limit=0", "limit=101", "limit=x", "environment=a%20b", "include_auto=maybe"] {
        server.get(&format!("/sessions?{query}")).refuses(400);
    }
    assert!(server.saves().is_empty());
}
