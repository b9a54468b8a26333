//! `plimsoll hook`

mod bad_input;
mod beginning;
mod checkpoints;
mod guard;
mod killed;
mod settings;
mod state;
mod warning;
