//! Runs `plimsoll serve` for a benchmark, alone or with a team's database.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use plimsoll_testbed::Postgres;
use rustix::process::{Pid, Signal, kill_process};

/// How long a server may take to stop after `SIGTERM`.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// A running server. Dropping it kills the server.
pub(crate) struct ServeProcess {
    child: Child,
    /// Host and port.
    pub(crate) address: String,
}

impl ServeProcess {
    /// Starts `plimsoll serve` on a free port.
    pub(crate) fn start(mut plimsoll: Command, options: &[&str]) -> anyhow::Result<Self> {
        plimsoll.args(["serve", "--listen", "127.0.0.1:0"]).args(options).stderr(Stdio::piped());
        let child = plimsoll.spawn().context("could not start `plimsoll serve`")?;
        // From here on, an early return kills the child.
        let mut server = Self::from_child(child, String::new());
        let mut stderr = BufReader::new(server.child.stderr.take().context("no stderr")?);
        let mut line = String::new();
        stderr.read_line(&mut line)?;
        // Drains the log, so that writing it is part of the measured cost.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(';').next());
        server.address = address.context("`plimsoll serve` does not say where it is")?.to_owned();
        Ok(server)
    }

    /// Wraps a server that is already running.
    pub(crate) fn from_child(child: Child, address: String) -> Self {
        Self { child, address }
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends `SIGTERM` and waits until the server has stopped.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)
            .context("the server has ended by itself")?;
        let end = Instant::now() + STOP_TIMEOUT;
        while self.child.try_wait()?.is_none() {
            ensure!(Instant::now() < end, "the server does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        // The server may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Builds a call of the binary with `home` as `HOME` and no other variables.
pub(crate) fn command_in_home(plimsoll: &Path, home: &Path) -> Command {
    let mut command = Command::new(plimsoll);
    command.env_clear().env("HOME", home).stdin(Stdio::null());
    command
}

/// A machine that belongs to a team.
pub(crate) struct TeamMember {
    plimsoll: PathBuf,
    home: PathBuf,
    database: String,
}

impl TeamMember {
    /// Creates the team's tables in an empty database.
    pub(crate) fn init(database: &Postgres, plimsoll: &Path, home: &Path) -> anyhow::Result<Self> {
        let database = database.url("postgres");
        let member = Self { plimsoll: plimsoll.to_owned(), home: home.to_owned(), database };
        let made = member.plimsoll().args(["team", "init"]).stdout(Stdio::null()).status();
        ensure!(made.context("could not start `plimsoll team init`")?.success(), "no tables");
        Ok(member)
    }

    pub(crate) fn serve(&self) -> anyhow::Result<ServeProcess> {
        ServeProcess::start(self.plimsoll(), &[])
    }

    fn plimsoll(&self) -> Command {
        let mut command = command_in_home(&self.plimsoll, &self.home);
        command.env("PLIMSOLL_DATABASE_URL", &self.database);
        command
    }
}
