//! Running other programs without ever waiting for them too long.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// What a program came to.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What it printed, as far as it came.
    pub(crate) stdout: Vec<u8>,
    /// How it ended; nothing if it was ended for taking too long.
    pub(crate) status: Option<ExitStatus>,
}

/// How often a program is asked whether it has ended.
const STEP: Duration = Duration::from_millis(2);
/// How long the output of one that has ended is waited for, where somebody else keeps it open.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Runs `command` with `input` on its stdin, and ends it, with all it has started, after `patience`.
///
/// Once it has ended by itself, what it left running does not concern us.
pub(crate) fn run(command: &mut Command, input: Vec<u8>, patience: Duration) -> io::Result<Ran> {
    run_as(
        command,
        input,
        &Terms { patience, step: STEP, leaves: Leaves::Alone, is_over: &|| false },
    )
}

/// On what terms a program runs.
pub(crate) struct Terms<'t> {
    /// How long it may take.
    pub(crate) patience: Duration,
    /// How often it is asked whether it has ended.
    pub(crate) step: Duration,
    /// What becomes of what it leaves running.
    pub(crate) leaves: Leaves,
    /// Whether it is to be ended before its time.
    pub(crate) is_over: &'t dyn Fn() -> bool,
}

/// What becomes of what a program leaves running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// It does not concern us.
    Alone,
    /// It is ended, too.
    Ended,
}

/// Runs `command` on these terms.
pub(crate) fn run_as(command: &mut Command, input: Vec<u8>, terms: &Terms<'_>) -> io::Result<Ran> {
    let deadline = Instant::now() + terms.patience;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.process_group(0).spawn()?;
    let stdin = child.stdin.take();
    // One that stops listening has heard enough.
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
            // It may have ended in this very moment; either way it is gone after the wait.
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            child.wait()?;
            return Ok(Ran { stdout, status: None });
        }
    }
}

/// How a program ended, if it has.
fn ended(child: &mut Child, leaves: Leaves) -> io::Result<Option<ExitStatus>> {
    if leaves == Leaves::Alone {
        return child.try_wait();
    }
    // As long as nobody has asked how it ended, no other process gets its number.
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if waitid(WaitId::Pid(Pid::from_child(child)), look)?.is_none() {
        return Ok(None);
    }
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.wait().map(Some)
}

/// More than this no program that we run has to say.
const LONGEST_OUTPUT: u64 = 64 << 10;

/// What the child prints, piece by piece.
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

/// Takes pieces until a moment. Tells whether more may come.
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
