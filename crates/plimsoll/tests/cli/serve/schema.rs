//! Whatever the OpenAPI document allows or forbids is tried: schemathesis makes requests of it.

use std::path::PathBuf;
use std::process::Command;

use super::client::Running;
use crate::env::TestEnv;

/// Where `scripts/test` has installed it.
fn schemathesis() -> PathBuf {
    let cache = std::env::var_os("PLIMSOLL_TEST_CACHE")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.cache"));
    cache.join("schemathesis/bin/schemathesis")
}

#[test]
fn the_server_keeps_to_its_document_whatever_it_is_asked() {
    let env = TestEnv::new();
    let server = Running::start(&env, &["--writes-per-second", "1000000"]);
    let document = format!("http://{}/openapi.json", server.address);
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/serve/schemathesis.toml");
    let output = Command::new(schemathesis())
        .args([
            "--config-file",
            config,
            "run",
            &document,
            "--checks",
            "all",
            "--max-examples",
            "30",
            "--seed",
            "7",
        ])
        .args(["--exclude-path", "/events", "--request-timeout", "20", "--no-color"])
        .current_dir(env.home())
        .output()
        .expect("scripts/test installs schemathesis");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
