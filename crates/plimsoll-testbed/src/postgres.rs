//! A PostgreSQL server of a test's own, in a folder that goes with it.
//!
//! The server refuses to run as root, so where the tests do it runs as the user that comes with its
//! package. It listens on a socket in its folder and on a port of this machine alone.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A server. It ends when this is dropped.
pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    owner: Option<(u32, u32)>,
    port: u16,
    running: Option<Child>,
    settings: Vec<String>,
}

impl Postgres {
    /// Makes a database and starts a server for it. Whoever asks from this machine is let in as any
    /// role, by name.
    pub fn start() -> Self {
        let mut server = Self::made();
        server.resume();
        server
    }

    /// The same with TLS, by a certificate and its key. Over the network it takes nobody without it.
    pub fn with_tls(certificate: &Path, key: &Path) -> Self {
        let mut server = Self::made();
        for (from, name) in [(certificate, "server.crt"), (key, "server.key")] {
            let to = server.data().join(name);
            fs::copy(from, &to).expect("a certificate can be copied");
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).expect("a key is private");
            server.give(&to);
        }
        let lines = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
        fs::write(server.data().join("pg_hba.conf"), lines).expect("a file can be written");
        server.settings.push("ssl=on".to_owned());
        server.resume();
        server
    }

    /// Where it is: `name` is a role.
    pub fn url(&self, name: &str) -> String {
        format!("postgres://{name}@127.0.0.1:{}/postgres", self.port)
    }

    /// Runs SQL as the superuser, and gives what it says, a line per row.
    pub fn sql(&self, sql: &str) -> String {
        let mut command = self.program("psql");
        command.args([
            "-X",
            "-A",
            "-t",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "postgres",
            "-c",
            sql,
        ]);
        command.arg("-h").arg(self.folder.path()).args(["-p", &self.port.to_string(), "postgres"]);
        let output = command.output().expect("psql can be started");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        assert!(output.status.success(), "{sql}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Ends it as a power cut does.
    pub fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            // Its children notice, and go; what they wrote is recovered by the next.
            running.kill().expect("our own server can be ended");
            running.wait().expect("our own server can be waited for");
            self.wait_for_the_rest();
        }
    }

    /// Starts it again.
    pub fn resume(&mut self) {
        for _ in 0..5 {
            let mut command = self.program("postgres");
            command.arg("-D").arg(self.data()).args([
                "-p",
                &self.port.to_string(),
                "-h",
                "127.0.0.1",
            ]);
            command.arg("-k").arg(self.folder.path()).args(["-c", "fsync=off"]);
            for setting in &self.settings {
                command.args(["-c", setting]);
            }
            let log =
                fs::File::create(self.folder.path().join("log")).expect("a log can be written");
            let running = command.stdout(Stdio::null()).stderr(log).spawn();
            self.running = Some(running.expect("postgres can be started"));
            if self.answers() {
                return;
            }
            self.kill();
        }
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        panic!("the database does not start: {log}");
    }

    fn made() -> Self {
        let folder = tempfile::Builder::new().prefix("pg").tempdir().expect("a folder can be made");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let server = Self {
            folder,
            programs: programs(),
            owner: owner(),
            port: free.expect("there is a free port").port(),
            running: None,
            settings: Vec::new(),
        };
        server.give(server.folder.path());
        let mut command = server.program("initdb");
        command.arg("-D").arg(server.data());
        command.args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]);
        let output = command.output().expect("initdb can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        server
    }

    /// Whether it takes connections before it gives up.
    fn answers(&mut self) -> bool {
        let port = self.port.to_string();
        for _ in 0..600 {
            let ended =
                self.running.as_mut().is_none_or(|it| it.try_wait().is_ok_and(|it| it.is_some()));
            if ended {
                return false;
            }
            let mut command = self.program("pg_isready");
            command.args(["-q", "-h", "127.0.0.1", "-p", &port]);
            if command.status().is_ok_and(|status| status.success()) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }

    /// Waits until the last process of a killed server has let go of its memory.
    fn wait_for_the_rest(&self) {
        let socket = self.folder.path().join(format!(".s.PGSQL.{}.lock", self.port));
        // Both are left behind by a server that was killed.
        let _ = fs::remove_file(socket);
        let _ = fs::remove_file(self.data().join("postmaster.pid"));
        std::thread::sleep(Duration::from_millis(300));
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(self.folder.path());
        command.stdin(Stdio::null());
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }

    fn give(&self, path: &Path) {
        if let Some((user, group)) = self.owner {
            chown(path, Some(user), Some(group)).expect("root can give away a folder");
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            // At once, but so that it gives back the memory that its processes share. What could not be
            // ended is gone already.
            let _ = kill_process(Pid::from_child(&running), Signal::QUIT);
            let _ = running.wait();
        }
    }
}

/// Where the server's programs are: Debian keeps them out of the path.
fn programs() -> PathBuf {
    let has_all = |bin: &PathBuf| {
        ["initdb", "postgres", "pg_isready", "psql"].iter().all(|name| bin.join(name).exists())
    };
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = found.into_iter().rev().chain(std::env::split_paths(&path)).find(has_all);
    found.expect("PostgreSQL is installed: `apt-get install postgresql`")
}

/// Whom it runs as, where that is not whoever runs the tests.
fn owner() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("there is a list of users");
    let line = users.lines().find(|line| line.starts_with("postgres:")).expect("a user `postgres`");
    let mut ids = line.split(':').skip(2).map(|id| id.parse().expect("an id is a number"));
    Some((ids.next().expect("a user's id"), ids.next().expect("a group's id")))
}
