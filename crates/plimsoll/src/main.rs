//! The `plimsoll` binary.
//!
//! `hook` is answered before the command line is parsed: parsing alone would double the price of a
//! hook call.

mod cmd;
mod report;
mod ui;
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    if arguments.nth(1).is_some_and(|first| first == "hook") {
        return cmd::hook::run(arguments);
    }
    cmd::run()
}
