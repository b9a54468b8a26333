//! The commands that `plimsoll init --commands` gives to users of the real client.

use std::fs;
use std::time::Duration;

use plimsoll_testbed::{Client, ModelAnswer, ModelRequest, Script};
use serde_json::json;

use crate::bed::{Bed, PLAIN, tool_result};

/// Words with everything in them that shells and parsers stumble over.
const WORDS: &str = r#"## Why Changed
- the "hull" isn't tight; `$(date)` and $HOME stay as they are
## Key Decisions
- tar, not paint, because it's here
## Next Steps
- [ ] caulk the a\b seams
"#;

/// The Bash call that the command's text asks for, with our words in it.
fn obey(request: &ModelRequest) -> Option<ModelAnswer> {
    let text = request.all_text();
    let begin = text.lines().find(|line| line.ends_with("--refine <<'END_OF_WORDS'"))?;
    let command = format!("{begin}\n{WORDS}END_OF_WORDS");
    Some(ModelAnswer::tool("Bash", json!({"command": command, "description": "seal"})))
}

#[test]
fn the_model_refines_a_checkpoint_without_asking_for_leave() {
    for client in [Client::current(), Client::old()] {
        let mut obeyed = false;
        let script = Script::new()
            .main([ModelAnswer::text("so far")])
            .rule(move |request| {
                let call = obey(request).filter(|_| request.is_main_turn() && !obeyed)?;
                obeyed = true;
                Some(call)
            })
            .main([ModelAnswer::text("sealed")]);
        let bed = Bed::bare(&client, script);
        bed.plimsoll(&["init", "--yes", "--commands"]);
        let session = bed.prompt("Mend the hull. Never touch the ballast.").run().session_id();
        let outcome = bed.prompt("/checkpoint").continue_last_session().ask_for_permissions().run();
        assert_eq!(outcome.text(), "sealed", "{}", client.version());

        let turns = bed.server.main_turns();
        let asked = turns[1].all_text();
        assert!(asked.contains(&format!("checkpoint create {session} --refine")), "{asked}");
        let result = tool_result(turns.last().unwrap());
        assert!(result.contains("/.claude/checkpoints/"), "{}: {result}", client.version());
        let listed: serde_json::Value =
            serde_json::from_str(&bed.plimsoll(&["checkpoint", "list", "--json"])).unwrap();
        let [ended, refined] = &listed.as_array().unwrap()[..] else { panic!("{listed}") };
        assert_eq!(ended["trigger"], "auto", "the answer that followed is covered, too");
        assert_eq!((&refined["trigger"], &refined["sealed"]), (&json!("manual"), &json!(true)));
        let text = fs::read_to_string(refined["path"].as_str().unwrap()).unwrap();
        for words in [
            "- (model) the \"hull\" isn't tight; `$(date)` and $HOME stay as they are\n",
            "- (model) tar, not paint, because it's here\n",
            "- [ ] (model) caulk the a\\b seams\n",
            "Never touch the ballast.",
        ] {
            assert!(text.contains(words), "{}: {text}", client.version());
        }
        bed.plimsoll(&["checkpoint", "create", &session]);
        let later = bed.plimsoll(&["restore", "--checkpoint", "latest"]);
        assert!(later.contains("- [ ] (model) caulk"), "a later one has them too: {later}");
        for ours in ["Seal a checkpoint", "--refine", "END_OF_WORDS"] {
            assert!(!text.contains(ours), "our own text is no source: {text}");
        }
    }
}

#[test]
fn a_new_session_is_given_the_last_checkpoint_of_the_project() {
    for client in [Client::current(), Client::old()] {
        let script =
            Script::new().main([ModelAnswer::text("so far"), ModelAnswer::text("welcome back")]);
        let bed = Bed::bare(&client, script);
        bed.plimsoll(&["init", "--yes", "--commands"]);
        let session = bed.prompt("Mend the hull. Never touch the ballast.").run().session_id();
        bed.plimsoll(&["checkpoint", "create", &session]);
        let outcome = bed.prompt("/resume-work and hurry").ask_for_permissions().run();
        assert_eq!(outcome.text(), "welcome back", "{}", client.version());
        let given = bed.server.main_turns().pop().unwrap().all_text();
        let (_, restored) = given.split_once("## Resuming from Checkpoint\nFrom ").unwrap();
        let origin = format!("of another session, {session}");
        assert!(restored.lines().next().unwrap().contains(&origin), "{given}");
        assert!(restored.contains("Never touch the ballast."), "{given}");
        assert!(given.contains("and hurry"), "{given}");
    }
}

#[test]
fn without_a_checkpoint_the_command_is_answered_all_the_same() {
    for client in [Client::current(), Client::old()] {
        let bed = Bed::bare(&client, Script::new().main([ModelAnswer::text("all done")]));
        bed.plimsoll(&["init", "--yes", "--commands"]);
        let outcome = bed.prompt("/resume-work").ask_for_permissions().run();
        assert_eq!(outcome.text(), "all done", "{}", client.version());
        let asked = bed.server.main_turns().pop().unwrap().all_text();
        assert!(asked.contains("There is no checkpoint to go on from"), "{asked}");
    }
}

/// Words that would do harm if a shell ever saw them.
const HARMFUL: [&str; 3] = [
    "release don't \"know",
    "release; touch PWNED; $(touch PWNED)\ntouch PWNED\n",
    "release `touch PWNED` !`touch PWNED`",
];

#[test]
fn no_words_of_the_user_reach_a_shell() {
    let (current, old) = (Client::current(), Client::old());
    for (client, command) in [
        (&current, "rs"),
        (&current, "ss"),
        (&current, "checkpoint"),
        (&current, "resume-work"),
        (&old, "rs"),
        (&old, "ss"),
    ] {
        for words in HARMFUL {
            let bed = Bed::bare(client, Script::new().main([ModelAnswer::text("all done")]));
            bed.plimsoll(&["init", "--yes", "--commands"]);
            let outcome = bed.prompt(&format!("/{command} {words}")).run();
            let what = format!("{}: /{command} {words}", client.version());
            assert_eq!(outcome.text(), "all done", "{what}");
            assert!(!bed.sandbox.project().join("PWNED").exists(), "{what}");
            let asked = bed.server.main_turns().pop().unwrap().all_text();
            assert!(!asked.contains("unexpected EOF"), "{what}: {asked}");
        }
    }
}

#[test]
fn on_a_terminal_the_command_takes_the_place_of_the_clients_own() {
    let bed = Bed::bare(&Client::current(), Script::new().main([ModelAnswer::text("noted")]));
    bed.plimsoll(&["init", "--yes", "--commands"]);
    let terminal = bed.sandbox.terminal(80, 24).model(PLAIN).start();
    terminal.type_line("/checkpoint");
    terminal.wait_for(|screen| screen.contains("noted"), Duration::from_secs(180));
    let asked = bed.server.main_turns().pop().unwrap().all_text();
    assert!(asked.contains("Seal a checkpoint of this session's work."), "{asked}");
}
