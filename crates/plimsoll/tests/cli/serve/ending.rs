//! How a server ends: in good order when asked, and without a loss when killed.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;
use serde_json::json;

use super::client::Running;
use crate::env::TestEnv;

/// Lets many clients save until the server is gone, and gives the ids that they were told.
fn save_until_it_ends(server: &Running<'_>, end: impl Fn() + Sync) -> HashSet<String> {
    const CLIENTS: usize = 8;
    const ENOUGH: usize = 60;
    let (told, count) = (Mutex::new(HashSet::new()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (told, count, end) = (&told, &count, &end);
            scope.spawn(move || {
                for number in 0.. {
                    let body = json!({"environment": "load", "task": format!("{client}/{number}")});
                    let headers = [("Content-Type", "application/json")];
                    let answer = server.try_ask("POST", "/ss", &headers, &body.to_string());
                    let Some(answer) = answer.ok().filter(|answer| answer.status == 200) else {
                        break;
                    };
                    let Ok(body) = serde_json::from_str::<serde_json::Value>(&answer.body) else {
                        break;
                    };
                    told.lock().unwrap().insert(body["session_id"].as_str().unwrap().to_owned());
                    if count.fetch_add(1, Ordering::Relaxed) == ENOUGH {
                        end();
                    }
                }
            });
        }
    });
    told.into_inner().unwrap()
}

/// The saves that the command line finds after the server is gone.
fn kept(env: &TestEnv) -> HashSet<String> {
    let ran = env.plimsoll("rs load --json --limit 1000");
    let saves: Vec<serde_json::Value> =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
    saves.iter().map(|save| save["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_killed_server_has_lost_nothing_it_said_was_saved() {
    let env = TestEnv::new();
    let fast = ["--writes-per-second", "1000000"];
    let mut server = Running::start(&env, &fast);
    let told = save_until_it_ends(&server, || server.signal(Signal::KILL));
    assert!(!server.ended().success());
    assert!(told.len() > 60);
    let lost: Vec<_> = told.difference(&kept(&env)).cloned().collect();
    assert!(lost.is_empty(), "{} of {} are lost", lost.len(), told.len());
    // The next one goes on where it was.
    let server = Running::start(&env, &fast);
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.post("/ss", &json!({"task": "after"})).status, 200);
}

#[test]
fn who_asks_it_to_end_gets_what_was_asked_before() {
    for signal in [Signal::TERM, Signal::INT] {
        let env = TestEnv::new();
        let mut server = Running::start(&env, &["--writes-per-second", "1000000"]);
        let told = save_until_it_ends(&server, || server.signal(signal));
        assert!(server.ended().success(), "{}", server.log());
        assert!(told.is_subset(&kept(&env)));
        assert!(server.log().contains(" 200 POST /ss "), "{}", server.log());
    }
}

#[test]
fn it_ends_although_somebody_listens() {
    use std::io::{Read, Write};
    let env = TestEnv::new();
    let mut server = Running::start(&env, &[]);
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    write!(stream, "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let mut first = [0; 8];
    stream.read_exact(&mut first).unwrap();
    server.signal(Signal::TERM);
    assert!(server.ended().success());
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
}

#[test]
fn the_log_for_people_has_local_times_with_their_zone() {
    let env = TestEnv::new().with("TZ", "Asia/Kathmandu");
    let mut server = Running::start(&env, &[]);
    server.get("/healthz");
    server.signal(Signal::TERM);
    assert!(server.ended().success());
    assert!(server.log().contains(" +05:45 200 GET /healthz "), "{}", server.log());
}

#[test]
fn the_log_is_one_object_per_request() {
    let env = TestEnv::new();
    let mut server = Running::start(&env, &["--log", "json"]);
    server.get("/context/usage?used_tokens=5&token=geheim");
    server.post("/ss", &json!({"task": "not for the log"}));
    server.signal(Signal::TERM);
    assert!(server.ended().success());
    let log = server.log();
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let routes: Vec<_> =
        lines.iter().map(|line| (&line["method"], &line["route"], &line["status"])).collect();
    assert_eq!(
        routes,
        [
            (&json!("GET"), &json!("/context/usage"), &json!(200)),
            (&json!("POST"), &json!("/ss"), &json!(200))
        ]
    );
    assert!(!log.contains("geheim") && !log.contains("not for the log"), "{log}");
}
