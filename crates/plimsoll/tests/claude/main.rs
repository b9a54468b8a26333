//! scratch
use plimsoll_testbed::*;
use serde_json::json;
use std::path::Path;
fn bash(command: &str) -> Answer {
    Answer::tool("Bash", json!({ "command": command, "description": "a step" }))
}
#[test]
fn scratch() {
    for client in [Client::current(), Client::old()] {
        let server = ModelServer::start(Script::new().main([
            bash("echo one").prompt_tokens(100_000),
            bash("echo two").prompt_tokens(165_000),
            bash("echo three").prompt_tokens(166_000),
            bash("echo four").prompt_tokens(172_000),
            Answer::text("done").prompt_tokens(173_000),
            Answer::text("done2").prompt_tokens(181_000),
            Answer::text("done3").prompt_tokens(182_000),
        ]));
        let sandbox = Sandbox::new(&client, &server);
        let plimsoll = Path::new(env!("CARGO_BIN_EXE_plimsoll"));
        let hook = sandbox.script("w", &format!(r#"payload=$(cat); T=$(printf '%s' "$payload" | sed 's/.*"transcript_path":"\([^"]*\)".*/\1/'); E=$(printf '%s' "$payload" | sed 's/.*"hook_event_name":"\([^"]*\)".*/\1/')
echo "$E newest: $(tac $T 2>/dev/null| grep -o '"cache_read_input_tokens":[0-9]*' | head -1)" >> $HOME/log
printf '%s' "$payload" | {} hook > $HOME/o 2>$HOME/e; X=$?; cat $HOME/o $HOME/e >> $HOME/log; echo "$X" >> $HOME/log; cat $HOME/o; exit $X"#, plimsoll.display()));
        let hooks = Hooks::new()
            .on("UserPromptSubmit", &hook, &[])
            .on("PostToolUse", &hook, &[])
            .on_matching("PreToolUse", "*", &hook, &[])
            .on("SessionStart", &hook, &[])
            .on("SessionEnd", &hook, &[]);
        sandbox.user_settings(&hooks.settings());
        let t = std::time::Instant::now();
        let o = sandbox.prompt("go").model("claude-opus-4-5").run();
        println!("{:?} {}", t.elapsed(), o.stdout);
        let o = sandbox.prompt("go2").model("claude-opus-4-5").continuing().run();
        println!("{}", o.stdout);
        let o = sandbox.prompt("go3").model("claude-opus-4-5").arg("--verbose").continuing().run();
        println!("{}", o.stdout);
        println!("{}", std::fs::read_to_string(sandbox.home().join("log")).unwrap());
        for r in server.main_turns() {
            println!(
                "-- {}",
                r.all_text()
                    .lines()
                    .filter(|l| l.contains("CONTEXT:"))
                    .collect::<Vec<_>>()
                    .join("\n   ")
            );
        }
        let t =
            Transcript::find(&sandbox.home(), server.main_turns()[0].session_id.as_ref().unwrap());
        for l in &t.lines {
            println!(
                "T {} {} {}",
                l["type"],
                l["subtype"],
                if l["type"] == "attachment" && l.to_string().contains("CONTEXT") {
                    l.to_string()
                } else {
                    l["attachment"]["type"].to_string()
                }
            );
        }
    }
}
