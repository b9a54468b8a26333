//! `plimsoll hook`

mod bad_input;
mod guard;
mod killed;
mod settings;
mod state;
mod warning;
