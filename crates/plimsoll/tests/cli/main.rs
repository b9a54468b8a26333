//! The binary, driven as a user or an agent would: a temporary home, an empty environment.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod env;
mod help;
mod hook;
mod measure;
mod status;
mod tax;
mod transcript;
