use plimsoll_testbed::{Answer, Client, Request, Script};
use serde_json::json;
use crate::bed::{Bed, tool_result};
#[test]
fn probe() {
    let text = std::fs::read_to_string("/tmp/w/probe.json").unwrap();
    let variants: Vec<String> = serde_json::from_str(&text).unwrap();
    for client in [Client::current(), Client::old()] {
    for variant in &variants {
        let v = variant.clone();
        let mut obeyed = false;
        let script = Script::new().main([Answer::text("so far")]).rule(move |request: &Request| {
            let text = request.all_text();
            let begin = text.lines().find(|line| line.contains("--refine <<"))?;
            if obeyed || !request.is_main_turn() { return None; }
            obeyed = true;
            let begin = begin.split(" <<").next().unwrap();
            let command = v.replace("CMD", begin);
            Some(Answer::tool("Bash", json!({"command": command, "description": "seal"})))
        }).main([Answer::text("sealed")]);
        let bed = Bed::bare(&client, script);
        bed.plimsoll(&["init", "--commands"]);
        bed.prompt("Mend").run();
        let _ = bed.prompt("/checkpoint").continuing().unpermitted().run();
        let turns = bed.server.main_turns();
        let n = turns.len();
        let r = tool_result(turns.last().unwrap());
        println!("{} {n} {:?} => {}", client.version(), variant, &r.chars().take(150).collect::<String>());
    }
    }
}
