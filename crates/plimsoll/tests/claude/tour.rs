//! A new user's tour with the real client: init, a session, what plimsoll shows of it, uninstall.

use std::fs;
use std::path::Path;
use std::process::Command;

use plimsoll_testbed::{Client, ModelAnswer, Script};
use serde_json::Value;

use crate::bed::{Bed, shown, step};

const SETTINGS: &str = "{\n\t\"cleanupPeriodDays\": 90,\n\t\"hooks\": {}\n}\n";

#[test]
fn a_tour_leaves_the_home_as_it_was() {
    // The client compacts this model at 167,000 tokens.
    let script = Script::new()
        .main([
            step(155_000),
            step(170_500),
            step(30_000),
            ModelAnswer::text("all done").prompt_tokens(31_000),
        ])
        .summaries([ModelAnswer::summary("SUMMARY-OF-IT")]);
    let client = Client::current();
    let bed = Bed::bare(&client, script);
    let home = bed.sandbox.home();
    fs::create_dir_all(home.join(".claude")).unwrap();
    fs::write(home.join(".claude/settings.json"), SETTINGS).unwrap();
    fs::write(home.join(".gitignore"), "/.claude.json\n").unwrap();
    git(&home, &["init", "--quiet"]);
    git(&home, &["add", "--all"]);
    git(&home, &["-c", "user.name=me", "-c", "user.email=me@home", "commit", "-qm", "mine"]);

    let told = bed.plimsoll(&["init", "--yes", "--client", client.program().to_str().unwrap()]);
    assert!(told.ends_with("There is no session to look back on yet.\n"), "{told}");
    let outcome = bed.sandbox.prompt("go").model("claude-sonnet-4-6").run();
    assert_eq!(outcome.text(), "all done");
    assert_eq!(shown(&outcome.transcript()).len(), 2, "warned at 77 % and at 85 %");

    let json =
        |arguments: &[&str]| -> Value { serde_json::from_str(&bed.plimsoll(arguments)).unwrap() };
    let status = json(&["status", "--json"]);
    assert_eq!(status[0]["session"], outcome.session_id());
    assert_eq!(status[0]["compactions"], 1);
    let used = status[0]["reading"]["used"].as_u64().unwrap();
    assert!((31_000..31_200).contains(&used), "{status}");
    let audit = json(&["audit", "--json"]);
    assert_eq!(audit[0]["verdict"], "honoured", "{audit}");
    let tax = json(&["tax", "--json"]);
    let commands = tax["hooks"].as_array().unwrap().iter().map(|hook| hook["command"].to_string());
    assert!({ commands }.any(|command| command.contains("plimsoll")), "our words: {tax}");
    assert!(bed.plimsoll(&["doctor"]).contains("✓ hooks         9 in "));

    bed.plimsoll(&["uninstall", "--yes"]);
    assert_eq!(fs::read_to_string(home.join(".claude/settings.json")).unwrap(), SETTINGS);
    assert_eq!(git(&home, &["status", "--porcelain", "--untracked-files=no"]), "");
    let left = git(&home, &["ls-files", "--others", "--exclude-standard"]);
    let ours: Vec<&str> = left
        .lines()
        .filter(|path| path.contains("plimsoll") && !path.starts_with(".claude/projects/"))
        .collect();
    assert!(!ours.is_empty() && ours.iter().all(|path| path.starts_with(".local/share/plimsoll/")));
    assert!(home.join(".claude/clc/checkpoints/index.json").exists());
    bed.plimsoll(&["uninstall", "--yes", "--purge"]);
    assert!(!bed.data().exists() && !home.join(".claude/clc").exists());
}

fn git(home: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
