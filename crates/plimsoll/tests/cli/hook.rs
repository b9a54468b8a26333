//! `plimsoll hook`

mod bad_input;
mod beginning;
pub(crate) mod checkpoints;
mod guard;
pub(crate) mod killed;
mod saves;
mod settings;
mod state;
mod warning;

pub(crate) use checkpoints::worked;
