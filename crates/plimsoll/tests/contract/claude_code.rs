//! The client of Claude Code. The suite `claude` runs the real one.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, Event, Reply, Session, with_program};
use crate::env::{Ran, TestEnv};
use crate::transcript::{self, MODEL};

pub(crate) struct ClaudeCode;

impl Client for ClaudeCode {
    fn agent(&self) -> &'static str {
        "claude-code"
    }

    fn checkpoint_folder(&self) -> &'static str {
        ".claude/checkpoints"
    }

    fn warned_at(&self) -> u64 {
        162_000
    }

    fn transcript(&self, session: &str) -> String {
        format!(".claude/projects/-project/{session}.jsonl")
    }

    fn work(&self, project: &Path) -> String {
        let file = project.join("hull.rs");
        let asked = r#""Paint the hull red, never blue.""#;
        let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "written"}]);
        let change =
            json!({"type": "create", "filePath": file, "content": "red", "structuredPatch": []});
        let call = json!({"type": "tool_use", "id": "t1", "name": "Write",
            "input": {"file_path": file, "content": "const HULL: &str = \"red\";\n"}});
        let said = r#"[{"type":"text","text":"Done."}]"#;
        transcript::user(1, 0, project, false, asked, "")
            + &transcript::answer(2, 1, MODEL, 6_000, project, false)
                .replace(said, &json!([call]).to_string())
            + &transcript::user(
                3,
                2,
                project,
                false,
                &result.to_string(),
                &format!(r#","toolUseResult":{change}"#),
            )
    }

    fn response(&self, project: &Path, number: u32, used: u64) -> String {
        let id = (number + 3) as u8;
        transcript::answer(id, id - 1, MODEL, used, project, false)
    }

    fn compact(&self, session: &Session<'_>) -> Option<String> {
        let project = session.env.project();
        let boundary = json!({"parentUuid": null, "isSidechain": false, "type": "system",
            "subtype": "compact_boundary", "uuid": "00000000-0000-4000-8000-000000000040",
            "timestamp": transcript::time(40), "cwd": project, "version": "2.1.325",
            "compactMetadata": {"trigger": "auto", "preTokens": 124_000}});
        session.append(&format!("{boundary}\n"));
        session.append(&transcript::user(
            41,
            40,
            &project,
            false,
            r#""Work was done.""#,
            r#","isCompactSummary":true"#,
        ));
        session.hook(Event::Compacted).to_model
    }

    fn payload(&self, event: Event, session: &Session<'_>) -> Value {
        let mut payload = json!({
            "session_id": session.id,
            "transcript_path": session.transcript(),
            "cwd": session.env.project(),
        });
        payload["hook_event_name"] = match event {
            Event::Prompt => "UserPromptSubmit",
            Event::SpawnAgent => "PreToolUse",
            Event::ToolDone => "PostToolUse",
            Event::Compacted => "SessionStart",
        }
        .into();
        if event == Event::SpawnAgent {
            payload["tool_name"] = "Agent".into();
            payload["tool_input"] = json!({"subagent_type": "explorer"});
        }
        if event == Event::Compacted {
            payload["source"] = "compact".into();
        }
        payload
    }

    fn read(&self, ran: &Ran) -> Reply {
        let answer: Value = match ran.stdout.as_str() {
            "" => return Reply::default(),
            text => serde_json::from_str(text).unwrap(),
        };
        let output = &answer["hookSpecificOutput"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Reply {
            to_user: text(&answer["systemMessage"]),
            to_model: text(&output["additionalContext"]),
            refusal: text(&output["permissionDecisionReason"]),
        }
    }

    fn settings_file(&self) -> &'static str {
        ".claude/settings.json"
    }

    fn user_settings(&self) -> &'static str {
        "{\n  \"model\": \"opus\",\n  \"hooks\": {}\n}"
    }

    fn installed_on(&self, env: TestEnv) -> TestEnv {
        with_program(env, "claude", "2.1.325 (Claude Code)")
    }
}
