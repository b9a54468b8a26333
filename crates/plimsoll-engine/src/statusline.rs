//! The status line: how the session stands, what the hooks are to know of it, and the user's own
//! status line beside ours.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use plimsoll_agents::Adapter;
use plimsoll_core::Tokens;
use plimsoll_core::event::Status;
use plimsoll_core::models;
use plimsoll_core::session::{ProvenWindow, SessionState};
use plimsoll_core::trigger::{self, Trigger};
use plimsoll_core::window::WindowSource;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::load;
use crate::paths;
use crate::settings;
use crate::spool::{self, Locked, SpoolLine};
use crate::world::{World, now};

/// How a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What the window holds; nothing as long as nobody knows.
    pub used: Option<Tokens>,
    /// The window.
    pub window: Tokens,
    /// Where the client compacts it.
    pub trigger: Trigger,
}

/// How the session stands of which the client tells its status line.
pub fn standing(world: &World, adapter: &dyn Adapter, status: &Status) -> Standing {
    let project = paths::canonical(&load::project(world, adapter, None, &status.project));
    let in_force = settings::load(world, adapter, &project);
    let window = in_force.settings.window.unwrap_or(status.window);
    let variant = models::variant(&status.model, status.long_context);
    let seen = in_force.seen(Some(&variant), status.version.as_deref());
    let trigger = trigger::resolve(window, Some(&status.model), &in_force.client, seen);
    Standing { used: status.used, window, trigger }
}

/// Tells the hooks the window: nobody else learns it from the client itself.
pub fn remember(world: &World, status: &Status) -> anyhow::Result<()> {
    let path = world.paths.spool_of(&status.session, None);
    let window = ProvenWindow {
        tokens: status.window,
        source: WindowSource::StatusLine,
        model: status.model.clone(),
    };
    let is_news = |state: &SessionState| state.window.as_ref() != Some(&window);
    if !is_news(&spool::state(&path).context("could not read the spool")?) {
        return Ok(());
    }
    let Some(locked) = Locked::open(&path).context("could not lock the spool")? else {
        return Ok(());
    };
    let state = spool::state(&path).context("could not read the spool")?;
    if !is_news(&state) {
        return Ok(());
    }
    let line = SpoolLine {
        at: now(),
        what: "window".to_owned(),
        used: status.used.unwrap_or_default(),
        window: status.window,
        state: SessionState { window: Some(window), ..state },
    };
    locked.append(&line).context("could not write the spool")
}

/// Set for the command we wrap, so that a status line that wraps itself ends there.
pub const WRAPPING: &str = "PLIMSOLL_STATUSLINE";

/// How long the wrapped command may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// More than this nobody shows in a status line.
const LONGEST_OUTPUT: u64 = 64 << 10;

/// The user's own status line, running.
#[derive(Debug)]
pub struct Wrapped {
    child: Child,
    output: Receiver<Vec<u8>>,
}

impl Wrapped {
    /// Starts `command` as the client would: by the shell, with the same payload.
    pub fn start(command: &str, payload: Vec<u8>) -> std::io::Result<Self> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", command])
            .env(WRAPPING, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (done, output) = mpsc::channel();
        // A command that stops listening, or that nobody waits for any more, has done what it could.
        thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&payload)));
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.map(|stdout| stdout.take(LONGEST_OUTPUT).read_to_end(&mut bytes));
            read.map(|_| done.send(bytes))
        });
        Ok(Self { child, output })
    }

    /// What it printed; nothing if that took too long.
    pub fn output(mut self) -> Vec<u8> {
        let output = self.output.recv_timeout(PATIENCE);
        if output.is_err() {
            // It may have ended in this very moment.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.wait();
        output.unwrap_or_default()
    }
}
