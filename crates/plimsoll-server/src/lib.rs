//! Everything that waits: the HTTP service. All async, and nothing below it is.
//!
//! `listen` takes connections, `door` decides who may come in, `http` answers, `writer` puts many
//! saves into one transaction. What blocks runs on a thread of its own.

mod door;
mod http;
mod listen;
mod live;
mod log;
mod metrics;
mod pages;
mod past;
mod settings;
mod state;
mod watch;
mod writer;

pub use http::openapi;
pub use listen::{CannotListen, Server, bind};
pub use log::LogForm;
pub use state::{AppState, Options};
