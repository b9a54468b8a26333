//! `scripts/release` and `install.sh`: what people get, put together of the binary under test.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::env::{Ran, TestEnv};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A release in a folder of its own.
struct Release {
    env: TestEnv,
    folder: PathBuf,
}

impl Release {
    fn new() -> Self {
        let env = TestEnv::new().with("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        // A tenth of the size is packed in a tenth of the time.
        let stripped = env.run(env.shell("strip -o \"$1\" \"$0\"", &["../stripped"]), b"");
        assert!(stripped.status.success(), "{stripped}");
        let folder = env.path("target").join(format!("plimsoll-{VERSION}"));
        let release = Self { env, folder };
        release.pack();
        release
    }

    fn pack(&self) {
        // Cargo is asked what the binary is made of, and is where the tests have it from.
        let output = Command::new(repository().join("scripts/release"))
            .args(["--binary", self.env.path("stripped").to_str().unwrap()])
            .env("CARGO_TARGET_DIR", self.env.path("target"))
            .output()
            .unwrap();
        let ran = self.env.ran(output);
        assert!(ran.status.success(), "{ran}");
        assert_eq!(ran.stdout.lines().last().unwrap(), format!("$TEST/target/plimsoll-{VERSION}"));
    }

    fn file(&self, suffix: &str) -> PathBuf {
        let files = self.folder.read_dir().unwrap().map(|file| file.unwrap().path());
        let mut found = files.filter(|path| path.to_str().unwrap().ends_with(suffix));
        found.next().unwrap_or_else(|| panic!("no {suffix}"))
    }

    /// Runs a script in which `$1` is a file of the release.
    fn shell(&self, script: &str, suffix: &str) -> Ran {
        let ran = self.env.run(self.env.shell(script, &[self.file(suffix).to_str().unwrap()]), b"");
        assert!(ran.status.success(), "{script}: {ran}");
        ran
    }

    fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files: Vec<PathBuf> =
            self.folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }
}

/// One test, since packing takes its time.
#[test]
fn a_release_is_whole_and_the_same_whenever_it_is_packed_and_installs_itself() {
    let release = Release::new();
    release.shell("cd \"$(dirname \"$1\")\" && sha256sum -c SHA256SUMS", "SHA256SUMS");
    let first = release.contents();
    release.pack();
    let second = release.contents();
    for ((path, one), (_, other)) in first.iter().zip(&second) {
        assert!(one == other, "{} differs", path.display());
    }
    assert_eq!((first.len(), second.len()), (4, 4));
    names_what_it_is_made_of(&release);
    is_a_debian_package(&release);
    installs_itself_with_a_shell_alone_and_leaves_again(release);
}

/// Every crate that is linked in, each with a licence and a checksum.
fn names_what_it_is_made_of(release: &Release) {
    let listed: Value =
        serde_json::from_slice(&fs::read(release.file(".cdx.json")).unwrap()).unwrap();
    assert_eq!(listed["bomFormat"], "CycloneDX");
    let components = listed["components"].as_array().unwrap();
    let name = |component: &Value| component["name"].as_str().unwrap().to_owned();
    let names: BTreeSet<String> = components.iter().map(name).collect();
    for expected in ["serde_json", "rusqlite", "axum", "plimsoll-core", "plimsoll-engine"] {
        assert!(names.contains(expected), "{expected} in {names:?}");
    }
    assert!(!names.contains("insta") && !names.contains("tempfile"), "{names:?}");
    for component in components {
        let is_ours = name(component).starts_with("plimsoll-");
        assert!(component["licenses"][0]["expression"].is_string(), "{component}");
        assert!(is_ours || component["hashes"][0]["content"].is_string(), "{component}");
    }
}

fn is_a_debian_package(release: &Release) {
    let files = release.shell("dpkg-deb --fsys-tarfile \"$1\" | tar -tv", ".deb").stdout;
    for expected in [
        "./usr/bin/plimsoll",
        "./usr/share/man/man1/plimsoll.1.gz",
        "./usr/share/man/man1/plimsoll-batch-plan.1.gz",
        "./usr/share/bash-completion/completions/plimsoll",
        "./usr/share/zsh/vendor-completions/_plimsoll",
        "./usr/share/fish/vendor_completions.d/plimsoll.fish",
        "./usr/share/doc/plimsoll/copyright",
    ] {
        let line = files.lines().find(|line| line.ends_with(&format!(" {expected}")));
        assert!(line.is_some_and(|line| line.contains("root/root")), "{expected} in {files}");
    }
    let control = release.shell("dpkg-deb --field \"$1\"", ".deb").stdout;
    assert!(control.contains(&format!("Version: {VERSION}")), "{control}");
    let script = "mkdir ../deb && dpkg-deb -x \"$1\" ../deb && ../deb/usr/bin/plimsoll --version";
    assert!(release.shell(script, ".deb").stdout.starts_with(&format!("plimsoll {VERSION}")));
    stays_while_agents_call_it(release);
}

/// Removing the package fails as long as a user of the machine has it in an agent's settings.
fn stays_while_agents_call_it(release: &Release) {
    let users = "echo \"ann:x:1000:1000:Ann:$HOME:/bin/sh\"";
    let script = format!(
        r#"mkdir ../control ../users && dpkg-deb -e "$1" ../control
printf '#!/bin/sh\n%s\n' '{users}' >../users/getent && chmod 755 ../users/getent
plimsoll() {{ ../deb/usr/bin/plimsoll "$@" >/dev/null 2>&1; }}
try() {{ PATH=$PWD/../users:$PATH ../control/prerm "$1" 2>&1 && echo "$1: goes"; }}
plimsoll init --yes && ! try remove && try upgrade
plimsoll uninstall --yes && try remove"#
    );
    let said = release.shell(&script, ".deb").stdout;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(
        lines[0].contains("the agents of ann still call it: run `plimsoll uninstall`"),
        "{said}"
    );
    assert_eq!(lines[1..], ["upgrade: goes", "remove: goes"]);
}

fn installs_itself_with_a_shell_alone_and_leaves_again(release: Release) {
    let unpacked = format!("plimsoll-{VERSION}-{}-linux", std::env::consts::ARCH);
    release.shell("tar -xzf \"$1\" -C ..", ".tar.gz");
    let Release { mut env, .. } = release;
    env.as_plain_user();
    let install = |arguments: &str| {
        env.run(env.shell(&format!("cd ../{unpacked} && sh install.sh {arguments}"), &[]), b"")
    };

    let prefix = env.home().join("opt");
    let ran = install(&format!("--prefix '{}'", prefix.display()));
    assert!(ran.status.success(), "{ran}");
    assert!(ran.stdout.contains("next: $TEST/home/opt/bin/plimsoll init"), "{ran}");
    let version = env.run(env.shell("exec ~/opt/bin/plimsoll --version", &[]), b"");
    assert!(version.stdout.starts_with(&format!("plimsoll {VERSION}")), "{version}");
    for file in ["share/man/man1/plimsoll-status.1", "share/bash-completion/completions/plimsoll"] {
        assert!(prefix.join(file).is_file(), "{file}");
    }

    // Over an installation that is there, as an upgrade is.
    assert!(install(&format!("--prefix '{}'", prefix.display())).status.success());
    let uninstall = || install(&format!("--uninstall --prefix '{}'", prefix.display()));
    let init = "~/opt/bin/plimsoll init --yes >init.log 2>&1 && echo done";
    assert_eq!(env.run(env.shell(init, &[]), b"").stdout, "done\n");
    let ran = uninstall();
    assert!(!ran.status.success() && ran.stderr.contains("bin/plimsoll uninstall"), "{ran}");
    env.run(env.shell("~/opt/bin/plimsoll uninstall --yes", &[]), b"");
    assert!(uninstall().status.success());
    let left = env.all_under(&prefix).into_iter().filter(|path| !path.is_dir());
    assert_eq!(left.collect::<Vec<_>>(), Vec::<PathBuf>::new());

    for (arguments, says) in [
        ("--prefix", "--prefix needs a folder"),
        ("--frob", "try ./install.sh --help"),
        ("--prefix /proc/nowhere", "choose another"),
    ] {
        let ran = install(arguments);
        assert!(!ran.status.success() && ran.stderr.contains(says), "{arguments}: {ran}");
    }
    let page = env.path(&unpacked).join("man/plimsoll.1");
    fs::write(page, "changed on the way").unwrap();
    let ran = install("--prefix ../nowhere");
    assert!(!ran.status.success() && ran.stderr.contains("the archive is damaged"), "{ran}");
    assert!(!env.path("nowhere").exists());
}
