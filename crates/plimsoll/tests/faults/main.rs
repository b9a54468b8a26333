//! Faults, whatever they hit: writers that are killed or fail at any system call, full, read-only and
//! vanished folders, clocks that jump, damaged files, other versions of ourselves.
//!
//! Everything random comes from one seed. `scripts/faults` runs this for long; see docs/faults.md.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod campaign;
mod clock;
mod damage;
mod disk;
#[expect(dead_code, reason = "the suite `cli` uses all of it")]
#[path = "../cli/env.rs"]
mod env;
mod fault;
mod invariants;
#[expect(dead_code, reason = "the suite `cli` uses all of it")]
#[path = "../cli/transcript.rs"]
mod transcript;
mod versions;
mod writers;
