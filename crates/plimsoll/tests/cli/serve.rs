//! `plimsoll serve`, really running.

pub(crate) mod client;
mod door;
mod ending;
mod local;
mod overview;
mod runs;
mod saving;
mod schema;

use client::Running;
use local::Local;
use serde_json::json;

use crate::env::TestEnv;
use crate::transcript;

#[test]
fn the_seeds_own_examples_get_the_seeds_own_answers() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    let check = |used: u64, percent: f64, status: &str, action: serde_json::Value| {
        let answer = server.get(&format!("/context/usage?used_tokens={used}&max_tokens=200000"));
        assert_eq!(
            answer.json(),
            json!({"used": used, "max": 200_000, "percent": percent, "status": status, "action": action})
        );
    };
    check(50_000, 25.0, "healthy", json!({"type": "none"}));
    check(100_000, 50.0, "warning", json!({"type": "none"}));
    let save = "Context at 75.0%. Consider saving session.";
    check(150_000, 75.0, "critical", json!({"type": "save", "message": save}));
    let restart = |percent: &str| {
        let message = format!("Context at {percent}%. Save and restart recommended.");
        json!({"type": "save_and_restart", "message": message, "auto": true})
    };
    check(170_000, 85.0, "overflow", restart("85.0"));
    check(180_000, 90.0, "overflow", restart("90.0"));
    check(250_000, 125.0, "overflow", restart("125.0"));
    let problem = server.get("/context/usage").refuses(400).json();
    assert_eq!(problem["error"], "used_tokens required");
    assert_eq!(problem["hint"], "Poll from Claude Code hook");
}

#[test]
fn the_window_and_the_lines_may_be_others() {
    let env = TestEnv::new();
    env.user_config("auto_context:\n  thresholds: {warning: 60, critical: 80}\n");
    let server = Local::new(&env);
    let action = |query: &str| {
        let answer = server.get(&format!("/context/usage?{query}")).json();
        (answer["status"].clone(), answer["action"]["type"].clone())
    };
    assert_eq!(action("used_tokens=119999"), (json!("warning"), json!("none")));
    assert_eq!(action("used_tokens=120000"), (json!("critical"), json!("save")));
    let over = (json!("overflow"), json!("save_and_restart"));
    assert_eq!(action("used_tokens=160000"), over);
    assert_eq!(action("used_tokens=800000&max_tokens=1000000&token=anything"), over);
}

#[test]
fn a_session_is_measured() {
    let env = TestEnv::new();
    env.session("5f2c-1").fill(150_000);
    let server = Local::new(&env);
    let answer = server.get("/context/usage?session_id=5f2c-1").json();
    assert_eq!((&answer["used"], &answer["percent"]), (&json!(150_000), &json!(75.0)));
    assert_eq!(answer["status"], "critical");
    assert_eq!(server.get("/context/usage?session_id=5f2c").json()["used"], 150_000);
    server.get("/context/usage?session_id=5f2").refuses(404);
    server.get("/context/usage?session_id=nobody").refuses(404);
    env.session("5f2c-2").fill(20_000);
    let several = server.get("/context/usage?session_id=5f2c").refuses(404).json();
    assert_eq!(several["error"], "`5f2c` stands for several sessions");
    assert_eq!(server.get("/context/usage?session_id=5f2c-2").json()["used"], 20_000);
    server.get("/context/usage?session_id=..%2F..%2Fetc%2Fpasswd").refuses(400);
    server.get("/context/usage?session_id=5f2c-1&used_tokens=5").refuses(400);
}

#[test]
fn figures_that_make_no_sense_are_refused_with_a_sentence() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    for query in [
        "used_tokens=",
        "used_tokens=-1",
        "used_tokens=1.5",
        "used_tokens=NaN",
        "used_tokens=1e5",
        "used_tokens=many",
        "used_tokens=+5",
        "used_tokens=1000000001",
        "used_tokens=99999999999999999999999",
        "used_tokens=1&max_tokens=0",
        "used_tokens=1&max_tokens=-200000",
        "used_tokens=1&max_tokens=x",
        "used_tokens=1&used_tokens=2",
        "max_tokens=200000",
    ] {
        server.get(&format!("/context/usage?{query}")).refuses(400);
    }
}

#[test]
fn what_does_not_exist_is_a_problem_too() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    server.get("/nowhere").refuses(404);
    server.get("/healthz/").refuses(404);
    let answer = server.post("/context/usage", &json!({}));
    assert!(answer.refuses(405).head.contains("allow: get"), "{answer:?}");
    server.get("/ss").refuses(405);
    server.ask("BREW", "/ss", &[], "").refuses(405);
}

#[test]
fn health_figures_and_the_document_are_there() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(server.get("/healthz").json(), json!({"status": "ok", "version": version}));
    server.post("/ss", &json!({"task": "count me"}));
    let figures = server.get("/metrics").body;
    for line in [
        r#"plimsoll_http_requests_total{method="GET",route="/healthz",status="200"} 1"#,
        "plimsoll_saves_total 1",
        "plimsoll_phantoms{} 0.0",
        "plimsoll_manual_checkpoints_per_day{} 0.0",
        "plimsoll_longest_stretch_seconds{} 0.0",
        "plimsoll_full_windows_unwarned{} 0.0",
        "# EOF",
    ] {
        assert!(figures.contains(line), "{line}: {figures}");
    }
    assert!(!figures.contains("plimsoll_restore_score{"), "nothing was needed: {figures}");
    let page = server.get("/criteria").body;
    assert!(page.contains("<th scope=\"row\">phantom checkpoints</th><td>0</td>"), "{page}");
    let document = server.get("/openapi.json").json();
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
    for path in ["/context/usage", "/context/auto-save", "/hooks/git-commit", "/hooks/test-result"]
    {
        assert!(document["paths"][path].is_object(), "{path}");
    }
}

#[test]
fn readings_are_told_as_they_happen() {
    use std::io::{BufRead, BufReader, Write};
    let env = TestEnv::new();
    let session = env.session("alive");
    session.fill(50_000);
    let server = Running::start(&env, &[]);
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(client::PATIENCE)).unwrap();
    write!(stream, "GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).unwrap();
    let mut lines = BufReader::new(stream).lines();
    // The stream is there as soon as its head is.
    assert!(lines.by_ref().any(|line| line.unwrap().is_empty()), "it has no head");
    let mut next = |event: &str| {
        let wanted = format!("event: {event}");
        // Signs of life come for ever.
        let began = std::time::Instant::now();
        let is_it = |line: String| {
            assert!(began.elapsed().as_secs() < 120, "no {event}");
            line == wanted
        };
        assert!(lines.any(|line| is_it(line.unwrap())), "{event}");
        let line = lines.next().unwrap().unwrap();
        serde_json::from_str::<serde_json::Value>(line.strip_prefix("data: ").unwrap()).unwrap()
    };
    server.post("/ss", &json!({"task": "told at once"}));
    assert_eq!(next("saved")["task"], "told at once");
    let answer = transcript::answer(3, 2, transcript::MODEL, 150_000, &env.project(), false);
    let mut file = std::fs::File::options().append(true).open(&session.transcript).unwrap();
    file.write_all(answer.as_bytes()).unwrap();
    let reading = loop {
        let reading = next("reading");
        if reading["used"] != 50_000 {
            break reading;
        }
    };
    assert_eq!((&reading["session"], &reading["status"]), (&json!("alive"), &json!("critical")));
    assert!(reading["used"].as_u64().is_some_and(|used| used >= 150_000), "{reading}");
}

#[test]
fn an_address_that_is_taken_is_named_and_hinted_at() {
    let env = TestEnv::new();
    let server = Running::start(&env, &[]);
    let port = server.address.port();
    let ran = env.plimsoll(&format!("serve --listen 127.0.0.1:{port}"));
    assert_eq!(ran.status.code(), Some(1));
    let expected = format!("error: could not listen on `127.0.0.1:{port}`\n");
    assert!(ran.stderr.starts_with(&expected), "{ran}");
    assert!(ran.stderr.contains("hint: another server is there: end it, or run `plimsoll serve"));
    assert_eq!(env.plimsoll("serve --listen nowhere").status.code(), Some(2));
}
