//! All output of the benchmark. No other module prints.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this module is the report")]

use std::time::Duration;

use crate::gates::{Gate, Verdict};
use crate::load::ResourceSample;
use crate::section::Section;

/// Prints the current step, because a full run takes a while.
pub(crate) fn print_step(text: &str) {
    eprintln!("{text} …");
}

/// Prints a resource sample of a run that takes `lasts`.
pub(crate) fn print_sample(held: &ResourceSample, lasts: Duration) {
    let ResourceSample { seconds, handles, threads, connections, files, checkpoints, .. } = held;
    let megabytes = held.memory_bytes as f64 / 1e6;
    eprintln!(
        "{seconds:5} of {} s: {megabytes:.1} MB, {handles} handles, {threads} threads, {connections} connections, {files} files, {checkpoints} checkpoints",
        lasts.as_secs()
    );
}

/// Prints the promises that were missed or could not be judged.
pub(crate) fn print_missed_gates<'a>(gates: impl Iterator<Item = &'a Gate>) {
    for Gate { promise, measured, verdict } in gates {
        if *verdict != Verdict::Kept {
            eprintln!("{}: {promise}: {measured}", verdict.label());
        }
    }
}

/// Prints the sections as Markdown.
pub(crate) fn print_sections(sections: &[Section]) {
    for section in sections {
        println!("{}", section.markdown(""));
    }
}
