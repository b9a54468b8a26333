//! The `plimsoll` binary.
//!
//! `hook` is answered before the command line is parsed: parsing alone would double the price of a
//! hook call.

mod cmd;
mod diff;
mod ingest;
mod layout;
mod listing;
mod past;
mod report;
mod tui;
mod ui;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

/// The C library of the shipped binary gives every freed page back to the system at once, and asks for
/// it again: half of what a fold of many small texts costs.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: rustix_dlmalloc::GlobalDlmalloc = rustix_dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    match arguments.next() {
        Some(first) if first == "hook" && !asks_for_help(arguments.peek()) => {
            cmd::hook::run(arguments)
        }
        Some(_) => cmd::run(),
        None => {
            cmd::hook::run_if_piped();
            cmd::run()
        }
    }
}

/// Whether a person is asking: an agent never does, and must never see the exit code of misuse.
fn asks_for_help(argument: Option<&OsString>) -> bool {
    argument.is_some_and(|argument| argument == "--help" || argument == "-h")
}
