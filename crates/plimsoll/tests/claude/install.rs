//! `plimsoll init` and `plimsoll uninstall` around the real client.

use std::fs;
use std::path::Path;

use plimsoll_agents::DEFAULT;
use plimsoll_testbed::{Client, ModelAnswer, Script};

use crate::bed::{Bed, path, shown, step};

fn warned_script() -> Script {
    Script::new().main([step(166_000), ModelAnswer::text("all done").prompt_tokens(166_200)])
}

/// Whatever there is in a home.
fn is_empty(home: &Path) -> bool {
    home.read_dir().unwrap().next().is_none()
}

#[test]
fn from_an_empty_home_to_a_warning_and_back() {
    there_and_back(&Client::current());
}

#[test]
fn from_an_empty_home_to_a_warning_and_back_with_the_old_client_too() {
    there_and_back(&Client::old());
}

fn there_and_back(client: &Client) {
    let bed = Bed::bare(client, warned_script());
    let (home, program) = (bed.sandbox.home(), client.program().to_str().unwrap());
    bed.plimsoll(&["init", "--yes", "--client", program]);

    let outcome = bed.prompt("go").run();

    assert_eq!(outcome.text(), "all done");
    assert_eq!(bed.heard_at_last(), ["CONTEXT: ~83% used."]);
    assert_eq!(shown(&outcome.transcript()).len(), 1);
    for shown in ["status", "audit", "tax", "doctor"] {
        assert!(!bed.plimsoll(&[shown]).is_empty(), "{shown}");
    }
    let again = bed.plimsoll(&["init", "--yes", "--client", program]);
    assert!(
        again.starts_with("Nothing to change"),
        "the client left our hooks as they are: {again}"
    );
    bed.plimsoll(&["uninstall", "--yes", "--purge"]);
    assert!(!home.join(".claude/settings.json").exists());
    assert!(!bed.data().exists());
}

#[test]
fn asking_the_client_for_its_version_leaves_no_trace() {
    for client in [Client::current(), Client::old()] {
        let bed = Bed::bare(&client, Script::new());
        let program = client.program().to_str().unwrap();
        bed.plimsoll(&["init", "--yes", "--client", program]);
        bed.plimsoll(&["uninstall", "--yes", "--purge"]);
        assert!(is_empty(&bed.sandbox.home()), "{}", client.version());
    }
}

#[test]
fn the_hooks_of_a_project_call_us_by_name() {
    for client in [Client::current(), Client::old()] {
        let bed = Bed::bare(&client, warned_script());
        bed.plimsoll(&["init", "--yes", "--scope", "project"]);
        let outcome = bed.prompt("go").env("PATH", path()).run();
        assert_eq!(outcome.text(), "all done");
        assert_eq!(bed.heard_at_last(), ["CONTEXT: ~83% used."], "{}", client.version());
        bed.plimsoll(&["uninstall", "--yes", "--scope", "project"]);
        // What the session was about stays: it is the user's.
        let left = bed.sandbox.project().join(".claude");
        fs::remove_dir_all(left.join("checkpoints")).unwrap();
        fs::remove_file(left.join(".checkpoint_iteration")).unwrap();
        fs::remove_dir(left).unwrap();
        assert!(is_empty(&bed.sandbox.project()));
    }
}

#[test]
fn a_file_that_we_say_is_passed_over_is_passed_over() {
    type Change = fn(&str) -> String;
    let texts: [(&str, Change); 7] = [
        ("plain", str::to_owned),
        ("byte order mark", |text| format!("\u{feff}{text}")),
        ("other newlines", |text| text.replace('\n', "\r\n")),
        ("a comment", |text| format!("// mine\n{text}")),
        ("a comment in a block", |text| text.replacen('{', "{/* mine */", 1)),
        ("a trailing comma", |text| format!("{},}}", text.trim_end().trim_end_matches('}'))),
        ("a status line of nothing", |text| text.replacen('{', "{\"statusLine\": {},", 1)),
    ];
    for client in [Client::current(), Client::old()] {
        for (what, change) in texts {
            let bed = Bed::bare(&client, warned_script());
            bed.plimsoll(&["init", "--yes", "--no-status-line"]);
            let settings = bed.sandbox.home().join(".claude/settings.json");
            let text = change(&fs::read_to_string(&settings).unwrap());
            fs::write(&settings, &text).unwrap();
            bed.prompt("go").run();
            let ignored = DEFAULT.installer().inspect(&text).unwrap().ignored;
            let heard = !bed.heard_at_last().is_empty();
            assert_eq!(heard, ignored.is_none(), "{what}, {}: {ignored:?}", client.version());
        }
    }
}

#[test]
fn the_command_shows_how_full_its_own_session_is() {
    for client in [Client::current(), Client::old()] {
        let script = Script::new().main([
            ModelAnswer::text("so far").prompt_tokens(100_000),
            ModelAnswer::text("all done").prompt_tokens(101_000),
        ]);
        let bed = Bed::bare(&client, script);
        bed.plimsoll(&["init", "--yes", "--commands"]);
        let first = bed.prompt("begin").run();
        let outcome = bed.prompt("/plimsoll").continue_last_session().ask_for_permissions().run();
        assert_eq!(outcome.text(), "all done");
        let asked = bed.server.main_turns().pop().unwrap().all_text();
        let short = &first.session_id()[..8];
        let line = asked.lines().find(|line| line.contains(" of 200,000 tokens"));
        assert!(line.is_some_and(|line| line.contains(short)), "{}: {line:?}", client.version());
        assert!(asked.contains("Show the user the lines above"), "{}", client.version());
    }
}

#[test]
fn the_command_is_answered_in_a_session_that_has_nothing_to_show_yet() {
    for client in [Client::current(), Client::old()] {
        let bed = Bed::bare(&client, Script::new().main([ModelAnswer::text("all done")]));
        bed.plimsoll(&["init", "--yes", "--commands"]);
        let outcome = bed.prompt("/plimsoll").ask_for_permissions().run();
        assert_eq!(outcome.text(), "all done", "{}", client.version());
        let asked = bed.server.main_turns().pop().unwrap().all_text();
        assert!(asked.contains("Nothing was measured in this session yet."), "{asked}");
    }
}
