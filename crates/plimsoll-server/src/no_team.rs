//! Replaces `team` in a build without the feature of that name: nobody is on other machines, and
//! nothing is sent.

use std::io;
use std::path::Path;

use plimsoll_core::event::SessionId;
use plimsoll_core::settings::DatabaseUrl;
use plimsoll_engine::world::World;
pub use plimsoll_store::RemoteSession;

/// The error of everything that needs the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("this build of plimsoll has no team database")]
pub struct TeamError;

impl TeamError {
    pub fn is_temporary(&self) -> bool {
        false
    }

    /// Returns advice on how to fix the error.
    pub fn hint(&self) -> &'static str {
        "install a build with it: `scripts/install`, or `cargo build` without `--no-default-features`"
    }
}

/// Accepts any address, because none is used.
pub fn check_url(_: &DatabaseUrl) -> Result<(), TeamError> {
    Ok(())
}

pub fn sessions_named(_: &World, _: &str) -> anyhow::Result<Vec<SessionId>> {
    Ok(Vec::new())
}

pub fn sessions_among(_: &World, _: &str) -> anyhow::Result<Vec<RemoteSession>> {
    Ok(Vec::new())
}

pub fn send_messages(_: &World) -> anyhow::Result<()> {
    Err(TeamError.into())
}

pub fn end_claim(_: &World, _: &Path) -> anyhow::Result<()> {
    Ok(())
}

/// Sends nothing.
pub struct Shipper;

impl Shipper {
    pub fn start<W: AsRef<World> + Send + 'static>(
        _: W,
        _: impl Fn(&str) + Send + 'static,
    ) -> io::Result<Self> {
        Ok(Self)
    }

    pub fn finish(self) {}
}
