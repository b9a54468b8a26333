//! Test support shared by all suites: the real client, headless or in a terminal, against a
//! scripted model.
//!
//! A test starts a [`ModelServer`] with a [`Script`], installs a [`Client`], creates a [`Sandbox`]
//! for it and sends prompts. Nothing here depends on plimsoll, so the testbed works with any hook.
//! Any failure here is a failure of the test and panics with a message.

pub mod client;
pub mod generator;
pub mod model_server;
pub mod postgres;
pub mod settings;

pub use client::{
    Client, ClientTranscript, Outcome, Prompt, SUPPORTED_VERSIONS, Sandbox, Terminal,
    TerminalBuilder,
};
pub use model_server::{AnswerUsage, ModelAnswer, ModelRequest, ModelServer, RequestKind, Script};
pub use postgres::Postgres;
pub use settings::Hooks;
