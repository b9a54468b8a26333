//! Runs libFuzzer on the target in `PLIMSOLL_FUZZ_TARGET`. `scripts/fuzz` starts it.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::{Target, find};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("PLIMSOLL_FUZZ_TARGET").unwrap_or_default();
    find(&name).expect("PLIMSOLL_FUZZ_TARGET must name a target")
});

fuzz_target!(|input: &[u8]| (TARGET.run)(input));
