//! The floor of every ratio: a process that starts and ends.

fn main() {}
