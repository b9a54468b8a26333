//! `hooks/*.sh`: what they ask of a server and what they say, with the system's own curl and jq.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::env::{Ran, TestEnv};

/// A server that answers every call with the same, and remembers what it was asked.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    fn answering(answer: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let call = answer_one(stream, &answer.to_string());
                log.lock().unwrap().push(call);
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<(String, Value)> {
        self.asked.lock().unwrap().clone()
    }
}

/// Reads one request and answers it; gives its first line and its body.
fn answer_one(mut stream: TcpStream, answer: &str) -> (String, Value) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if header.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close", answer.len());
    write!(stream, "{head}\r\n\r\n{answer}").unwrap();
    let call = first.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    (call, serde_json::from_slice(&body).unwrap_or_default())
}

fn script(env: &TestEnv, server: &Server, name: &str, arguments: &[&str]) -> Ran {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hooks").join(name);
    let mut command: Command = env.shell("exec \"$@\"", &[]);
    command.arg(path).args(arguments);
    command.env("PATH", "/usr/bin:/bin").env("CONTEXTS_URL", &server.url);
    env.run(command, b"")
}

fn action(kind: &str) -> Value {
    json!({"used": 1, "action": {"type": kind}})
}

#[test]
fn below_the_lines_the_monitor_says_nothing() {
    let server = Server::answering(action("none"));
    let ran = script(&TestEnv::new(), &server, "context-monitor.sh", &["1000"]);
    assert!(ran.is_silent(), "{ran}");
    let call = "GET /context/usage?used_tokens=1000&max_tokens=200000";
    assert_eq!(server.asked(), [(call.to_owned(), Value::Null)]);
}

#[test]
fn at_the_save_line_the_monitor_suggests_and_at_the_restart_line_it_saves() {
    let env = TestEnv::new();
    let server = Server::answering(action("save"));
    let ran = script(&env, &server, "context-monitor.sh", &["150000"]);
    assert_eq!(ran.stdout, "Context warning (150000/200000). Consider: ss\n");
    let env = env.with("CONTEXTS_ENV", "a \"b\" 'c' $(d)");
    let server = Server::answering(action("save_and_restart"));
    let ran = script(&env, &server, "context-monitor.sh", &["90", "100"]);
    insta::assert_snapshot!(ran, @r#"
    --- stdout
    Context critical (90/100). Auto-saving...
    {"action":{"type":"save_and_restart"},"used":1}
    Session saved. Recommend: rs a "b" 'c' $(d)
    [exit 0]
    "#);
    let (call, body) = server.asked().pop().unwrap();
    assert_eq!(call, "POST /context/auto-save");
    let expected = json!({"environment": "a \"b\" 'c' $(d)", "used_tokens": 90, "max_tokens": 100});
    assert_eq!(body, expected);
}

#[test]
fn without_a_number_the_monitor_tells_its_usage() {
    let server = Server::answering(action("none"));
    let ran = script(&TestEnv::new(), &server, "context-monitor.sh", &[]);
    insta::assert_snapshot!(ran, @"
    --- stdout
    Usage: context-monitor.sh <used_tokens> [max_tokens]
    [exit 1]
    ");
}

#[test]
fn a_commit_message_with_quotes_reaches_the_server_as_it_is() {
    let env = TestEnv::new();
    let server = Server::answering(json!({"status": "saved"}));
    let message = "Say \"it's\" \\ $(done) `now`";
    let steps = "git init -q -b main && git config user.name A && git config user.email a@b.c \
         && echo x > x.txt && git add -A && git commit -q -m first \
         && echo y > x.txt && echo z > z.txt && git add -A && git commit -q -m \"$1\"";
    let mut command = env.shell(steps, &[message]);
    command.env("PATH", "/usr/bin:/bin");
    assert!(env.run(command, b"").status.success());
    let ran = script(&env, &server, "post-commit.sh", &[]);
    let (call, body) = server.asked().pop().unwrap();
    assert_eq!(call, "POST /hooks/git-commit");
    assert_eq!(body["commit_message"], message);
    assert_eq!((&body["branch"], &body["files_changed"]), (&json!("main"), &json!(2)));
    assert_eq!(body["environment"], "development");
    let sha = body["commit_sha"].as_str().unwrap();
    assert_eq!(
        ran.to_string(),
        format!("--- stdout\nSession saved at commit {}\n[exit 0]", &sha[..8])
    );
}
