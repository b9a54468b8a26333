//! Processes to time: the hook at each transcript size, and each seed's own hook, run in place.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::bail;

use crate::bench_env::{BenchEnv, Event, WINDOW};
use crate::spawn::Competitor;

/// Name of the row that is the baseline of every ratio.
pub(crate) const NOOP: &str = "bare static no-op";
/// Name of the row for the full binary, which exits as soon as it sees that it is switched off.
pub(crate) const OFF: &str = "plimsoll hook, switched off";
const PROMPT: &str = "plimsoll hook UserPromptSubmit, 1 MB";
const GUARD: &str = "plimsoll hook PreToolUse Agent, 1 MB";
/// Port at which the seeds' monitor expects its server.
const MONITOR_PORT: u16 = 8100;

/// Returns the row name of the PostToolUse hook on a transcript of `size`.
pub(crate) fn post_tool_use(size: &str) -> String {
    format!("plimsoll hook PostToolUse, {size}")
}

/// Returns the hook on every transcript. On the 1 MB transcript, also two other events and the hook
/// switched off.
pub(crate) fn hooks(stage: &BenchEnv, plimsoll: &Path) -> anyhow::Result<Vec<Competitor>> {
    let hook = |name: String, event, transcript| {
        let hook = Competitor::new(name, [plimsoll.as_os_str(), "hook".as_ref()]);
        anyhow::Ok(hook.with_stdin(stage.payload(event, transcript)?))
    };
    let mut hooks = Vec::new();
    for transcript in &stage.transcripts {
        hooks.push(hook(post_tool_use(transcript.label), Event::PostToolUse, transcript)?);
    }
    let middle = stage.transcript_labelled("1 MB")?;
    hooks.push(hook(PROMPT.to_owned(), Event::UserPromptSubmit, middle)?);
    hooks.push(hook(GUARD.to_owned(), Event::PreToolUse, middle)?);
    let mut off = hook(OFF.to_owned(), Event::PostToolUse, middle)?;
    off.environment.push(("PLIMSOLL", "off".into()));
    hooks.push(off);
    Ok(hooks)
}

/// The seeds' hooks that were found, the names of the others, and the server that one of them
/// calls.
pub(crate) struct Seeds {
    pub(crate) present: Vec<Seed>,
    pub(crate) missing: Vec<String>,
    _server: Option<MonitorServer>,
}

/// A seed's hook and the name of the plimsoll row that does the same job.
pub(crate) struct Seed {
    pub(crate) competitor: Competitor,
    counterpart: String,
}

impl Seeds {
    /// Adds a seed if its interpreter and script, the first two arguments, exist.
    fn add(&mut self, competitor: Competitor, rival: &str) {
        if competitor.argv.iter().take(2).all(|file| Path::new(file).is_file()) {
            self.present.push(Seed { competitor, counterpart: rival.to_owned() });
        } else {
            self.missing.push(competitor.name);
        }
    }

    /// Returns the plimsoll rows that are compared with a seed.
    pub(crate) fn counterparts(&self) -> Vec<&str> {
        self.present.iter().map(|seed| seed.counterpart.as_str()).collect()
    }

    /// Returns the row name of each seed with that of its plimsoll counterpart.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let pair = |seed: &Seed| (seed.competitor.name.clone(), seed.counterpart.clone());
        self.present.iter().map(pair).collect()
    }
}

/// Finds the seeds' hooks in `folder` without copying them.
pub(crate) fn seeds(stage: &BenchEnv, folder: &Path) -> anyhow::Result<Seeds> {
    let middle = stage.transcript_labelled("1 MB")?;
    let prompt = stage.payload(Event::UserPromptSubmit, middle)?;
    let guard = stage.payload(Event::PreToolUse, middle)?;
    let (python, bash) = (python(), PathBuf::from("/bin/bash"));
    let server = MonitorServer::start(stage, &folder.join("contexts_mcp"), &python)?;
    let monitored = if server.is_some() { "server running" } else { "no server: the script alone" };
    let jq = version("jq").unwrap_or("no jq".to_owned());
    let seed = |name: String, interpreter: &PathBuf, script: &str| {
        Competitor::new(name, [interpreter, &folder.join(script)])
    };
    let e2 = seed("E2-210 Python, 1 MB".to_owned(), &python, "e2_210/user_prompt_submit.py");
    let shell = seed(format!("ADR-11 bash + {jq}, 1 MB"), &bash, "adr11/ceiling_guard.sh");
    let adr = seed("ADR-11 Python, 1 MB".to_owned(), &python, "adr11/ceiling_guard.py");
    let name = format!("contexts-mcp bash + curl + {jq} ({monitored})");
    let mut monitor = seed(name, &bash, "contexts_mcp/context-monitor.sh");
    monitor.argv.extend([middle.truth.prompt_tokens, WINDOW].map(|n| n.to_string().into()));

    let mut seeds = Seeds { present: Vec::new(), missing: Vec::new(), _server: server };
    seeds.add(e2.with_stdin(prompt), PROMPT);
    seeds.add(shell.with_stdin(guard.clone()), GUARD);
    seeds.add(adr.with_stdin(guard), GUARD);
    seeds.add(monitor, &post_tool_use("1 MB"));
    Ok(seeds)
}

/// Returns the path of the real Python interpreter, because a version manager's shim would add to
/// the time. Empty if there is none.
pub(crate) fn python() -> PathBuf {
    let mut command = Command::new("python3");
    let output = command.args(["-c", "import sys; print(sys.executable)"]).output();
    let stdout = output.map(|output| output.stdout).unwrap_or_default();
    PathBuf::from(String::from_utf8_lossy(&stdout).trim())
}

/// Returns the path of Node. `None` if it is not installed.
pub(crate) fn node() -> Option<PathBuf> {
    let output = Command::new("node").args(["-p", "process.execPath"]).output().ok()?;
    Some(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
        .filter(|path| path.is_file())
}

fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().replace("jq-", "jq "))
}

/// The monitor's server, running until dropped.
struct MonitorServer(Child);

impl MonitorServer {
    /// Starts the server. `None` if its files or framework are missing or the port is in use.
    fn start(stage: &BenchEnv, folder: &Path, python: &Path) -> anyhow::Result<Option<Self>> {
        let mut probe = Command::new(python);
        probe.args(["-c", "import fastapi, uvicorn"]).stderr(Stdio::null());
        let port_is_free = TcpListener::bind(("127.0.0.1", MONITOR_PORT)).is_ok();
        let mut installed = || probe.status().is_ok_and(|status| status.success());
        if !folder.join("server.py").is_file() || !port_is_free || !installed() {
            return Ok(None);
        }
        let mut command = Command::new(python);
        command.args(["-B", "-m", "uvicorn", "server:app", "--no-access-log", "--port"]);
        command.arg(MONITOR_PORT.to_string()).arg("--app-dir").arg(folder);
        command.env("STORE", stage.path("tmp/contexts.db")).stdin(Stdio::null());
        let server = Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        for _ in 0..100 {
            if TcpStream::connect(("127.0.0.1", MONITOR_PORT)).is_ok() {
                return Ok(Some(server));
            }
            thread::sleep(Duration::from_millis(100));
        }
        bail!("the monitor's server does not answer on port {MONITOR_PORT}")
    }
}

impl Drop for MonitorServer {
    fn drop(&mut self) {
        // The server may already have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
