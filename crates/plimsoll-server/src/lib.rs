//! Everything that waits: the HTTP service. All async, and nothing below it is.
//!
//! `listen` takes connections, `door` decides who may come in, `http` answers, `writer` puts many
//! saves into one transaction. What blocks runs on a thread of its own. `team` is what goes to the
//! database that a team shares, and what is asked of it.

mod door;
mod http;
mod listen;
mod live;
mod log;
mod metrics;
mod pages;
mod past;
mod runs;
mod settings;
mod state;
pub mod team;
mod watch;
mod writer;

pub use http::{RunStory, RunView, openapi, router};
pub use listen::{CannotListen, Server, bind};
pub use log::LogForm;
pub use state::{AppState, Options};
