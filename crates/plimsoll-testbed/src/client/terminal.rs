//! The client in a terminal, as a user sees it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::sandbox::{KEY, Sandbox};

/// How long the client may take to show something it always shows.
const TIMEOUT: Duration = Duration::from_secs(180);

/// A terminal in which the client has not been started yet.
#[must_use = "a terminal does nothing until it is started"]
pub struct TerminalBuilder<'a> {
    sandbox: &'a Sandbox,
    columns: u16,
    rows: u16,
    args: Vec<OsString>,
    variables: Vec<(String, OsString)>,
}

impl<'a> TerminalBuilder<'a> {
    pub(super) fn new(sandbox: &'a Sandbox, columns: u16, rows: u16) -> Self {
        Self { sandbox, columns, rows, args: Vec::new(), variables: Vec::new() }
    }

    /// Passes `--model`.
    pub fn model(self, model: &str) -> Self {
        self.arg("--model").arg(model)
    }

    /// Adds an argument to the command line.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Starts the client and waits until it accepts a prompt.
    pub fn start(self) -> Terminal<'a> {
        skip_first_start_questions(&self.sandbox.home(), &self.sandbox.project());
        let mut terminal = Terminal {
            sandbox: self.sandbox,
            socket: self.sandbox.root().join("tmux"),
            server: None,
        };
        assert!(!terminal.socket.exists(), "a sandbox has room for one terminal");
        terminal.server = Some(terminal.open(&self));
        terminal.wait_for(is_waiting, TIMEOUT);
        terminal
    }
}

/// Answers the client's first-start questions in advance: its theme, whether it may use the key in
/// its environment, and whether to trust the project.
fn skip_first_start_questions(home: &Path, project: &Path) {
    let path = home.join(".claude.json");
    let known = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut state: Value = known.unwrap_or_else(|| json!({}));
    state["hasCompletedOnboarding"] = json!(true);
    state["theme"] = json!("dark");
    state["bypassPermissionsModeAccepted"] = json!(true);
    // The client identifies a key by its last twenty characters; this one is shorter.
    state["customApiKeyResponses"] = json!({ "approved": [KEY], "rejected": [] });
    state["projects"][project.to_string_lossy().as_ref()]["hasTrustDialogAccepted"] = json!(true);
    fs::write(path, state.to_string()).expect("the client's state should be writable");
}

/// Returns true if the client waits for a prompt, that is, shows an empty input line.
fn is_waiting(screen: &str) -> bool {
    screen.lines().any(|line| line.trim_end() == "❯" || line.starts_with("❯\u{a0}"))
}

/// The client, running in its own terminal.
///
/// The terminal is a private tmux server. Dropping it kills every process in the sandbox; files
/// that the client wrote stay until the sandbox is dropped.
pub struct Terminal<'a> {
    sandbox: &'a Sandbox,
    socket: PathBuf,
    server: Option<Pid>,
}

impl Terminal<'_> {
    /// Types `text` and presses Enter.
    ///
    /// Waits until the text is on screen before pressing Enter. Otherwise the client treats all of
    /// it as pasted, and Enter only starts a new line.
    pub fn type_line(&self, text: &str) {
        self.tmux(&["send-keys", "-l", "--", text]);
        self.wait_for(
            |screen| without_whitespace(input(screen)).contains(&without_whitespace(text)),
            TIMEOUT,
        );
        self.press("Enter");
    }

    /// Presses a key, given by its tmux name, such as `Escape` or `C-c`.
    pub fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Returns the screen contents as plain text.
    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Returns the screen contents with colours as escape sequences.
    pub fn screen_coloured(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e"])
    }

    /// Waits until `wanted` accepts the screen, and returns it. Panics with the last screen
    /// otherwise.
    pub fn wait_for(&self, wanted: impl Fn(&str) -> bool, timeout: Duration) -> String {
        let deadline = Instant::now() + timeout;
        loop {
            let ended = self.has_ended();
            let screen = self.screen();
            if wanted(&screen) {
                return screen;
            }
            assert!(!ended, "the client has ended:\n{screen}");
            assert!(Instant::now() < deadline, "not within {timeout:?}:\n{screen}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the client with `/exit` and waits until it has stopped.
    pub fn exit(self) {
        self.type_line("/exit");
        let deadline = Instant::now() + TIMEOUT;
        while !self.has_ended() {
            assert!(Instant::now() < deadline, "the client does not end:\n{}", self.screen());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts the tmux server with the client in its only window. The window outlives the client,
    /// so that its last output can be read.
    fn open(&self, screen: &TerminalBuilder<'_>) -> Pid {
        let (columns, rows) = (screen.columns.to_string(), screen.rows.to_string());
        let mut command = self.command();
        command
            .args(["start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"])
            .args(["set-option", "-g", "default-terminal", "tmux-256color", ";"])
            .args(["new-session", "-d", "-P", "-F", "#{pid}", "-x", &columns, "-y", &rows])
            .arg("-c")
            .arg(self.sandbox.project())
            .arg(self.sandbox.program())
            .arg("--dangerously-skip-permissions")
            .args(&screen.args)
            .envs(screen.variables.iter().map(|(name, value)| (name, value)));
        let pid = text(command.output());
        pid.trim().parse().ok().and_then(Pid::from_raw).expect("tmux should tell its server's pid")
    }

    fn has_ended(&self) -> bool {
        self.tmux(&["display-message", "-p", "#{pane_dead}"]).trim() == "1"
    }

    fn tmux(&self, args: &[&str]) -> String {
        text(self.command().args(args).output())
    }

    /// Builds a tmux call with the sandbox's environment, so that the tmux server is killed along
    /// with the sandbox's other processes.
    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.env_clear().envs(self.sandbox.environment()).env("TERM", "xterm-256color");
        command.arg("-u").args(["-f", "/dev/null", "-S"]).arg(&self.socket);
        command
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if let Some(server) = self.server {
            // The server may already have ended.
            let _ = kill_process(server, Signal::KILL);
        }
        self.sandbox.kill_processes();
        // A killed server leaves its socket, which would block the next terminal.
        let _ = fs::remove_file(&self.socket);
    }
}

/// Returns the part of the screen from the input prompt on.
fn input(screen: &str) -> &str {
    screen.rfind('❯').map_or("", |at| &screen[at..])
}

/// Removes all whitespace, because it differs where the terminal wraps a line.
fn without_whitespace(text: &str) -> String {
    text.split_whitespace().collect()
}

fn text(output: std::io::Result<Output>) -> String {
    let output = output.expect("tmux should be installed, it is the client's terminal");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tmux failed: {complaint}");
    String::from_utf8(output.stdout).expect("a screen should be text")
}
