//! Downloads the client's package into the cache.
//!
//! The cache is `.cache` in the workspace, or the folder in `PLIMSOLL_TEST_CACHE`.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the executable of `version`, installing it first if necessary.
///
/// One process downloads while the others wait on the lock. The finished package is renamed into
/// place, so an interrupted download never looks installed.
pub(super) fn ensure_installed(version: &str) -> PathBuf {
    let clients = clients();
    let program = clients.join(version).join("claude");
    if !program.exists() {
        let lock = File::create(clients.join(".lock")).expect("the cache's lock should open");
        lock.lock().expect("the cache should be lockable");
        if !program.exists() {
            fetch(version, &clients);
        }
    }
    program
}

/// Returns the folder of installed clients with symlinks resolved, because npm resolves `..`
/// textually.
fn clients() -> PathBuf {
    let cache = std::env::var_os("PLIMSOLL_TEST_CACHE").map(PathBuf::from);
    let ours = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache");
    let clients = cache.unwrap_or_else(ours).join("clients");
    fs::create_dir_all(&clients).expect("the client cache should be creatable");
    clients.canonicalize().expect("the client cache should be there")
}

fn fetch(version: &str, clients: &Path) {
    let package = Package::of(version);
    let name = package.name();
    let staging = clients.join(".install");
    clear(&staging);
    fs::create_dir(&staging).expect("a folder to install the client in should be creatable");
    let npm = Command::new("npm")
        .args(["install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"])
        .args(["--loglevel=error", "--prefix"])
        .arg(&staging)
        .arg(format!("{name}@{version}"))
        .current_dir(&staging)
        .output()
        .expect("npm should be installed, it fetches the client");
    let complaint = String::from_utf8_lossy(&npm.stderr);
    assert!(npm.status.success(), "npm could not install `{name}@{version}`: {complaint}");
    let installed = staging.join("node_modules").join(name);
    if package == Package::Script {
        symlink("cli.js", installed.join("claude")).expect("the script should get its name");
    }
    fs::rename(installed, clients.join(version))
        .expect("the installed client should fit into the cache");
    clear(&staging);
}

/// Removes the leftovers of a finished or interrupted download.
fn clear(staging: &Path) {
    if staging.exists() {
        fs::remove_dir_all(staging).expect("the installation folder should be removable");
    }
}

/// npm package that contains a version of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Package {
    /// Native executable that does not need Node.
    Executable,
    /// Node script.
    Script,
}

impl Package {
    /// Returns the package type of `version`. Native executables are published since 2.1.110.
    fn of(version: &str) -> Self {
        let patch = version.strip_prefix("2.1.").and_then(|patch| patch.parse().ok());
        match patch.is_some_and(|patch: u32| patch < 110) {
            true => Self::Script,
            false => Self::Executable,
        }
    }

    fn name(self) -> &'static str {
        match (self, std::env::consts::ARCH) {
            (Self::Script, _) => "@anthropic-ai/claude-code",
            (Self::Executable, "x86_64") => "@anthropic-ai/claude-code-linux-x64",
            (Self::Executable, "aarch64") => "@anthropic-ai/claude-code-linux-arm64",
            (Self::Executable, arch) => panic!("there is no client to test with for `{arch}`"),
        }
    }
}
