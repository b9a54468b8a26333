//! What a watcher tells.

use std::path::PathBuf;

use plimsoll_agents::Owner;
use plimsoll_core::entry::Boundary;
use plimsoll_core::reading::Reading;
use plimsoll_core::trigger::Trigger;
use plimsoll_core::window::Window;

/// A change in a session, or in one of its subagents.
#[derive(Clone, Debug)]
pub struct Notice {
    /// When it was noticed, in milliseconds since the epoch.
    pub at: u64,
    /// Whose it is.
    pub owner: Owner,
    /// What has changed.
    pub change: Change,
}

/// What may change.
#[derive(Clone, Debug)]
pub enum Change {
    /// It has begun, or goes on after it was over.
    Started,
    /// Its window holds more, or less, or is another.
    Read(Box<Standing>),
    /// The client has compacted it.
    Compacted(Boundary),
    /// It has written nothing for a while.
    Idle,
    /// It is over.
    Ended,
    /// Its process is gone, and nobody has said that it is over.
    Died,
}

/// How a window stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// How full it is.
    pub reading: Reading,
    /// Its size.
    pub window: Window,
    /// Where the client compacts it.
    pub trigger: Trigger,
    /// The model that answered last.
    pub model: Option<String>,
    /// The folder the agent was started in.
    pub project: PathBuf,
}
