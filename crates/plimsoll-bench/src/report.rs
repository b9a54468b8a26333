//! What is printed. Nothing else prints.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this module is the report")]

use std::time::Duration;

use crate::gates::{Gate, Verdict};
use crate::load::Held;
use crate::section::Section;

/// Says what is being done; a full run takes a while.
pub(crate) fn note(text: &str) {
    eprintln!("{text} …");
}

/// Says what is held while sessions work for so long.
pub(crate) fn progress(held: &Held, lasts: Duration) {
    let Held { seconds, handles, threads, connections, files, checkpoints, .. } = held;
    let megabytes = held.memory_bytes as f64 / 1e6;
    eprintln!(
        "{seconds:5} of {} s: {megabytes:.1} MB, {handles} handles, {threads} threads, {connections} connections, {files} files, {checkpoints} checkpoints",
        lasts.as_secs()
    );
}

/// Says which promises were not kept, and which could not be judged.
pub(crate) fn verdicts<'a>(gates: impl Iterator<Item = &'a Gate>) {
    for Gate { promise, measured, verdict } in gates {
        if *verdict != Verdict::Kept {
            eprintln!("{}: {promise}: {measured}", verdict.word());
        }
    }
}

/// Prints what all parts came to, as Markdown.
pub(crate) fn print(sections: &[Section]) {
    for section in sections {
        println!("{}", section.markdown(""));
    }
}
