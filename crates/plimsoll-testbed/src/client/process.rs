//! Processes that end when the test does, whatever happens to it.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A process with a group of its own, which is killed if the process still runs at the end.
pub(super) struct Group(Child);

impl Group {
    pub(super) fn spawn(command: &mut Command) -> Self {
        Self(command.process_group(0).spawn().expect("the client should start"))
    }

    /// Waits for the process to end, for `timeout` at most.
    pub(super) fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        while Instant::now() < deadline {
            let status = self.0.try_wait().expect("the client's status should be known");
            if status.is_some() {
                return status;
            }
            thread::sleep(Duration::from_millis(10));
        }
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            // It may have ended in this very moment; either way it is gone after the wait.
            let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
            let _ = self.0.wait();
        }
    }
}

/// Kills every process whose home is `home`, and what those start meanwhile.
///
/// The client gives its shells groups of their own, so its group alone does not hold all that it
/// started. Nobody else has a temporary folder for a home.
pub(super) fn kill_inhabitants(home: &Path) {
    for _ in 0..100 {
        let inhabitants = inhabitants(home);
        if inhabitants.is_empty() {
            return;
        }
        for pid in inhabitants {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn inhabitants(home: &Path) -> Vec<Pid> {
    let mark = format!("HOME={}", home.display());
    let lives_here = |process: &Path| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|process| lives_here(&process.path()))
        .filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?))
        .collect()
}
