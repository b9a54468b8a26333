//! Saves, with the real client: one that does not compact by itself is saved before it is full.

use plimsoll_testbed::{Client, ModelAnswer, Script};
use serde_json::{Value, json};

use crate::bed::{Bed, obeyed, shown, step};

/// A client that does not compact by itself, with our hooks and commands.
fn bed(client: &Client, script: Script) -> Bed {
    let bed = Bed::bare(client, script);
    bed.sandbox.write_user_settings(&json!({"autoCompactEnabled": false}));
    bed.plimsoll(&["init", "--yes", "--commands"]);
    bed
}

/// A model that once runs what a command of ours asks for.
fn obeying(script: Script, placeholder: &'static str, words: &'static str) -> Script {
    let mut has_obeyed = false;
    script.rule(move |request| {
        let call = obeyed(request, placeholder, words)
            .filter(|_| request.is_main_turn() && !has_obeyed)?;
        has_obeyed = true;
        Some(call)
    })
}

fn saves(bed: &Bed) -> Vec<Value> {
    serde_json::from_str(&bed.plimsoll(&["rs", "--all", "--limit", "9", "--json"])).unwrap()
}

#[test]
fn seventy_percent_suggests_eighty_five_saves_and_a_new_session_goes_on() {
    for client in [Client::current(), Client::old()] {
        let script = Script::new().main([
            step(130_000),
            step(141_000),
            step(171_500),
            step(173_000),
            ModelAnswer::text("so far").prompt_tokens(174_000),
        ]);
        let script =
            obeying(script, " WORDS", " development").main([ModelAnswer::text("welcome back")]);
        let bed = bed(&client, script);
        let first = bed.prompt("Mend the hull. Never touch the ballast.").run();
        assert_eq!(first.text(), "so far", "{}", client.version());
        assert_eq!(
            shown(&first.transcript()),
            [
                "CONTEXT: ~71% used. Consider /ss to save the session.",
                "CONTEXT: ~86% used. Session saved. Run '/rs development' in a new session to continue.",
            ],
            "{}",
            client.version()
        );
        let session = first.session_id();
        let [save] = &saves(&bed)[..] else { panic!("{:?}", saves(&bed)) };
        assert_eq!((&save["kind"], &save["session_id"]), (&json!("auto"), &json!(session)));
        assert_eq!(save["tags"][0], "auto-save");
        assert!(save["context"].as_str().unwrap().contains("Mend the hull."), "{save}");

        let next = bed.prompt("/rs development").ask_for_permissions().run();
        assert_eq!(next.text(), "welcome back", "{}", client.version());
        assert_ne!(next.session_id(), session);
        let given = bed.server.main_turns().pop().unwrap().all_text();
        let origin = format!("From save {} in development, ", save["id"].as_str().unwrap());
        assert!(given.contains(&origin), "{given}");
        assert!(given.contains(&format!("of another session, {session}")), "{given}");
        assert!(given.contains("Never touch the ballast."), "{given}");
    }
}

#[test]
fn a_user_saves_a_session_with_a_command() {
    for client in [Client::current(), Client::old()] {
        let script = Script::new().main([ModelAnswer::text("so far")]);
        let script = obeying(script, " ENVIRONMENT", " release").main([ModelAnswer::text("told")]);
        let bed = bed(&client, script);
        let session = bed.prompt("Mend the hull.").run().session_id();
        let told = bed.prompt("/ss release").continue_last_session().ask_for_permissions().run();
        assert_eq!(told.text(), "told", "{}", client.version());
        let heard = bed.server.main_turns().pop().unwrap().all_text();
        assert!(heard.contains("Saved `Mend the hull.` in release."), "{heard}");
        let saved: Vec<Value> =
            serde_json::from_str(&bed.plimsoll(&["rs", "release", "--json"])).unwrap();
        assert_eq!(saved[0]["session_id"], session, "{saved:?}");
    }
}
