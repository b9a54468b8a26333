//! The functions that the static binary has in the place of its C library's own.

use std::process::Command;

#[test]
fn bytes_are_moved_and_compared_as_the_c_library_does() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("test");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/musl/test.c");
    let flags = ["-O2", "-ffreestanding", "-fno-tree-loop-distribute-patterns", "-Wall", "-Werror"];
    let built =
        Command::new("cc").args(flags).arg(source).arg("-o").arg(&program).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&program).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}
