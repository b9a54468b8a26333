//! A machine to run the binary on: a home of its own, and nothing in the environment.

use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plimsoll_core::time::utc;
use plimsoll_engine::world::World;
use plimsoll_engine::{hook, log};
use serde_json::{Value, json};

use crate::transcript;

/// How long a call may take before it counts as hanging. No test passes or fails by less.
const HANGS: Duration = Duration::from_secs(120);

/// A user's machine.
pub(crate) struct TestEnv {
    folder: tempfile::TempDir,
    /// Where the project lies in it.
    project: &'static str,
    variables: Vec<(String, String)>,
    /// The binary of a user whom file permissions bind; root is bound by none.
    plain_user: Option<PathBuf>,
}

impl TestEnv {
    pub(crate) fn new() -> Self {
        Self::with_project("project")
    }

    /// One whose project lies at `project`.
    pub(crate) fn with_project(project: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = Self { folder, project, variables: Vec::new(), plain_user: None };
        fs::create_dir(env.home()).unwrap();
        fs::create_dir(env.project()).unwrap();
        let home = env.home();
        env.with("HOME", home.to_str().unwrap()).with("TZ", "UTC")
    }

    /// The same with a variable in the environment.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same without a variable.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path(self.project)
    }

    /// Where plimsoll keeps what it remembers.
    pub(crate) fn data(&self) -> PathBuf {
        self.home().join(".local/share/plimsoll")
    }

    /// Writes a file, with the folders it lies in.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    pub(crate) fn user_config(&self, text: &str) -> PathBuf {
        self.write("home/.config/plimsoll/config.yaml", text)
    }

    /// The same, written a while ago.
    pub(crate) fn old_user_config(&self, text: &str) {
        self.user_config(text);
        // Some ticks of the file system's clock: a file written this instant is not cached yet.
        std::thread::sleep(Duration::from_millis(40));
    }

    pub(crate) fn project_config(&self, text: &str) -> PathBuf {
        self.write(&format!("{}/.plimsoll.yaml", self.project), text)
    }

    /// The agent's own settings of the user.
    pub(crate) fn client_settings(&self, settings: &Value) -> PathBuf {
        self.write("home/.claude/settings.json", settings.to_string())
    }

    /// From now on everything belongs to a user whom permissions bind, and is run by them.
    pub(crate) fn as_plain_user(&mut self) {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let binary = self.path("plimsoll");
        // Not by ourselves: what is open for writing in a process that forks cannot be started.
        let copied = Command::new("cp").arg(BINARY).arg(&binary).status().unwrap();
        assert!(copied.success());
        self.plain_user = Some(binary);
        self.hand_over(self.folder.path());
    }

    fn hand_over(&self, path: &Path) {
        std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        if path.is_dir() && !path.is_symlink() {
            for entry in path.read_dir().unwrap() {
                self.hand_over(&entry.unwrap().path());
            }
        }
    }

    /// The binary with these arguments, to be started in the project's folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.binary());
        command.args(arguments);
        self.settle(&mut command);
        command
    }

    /// A shell script in which `$0` is the binary.
    pub(crate) fn shell(&self, script: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script).arg(self.binary()).args(arguments);
        self.settle(&mut command);
        command
    }

    fn binary(&self) -> &Path {
        self.plain_user.as_deref().unwrap_or(Path::new(BINARY))
    }

    fn settle(&self, command: &mut Command) {
        let variables = self.variables.iter().map(|(name, value)| (name, value));
        command.env_clear().envs(variables).current_dir(self.project());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if self.plain_user.is_some() {
            command.uid(NOBODY).gid(NOBODY);
        }
    }

    /// Runs the binary with arguments that hold no blanks.
    pub(crate) fn plimsoll(&self, arguments: &str) -> Ran {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        self.run(self.command(&arguments), b"")
    }

    /// Answers one hook call, without starting a process where that makes no difference.
    pub(crate) fn hook(&self, payload: impl AsRef<[u8]>) -> Ran {
        match self.is_like_this_process() {
            true => self.answered(payload.as_ref()),
            false => self.hook_process(payload),
        }
    }

    /// Answers one hook call in a process of its own.
    pub(crate) fn hook_process(&self, payload: impl AsRef<[u8]>) -> Ran {
        self.run(self.command(&["hook"]), payload.as_ref())
    }

    /// Whether a call differs from one of this process only by what its [`World`] knows.
    fn is_like_this_process(&self) -> bool {
        let is_utc = |(name, zone): &(String, String)| name != "TZ" || zone == "UTC";
        self.plain_user.is_none() && self.variables.iter().all(is_utc)
    }

    /// What a process on this machine would know of it; `None` if it has no home.
    pub(crate) fn world(&self) -> Option<World> {
        let variables = self.variables.clone();
        World::new(Box::new(move |name: &str| {
            let (_, value) = variables.iter().find(|(known, _)| known == name)?;
            Some(value.clone()).filter(|value| !value.is_empty())
        }))
    }

    /// The answer of the engine, as `plimsoll hook` gives it to the agent.
    fn answered(&self, payload: &[u8]) -> Ran {
        let world = self.world().filter(|world| !world.is_off());
        let output = world.map_or_else(Default::default, |world| {
            let failed = |error| log::write(&world.paths.log(), &format!("{error:#}"));
            let answer = hook::answer(&world, plimsoll_agents::DEFAULT, None, payload.to_owned());
            let answer = answer.map_err(failed).unwrap_or_default();
            let output = answer.output.clone();
            answer.delivered(&world).unwrap_or_else(failed);
            output
        });
        let status = ExitStatus::from_raw(i32::from(output.exit) << 8);
        self.ran(Output { status, stdout: output.stdout, stderr: output.stderr })
    }

    /// Runs a command with this on its stdin.
    pub(crate) fn run(&self, mut command: Command, stdin: &[u8]) -> Ran {
        let child = command.spawn().unwrap();
        let pid = child.id();
        let stdin = stdin.to_owned();
        let (done, wait) = mpsc::channel();
        std::thread::spawn(move || done.send(feed(child, &stdin).wait_with_output()));
        let Ok(output) = wait.recv_timeout(HANGS) else {
            let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
            panic!("it hangs: {command:?}");
        };
        self.ran(output.unwrap())
    }

    pub(crate) fn ran(&self, output: Output) -> Ran {
        let folder = self.folder.path().to_str().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap().replace(folder, "$TEST");
        Ran { stdout: text(output.stdout), stderr: text(output.stderr), status: output.status }
    }

    /// The lines of the log of what went wrong.
    pub(crate) fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.data().join("hook.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Every file and folder under `folder`, itself included if it is there.
    pub(crate) fn all_under(&self, folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        if folder.exists() {
            found.push(folder.to_owned());
        }
        if folder.is_dir() {
            for entry in folder.read_dir().unwrap() {
                found.extend(self.all_under(&entry.unwrap().path()));
            }
        }
        found
    }

    /// A session of the agent in the project.
    pub(crate) fn session(&self, id: &str) -> Session<'_> {
        let name = format!("home/.claude/projects/-project/{id}.jsonl");
        Session { env: self, id: id.to_owned(), transcript: self.path(&name), subagent: None }
    }
}

const BINARY: &str = env!("CARGO_BIN_EXE_plimsoll");
const NOBODY: u32 = 65_534;

/// A text in which every checkpoint was sealed at the same time of day.
pub(crate) fn at_noon(text: &str) -> String {
    const BEFORE: &str = "Checkpoint saved ";
    let mut parts = text.split(BEFORE);
    let mut steady = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_time = part.as_bytes().get(2) == Some(&b':');
        steady += BEFORE;
        steady += &if is_time { format!("12:00{}", &part[5..]) } else { part.to_owned() };
    }
    steady
}

/// Writes `stdin` to the child. One that stops listening has heard enough.
pub(crate) fn feed(mut child: Child, stdin: &[u8]) -> Child {
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child
}

/// What a call came to.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: ExitStatus,
}

impl Ran {
    /// It said nothing at all, and let the agent go on.
    pub(crate) fn is_silent(&self) -> bool {
        self.stdout.is_empty() && self.stderr.is_empty() && self.status.success()
    }

    /// It warned, or the guard did, and let the agent go on.
    pub(crate) fn speaks(&self) -> bool {
        self.to_user().is_some() && self.stderr.is_empty() && self.status.success()
    }

    /// It refused the call.
    pub(crate) fn refuses(&self) -> bool {
        let answer: Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        let output = &answer["hookSpecificOutput"];
        self.status.code() == Some(2)
            && output["permissionDecision"] == "deny"
            && self.stderr.trim_end() == output["permissionDecisionReason"]
    }

    /// What the user is told.
    pub(crate) fn to_user(&self) -> Option<String> {
        let answer: Value = serde_json::from_str(&self.stdout).ok()?;
        Some(answer["systemMessage"].as_str()?.to_owned())
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(f, "--- {name}\n{text}")?;
            }
        }
        match self.status.code() {
            Some(code) => write!(f, "[exit {code}]"),
            None => write!(f, "[signal {}]", self.status.signal().unwrap_or_default()),
        }
    }
}

impl fmt::Debug for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One session of the agent, or a subagent of it.
pub(crate) struct Session<'e> {
    env: &'e TestEnv,
    pub(crate) id: String,
    /// What the agent calls the session's transcript, in a subagent's calls too.
    pub(crate) transcript: PathBuf,
    subagent: Option<&'static str>,
}

impl<'e> Session<'e> {
    /// A subagent of this session.
    pub(crate) fn subagent(&self, id: &'static str) -> Session<'e> {
        let (env, transcript) = (self.env, self.transcript.clone());
        Session { env, id: self.id.clone(), transcript, subagent: Some(id) }
    }

    /// The file that tells of this window.
    pub(crate) fn own_transcript(&self) -> PathBuf {
        match self.subagent {
            Some(id) => {
                self.transcript.with_extension("").join(format!("subagents/agent-{id}.jsonl"))
            }
            None => self.transcript.clone(),
        }
    }

    /// The file that remembers what was said.
    pub(crate) fn spool(&self) -> PathBuf {
        let name = self.subagent.map_or_else(
            || format!("{}.jsonl", self.id),
            |subagent| format!("{}.{subagent}.jsonl", self.id),
        );
        self.env.data().join("spool").join(name)
    }

    /// Puts these bytes in the place of the transcript.
    pub(crate) fn write(&self, transcript: impl AsRef<[u8]>) -> &Self {
        let path = self.own_transcript();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, transcript).unwrap();
        self
    }

    /// Fills the window so that the reading is exactly `used`.
    pub(crate) fn fill(&self, used: u64) -> &Self {
        self.fill_with(transcript::MODEL, used)
    }

    /// The same, said a minute from now: after whatever has happened so far.
    pub(crate) fn fill_now(&self, used: u64) -> &Self {
        let soon = SystemTime::now() + Duration::from_secs(60);
        let time = utc(soon.duration_since(UNIX_EPOCH).unwrap().as_millis() as i64);
        let text = transcript::reading(transcript::MODEL, used, &self.env.project(), false);
        self.write(text.replace(&transcript::time(1), &time).replace(&transcript::time(2), &time))
    }

    pub(crate) fn fill_with(&self, model: &str, used: u64) -> &Self {
        let side = self.subagent.is_some();
        self.write(transcript::reading(model, used, &self.env.project(), side))
    }

    pub(crate) fn payload(&self, event: &str) -> Value {
        let mut payload = json!({
            "session_id": self.id,
            "transcript_path": self.transcript,
            "cwd": self.env.project(),
            "hook_event_name": event,
        });
        if let Some(id) = self.subagent {
            payload["agent_id"] = json!(id);
            payload["agent_type"] = json!("Explore");
        }
        payload
    }

    pub(crate) fn hook(&self, event: &str) -> Ran {
        self.env.hook(self.payload(event).to_string())
    }

    /// The user sends a prompt.
    pub(crate) fn prompted(&self) -> Ran {
        self.hook("UserPromptSubmit")
    }

    /// A tool has finished.
    pub(crate) fn tool_finished(&self) -> Ran {
        self.hook("PostToolUse")
    }

    /// The agent is about to use a tool.
    pub(crate) fn tool_begins(&self, tool: &str, input: Value) -> Ran {
        let mut payload = self.payload("PreToolUse");
        payload["tool_name"] = json!(tool);
        payload["tool_input"] = input;
        self.env.hook(payload.to_string())
    }

    pub(crate) fn loads_agent(&self) -> Ran {
        self.tool_begins("Agent", json!({"subagent_type": "general-purpose"}))
    }

    pub(crate) fn loads_skill(&self, name: &str) -> Ran {
        self.tool_begins("Skill", json!({"skill": name}))
    }
}
