//! The dashboard as the docs show it. `PLIMSOLL_PICTURES` names the whole path of the folder that they are put into.

use std::path::PathBuf;

use serde_json::json;

use crate::client::Running;
use crate::driver::Browser;
use crate::env::TestEnv;
use crate::story::Story;

/// A working day: four sessions that run, and some that are over.
fn working_day() -> TestEnv {
    let env = TestEnv::with_project("home/harbour");
    busy(&env);
    let others = [
        ("8d41c07e", "claude-opus-4-6", 96_000),
        ("b2e9f3a1", "claude-sonnet-4-5", 148_000),
        ("17c05d9b", "claude-opus-4-5", 176_000),
    ];
    for (name, model, held) in others {
        let mut story = Story::new(&env, model, 55, 60);
        story.asked("look at the rigging");
        for at in 1..=20 {
            story.used("Bash", json!({"command": "cargo test"}), "test result: ok", held * at / 20);
        }
        story.of(&env, name);
    }
    for at in 0..9_u64 {
        let name = format!("{:08x}", 0x9e37_79b9_u64.wrapping_mul(at + 3) & 0xffff_ffff);
        let minutes = 600 + 900 * at as i64;
        let mut story = Story::new(&env, "claude-opus-4-6", minutes, 40);
        story.asked("go on").said("Done.", 20_000 + at * at * 1_900).of(&env, &name);
        let file = std::fs::File::open(&env.session(&name).transcript).unwrap();
        let old =
            std::time::SystemTime::now() - std::time::Duration::from_secs(minutes as u64 * 60);
        file.set_modified(old).unwrap();
    }
    env
}

/// A long session that was compacted, saved and committed.
fn busy(env: &TestEnv) {
    let file = |name: &str| format!("{}/src/{name}.rs", env.project().display());
    let files = ["hull", "keel", "mast", "rudder", "ballast", "tests/stability"];
    let mut story = Story::new(env, "claude-opus-4-6", 112, 22);
    story.asked("Make the ballast tanks trim themselves when the hull lists");
    for at in 1..=90_u64 {
        let name = files[(at * at % 6) as usize];
        let held = 14_000 + at * 1_640 + at % 7 * 300;
        let text = "    let trim = tank.level - hull.list;\n".repeat(30 + at as usize % 40);
        match at % 4 {
            0 => story.used(
                "Bash",
                json!({"command": "cargo nextest run"}),
                "Summary: 212 tests run: 212 passed",
                held,
            ),
            1 => story.used("Grep", json!({"pattern": "trim", "path": "src"}), &text[..400], held),
            2 => story.used(
                "Edit",
                json!({"file_path": file(name), "old_string": "a", "new_string": &text[..300]}),
                "updated",
                held,
            ),
            _ => story.used("Read", json!({"file_path": file(name)}), &text, held),
        };
    }
    story.compacted(165_000, 11_000);
    for at in 1..=60_u64 {
        let text =
            "    assert!(hull.list.abs() < LIMIT, \"she lists\");\n".repeat(25 + at as usize % 90);
        let held = 31_000 + at * 1_490;
        match at % 5 {
            0 => story.used("Bash", json!({"command": "cargo test"}), &text[..900], held),
            1 => story.used("Grep", json!({"pattern": "list", "path": "src"}), &text, held),
            _ => {
                let name = files[(at * at % 7 % 6) as usize];
                story.used("Read", json!({"file_path": file(name)}), &text, held)
            }
        };
    }
    story.said("The tanks trim themselves now; the stability tests pass.", 121_000);
    story.of(env, "5f2c81aa-77b0-4c55-9d2e-0a1b2c3d4e5f");
    assert!(
        env.session("5f2c81aa-77b0-4c55-9d2e-0a1b2c3d4e5f").hook("PreCompact").status.success()
    );
}

#[test]
fn the_dashboard_can_be_looked_at_in_light_and_in_dark() {
    let env = working_day();
    let server = Running::start(&env, &[]);
    let session = "5f2c81aa-77b0-4c55-9d2e-0a1b2c3d4e5f";
    let commit = json!({"environment": "development", "commit_sha": "9d0c7f3155aa9d0c7f3155aa9d0c7f3155aa9d0c",
        "commit_message": "Tanks trim themselves", "branch": "main", "files_changed": 4});
    server.post("/hooks/git-commit", &commit);
    server.post(
        "/ss",
        &json!({"task": "Tanks trim themselves; next the pumps", "session_id": session}),
    );
    let folder = std::env::var_os("PLIMSOLL_PICTURES").map(PathBuf::from);
    for (browser, name) in [(Browser::start(), "light"), (Browser::dark(), "dark")] {
        let shades = "return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'";
        for (path, page, height) in
            [("/".to_owned(), "sessions", 760), (format!("/session/{session}"), "session", 980)]
        {
            browser.go(&format!("http://{}{path}", server.address));
            assert_eq!(browser.run(shades), name);
            let is_whole = "return document.querySelectorAll('.sessions').length == 2 \
                || document.querySelector('.plot .checkpoint') !== null";
            browser.wait("all of it", || {
                browser.run("if (document.readyState == 'complete') location.reload()");
                browser.run(is_whole) == true
            });
            browser.wait("the stream", || browser.text("#live") == "live");
            let picture = browser.picture(1280, height);
            assert!(picture.starts_with(b"\x89PNG"), "{page} {name}");
            if let Some(folder) = &folder {
                std::fs::write(folder.join(format!("dashboard-{page}-{name}.png")), picture)
                    .unwrap();
            }
        }
    }
}
