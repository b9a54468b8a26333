//! What a test needs of an agent's client.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::env::{Ran, TestEnv};

/// The client of an agent, as far as plimsoll can tell it from the real one: its files and its payloads.
pub(crate) trait Client {
    /// The agent's id.
    fn agent(&self) -> &'static str;

    /// The folder in a project that its checkpoints lie in.
    fn checkpoint_folder(&self) -> &'static str;

    /// Tokens at which a warning is due, in a window of 200,000.
    fn warned_at(&self) -> u64;

    /// Where the transcript of a session lies, from the home folder.
    fn transcript(&self, session: &str) -> String;

    /// The records of a session that begins, is asked to paint the hull, and writes `hull.rs`.
    fn work(&self, project: &Path) -> String;

    /// The records of the next response, after which the window holds `used` tokens. `number` counts the
    /// responses.
    fn response(&self, project: &Path, number: u32, used: u64) -> String;

    /// Compacts the session as the client does, and returns what the model is given after it.
    fn compact(&self, session: &Session<'_>) -> Option<String>;

    /// The payload of an event.
    fn payload(&self, event: Event, session: &Session<'_>) -> Value;

    /// Reads an answer as the client does.
    fn read(&self, ran: &Ran) -> Reply;

    /// The user's settings file, from the home folder.
    fn settings_file(&self) -> &'static str;

    /// A settings file that a user has written.
    fn user_settings(&self) -> &'static str;

    /// A machine on which the client is installed.
    fn installed_on(&self, env: TestEnv) -> TestEnv;
}

/// What a client reports to its hooks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Prompt,
    SpawnAgent,
    ToolDone,
    /// The conversation was compacted, for clients that say so.
    Compacted,
}

/// What a client makes of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) to_user: Option<String>,
    pub(crate) to_model: Option<String>,
    pub(crate) refusal: Option<String>,
}

/// A session of a client.
pub(crate) struct Session<'e> {
    pub(crate) client: &'static dyn Client,
    pub(crate) env: &'e TestEnv,
    pub(crate) id: &'static str,
    responses: std::cell::Cell<u32>,
}

impl<'e> Session<'e> {
    pub(crate) fn new(client: &'static dyn Client, env: &'e TestEnv, id: &'static str) -> Self {
        Self { client, env, id, responses: std::cell::Cell::new(0) }
    }

    pub(crate) fn transcript(&self) -> PathBuf {
        self.env.home().join(self.client.transcript(self.id))
    }

    /// Appends records to the transcript.
    pub(crate) fn append(&self, records: &str) -> &Self {
        let path = self.transcript();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
        file.write_all(records.as_bytes()).unwrap();
        self
    }

    /// Begins the session: it is asked to paint the hull, and writes `hull.rs`.
    pub(crate) fn work(&self) -> &Self {
        self.append(&self.client.work(&self.env.project()))
    }

    /// The model responds; the window holds `used` tokens then.
    pub(crate) fn respond(&self, used: u64) -> &Self {
        self.responses.set(self.responses.get() + 1);
        let project = self.env.project();
        self.append(&self.client.response(&project, self.responses.get(), used))
    }

    /// Calls the hook, and returns what the client makes of the answer.
    pub(crate) fn hook(&self, event: Event) -> Reply {
        self.call(&self.client.payload(event, self))
    }

    /// Calls the hook with one more field in the payload.
    pub(crate) fn hook_with(&self, event: Event, name: &str, value: Value) -> Reply {
        let mut payload = self.client.payload(event, self);
        payload[name] = value;
        self.call(&payload)
    }

    fn call(&self, payload: &Value) -> Reply {
        let command = self.env.command(&["hook", "--agent", self.client.agent()]);
        let ran = self.env.run(command, payload.to_string().as_bytes());
        assert_eq!(self.env.log(), Vec::<String>::new(), "{}", self.client.agent());
        self.client.read(&ran)
    }

    /// Compacts the conversation, and returns what the model is given after it.
    pub(crate) fn compact(&self) -> Option<String> {
        self.client.compact(self)
    }
}

/// Puts a program that prints its version where the shell looks for programs.
pub(crate) fn with_program(env: TestEnv, name: &str, version: &str) -> TestEnv {
    use std::os::unix::fs::PermissionsExt;
    let path = env.write(&format!("bin/{name}"), format!("#!/bin/sh\necho '{version}'\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let folder = path.parent().unwrap().to_str().unwrap().to_owned();
    env.with("PATH", &format!("{folder}:/usr/bin:/bin"))
}
