//! The real client with plimsoll for its hook.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use plimsoll_testbed::{
    Client, ClientTranscript, Hooks, ModelAnswer, ModelRequest, ModelServer, Outcome, Prompt,
    Sandbox, Script,
};
use serde_json::{Value, json};

/// A model with a window of 200,000 tokens that the client never compacts by a threshold, so that
/// every line lies where it is configured.
pub(crate) const PLAIN: &str = "claude-opus-4-5";

/// The binary under test.
pub(crate) const PLIMSOLL: &str = env!("CARGO_BIN_EXE_plimsoll");

/// A text that a real service counts at four letters a token and a bit.
pub(crate) const PROSE: &str = "The harbour master keeps a book in which every ship is entered before it \
    leaves, with its draught, its cargo and the name of the captain. On a quiet morning there are \
    three or four of them, on a busy one more than twenty, and the page is full before noon.\n";

/// A client in its sandbox, with the model it talks to.
pub(crate) struct Bed {
    pub(crate) server: ModelServer,
    pub(crate) sandbox: Sandbox,
}

impl Bed {
    /// The current client, with plimsoll for its hook.
    pub(crate) fn new(script: Script) -> Self {
        Self::with(&Client::current(), script)
    }

    /// `client`, with plimsoll for its hook.
    pub(crate) fn with(client: &Client, script: Script) -> Self {
        let bed = Self::bare(client, script);
        bed.install(Path::new(PLIMSOLL));
        bed
    }

    /// `client` as it comes.
    pub(crate) fn bare(client: &Client, script: Script) -> Self {
        let server = ModelServer::start(script);
        let sandbox = Sandbox::new(client, &server);
        Self { server, sandbox }
    }

    /// Runs plimsoll as the user would, in the project, and gives what it prints.
    pub(crate) fn plimsoll(&self, arguments: &[&str]) -> String {
        let output = Command::new(PLIMSOLL)
            .args(arguments)
            .current_dir(self.sandbox.project())
            .env_clear()
            .env("HOME", self.sandbox.home())
            .env("PATH", path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Makes `program` the hook, in the place of the one before.
    pub(crate) fn install(&self, program: &Path) {
        self.sandbox.write_user_settings(&hooks(program).settings());
    }

    /// A prompt to the plain model.
    pub(crate) fn prompt(&self, text: &str) -> Prompt<'_> {
        self.sandbox.prompt(text).model(PLAIN)
    }

    /// Runs one prompt in strict mode.
    pub(crate) fn run_strictly(&self) -> Outcome {
        self.prompt("go").env("PLIMSOLL_CONTEXT_STRICT", "on").run()
    }

    /// Where plimsoll keeps its files.
    pub(crate) fn data(&self) -> PathBuf {
        self.sandbox.home().join(".local/share/plimsoll")
    }

    /// The names of the spools in which there is more than that a session has begun and ended: the
    /// windows about which anything was decided.
    pub(crate) fn spools(&self) -> Vec<String> {
        let spools = fs::read_dir(self.data().join("spool")).into_iter().flatten().flatten();
        let is_mark = |line: &str| {
            ["started", "ended"].iter().any(|mark| line.contains(&format!(r#""what":"{mark}""#)))
        };
        let decided = |text: String| text.lines().any(|line| !is_mark(line));
        spools
            .filter(|spool| decided(fs::read_to_string(spool.path()).unwrap()))
            .map(|spool| spool.file_name().into_string().unwrap())
            .collect()
    }

    /// Puts a skill called `name`, with `body` as its instructions, below `folder`.
    pub(crate) fn skill(&self, folder: &Path, name: &str, body: &str) {
        let folder = folder.join("skills").join(name);
        fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: {name}\ndescription: for a test\n---\n\n{body}\n");
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }

    /// What our words were in each request of the main conversation.
    pub(crate) fn heard(&self) -> Vec<Vec<String>> {
        self.server.main_turns().iter().map(words).collect()
    }

    /// All that the model of the main conversation was told, as its last request has it.
    pub(crate) fn heard_at_last(&self) -> Vec<String> {
        self.heard().pop().unwrap()
    }

    /// What a command of plimsoll prints as JSON, run in the project.
    pub(crate) fn json(&self, command: &str) -> Value {
        let output = Command::new(PLIMSOLL)
            .args([command, "--json"])
            .env_clear()
            .env("HOME", self.sandbox.home())
            .current_dir(self.sandbox.project())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What `plimsoll measure` prints about a transcript.
    pub(crate) fn measure(&self, transcript: &Path, arguments: &[&str]) -> String {
        let output = Command::new(PLIMSOLL)
            .args(["measure", "--transcript"])
            .arg(transcript)
            .args(arguments)
            .env_clear()
            .env("HOME", self.sandbox.home())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// How many tokens the next prompt will have, as plimsoll sees it.
    pub(crate) fn measure_tokens(&self, transcript: &Path) -> u64 {
        self.measure(transcript, &["--tokens"]).trim().parse().unwrap()
    }

    /// The whole reading.
    pub(crate) fn measure_json(&self, transcript: &Path) -> Value {
        serde_json::from_str(&self.measure(transcript, &["--json"])).unwrap()
    }
}

/// The Bash call that a command of ours asks the model for, with `words` in the place of what is to
/// be filled in.
pub(crate) fn obeyed(
    request: &ModelRequest,
    placeholder: &str,
    words: &str,
) -> Option<ModelAnswer> {
    let text = request.all_text();
    let line =
        text.lines().find(|line| line.contains("/plimsoll") && line.ends_with(placeholder))?;
    Some(bash(&line.replace(placeholder, words)))
}

/// A search path with plimsoll on it.
pub(crate) fn path() -> String {
    let folder = Path::new(PLIMSOLL).parent().unwrap();
    format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display())
}

/// The events that plimsoll answers, answered by `program`.
pub(crate) fn hooks(program: &Path) -> Hooks {
    ["UserPromptSubmit", "PostToolUse", "SessionStart", "SessionEnd"]
        .into_iter()
        .fold(Hooks::new(), |hooks, event| hooks.on(event, program, &["hook"]))
        .on_matching("PreToolUse", "Agent|Task|Skill", program, &["hook"])
}

/// A tool call that ends only when the response that asked for it is on disk.
///
/// The client writes its transcript about every 100 ms, so a tool that is quicker finishes before
/// the hook can see what the service counted.
pub(crate) fn step(prompt_tokens: u64) -> ModelAnswer {
    static STEPS: AtomicU32 = AtomicU32::new(0);
    let mark = format!("step-{:06}", STEPS.fetch_add(1, Ordering::Relaxed));
    bash(&format!(
        "for i in $(seq 1500); do grep -rqs {mark} $HOME/.claude/projects && break; sleep 0.02; done"
    ))
    .prompt_tokens(prompt_tokens)
}

/// A shell command.
pub(crate) fn bash(command: &str) -> ModelAnswer {
    ModelAnswer::tool("Bash", json!({ "command": command, "description": "a step" }))
}

/// A session of 30,000 to 33,000 tokens that lets a subagent count, whose window comes to hold so much.
pub(crate) fn counting(prompt_tokens: u64) -> Script {
    let counted = ModelAnswer::text("counted").prompt_tokens(prompt_tokens + 1_000);
    Script::new()
        .main([
            step(30_000),
            agent().prompt_tokens(31_000),
            step(32_000),
            ModelAnswer::text("all done").prompt_tokens(33_000),
        ])
        .subagent("SUBTASK", [step(prompt_tokens), counted])
}

/// A subagent that the session waits for; its prompt says SUBTASK.
pub(crate) fn agent() -> ModelAnswer {
    ModelAnswer::tool(
        "Agent",
        json!({
            "description": "count",
            "prompt": "SUBTASK count the files",
            "subagent_type": "general-purpose",
            "run_in_background": false,
        }),
    )
}

/// A skill.
pub(crate) fn skill(name: &str) -> ModelAnswer {
    ModelAnswer::tool("Skill", json!({ "skill": name }))
}

/// What is said where a checkpoint is at hand.
const AT_HAND: &str = " Checkpoint saved TIME; no action needed.";

/// What a request holds of our words, each from its beginning to the end of its line, without what
/// is at hand.
pub(crate) fn words(request: &ModelRequest) -> Vec<String> {
    let text = request.all_text();
    let ours = |line: &str| {
        let line = timeless(&line[line.find("CONTEXT: ")?..]).replace(AT_HAND, "");
        Some(without_room(&line).to_owned())
    };
    text.lines().filter_map(ours).collect()
}

/// Our words without how much of the window is left, which follows from the rest.
fn without_room(words: &str) -> &str {
    let room = words.strip_suffix(" tokens are left.").and_then(|rest| rest.rsplit_once(" About "));
    room.map_or(words, |(rest, _)| rest)
}

/// Our words without the time of day at which a checkpoint was sealed, and without its zone.
pub(crate) fn timeless(words: &str) -> String {
    const BEFORE: &str = "Checkpoint saved ";
    match words.split_once(BEFORE) {
        Some((fact, rest)) if rest.as_bytes().get(2) == Some(&b':') => {
            let after = rest[5..].trim_start_matches(" UTC");
            format!("{fact}{BEFORE}TIME{after}")
        }
        _ => words.to_owned(),
    }
}

/// What the tools answered in the last round of `request`.
pub(crate) fn tool_result(request: &ModelRequest) -> String {
    let messages = request.body["messages"].as_array().unwrap();
    let blocks = messages.iter().rev().filter_map(|message| message["content"].as_array());
    let result = blocks.flatten().find(|block| block["type"] == "tool_result");
    result.map(|block| block["content"].to_string()).unwrap_or_default()
}

/// What the client showed to the user on behalf of hooks.
pub(crate) fn shown(transcript: &ClientTranscript) -> Vec<String> {
    attachments(transcript, "hook_system_message")
        .map(|attachment| timeless(attachment["content"].as_str().unwrap()))
        .collect()
}

/// The attachments of one type.
pub(crate) fn attachments<'a>(
    transcript: &'a ClientTranscript,
    name: &str,
) -> impl Iterator<Item = &'a Value> {
    let name = name.to_owned();
    let attachments = transcript.records.iter().map(|line| &line["attachment"]);
    attachments.filter(move |attachment| attachment["type"] == name.as_str())
}
