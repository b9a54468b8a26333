//! A home and a project for the client, and the prompts it is given there.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::process::{self, Group};
use super::terminal::Screen;
use super::{Client, Transcript};
use crate::ModelServer;

/// The key that the client shows to the scripted model.
pub(super) const KEY: &str = "not-a-key";

/// A fresh home with a project, in which the client knows the scripted model and nothing else.
///
/// All of it is gone when this is dropped, the processes included that the client left behind.
pub struct Sandbox {
    root: TempDir,
    program: PathBuf,
    model_url: String,
}

impl Sandbox {
    /// A place for `client` to talk to `server` from.
    pub fn new(client: &Client, server: &ModelServer) -> Self {
        let root = TempDir::with_prefix("plimsoll-").expect("a sandbox should be creatable");
        let program = client.program().to_owned();
        let sandbox = Self { root, program, model_url: server.url() };
        for folder in [sandbox.home(), sandbox.project(), sandbox.scratch()] {
            fs::create_dir_all(folder).expect("the sandbox's folders should be creatable");
        }
        sandbox
    }

    /// The user's home.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The folder the client is started in.
    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Writes the user's `settings.json`.
    pub fn user_settings(&self, settings: &Value) {
        write_settings(&self.home(), settings);
    }

    /// Writes the project's `settings.json`.
    pub fn project_settings(&self, settings: &Value) {
        write_settings(&self.project(), settings);
    }

    /// Writes an executable shell script, to serve as a hook, and says where it is.
    pub fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.root.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("the script should be writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .expect("the script should become executable");
        path
    }

    /// A headless call of the client with `text` as the user's prompt.
    pub fn prompt(&self, text: &str) -> Prompt<'_> {
        let mut command = Command::new(&self.program);
        command
            .args(["--print", "--output-format", "json"])
            .current_dir(self.project())
            .env_clear()
            .envs(self.environment());
        let timeout = Duration::from_secs(240);
        Prompt { sandbox: self, command, text: text.to_owned(), timeout, permitted: true }
    }

    /// A terminal of this size, for the client to be used on as a person would.
    pub fn terminal(&self, columns: u16, rows: u16) -> Screen<'_> {
        Screen::new(self, columns, rows)
    }

    /// All that the client gets to see of the world.
    ///
    /// The model server is also the proxy for every other host. It refuses, so nothing the client
    /// might want to tell somebody leaves the machine.
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

    /// The folder that everything is in.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// The client.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Ends every process that was started here.
    pub(super) fn kill_inhabitants(&self) {
        process::kill_inhabitants(&self.home());
    }

    fn scratch(&self) -> PathBuf {
        self.root.path().join("tmp")
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.kill_inhabitants();
    }
}

fn write_settings(folder: &Path, settings: &Value) {
    let folder = folder.join(".claude");
    fs::create_dir_all(&folder).expect("the settings folder should be creatable");
    fs::write(folder.join("settings.json"), settings.to_string())
        .expect("the settings should be writable");
}

/// A call of the client that is about to be made.
#[must_use = "a prompt does nothing until it is run"]
pub struct Prompt<'a> {
    sandbox: &'a Sandbox,
    command: Command,
    text: String,
    timeout: Duration,
    permitted: bool,
}

impl Prompt<'_> {
    /// Goes on with the project's last session.
    pub fn continuing(self) -> Self {
        self.arg("--continue")
    }

    /// Asks for `model`.
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

    /// Starts in `folder` rather than in the sandbox's project.
    pub fn directory(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Lets the client ask for permissions, which nobody gives.
    pub fn unpermitted(mut self) -> Self {
        self.permitted = false;
        self
    }

    /// Gives up after `timeout`; four minutes unless told.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs the client to its end. Panics if that does not come in time.
    pub fn run(mut self) -> Outcome {
        let captured = TempDir::new_in(self.sandbox.scratch())
            .expect("a folder for the client's output should be creatable");
        let file = |name| captured.path().join(name);
        let create = |name| File::create(file(name)).expect("an output file should be creatable");
        if self.permitted {
            self.command.arg("--dangerously-skip-permissions");
        }
        self.command.arg("--").arg(&self.text).stdin(Stdio::null());
        self.command.stdout(create("stdout")).stderr(create("stderr"));

        let status = Group::spawn(&mut self.command).wait(self.timeout);
        let read = |name| fs::read_to_string(file(name)).expect("the output should be text");
        let (stdout, stderr) = (read("stdout"), read("stderr"));
        let Some(status) = status else {
            let timeout = self.timeout;
            panic!("the client did not end within {timeout:?}\nstdout: {stdout}\nstderr: {stderr}");
        };
        Outcome { status, stdout, stderr, home: self.sandbox.home() }
    }
}

/// What came of a call of the client.
#[derive(Debug)]
pub struct Outcome {
    /// How the client ended.
    pub status: ExitStatus,
    /// What it printed: one JSON object, unless it failed early.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    home: PathBuf,
}

impl Outcome {
    /// The JSON object that ends a headless call.
    pub fn result(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|_| panic!("the client should print a result: {self:?}"))
    }

    /// The text the call ended with.
    pub fn text(&self) -> String {
        self.result()["result"].as_str().unwrap_or_default().to_owned()
    }

    /// The session the prompt went to.
    pub fn session_id(&self) -> String {
        let result = self.result();
        result["session_id"].as_str().expect("a result should name its session").to_owned()
    }

    /// The session's transcript, as it is on disk now.
    pub fn transcript(&self) -> Transcript {
        Transcript::find(&self.home, &self.session_id())
    }
}
