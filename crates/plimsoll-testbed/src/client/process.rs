//! Child processes that never outlive the test, even if it panics.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A process in its own process group. Dropping it kills the group if the process still runs.
pub(super) struct ProcessGroup(Child);

impl ProcessGroup {
    pub(super) fn spawn(command: &mut Command) -> Self {
        Self(command.process_group(0).spawn().expect("the client should start"))
    }

    /// Waits up to `timeout` for the process to end. `None` if it is still running.
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

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            // The process may have ended since the check; the wait reaps it either way.
            let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
            let _ = self.0.wait();
        }
    }
}

/// Kills every process whose `HOME` is `home`, including processes they start meanwhile.
///
/// The client gives its shells process groups of their own, so killing the client's group is not
/// enough. Only processes of this sandbox use the temporary folder as `HOME`.
pub(super) fn kill_processes_of_home(home: &Path) {
    for _ in 0..100 {
        let inhabitants = processes_of_home(home);
        if inhabitants.is_empty() {
            return;
        }
        for pid in inhabitants {
            // The process may already have ended.
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn processes_of_home(home: &Path) -> Vec<Pid> {
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
