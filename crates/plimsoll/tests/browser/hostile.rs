//! Whatever somebody has written is shown, and does nothing.

use serde_json::json;

use crate::client::Running;
use crate::driver::Browser;
use crate::env::TestEnv;
use crate::journal::Journal;
use crate::story::Story;

const EVIL: &str = r#"<script>window.owned=1</script>"><img src=x onerror="window.owned=2"> fix </title></pre> it"#;

#[test]
fn a_hostile_checkpoint_and_a_hostile_save_are_inert() {
    let env = TestEnv::new();
    let mut story = Story::new(&env, "claude-opus-4-5", 30, 20);
    story.asked(EVIL).used(
        "Edit",
        json!({"file_path": format!("{}/{EVIL}", env.project().display()), "old_string": "a", "new_string": EVIL}),
        EVIL,
        90_000,
    );
    story.said(EVIL, 95_000).of(&env, "5f2c81aa");
    assert!(env.session("5f2c81aa").hook("PreCompact").status.success());
    let sealed = std::fs::read_dir(env.project().join(".claude/checkpoints")).unwrap();
    let sealed = sealed.map(|it| it.unwrap().file_name().into_string().unwrap());
    let id = sealed
        .filter(|it| it.starts_with("20"))
        .find_map(|it| it.strip_suffix(".md").map(str::to_owned));
    let id = id.expect("a checkpoint was sealed");

    let mut run = Journal::begin(&env, 1, EVIL, false);
    run.begins(1, EVIL, &[EVIL], "aaaaaaaa-1");
    run.says(json!({"what": "job_failed", "job": 1, "why": EVIL}));
    let run = format!("/runs/{}", run.id);
    let server = Running::start(&env, &[]);
    server.post(
        "/ss",
        &json!({"task": EVIL, "context": EVIL, "blockers": EVIL,
        "next_steps": EVIL, "tags": ["<b>tag"], "session_id": "5f2c81aa"}),
    );
    let browser = Browser::start();
    let pages = ["/", "/saves", "/saves?q=%3Cscript%3E%22%3E", "/session/5f2c81aa"];
    let checkpoint = format!("/checkpoint/{id}");
    for path in pages.into_iter().chain(["/runs", &run, &checkpoint]) {
        let url = format!("http://{}{path}", server.address);
        browser.go(&url);
        browser.wait("the page", || browser.run("return document.readyState") == "complete");
        let harm = "return [window.owned, document.querySelectorAll('main img, main script, main b').length]";
        assert_eq!(browser.run(harm), json!([null, 0]), "{path}");
        assert_eq!(browser.console(), [""; 0], "{path}");
    }
    let text = browser.text("main");
    assert!(text.contains("<script>window.owned=1</script>"), "it is shown as it is: {text}");
    assert!(text.contains("verified"), "{text}");
    browser.go(&format!("http://{}/checkpoint/..%2F..%2Fetc%2Fpasswd", server.address));
    assert!(browser.text("main").contains("no such checkpoint"), "{}", browser.text("main"));
}
