//! Runs other programs with a time limit.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Result of running a program.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Output so far.
    pub(crate) stdout: Vec<u8>,
    /// Exit status; `None` if the program was killed.
    pub(crate) status: Option<ExitStatus>,
}

/// Interval between checks whether a program has ended.
const STEP: Duration = Duration::from_millis(2);
/// How long to wait for output after the program has ended, if another process keeps the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Runs `command` with `input` on its stdin. After `patience`, kills it with its process group.
///
/// If the program ends in time, processes that it left running are not touched.
pub(crate) fn run(command: &mut Command, input: Vec<u8>, patience: Duration) -> io::Result<Ran> {
    run_as(
        command,
        input,
        &Terms { patience, step: STEP, leaves: Leaves::Alone, is_over: &|| false },
    )
}

/// Conditions for running a program.
pub(crate) struct Terms<'t> {
    /// Time limit.
    pub(crate) patience: Duration,
    /// Interval between checks whether the program has ended.
    pub(crate) step: Duration,
    pub(crate) leaves: Leaves,
    /// Returns true to kill the program before the time limit.
    pub(crate) is_over: &'t dyn Fn() -> bool,
}

/// Treatment of processes that the program leaves running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// Leave them alone.
    Alone,
    /// Kill them.
    Ended,
}

/// Runs `command` under these conditions.
pub(crate) fn run_as(command: &mut Command, input: Vec<u8>, terms: &Terms<'_>) -> io::Result<Ran> {
    let deadline = Instant::now() + terms.patience;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.process_group(0).spawn()?;
    let stdin = child.stdin.take();
    // A program may close its stdin early, so a write error is ignored.
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let pieces = pieces(&mut child);
    let (mut stdout, mut open) = (Vec::new(), true);
    loop {
        match open {
            true => {
                open = collect(&pieces, &mut stdout, (Instant::now() + terms.step).min(deadline));
            }
            false => thread::sleep(terms.step),
        }
        if let Some(status) = ended(&mut child, terms.leaves)? {
            if open {
                collect(&pieces, &mut stdout, Instant::now() + LAST_WORDS);
            }
            return Ok(Ran { stdout, status: Some(status) });
        }
        if Instant::now() >= deadline || (terms.is_over)() {
            // The program may have just ended; in both cases it is gone after the wait.
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            child.wait()?;
            return Ok(Ran { stdout, status: None });
        }
    }
}

/// Returns the exit status if the program has ended.
fn ended(child: &mut Child, leaves: Leaves) -> io::Result<Option<ExitStatus>> {
    if leaves == Leaves::Alone {
        return child.try_wait();
    }
    // Until the exit status is collected, the process id cannot be reused.
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if waitid(WaitId::Pid(Pid::from_child(child)), look)?.is_none() {
        return Ok(None);
    }
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.wait().map(Some)
}

/// Output beyond this size is dropped.
const LONGEST_OUTPUT: u64 = 64 << 10;

/// Reads the child's stdout on a thread and returns it in pieces.
fn pieces(child: &mut Child) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    let stdout = child.stdout.take();
    thread::spawn(move || {
        let mut stdout = stdout?.take(LONGEST_OUTPUT);
        let mut piece = [0; 4096];
        loop {
            match stdout.read(&mut piece) {
                Ok(0) | Err(_) => return Some(()),
                Ok(read) => sender.send(piece[..read].to_owned()).ok()?,
            }
        }
    });
    receiver
}

/// Collects pieces until a deadline. Returns whether more may follow.
fn collect(pieces: &Receiver<Vec<u8>>, stdout: &mut Vec<u8>, until: Instant) -> bool {
    loop {
        match pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(piece) => stdout.extend(piece),
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, patience: Duration) -> Ran {
        run(Command::new("/bin/sh").args(["-c", line]), b"in\n".to_vec(), patience).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(200);

    #[test]
    fn a_program_that_ends_is_heard_out() {
        let ran = shell("cat; echo out; exit 3", LONG);
        assert_eq!((ran.stdout, ran.status.unwrap().code()), (b"in\nout\n".to_vec(), Some(3)));
    }

    #[test]
    fn what_a_program_leaves_running_is_not_waited_for() {
        let ran = shell("echo out; sleep 600 & exit 0", LONG);
        assert_eq!(ran.stdout, b"out\n");
        assert!(ran.status.unwrap().success());
    }

    #[test]
    fn what_a_program_leaves_running_can_be_ended_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("late");
        let line = format!("(sleep 1; echo late > {}) & echo out", file.display());
        let terms = Terms { patience: LONG, step: STEP, leaves: Leaves::Ended, is_over: &|| false };
        let mut command = Command::new("/bin/sh");
        let ran = run_as(command.args(["-c", &line]), Vec::new(), &terms).unwrap();
        assert_eq!((ran.stdout, ran.status.unwrap().success()), (b"out\n".to_vec(), true));
        thread::sleep(Duration::from_millis(1_500));
        assert!(!file.exists());
    }

    #[test]
    fn one_that_nobody_waits_for_any_more_is_ended() {
        let terms = Terms { patience: LONG, step: STEP, leaves: Leaves::Ended, is_over: &|| true };
        let mut command = Command::new("/bin/sh");
        let ran = run_as(command.args(["-c", "sleep 600"]), Vec::new(), &terms).unwrap();
        assert_eq!(ran.status, None);
    }

    #[test]
    fn one_that_takes_too_long_is_ended_and_what_it_said_is_kept() {
        for line in ["echo out; sleep 600", "echo out; exec >/dev/null; sleep 600"] {
            let ran = shell(line, SHORT);
            assert_eq!((ran.stdout, ran.status), (b"out\n".to_vec(), None), "{line}");
        }
    }
}
