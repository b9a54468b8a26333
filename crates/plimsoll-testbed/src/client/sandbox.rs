//! A temporary home and project for the client, and the prompts a test sends to it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::process::{self, ProcessGroup};
use super::terminal::TerminalBuilder;
use super::{Client, ClientTranscript};
use crate::ModelServer;

/// API key that the client presents to the scripted model.
pub(super) const KEY: &str = "not-a-key";

/// A temporary home with a project. The client in it can reach only the scripted model.
///
/// Dropping it kills the processes that the client left behind and deletes the folder.
pub struct Sandbox {
    root: TempDir,
    program: PathBuf,
    model_url: String,
}

impl Sandbox {
    /// Creates a sandbox in which `client` talks to `server`.
    pub fn new(client: &Client, server: &ModelServer) -> Self {
        let root = TempDir::with_prefix("plimsoll-").expect("a sandbox should be creatable");
        let program = client.program().to_owned();
        let sandbox = Self { root, program, model_url: server.url() };
        for folder in [sandbox.home(), sandbox.project(), sandbox.scratch()] {
            fs::create_dir_all(folder).expect("the sandbox's folders should be creatable");
        }
        sandbox
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Returns the folder that the client starts in.
    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Writes the user's `settings.json`.
    pub fn write_user_settings(&self, settings: &Value) {
        write_settings(&self.home(), settings);
    }

    /// Writes the project's `settings.json`.
    pub fn write_project_settings(&self, settings: &Value) {
        write_settings(&self.project(), settings);
    }

    /// Writes an executable shell script, for use as a hook, and returns its path.
    pub fn write_script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.root.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("the script should be writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .expect("the script should become executable");
        path
    }

    /// Prepares a headless call of the client with `text` as the user's prompt.
    pub fn prompt(&self, text: &str) -> Prompt<'_> {
        let mut command = Command::new(&self.program);
        command
            .args(["--print", "--output-format", "json"])
            .current_dir(self.project())
            .env_clear()
            .envs(self.environment());
        let timeout = Duration::from_secs(240);
        Prompt { sandbox: self, command, text: text.to_owned(), timeout, skip_permissions: true }
    }

    /// Prepares a terminal of the given size, for interactive use of the client.
    pub fn terminal(&self, columns: u16, rows: u16) -> TerminalBuilder<'_> {
        TerminalBuilder::new(self, columns, rows)
    }

    /// Returns the client's whole environment.
    ///
    /// The model server is also the proxy for every other host and refuses those requests, so no
    /// telemetry leaves the machine.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let path = |path: PathBuf| path.display().to_string();
        vec![
            ("HOME", path(self.home())),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("SHELL", "/bin/bash".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TMPDIR", path(self.scratch())),
            ("CLAUDE_CODE_TMPDIR", path(self.scratch())),
            ("ANTHROPIC_API_KEY", KEY.to_owned()),
            ("ANTHROPIC_BASE_URL", self.model_url.clone()),
            ("HTTP_PROXY", self.model_url.clone()),
            ("HTTPS_PROXY", self.model_url.clone()),
            ("NO_PROXY", "127.0.0.1,localhost".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("IS_SANDBOX", "1".to_owned()),
        ]
    }

    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Returns the client's executable.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Kills every process that was started in this sandbox.
    pub(super) fn kill_processes(&self) {
        process::kill_processes_of_home(&self.home());
    }

    fn scratch(&self) -> PathBuf {
        self.root.path().join("tmp")
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.kill_processes();
    }
}

fn write_settings(folder: &Path, settings: &Value) {
    let folder = folder.join(".claude");
    fs::create_dir_all(&folder).expect("the settings folder should be creatable");
    fs::write(folder.join("settings.json"), settings.to_string())
        .expect("the settings should be writable");
}

/// A prepared call of the client.
#[must_use = "a prompt does nothing until it is run"]
pub struct Prompt<'a> {
    sandbox: &'a Sandbox,
    command: Command,
    text: String,
    timeout: Duration,
    skip_permissions: bool,
}

impl Prompt<'_> {
    /// Continues the project's last session.
    pub fn continue_last_session(self) -> Self {
        self.arg("--continue")
    }

    /// Passes `--model`.
    pub fn model(self, model: &str) -> Self {
        self.arg("--model").arg(model)
    }

    /// Adds an argument to the command line.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts in `folder` instead of the sandbox's project.
    pub fn directory(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Lets the client ask for permissions, which are never granted.
    pub fn ask_for_permissions(mut self) -> Self {
        self.skip_permissions = false;
        self
    }

    /// Sets the time limit, which is four minutes by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs the client until it exits. Panics if it exceeds the time limit.
    pub fn run(mut self) -> Outcome {
        let captured = TempDir::new_in(self.sandbox.scratch())
            .expect("a folder for the client's output should be creatable");
        let file = |name| captured.path().join(name);
        let create = |name| File::create(file(name)).expect("an output file should be creatable");
        if self.skip_permissions {
            self.command.arg("--dangerously-skip-permissions");
        }
        self.command.arg("--").arg(&self.text).stdin(Stdio::null());
        self.command.stdout(create("stdout")).stderr(create("stderr"));

        let status = ProcessGroup::spawn(&mut self.command).wait(self.timeout);
        let read = |name| fs::read_to_string(file(name)).expect("the output should be text");
        let (stdout, stderr) = (read("stdout"), read("stderr"));
        let Some(status) = status else {
            let timeout = self.timeout;
            panic!("the client did not end within {timeout:?}\nstdout: {stdout}\nstderr: {stderr}");
        };
        Outcome { status, stdout, stderr, home: self.sandbox.home() }
    }
}

/// Result of one client call.
#[derive(Debug)]
pub struct Outcome {
    pub status: ExitStatus,
    /// One JSON object, unless the client failed early.
    pub stdout: String,
    pub stderr: String,
    home: PathBuf,
}

impl Outcome {
    /// Parses the JSON object that a headless call prints.
    pub fn result(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|_| panic!("the client should print a result: {self:?}"))
    }

    /// Returns the final text of the call.
    pub fn text(&self) -> String {
        self.result()["result"].as_str().unwrap_or_default().to_owned()
    }

    pub fn session_id(&self) -> String {
        let result = self.result();
        result["session_id"].as_str().expect("a result should name its session").to_owned()
    }

    /// Reads the session's transcript from disk.
    pub fn transcript(&self) -> ClientTranscript {
        ClientTranscript::find(&self.home, &self.session_id())
    }
}
