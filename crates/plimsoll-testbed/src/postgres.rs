//! A PostgreSQL server for one test, in a temporary folder.
//!
//! PostgreSQL refuses to run as root. If the tests run as root, the server runs as the `postgres`
//! user that its package creates. It listens on a socket in its folder and on a loopback port.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A running server. Dropping it stops the server.
pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    owner: Option<(u32, u32)>,
    port: u16,
    running: Option<Child>,
    settings: Vec<String>,
}

impl Postgres {
    /// Creates a database and starts a server for it. Any local connection may use any role without
    /// a password.
    pub fn start() -> Self {
        let mut server = Self::initialise();
        server.launch();
        server
    }

    /// Starts a server with TLS, using the given certificate and key. It refuses TCP connections
    /// without TLS.
    pub fn with_tls(certificate: &Path, key: &Path) -> Self {
        let mut server = Self::initialise();
        for (from, name) in [(certificate, "server.crt"), (key, "server.key")] {
            let to = server.data().join(name);
            fs::copy(from, &to).expect("a certificate can be copied");
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).expect("a key is private");
            server.chown_to_server(&to);
        }
        let lines = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
        fs::write(server.data().join("pg_hba.conf"), lines).expect("a file can be written");
        server.settings.push("ssl=on".to_owned());
        server.launch();
        server
    }

    /// Returns the connection URL for the role `name`.
    pub fn url(&self, name: &str) -> String {
        format!("postgres://{name}@127.0.0.1:{}/postgres", self.port)
    }

    /// Runs SQL as the superuser and returns the output, one line per row.
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

    /// Kills the server without a shutdown, as a power cut would.
    pub fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            // The server's child processes notice and exit. The next start recovers their writes.
            running.kill().expect("our own server can be ended");
            running.wait().expect("our own server can be waited for");
            self.clean_up_after_kill();
        }
    }

    /// Starts the server, again after [`Self::kill`].
    pub fn launch(&mut self) {
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
            if self.wait_until_ready() {
                return;
            }
            self.kill();
        }
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        panic!("the database does not start: {log}");
    }

    fn initialise() -> Self {
        let folder = tempfile::Builder::new().prefix("pg").tempdir().expect("a folder can be made");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let server = Self {
            folder,
            programs: programs(),
            owner: server_user(),
            port: free.expect("there is a free port").port(),
            running: None,
            settings: Vec::new(),
        };
        server.chown_to_server(server.folder.path());
        let mut command = server.program("initdb");
        command.arg("-D").arg(server.data());
        command.args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]);
        let output = command.output().expect("initdb can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        server
    }

    /// Waits until the server accepts connections. Returns false if the server exits or does not
    /// accept in time.
    fn wait_until_ready(&mut self) -> bool {
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

    /// Removes the lock files of a killed server and waits until its last process has released its
    /// shared memory.
    fn clean_up_after_kill(&self) {
        let socket = self.folder.path().join(format!(".s.PGSQL.{}.lock", self.port));
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

    fn chown_to_server(&self, path: &Path) {
        if let Some((user, group)) = self.owner {
            chown(path, Some(user), Some(group)).expect("root can give away a folder");
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            // An immediate shutdown, which still releases the shared memory of the server's
            // processes. The signal fails only if the server has already ended.
            let _ = kill_process(Pid::from_child(&running), Signal::QUIT);
            let _ = running.wait();
        }
    }
}

/// Returns the folder of the server's programs, which Debian keeps out of `PATH`.
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

/// Returns the user and group to run the server as. `None` if it can run as the current user.
fn server_user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("there is a list of users");
    let line = users.lines().find(|line| line.starts_with("postgres:")).expect("a user `postgres`");
    let mut ids = line.split(':').skip(2).map(|id| id.parse().expect("an id is a number"));
    Some((ids.next().expect("a user's id"), ids.next().expect("a group's id")))
}
