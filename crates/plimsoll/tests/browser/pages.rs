//! What is on the pages, and how one gets about on them.

use serde_json::json;

use crate::client::Running;
use crate::driver::Browser;
use crate::env::TestEnv;
use crate::journal::half_done;
use crate::story::Story;

const TAB: &str = "\u{E004}";

/// A machine with a session that was compacted once.
fn lived_in() -> TestEnv {
    let env = TestEnv::new();
    let mut story = Story::new(&env, "claude-opus-4-6", 90, 30);
    story.asked("mend the hull");
    for at in 1..40 {
        let path = format!("{}/src/plank{}.rs", env.project().display(), at % 5);
        story.used("Read", json!({"file_path": path}), &"fn plank() {}\n".repeat(20), 4_000 * at);
    }
    let path = format!("{}/src/plank1.rs", env.project().display());
    story.compacted(160_000, 9_000).said("On we go.", 29_000);
    story.used("Read", json!({"file_path": path}), "fn plank() {}", 30_000).of(&env, "5f2c81aa");
    assert!(env.session("5f2c81aa").hook("PreCompact").status.success());
    env
}

#[test]
fn every_page_works_without_scripts() {
    let env = lived_in();
    let server = Running::start(&env, &[]);
    server.post("/ss", &json!({"task": "caulk the seams", "environment": "dock"}));
    server.post("/ss", &json!({"task": "paint the deck", "environment": "yard"}));
    let browser = Browser::without_scripts();
    let go = |path: &str| browser.go(&format!("http://{}{path}", server.address));
    let shows = |text: &str| browser.text("main").contains(text);
    go("/");
    assert_eq!(browser.text("#live"), "", "no script runs");
    browser.wait("the session", || {
        go("/");
        shows("5f2c81aa") && shows("healthy")
    });
    browser.find("tbody a").click();
    browser.wait("the curve", || {
        go("/session/5f2c81aa");
        shows("reading files") && shows("1 compaction")
    });
    assert!(shows("plank1.rs") && shows("compacts at"), "{}", browser.text("main"));
    browser.find(".list a").click();
    assert!(shows("verified") && shows("What Changed"), "{}", browser.text("main"));
    browser.find("nav a[href='/saves']").click();
    browser.find("input[name=q]").enter("seams");
    browser.find("button").click();
    browser.wait("what was found", || shows("caulk the seams") && !shows("paint the deck"));
    assert_eq!(browser.text("mark"), "seams");
    browser.find("option[value=yard]").click();
    browser.find("button").click();
    browser.wait("nothing", || shows("Nothing fits") && !shows("caulk the seams"));
    for (path, text) in [("/tax", "no hook that ran"), ("/score", "compaction")] {
        browser.wait(path, || {
            go(path);
            shows(text)
        });
    }
}

#[test]
fn sessions_that_do_not_fit_on_a_page_are_a_link_away() {
    let env = TestEnv::new();
    for at in 0..30_u64 {
        env.session(&format!("{at:08x}")).fill(1_000 * (at + 1));
    }
    let server = Running::start(&env, &[]);
    let browser = Browser::without_scripts();
    browser.wait("all of them", || {
        browser.go(&format!("http://{}/", server.address));
        browser.text("main").contains("Running 30")
    });
    let shown = || browser.text("tbody").matches("of 200,000").count();
    assert!(browser.text("tbody th").contains("0000001d"), "the fullest first");
    assert_eq!(shown(), 20);
    browser.find("nav[aria-label='More that run'] a[rel=next]").click();
    assert_eq!(shown(), 10);
    assert_eq!(browser.text("nav[aria-label='More that run'] span"), "page 2 of 2");
    browser.find("nav[aria-label='More that run'] a[rel=prev]").click();
    assert_eq!(shown(), 20);
}

/// The ids of the checkpoints in the project, the oldest first.
fn checkpoints(env: &TestEnv) -> Vec<String> {
    let files = std::fs::read_dir(env.project().join(".claude/checkpoints")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut ids: Vec<String> = names
        .filter(|name| name.starts_with("20"))
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .collect();
    ids.sort();
    ids
}

#[test]
fn a_checkpoint_tells_where_it_comes_from_what_is_new_and_whose_it_is() {
    let env = lived_in();
    let first = checkpoints(&env).remove(0);
    let mut story = Story::new(&env, "claude-opus-4-6", 20, 5);
    story.asked("now paint the deck red");
    let path = format!("{}/src/deck.rs", env.project().display());
    let edit = json!({"file_path": path, "old_string": "grey", "new_string": "red"});
    story.used("Edit", edit, "updated", 40_000).of(&env, "5f2c81aa");
    assert!(env.session("5f2c81aa").hook("PreCompact").status.success());
    let second = checkpoints(&env).into_iter().find(|id| *id != first).expect("another one");
    let foreign = "2026-01-01-000000-somebody";
    let text = "---\ncreated: 2026-01-01T00:00:00Z\ntrigger: manual\nproject: /p\nsession_id: s\n\
        iteration: 1\n---\n\n## What Changed\n- nothing\n\n## Next Steps\n- [ ] none\n";
    env.write(&format!("project/.claude/checkpoints/{foreign}.md"), text);

    let server = Running::start(&env, &[]);
    let browser = Browser::start();
    let go = |id: &str| {
        browser.go(&format!("http://{}/checkpoint/{id}", server.address));
        browser.text("main")
    };
    browser.wait("both", || go(&second).contains(&first));
    let text = go(&second);
    assert!(text.contains("verified") && text.contains("New since the one before"), "{text}");
    assert!(browser.text("ins").contains('+'), "{text}");
    browser.find(&format!("a[href='/checkpoint/{first}']")).click();
    assert!(browser.text(".facts").contains(&second), "{}", browser.text("main"));
    let text = go(foreign);
    assert!(text.contains("foreign") && !text.contains("verified"), "{text}");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn the_keyboard_reaches_everything() {
    let env = lived_in();
    let run = format!("/runs/{}", half_done(&env, 1, false).id);
    let server = Running::start(&env, &[]);
    let browser = Browser::start();
    let walk = |path: &str, steps: usize| -> Vec<String> {
        browser.go(&format!("http://{}{path}", server.address));
        let step = |_| {
            browser.press(TAB);
            browser.focus()
        };
        (0..steps).map(step).collect()
    };
    browser.go(&format!("http://{}/", server.address));
    browser.wait("the session", || browser.text("main").contains("5f2c81aa"));
    let walked = walk("/", 11);
    let first = [
        "a #main",
        "a /",
        "a /",
        "a /runs",
        "a /saves",
        "a /tax",
        "a /score",
        "a /criteria",
        "div scroll",
        "a /session/5f2c81aa",
    ];
    assert_eq!(walked[..10], first);
    let walked = walk("/saves", 11);
    for control in ["input q", "select environment", "input all"] {
        assert!(walked.iter().any(|it| it == control), "{control}: {walked:?}");
    }
    let unnamed = "return [...document.querySelectorAll('a, button, input, select, svg[role=img]')]\
        .filter(it => !(it.textContent.trim() || it.ariaLabel || it.labels?.length)).length";
    for path in ["/", "/session/5f2c81aa", "/runs", &run, "/saves", "/tax", "/score", "/criteria"] {
        browser.go(&format!("http://{}{path}", server.address));
        assert_eq!(browser.run(unnamed), 0, "{path}: everything has a name");
        let landmarks = "return ['header', 'nav', 'main', 'h1'].map(it => document.querySelectorAll(it).length > 0)";
        assert_eq!(browser.run(landmarks), json!([true, true, true, true]), "{path}");
        assert_eq!(browser.console(), [""; 0], "{path}");
    }
}

#[test]
fn a_machine_without_sessions_says_what_to_do() {
    let env = TestEnv::new();
    let server = Running::start(&env, &[]);
    let browser = Browser::start();
    browser.go(&format!("http://{}/", server.address));
    assert!(browser.text("main").contains("plimsoll init"), "{}", browser.text("main"));
    browser.go(&format!("http://{}/session/nobody", server.address));
    assert!(browser.text("main").contains("no such session"), "{}", browser.text("main"));
}
