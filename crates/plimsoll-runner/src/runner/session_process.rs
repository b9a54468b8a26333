//! The process of a session. It survives the runner, and records its pid and exit code in files for
//! the next runner.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use plimsoll_core::run::{Process, RunId, killed_by};
use plimsoll_engine::paths;
use plimsoll_engine::process;
use plimsoll_engine::run_variables as variables;
use rustix::process::{Pid, Signal, kill_process_group};

use super::files::{claim_or_read_pid, read_exit_code, read_pid};

/// Destination of an agent's stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StderrTarget {
    /// The runner's own stderr.
    Inherit,
    /// A file beside its output.
    File,
}

/// Runs a command, and records its pid before and its exit code afterwards.
///
/// A runner that finds no pid file creates one. A process that starts later cannot create its own
/// and exits without running the command. Signals that ask the command to end do not end the shell,
/// which must record the exit code.
const SCRIPT: &str = r#"(umask 077; set -C; echo $$ > "$0.pid") 2>/dev/null || exit 125
trap : INT TERM HUP
"$@"
code=$?
(umask 077; echo $code > "$0.tmp") && mv "$0.tmp" "$0.exit"
exit $code"#;

/// Parameters of a session's process.
pub(super) struct ProcessParameters<'a> {
    pub(super) command: &'a [String],
    pub(super) project: &'a Path,
    pub(super) variables: &'a [(&'static str, String)],
    /// Path prefix of its files.
    pub(super) prefix: &'a Path,
    pub(super) stdin: &'a Path,
    pub(super) stdout: &'a Path,
    pub(super) stderr: Option<&'a Path>,
}

/// The process of a session.
pub(super) enum SessionProcess {
    /// Started by this process.
    Own(Child),
    /// Started by a runner that has died.
    Found(Process),
    /// Already ended when it was looked for.
    Gone,
}

impl SessionProcess {
    /// Starts the process in a process group of its own, so that a key pressed in the terminal does
    /// not end it.
    pub(super) fn start(start: &ProcessParameters<'_>) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT]).arg(start.prefix).args(start.command);
        for name in variables::ALL {
            command.env_remove(name);
        }
        command.current_dir(start.project).envs(start.variables.iter().cloned());
        let input = match File::open(start.stdin) {
            Ok(input) => input.into(),
            Err(_) => Stdio::null(),
        };
        command.stdin(input).stdout(paths::write_anew(start.stdout)?);
        if let Some(err) = start.stderr {
            command.stderr(paths::write_anew(err)?);
        }
        command.process_group(0).spawn().map(Self::Own)
    }

    /// Finds the process of a session that a previous runner started.
    pub(super) fn find(leg: &Path, told: Option<Process>) -> io::Result<Self> {
        let found = match told {
            Some(process) => Some(process).filter(process::is_alive),
            None => claim_or_read_pid(leg)?
                .filter(|pid| is_session_shell(leg, *pid))
                .and_then(process::named),
        };
        Ok(found.map_or(Self::Gone, Self::Found))
    }

    /// Returns the process; `None` if it is gone.
    pub(super) fn process(&self) -> Option<Process> {
        match self {
            Self::Own(child) => process::named(child.id()),
            Self::Found(process) => Some(*process),
            Self::Gone => None,
        }
    }

    pub(super) fn has_ended(&mut self) -> io::Result<bool> {
        Ok(match self {
            Self::Own(child) => child.try_wait()?.is_some(),
            Self::Found(process) => !process::is_alive(process),
            Self::Gone => true,
        })
    }

    /// Returns the exit code that the shell recorded, else the signal that killed the shell. If the
    /// process was already gone when it was looked for, a code that stands for a signal is dropped:
    /// it does not say whether the agent ended voluntarily.
    pub(super) fn exit_code(&mut self, left: Option<i32>) -> io::Result<Option<i32>> {
        Ok(match self {
            Self::Own(child) => {
                let signal = child.try_wait()?.and_then(|status| status.signal());
                left.or(signal.map(|signal| 128 + signal))
            }
            Self::Found(_) => left,
            Self::Gone => left.filter(|code| killed_by(*code).is_none()),
        })
    }

    /// Sends a signal to the process and to everything that it started.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.process().and_then(|process| pid(process.pid)) {
            // The process may have ended a moment ago.
            let _ = kill_process_group(pid, signal);
        }
    }
}

/// Returns the exit code that a session recorded. If its shell was killed before it could record
/// one, kills the remaining processes of its group. Their exit codes would never be known, and the
/// next session would work beside them.
pub(super) fn collect_exit_code(leg: &Path, run: &RunId) -> Option<i32> {
    let code = read_exit_code(leg);
    let leader = read_pid(leg).filter(|_| code.is_none());
    let leader = leader.filter(|leader| process::started(*leader).is_none());
    if leader.is_some() {
        // Nothing refers to this file any more; usually it does not exist.
        let _ = fs::remove_file(paths::beside(leg, ".tmp"));
    }
    if let Some(group) = leader
        // The number may belong to another process by now, so check that the group belongs to the
        // run.
        && process::of_group(group).any(|member| belongs_to_run(run, member))
        && let Some(group) = pid(group)
    {
        let _ = kill_process_group(group, Signal::KILL);
    }
    code
}

/// Whether a process was started in a run, according to its environment.
fn belongs_to_run(run: &RunId, process: u32) -> bool {
    let variable = format!("{}={run}", variables::RUN);
    let variables = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    variables.split(|byte| *byte == 0).any(|word| word == variable.as_bytes())
}

/// Whether a process is a session's shell, whose command line contains the path prefix.
fn is_session_shell(leg: &Path, pid: u32) -> bool {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).any(|word| word == leg.as_os_str().as_bytes())
}

fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn run() -> RunId {
        RunId::new("019a8f00-0000-7000-8000-0123456789ab").unwrap()
    }

    fn start(folder: &Path, line: &str) -> SessionProcess {
        let command = ["sh".to_owned(), "-c".to_owned(), line.to_owned()];
        let (leg, out) = (folder.join("1-1"), folder.join("1-1.out"));
        SessionProcess::start(&ProcessParameters {
            command: &command,
            project: folder,
            variables: &[("LEG", "one".to_owned()), (variables::RUN, run().to_string())],
            prefix: &leg,
            stdin: &folder.join("stdin"),
            stdout: &out,
            stderr: Some(&folder.join("1-1.err")),
        })
        .unwrap()
    }

    fn wait(running: &mut SessionProcess) {
        while !running.has_ended().unwrap() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_session_leaves_its_output_and_exit_code() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("stdin"), "in ").unwrap();
        let mut running = start(folder.path(), "cat; echo $LEG; echo no >&2; exit 3");
        wait(&mut running);
        assert_eq!(collect_exit_code(&folder.path().join("1-1"), &run()), Some(3));
        assert_eq!(fs::read_to_string(folder.path().join("1-1.out")).unwrap(), "in one\n");
        assert_eq!(fs::read_to_string(folder.path().join("1-1.err")).unwrap(), "no\n");
    }

    #[test]
    fn a_terminated_agent_has_time_to_finish() {
        let folder = tempfile::tempdir().unwrap();
        let line = "trap 'sleep 0.3; echo sealed; exit 9' TERM; echo begun; sleep 600 & wait";
        let mut running = start(folder.path(), line);
        while fs::read(folder.path().join("1-1.out")).unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        running.signal(Signal::TERM);
        wait(&mut running);
        assert_eq!(collect_exit_code(&folder.path().join("1-1"), &run()), Some(9));
        assert_eq!(fs::read_to_string(folder.path().join("1-1.out")).unwrap(), "begun\nsealed\n");
    }

    #[test]
    fn a_session_whose_pid_file_exists_never_begins() {
        let folder = tempfile::tempdir().unwrap();
        let leg = folder.path().join("1-1");
        assert!(matches!(SessionProcess::find(&leg, None).unwrap(), SessionProcess::Gone));
        wait(&mut start(folder.path(), "echo begun"));
        assert_eq!(fs::read_to_string(folder.path().join("1-1.out")).unwrap(), "");
        assert_eq!(collect_exit_code(&leg, &run()), None);
    }

    #[test]
    fn a_running_session_is_found_by_its_pid_file() {
        let folder = tempfile::tempdir().unwrap();
        let leg = folder.path().join("1-1");
        let mut running = start(folder.path(), "echo begun; sleep 600");
        while fs::read(folder.path().join("1-1.out")).unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let found = SessionProcess::find(&leg, None).unwrap();
        assert_eq!(found.process(), running.process());
        found.signal(Signal::KILL);
        wait(&mut running);
        assert!(matches!(SessionProcess::find(&leg, None).unwrap(), SessionProcess::Gone));
        assert_eq!(collect_exit_code(&leg, &run()), None);
        assert_eq!(running.exit_code(None).unwrap(), Some(137), "it was seen how it ended");
    }

    #[test]
    fn an_agent_killed_without_a_runner_has_no_exit_code() {
        let folder = tempfile::tempdir().unwrap();
        let mut running = start(folder.path(), "kill -9 $$");
        wait(&mut running);
        let left = collect_exit_code(&folder.path().join("1-1"), &run());
        assert_eq!((left, running.exit_code(left).unwrap()), (Some(137), Some(137)));
        assert_eq!(SessionProcess::Gone.exit_code(left).unwrap(), None);
        assert_eq!(SessionProcess::Gone.exit_code(Some(3)).unwrap(), Some(3));
    }

    /// Kills a session's shell, inspects the session as part of `run`, and returns whether its
    /// child process survived.
    fn child_survives(run: &RunId) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let (leg, go) = (folder.path().join("1-1"), folder.path().join("go"));
        let line = "echo begun; until [ -e go ]; do sleep 0.01; done; echo late";
        let mut running = start(folder.path(), line);
        let out = || fs::read_to_string(folder.path().join("1-1.out")).unwrap();
        while out().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let shell = running.process().unwrap().pid;
        rustix::process::kill_process(pid(shell).unwrap(), Signal::KILL).unwrap();
        wait(&mut running);
        assert_eq!(collect_exit_code(&leg, run), None);
        fs::write(go, "").unwrap();
        while process::of_group(shell).next().is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        out().ends_with("late\n")
    }

    #[test]
    fn children_of_a_killed_shell_are_killed_unless_of_another_run() {
        assert!(!child_survives(&run()));
        assert!(child_survives(&RunId::new("019a8f00-0000-7000-8000-ffffffffffff").unwrap()));
    }
}
