//! Test support shared by all suites: the real client, headless or on a terminal, against a scripted
//! model.
//!
//! A test starts a [`ModelServer`] with a [`Script`], installs a [`Client`], gives it a
//! [`Sandbox`] to live in and prompts it. Nothing here knows plimsoll itself, so the same bed
//! carries any hook. What goes wrong here is a fault of the test, so it panics with a sentence.

pub mod client;
pub mod generator;
pub mod model_server;
pub mod postgres;
pub mod settings;

pub use client::{Client, Outcome, Prompt, SUPPORTED, Sandbox, Screen, Terminal, Transcript};
pub use model_server::{Answer, Kind, ModelServer, Request, Script, Usage};
pub use postgres::Postgres;
pub use settings::Hooks;
