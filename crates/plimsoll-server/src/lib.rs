//! The HTTP service: all async code of the workspace.
//!
//! `listen` accepts connections, `http` answers API requests, `pages` renders the dashboard,
//! `writer` groups many saves into one sync. `team` exchanges data with the database that a team
//! shares. Blocking work runs on separate threads.

mod auth;
mod backfill;
mod http;
mod listen;
mod live;
mod log;
mod metrics;
mod pages;
mod run_events;
mod settings_cache;
mod state;
#[cfg(feature = "team")]
pub mod team;
#[cfg(not(feature = "team"))]
#[path = "no_team.rs"]
pub mod team;
mod watch;
mod writer;

pub use http::{RunStory, RunView, openapi, router};
pub use listen::{ListenError, Server, bind};
pub use log::LogFormat;
pub use state::{AppState, ServerOptions};
