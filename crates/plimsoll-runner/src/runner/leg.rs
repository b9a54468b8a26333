//! The process of a leg. It outlives its conductor, and leaves its number and its exit code in files for
//! whoever comes next.

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

use super::files::{claimed, exit_code, left_number};

/// Where what an agent complains about goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// To whoever reads our own complaints.
    Shown,
    /// Into a file beside what it prints.
    Kept,
}

/// Runs a command, between its number and its exit code. Whoever finds no number puts one there, and a
/// process that comes too late finds its place taken and does nothing. What asks the command to end does
/// not end the shell, which waits to see how that comes out.
const SCRIPT: &str = r#"(umask 077; set -C; echo $$ > "$0.pid") 2>/dev/null || exit 125
trap : INT TERM HUP
"$@"
code=$?
(umask 077; echo $code > "$0.tmp") && mv "$0.tmp" "$0.exit"
exit $code"#;

/// What a leg's process is started with.
pub(super) struct Start<'a> {
    pub(super) command: &'a [String],
    pub(super) project: &'a Path,
    pub(super) variables: &'a [(&'static str, String)],
    /// What its files are called, without their endings.
    pub(super) leg: &'a Path,
    pub(super) input: &'a Path,
    pub(super) out: &'a Path,
    pub(super) err: Option<&'a Path>,
}

/// The process of a leg.
pub(super) enum Running {
    /// One that this process has started.
    Own(Child),
    /// One that was started by a conductor that is gone.
    Found(Process),
    /// It was gone when somebody looked.
    Gone,
}

impl Running {
    /// Starts one, in a group of its own: it is ended by us, and never by a key that was pressed.
    pub(super) fn start(start: &Start<'_>) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT]).arg(start.leg).args(start.command);
        for name in variables::ALL {
            command.env_remove(name);
        }
        command.current_dir(start.project).envs(start.variables.iter().cloned());
        let input = match File::open(start.input) {
            Ok(input) => input.into(),
            Err(_) => Stdio::null(),
        };
        command.stdin(input).stdout(paths::write_anew(start.out)?);
        if let Some(err) = start.err {
            command.stderr(paths::write_anew(err)?);
        }
        command.process_group(0).spawn().map(Self::Own)
    }

    /// The process of a leg that another conductor began.
    pub(super) fn find(leg: &Path, told: Option<Process>) -> io::Result<Self> {
        let found = match told {
            Some(process) => Some(process).filter(process::is_alive),
            None => claimed(leg)?.filter(|pid| is_of(leg, *pid)).and_then(process::named),
        };
        Ok(found.map_or(Self::Gone, Self::Found))
    }

    /// Which process it is, as long as it runs.
    pub(super) fn process(&self) -> Option<Process> {
        match self {
            Self::Own(child) => process::named(child.id()),
            Self::Found(process) => Some(*process),
            Self::Gone => None,
        }
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&mut self) -> io::Result<bool> {
        Ok(match self {
            Self::Own(child) => child.try_wait()?.is_some(),
            Self::Found(process) => !process::is_alive(process),
            Self::Gone => true,
        })
    }

    /// The exit code of one that has ended while this process waited for it: the one that its shell has
    /// left, else what the shell itself was killed by. Of one that was gone when somebody looked, only
    /// whether it ended by itself can be told.
    pub(super) fn code(&mut self, left: Option<i32>) -> io::Result<Option<i32>> {
        Ok(match self {
            Self::Own(child) => {
                let signal = child.try_wait()?.and_then(|status| status.signal());
                left.or(signal.map(|signal| 128 + signal))
            }
            Self::Found(_) => left,
            Self::Gone => left.filter(|code| killed_by(*code).is_none()),
        })
    }

    /// Sends a signal to it and to all it has started.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.process().and_then(|process| pid(process.pid)) {
            // It may have ended in this very moment.
            let _ = kill_process_group(pid, signal);
        }
    }
}

/// The exit code that a leg of a run has left at its end. Where its shell was killed, what it had started is
/// ended, too: nobody would ever know how it ends, and the next session would work beside it.
pub(super) fn left_code(leg: &Path, run: &RunId) -> Option<i32> {
    let code = exit_code(leg);
    let leader = left_number(leg).filter(|_| code.is_none());
    let leader = leader.filter(|leader| process::started(*leader).is_none());
    if leader.is_some() {
        // Nobody names it any more; mostly there is none.
        let _ = fs::remove_file(paths::beside(leg, ".tmp"));
    }
    if let Some(group) = leader
        // Long after the leg, or after the machine was started anew, the number may be somebody else's.
        && process::of_group(group).any(|member| is_in(run, member))
        && let Some(group) = pid(group)
    {
        let _ = kill_process_group(group, Signal::KILL);
    }
    code
}

/// Whether a process was started in a run.
fn is_in(run: &RunId, process: u32) -> bool {
    let variable = format!("{}={run}", variables::RUN);
    let variables = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    variables.split(|byte| *byte == 0).any(|word| word == variable.as_bytes())
}

/// Whether the process of that number is a leg's: its shell was called by what its files are called.
fn is_of(leg: &Path, pid: u32) -> bool {
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

    fn start(folder: &Path, line: &str) -> Running {
        let command = ["sh".to_owned(), "-c".to_owned(), line.to_owned()];
        let (leg, out) = (folder.join("1-1"), folder.join("1-1.out"));
        Running::start(&Start {
            command: &command,
            project: folder,
            variables: &[("LEG", "one".to_owned()), (variables::RUN, run().to_string())],
            leg: &leg,
            input: &folder.join("stdin"),
            out: &out,
            err: Some(&folder.join("1-1.err")),
        })
        .unwrap()
    }

    fn wait(running: &mut Running) {
        while !running.has_ended().unwrap() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_leg_leaves_its_output_and_its_exit_code() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("stdin"), "in ").unwrap();
        let mut running = start(folder.path(), "cat; echo $LEG; echo no >&2; exit 3");
        wait(&mut running);
        assert_eq!(left_code(&folder.path().join("1-1"), &run()), Some(3));
        assert_eq!(fs::read_to_string(folder.path().join("1-1.out")).unwrap(), "in one\n");
        assert_eq!(fs::read_to_string(folder.path().join("1-1.err")).unwrap(), "no\n");
    }

    #[test]
    fn an_agent_that_is_asked_to_end_has_time_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let line = "trap 'sleep 0.3; echo sealed; exit 9' TERM; echo begun; sleep 600 & wait";
        let mut running = start(folder.path(), line);
        while fs::read(folder.path().join("1-1.out")).unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        running.signal(Signal::TERM);
        wait(&mut running);
        assert_eq!(left_code(&folder.path().join("1-1"), &run()), Some(9));
        assert_eq!(fs::read_to_string(folder.path().join("1-1.out")).unwrap(), "begun\nsealed\n");
    }

    #[test]
    fn a_leg_whose_place_was_taken_never_begins() {
        let folder = tempfile::tempdir().unwrap();
        let leg = folder.path().join("1-1");
        assert!(matches!(Running::find(&leg, None).unwrap(), Running::Gone));
        wait(&mut start(folder.path(), "echo begun"));
        assert_eq!(fs::read_to_string(folder.path().join("1-1.out")).unwrap(), "");
        assert_eq!(left_code(&leg, &run()), None);
    }

    #[test]
    fn a_leg_that_runs_is_found_by_what_it_left() {
        let folder = tempfile::tempdir().unwrap();
        let leg = folder.path().join("1-1");
        let mut running = start(folder.path(), "echo begun; sleep 600");
        while fs::read(folder.path().join("1-1.out")).unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let found = Running::find(&leg, None).unwrap();
        assert_eq!(found.process(), running.process());
        found.signal(Signal::KILL);
        wait(&mut running);
        assert!(matches!(Running::find(&leg, None).unwrap(), Running::Gone));
        assert_eq!(left_code(&leg, &run()), None);
        assert_eq!(running.code(None).unwrap(), Some(137), "it was seen how it ended");
    }

    #[test]
    fn an_agent_that_was_killed_while_nobody_looked_has_no_exit_code() {
        let folder = tempfile::tempdir().unwrap();
        let mut running = start(folder.path(), "kill -9 $$");
        wait(&mut running);
        let left = left_code(&folder.path().join("1-1"), &run());
        assert_eq!((left, running.code(left).unwrap()), (Some(137), Some(137)));
        assert_eq!(Running::Gone.code(left).unwrap(), None);
        assert_eq!(Running::Gone.code(Some(3)).unwrap(), Some(3));
    }

    /// Whether what a leg had started goes on when its shell was killed and somebody looks at its run.
    fn outlives(run: &RunId) -> bool {
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
        assert_eq!(left_code(&leg, run), None);
        fs::write(go, "").unwrap();
        while process::of_group(shell).next().is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        out().ends_with("late\n")
    }

    #[test]
    fn what_outlives_a_killed_shell_is_ended_unless_it_is_somebody_elses() {
        assert!(!outlives(&run()));
        assert!(outlives(&RunId::new("019a8f00-0000-7000-8000-ffffffffffff").unwrap()));
    }
}
