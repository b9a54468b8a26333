//! Builds what the static binary has in the place of slow functions of its C library.

use std::env;

fn main() {
    let source = "musl/mem.c";
    println!("cargo:rerun-if-changed={source}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_ENV", "musl") && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        // It is what loops are turned into calls of.
        let flags = ["-ffreestanding", "-fno-tree-loop-distribute-patterns"];
        cc::Build::new().file(source).opt_level(2).flags(flags).compile("plimsoll_mem");
    }
}
