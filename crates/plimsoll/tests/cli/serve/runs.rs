//! Runs, over HTTP.

use serde_json::json;

use super::local::Local;
use crate::env::TestEnv;
use crate::journal::half_done;

#[test]
fn runs_are_listed_and_one_is_told_with_its_sessions() {
    let env = TestEnv::new();
    let server = Local::new(&env);
    assert_eq!(server.get("/api/runs").json(), json!({"runs": []}));
    assert!(server.get("/runs").body.contains("No run yet"));
    let mut run = half_done(&env, 1, true);
    let listed = server.get("/api/runs").json();
    let first = &listed["runs"][0];
    assert_eq!((&first["run"], &first["state"]), (&json!(run.id), &json!("running")));
    assert_eq!((&first["done"], &first["of"]), (&json!(2), &json!(3)));
    assert_eq!((&first["sessions"], &first["restarts"]), (&json!(3), &json!(1)));
    assert_eq!((&first["tokens"], &first["measured"]), (&json!(210_000), &json!(190_000)));
    assert_eq!((&first["retries"], &first["estimate"]), (&json!(0), &json!(25_200)));
    let page = server.get("/runs").body;
    assert!(page.contains("190,000") && !page.contains("210,000"), "like with like: {page}");
    run.says(json!({"what": "job_failed", "job": 2, "why": "exit code 3, three times"}));
    run.says(json!({"what": "ended", "outcome": "failed", "code": 3}));
    let printed = format!("runs/{}/2-1.err", run.id);
    env.write(&format!("home/.local/share/plimsoll/{printed}"), "the <b>tide</b> is out\n");
    let told = server.get(&format!("/api/runs/{}", run.id)).json();
    assert_eq!(told["jobs"][1]["last_words"], json!(["the <b>tide</b> is out"]));
    assert_eq!(told["jobs"][0]["last_words"], json!([]));
    assert_eq!((&told["state"], &told["jobs"][1]["state"]), (&json!("failed"), &json!("failed")));
    assert_eq!(told["resume"], format!("plimsoll batch run --resume {}", run.id));
    assert_eq!(told["jobs"][0]["legs"][1]["session"], "bbbbbbbb-2");
    let page = server.get(&format!("/runs/{}", run.id)).body;
    for shown in [
        "/session/bbbbbbbb-2",
        "Batch 1: ",
        "exit code 3, three times",
        "the &lt;b&gt;tide&lt;/b&gt; is out",
        &printed,
        "--resume",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    env.session("bbbbbbbb-2").fill(40_000);
    let session = server.get("/session/bbbbbbbb-2").body;
    assert!(session.contains(&format!("/runs/{}", run.id)), "{session}");
    server.get("/api/runs/019a8f00-0000-7000-8000-00000000ffff").refuses(404);
    server.get("/api/runs/nope").refuses(400);
    server.get("/api/runs?limit=0").refuses(400);
    assert_eq!(server.get("/runs/nope").status, 404);
    assert_eq!(server.get("/runs?page=0").status, 400);
}

#[test]
fn the_page_of_a_run_tells_what_was_planned_again_and_may_be_too_large() {
    let env = TestEnv::new();
    let mut run = half_done(&env, 1, true);
    let piece = json!({"id": "hold", "description": "Fix", "tokens": 90, "warning": "Task may exceed context budget"});
    run.says(json!({"what": "planned", "plan": {"available": 9, "batches": [[piece]]}, "why": "batch 1 took more"}));
    let server = Local::new(&env);
    let page = server.get(&format!("/runs/{}", run.id)).body;
    for shown in
        ["Planned again: batch 1 took more", "<code>hold</code>: Task may exceed context budget"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

#[test]
fn runs_are_counted_for_prometheus() {
    let env = TestEnv::new();
    half_done(&env, 1, true);
    half_done(&env, 2, false);
    let server = Local::new(&env);
    let figures = server.get("/metrics").body;
    for line in
        ["plimsoll_runs_active 1\n", "plimsoll_run_sessions 6\n", "plimsoll_run_restarts 2\n"]
    {
        assert!(figures.contains(line), "{line}: {figures}");
    }
}
