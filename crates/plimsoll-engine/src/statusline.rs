//! The status line: the state of a session, what the hooks learn from the client's payload, and the
//! user's own status line beside ours.

use std::io;
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use plimsoll_agents::Agent;
use plimsoll_core::Tokens;
use plimsoll_core::event::Status;
use plimsoll_core::models;
use plimsoll_core::session::{ProvenWindow, SessionState};
use plimsoll_core::trigger::{self, Trigger};
use plimsoll_core::window::{self, Window, WindowFacts, WindowSource};

use crate::child::{self, Ran};
use crate::load;
use crate::paths;
use crate::settings;
use crate::spool::{self, Locked, SpoolLine};
use crate::world::{World, now};

/// State of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Tokens in the window; `None` if unknown.
    pub used: Option<Tokens>,
    pub window: Tokens,
    /// Where the client compacts the window.
    pub trigger: Trigger,
    /// Age of the session's last checkpoint, in seconds.
    pub sealed_before: Option<u64>,
}

/// Returns the state of the session that the client reports to its status line.
pub fn standing(world: &World, agent: &'static dyn Agent, status: &Status) -> Standing {
    let project = paths::canonical(&load::project(world, agent, None, &status.project));
    let in_force = settings::load(world, agent, &project);
    let (models, client) = (&in_force.settings.models, &in_force.client);
    let facts = WindowFacts {
        override_tokens: in_force.settings.window,
        proven: Some(Window { tokens: status.window, source: WindowSource::StatusLine }),
        model: Some(&status.model),
        long_context: status.long_context,
        ..WindowFacts::default()
    };
    let window = window::resolve(&facts, models, client);
    let client_window = window::of_client(window, &facts, models, client).tokens;
    let variant = models::variant(&status.model, status.long_context);
    let seen = in_force.seen(Some(&variant), status.version.as_deref());
    let trigger = trigger::resolve(client_window, Some(&status.model), client, seen);
    // An unreadable spool counts as one without a checkpoint.
    let state = spool::state(&world.paths.spool_of(&status.session, None)).unwrap_or_default();
    let sealed_before = state.sealed.map(|sealed| now().saturating_sub(sealed.at) / 1000);
    Standing { used: status.used, window: window.tokens, trigger, sealed_before }
}

/// Records the window for the hooks, which cannot learn its size from the client otherwise.
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
        what: spool::WINDOW.to_owned(),
        used: status.used.unwrap_or_default(),
        window: status.window,
        state: SessionState { window: Some(window), ..state },
    };
    locked.append(&line).context("could not write the spool")
}

/// Set for the wrapped command, so that a status line that wraps itself ends there.
pub const WRAPPING: &str = "PLIMSOLL_STATUSLINE";

/// Time limit for the wrapped command.
const PATIENCE: Duration = Duration::from_secs(2);

/// The user's own status line, running.
#[derive(Debug)]
pub struct Wrapped(JoinHandle<io::Result<Ran>>);

impl Wrapped {
    /// Starts `command` as the client would: in a shell, with the same payload.
    pub fn start(command: String, payload: Vec<u8>) -> Self {
        Self(thread::spawn(move || run(&command, payload)))
    }

    /// Returns the output so far, and the error if any.
    pub fn output(self) -> (Vec<u8>, Option<String>) {
        match self.0.join() {
            Ok(Ok(Ran { stdout, status: Some(status) })) if !status.success() => {
                (stdout, Some(format!("it failed ({status})")))
            }
            Ok(Ok(Ran { stdout, status: Some(_) })) => (stdout, None),
            Ok(Ok(Ran { stdout, status: None })) => {
                (stdout, Some(format!("it took longer than {} s", PATIENCE.as_secs())))
            }
            Ok(Err(error)) => (Vec::new(), Some(error.to_string())),
            Err(_) => (Vec::new(), Some("it panicked".to_owned())),
        }
    }
}

/// Runs the shell under `timeout` if that is installed: the client may kill us at any moment, and
/// the wrapped command should not outlive us.
fn run(command: &str, payload: Vec<u8>) -> io::Result<Ran> {
    let shell = ["/bin/sh", "-c", command];
    let mut guarded = Command::new("timeout");
    guarded.args(["-s", "KILL", &PATIENCE.as_secs().to_string()]).args(shell);
    match child::run(guarded.env(WRAPPING, "1"), payload.clone(), PATIENCE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut plain = Command::new(shell[0]);
            child::run(plain.args(&shell[1..]).env(WRAPPING, "1"), payload, PATIENCE)
        }
        ran => ran,
    }
}
