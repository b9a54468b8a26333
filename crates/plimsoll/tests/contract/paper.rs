//! The client of the paper agent.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, Event, Reply, Session, with_program};
use crate::env::{Ran, TestEnv};

pub(crate) struct Paper;

impl Paper {
    /// Records a compaction, as the client does without telling any hook.
    pub(crate) fn record_compaction(&self, session: &Session<'_>) {
        session.append(
            "{\"t\":\"compacted\",\"at\":\"2026-11-15T06:30:00.000Z\",\"auto\":true,\"before\":124000}\n\
             {\"t\":\"summary\",\"at\":\"2026-11-15T06:30:01.000Z\",\"text\":\"Work was done.\"}\n",
        );
    }
}

impl Client for Paper {
    fn agent(&self) -> &'static str {
        "paper"
    }

    fn checkpoint_folder(&self) -> &'static str {
        ".plimsoll/checkpoints"
    }

    fn warned_at(&self) -> u64 {
        // It compacts at 90 % of 200,000, and 15,000 tokens before that is above 80 %.
        162_000
    }

    fn transcript(&self, session: &str) -> String {
        format!(".paper/log/2026/11/15/run-{session}.jsonl")
    }

    fn work(&self, project: &Path) -> String {
        let records = [
            json!({"t": "start", "at": time(0), "cwd": project, "version": "1.0.0"}),
            json!({"t": "model", "at": time(0), "name": "paper-1", "window": crate::WINDOW}),
            json!({"t": "user", "at": time(1), "text": "Paint the hull red, never blue."}),
            json!({"t": "call", "at": time(2), "id": "c1", "tool": "write",
                "path": project.join("hull.rs"), "text": "const HULL: &str = \"red\";\n"}),
            json!({"t": "usage", "at": time(2), "turn": "u0", "in": 6_000, "out": 40}),
            json!({"t": "result", "at": time(3), "id": "c1", "ok": true, "text": "written"}),
        ];
        records.map(|record| record.to_string() + "\n").concat()
    }

    fn response(&self, _project: &Path, number: u32, used: u64) -> String {
        let second = (number + 3) as u8;
        let records = [
            json!({"t": "say", "at": time(second), "text": "Done."}),
            json!({"t": "usage", "at": time(second), "turn": format!("u{number}"), "in": used - 40, "out": 40}),
        ];
        records.map(|record| record.to_string() + "\n").concat()
    }

    fn compact(&self, session: &Session<'_>) -> Option<String> {
        self.record_compaction(session);
        session.hook(Event::Prompt).to_model
    }

    fn payload(&self, event: Event, session: &Session<'_>) -> Value {
        let mut payload = json!({"session": session.id, "cwd": session.env.project()});
        payload["event"] = match event {
            Event::Prompt => "prompt",
            Event::SpawnAgent => "tool_start",
            Event::ToolDone => "tool_done",
            Event::Compacted => "no such event",
        }
        .into();
        if event == Event::SpawnAgent {
            payload["tool"] = "spawn".into();
            payload["name"] = "explorer".into();
        }
        payload
    }

    fn read(&self, ran: &Ran) -> Reply {
        assert!(ran.status.success(), "{ran}");
        if ran.stdout.is_empty() {
            return Reply::default();
        }
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
        let text = |name: &str| answer[name].as_str().map(str::to_owned);
        Reply { to_user: text("notice"), to_model: text("context"), refusal: text("deny") }
    }

    fn settings_file(&self) -> &'static str {
        ".paper/config"
    }

    fn user_settings(&self) -> &'static str {
        "colour = red\nhook.prompt = say hello"
    }

    fn installed_on(&self, env: TestEnv) -> TestEnv {
        with_program(env, "paper", "1.0.0")
    }
}

fn time(second: u8) -> String {
    format!("2026-11-15T06:23:{second:02}.000Z")
}
