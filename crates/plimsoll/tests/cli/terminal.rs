//! The binary on a terminal, with somebody before it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{self, OpenptFlags};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

/// No test passes or fails by less.
const PATIENCE: Duration = Duration::from_secs(120);

/// A terminal with a program on it.
pub(crate) struct Terminal {
    /// The side of the person before it.
    master: File,
    /// The side of the program.
    slave: File,
    /// How it was set before the program came.
    before: String,
    child: Child,
    /// What is written to it and nobody has waited for yet.
    drawn: String,
}

impl Terminal {
    /// Starts a program on a terminal of 80 columns and 24 rows.
    pub(crate) fn start(mut command: Command) -> Self {
        let (master, slave) = pair();
        tcsetwinsize(&slave, size(80, 24)).unwrap();
        let before = settings(&slave);
        command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap());
        let child = command.stderr(slave.try_clone().unwrap()).spawn().unwrap();
        Self { master, slave, before, child, drawn: String::new() }
    }

    /// Waits until a text is written, and gives all that was written up to it.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        let began = Instant::now();
        while !self.drawn.contains(text) {
            let mut asked = [PollFd::new(&self.master, PollFlags::IN)];
            let time = Timespec { tv_sec: 1, tv_nsec: 0 };
            let events = poll(&mut asked, Some(&time)).unwrap();
            assert!(began.elapsed() < PATIENCE, "no `{text}`: {:?}", self.drawn);
            if events == 0 {
                continue;
            }
            let mut bytes = [0; 4096];
            let read = self.master.read(&mut bytes).unwrap();
            self.drawn += &String::from_utf8_lossy(&bytes[..read]);
        }
        let end = self.drawn.find(text).unwrap() + text.len();
        self.drawn.drain(..end).collect()
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        tcsetwinsize(&self.slave, size(columns, rows)).unwrap();
        // Whose terminal it is not by birth is told by hand.
        self.signal(Signal::WINCH);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id() as i32).unwrap(), signal).unwrap();
    }

    /// Waits until the program has ended; gives what was written, and how it ended. The terminal must
    /// be set as it was.
    pub(crate) fn end(mut self) -> (String, ExitStatus) {
        let reader = {
            let mut master = self.master.try_clone().unwrap();
            std::thread::spawn(move || {
                let mut rest = Vec::new();
                // The terminal ends with its last user.
                let _ = master.read_to_end(&mut rest);
                rest
            })
        };
        let status = self.child.wait().unwrap();
        assert_eq!(settings(&self.slave), self.before, "the terminal is left as it was found");
        drop(self.slave);
        let rest = reader.join().unwrap();
        (self.drawn + &String::from_utf8_lossy(&rest), status)
    }
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn settings(terminal: &File) -> String {
    format!("{:?}", tcgetattr(terminal).unwrap())
}

fn pair() -> (File, File) {
    let master = pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    pty::grantpt(&master).unwrap();
    pty::unlockpt(&master).unwrap();
    let name = pty::ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave: OwnedFd = rustix::fs::open(name, flags, Mode::empty()).unwrap();
    (master.into(), slave.into())
}
