//! What an overview shows.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::client::Running;
use super::local::Local;
use crate::env::TestEnv;
use crate::terminal::Terminal;
use crate::transcript;
use crate::watch::Watching;

/// Asks until the answer is as wanted: what was written before is taken in meanwhile.
fn until(server: &Running<'_>, path: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let began = std::time::Instant::now();
    loop {
        let answer = server.get(path).json();
        if is_wanted(&answer) {
            return answer;
        }
        assert!(began.elapsed().as_secs() < 120, "{answer}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn sessions_are_listed_and_one_is_told_over_time() {
    let env = TestEnv::new();
    env.session("5f2c-1").fill(150_000);
    let server = Running::start(&env, &[]);
    let has_one = |answer: &Value| answer["sessions"].as_array().is_some_and(|all| !all.is_empty());
    let listed = until(&server, "/api/sessions", has_one);
    let session = &listed["sessions"][0];
    assert_eq!(session["session"], "5f2c-1");
    assert_eq!(
        (&session["last"]["window"], &session["last"]["status"]),
        (&json!(200_000), &json!("critical"))
    );
    let body = json!({"environment": "e", "used_tokens": 150_000, "session_id": "5f2c-1"});
    let saved = server.post("/context/auto-save", &body).json();
    let story = server.get("/api/sessions/5f2c-1").json();
    assert_eq!(
        story["reading"],
        json!({"used": 150_000, "window": 200_000, "percent": 75.0, "status": "critical"})
    );
    assert_eq!(story["series"].as_array().map(Vec::len), Some(1), "{story}");
    assert_eq!(story["saves"][0]["id"], saved["session_id"]);
    server.get("/api/sessions/nobody").refuses(404);
    server.get("/api/sessions/a%2Fb").refuses(400);
    server.get("/api/sessions/%FF").refuses(400);
    server.get("/api/sessions?limit=0").refuses(400);
}

/// A session with text that no response has counted yet, written to so long ago: every view of it must
/// tell the same figure.
#[track_caller]
fn check_figure(age: std::time::Duration, is_live: bool) {
    const SESSION: &str = "11111111-one";
    let env = TestEnv::new();
    let (session, cwd) = (env.session(SESSION), env.project());
    let more = format!("{:?}", "what is the load of the keel, and why? ".repeat(40));
    session.write(
        transcript::reading(transcript::MODEL, 137_000, &cwd, false)
            + &transcript::user(3, 2, &cwd, false, &more, ""),
    );
    let file = std::fs::File::options().append(true).open(&session.transcript).unwrap();
    file.set_modified(std::time::SystemTime::now() - age).unwrap();

    let status: Value = serde_json::from_str(&env.plimsoll("status --all --json").stdout).unwrap();
    let used = status[0]["reading"]["used"].as_u64().unwrap();
    assert!(used > 137_100, "{status}");
    let server = Running::start(&env, &[]);
    let count = |answer: &Value, list: &str| answer[list].as_array().map_or(0, Vec::len);
    let is_known = |answer: &Value| {
        count(answer, "sessions") == 1 && count(answer, "live") == usize::from(is_live)
    };
    let listed = until(&server, "/api/sessions", is_known);
    assert_eq!(listed["sessions"][0]["last"]["used"], used, "{listed}");
    assert!(listed["live"].as_array().unwrap().iter().all(|live| live["used"] == used));
    assert_eq!(server.get("/api/sessions/11111111-one").json()["reading"]["used"], used);
    assert_eq!(server.get("/context/usage?session_id=11111111-one").json()["used"], used);
    let figure = plimsoll_core::text::thousands(used);
    for page in ["/", "/session/11111111-one"] {
        let page = server.get(page).body;
        assert!(page.contains(&figure), "{figure}: {page}");
    }
    let mut terminal = Terminal::start(env.command(&["top", "--all"]));
    terminal.wait_for("11111111");
    terminal.press("\r");
    terminal.wait_for(&figure);
    terminal.press("q");
    terminal.end();
}

#[test]
fn every_view_of_a_running_session_tells_the_same_figure() {
    check_figure(std::time::Duration::ZERO, true);
}

#[test]
fn every_view_of_a_past_session_tells_the_same_figure() {
    check_figure(std::time::Duration::from_secs(5 * 24 * 3600), false);
}

#[test]
fn a_session_is_live_while_another_watcher_runs_and_after_it() {
    let env = TestEnv::new();
    let (watching, _) = Watching::start(&env, &["watch"]);
    let server = Running::start(&env, &[]);
    let is_live = |answer: &Value, session: &str| {
        let live = answer["live"].as_array().unwrap();
        live.iter().any(|live| live["session"] == session)
    };
    until(&server, "/api/sessions", |answer| is_live(answer, "11111111-one"));
    watching.send(Signal::TERM);
    assert_eq!(watching.rest().0, Some(0));
    // The server watches as soon as it has noticed.
    let lock = env.data().join("watch.lock");
    let is_held = || std::fs::File::open(&lock).unwrap().try_lock_shared().is_err();
    let began = std::time::Instant::now();
    while !is_held() {
        assert!(began.elapsed().as_secs() < 120, "nobody watches");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    until(&server, "/api/sessions", |answer| is_live(answer, "11111111-one"));
}

#[test]
fn a_session_that_wrote_before_the_server_began_was_seen_when_it_wrote() {
    let env = TestEnv::new();
    let session = env.session("5f2c-1");
    session.fill(130_000);
    let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(300);
    let file = std::fs::File::options().append(true).open(&session.transcript).unwrap();
    file.set_modified(earlier).unwrap();
    let server = Running::start(&env, &[]);
    let listed = until(&server, "/api/sessions", |answer| answer["live"][0].is_object());
    let at = plimsoll_core::time::moment(listed["live"][0]["at"].as_str().unwrap()).unwrap();
    let earlier = earlier.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert_eq!(at as u128, earlier, "{listed}");
}

#[test]
fn checkpoints_are_listed_and_one_is_told_with_its_ancestors() {
    let env = TestEnv::new();
    env.session("5f2c-1").fill(150_000);
    let create = "checkpoint create 5f2c-1";
    let ran = env.plimsoll(create);
    assert!(ran.status.success(), "{ran}");
    let server = Running::start(&env, &[]);
    let has_one =
        |answer: &Value| answer["checkpoints"].as_array().is_some_and(|all| !all.is_empty());
    let listed = until(&server, "/api/checkpoints", has_one);
    let id = listed["checkpoints"][0]["id"].as_str().unwrap().to_owned();
    let story = server.get(&format!("/api/checkpoints/{id}")).json();
    assert!(story["body"].as_str().is_some_and(|body| body.contains("## Next Steps")), "{story}");
    assert_eq!((&story["session"], &story["lineage"]), (&json!("5f2c-1"), &json!([])));
    server.get("/api/checkpoints/none").refuses(404);
    server.get("/api/checkpoints/..%2F..%2Fetc%2Fpasswd").refuses(404);
}

#[test]
fn the_past_is_told_in_figures() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    server.post("/ss", &json!({"environment": "a", "task": "one"}));
    let environments = server.get("/api/environments").json();
    assert_eq!(environments, json!({"environments": [{"environment": "a", "saves": 1}]}));
    assert_eq!(server.get("/api/tax").json(), json!({"hooks": []}));
    assert_eq!(server.get("/api/score").json()["needed"], 0);
}
