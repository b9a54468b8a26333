//! Baseline of every ratio: a process that starts and exits.

fn main() {}
