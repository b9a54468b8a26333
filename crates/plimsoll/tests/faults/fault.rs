//! What goes wrong, and at which system call.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use plimsoll_testbed::generator::SplitMix64;
use rustix::process::Signal;

use crate::env::{Ran, TestEnv};

/// The system calls that change anything on disk, or tell anybody of it.
const CHANGING: &str = "open,openat,mkdir,mkdirat,write,pwrite64,writev,fsync,fdatasync,rename,\
    renameat,renameat2,unlink,unlinkat,rmdir,symlink,symlinkat,link,linkat,ftruncate,fallocate,\
    sendto,exit_group";

/// Something to be run.
pub(crate) struct Call {
    pub(crate) command: Command,
    pub(crate) stdin: Vec<u8>,
}

impl Call {
    pub(crate) fn new(env: &TestEnv, arguments: &[&str]) -> Self {
        Self { command: env.command(arguments), stdin: Vec::new() }
    }

    /// A hook call of a session.
    pub(crate) fn hook(env: &TestEnv, session: &str, event: &str) -> Self {
        let payload = env.session(session).payload(event);
        Self { command: env.command(&["hook"]), stdin: payload.to_string().into_bytes() }
    }

    pub(crate) fn run(self, env: &TestEnv) -> Ran {
        env.run(self.command, &self.stdin)
    }

    /// The same, started by something else.
    pub(crate) fn under(self, program: &str, arguments: &[String]) -> Self {
        let inner = self.command.get_program().to_owned();
        self.started(program, arguments.iter().map(OsString::from).chain([inner]))
    }

    /// The same, done by another version.
    pub(crate) fn by(self, other: &str) -> Self {
        self.started(other, [])
    }

    /// A program, with these arguments before those of this call.
    fn started(self, program: &str, before: impl IntoIterator<Item = OsString>) -> Self {
        let inner = &self.command;
        let mut command = Command::new(program);
        command.args(before).args(inner.get_args()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = inner.get_current_dir() {
            command.current_dir(folder);
        }
        Self { command, stdin: self.stdin }
    }
}

/// The `nth` call of a name that some process makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    name: String,
    nth: usize,
    /// Whether calls of that name are about files alone: what wakes a thread cannot fail as a disk does.
    may_fail: bool,
}

/// What happens to one that writes.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It is killed as it makes the call, which is not made any more.
    Kill(Point),
    /// It is killed amid a write: as a file grows past so many bytes, of which it has written those
    /// before.
    Tear(u64),
    /// The call fails, and all later ones of its name if that lasts.
    Error { errno: &'static str, at: Point, lasts: bool },
    /// No file can be longer than that, so a write stops amid what is written.
    NoLonger(u64),
}

impl Fault {
    /// The kill of a call at one of these points.
    pub(crate) fn kill(random: &mut SplitMix64, points: &[Point]) -> Self {
        if random.below(5) == 0 {
            return Self::Tear(some_length(random));
        }
        Self::Kill(points[random.below(points.len())].clone())
    }

    /// A disk that fails, in one of the ways disks do.
    pub(crate) fn failing(random: &mut SplitMix64, points: &[Point]) -> Self {
        let points: Vec<&Point> = points.iter().filter(|point| point.may_fail).collect();
        if points.is_empty() || random.below(3) == 0 {
            return Self::NoLonger(some_length(random));
        }
        let errno = ["EIO", "ENOSPC", "EROFS", "EDQUOT", "EINTR"][random.below(5)];
        let at = points[random.below(points.len())].clone();
        // Whoever is interrupted tries again, and not for ever.
        Self::Error { errno, at, lasts: errno != "EINTR" && random.below(2) == 0 }
    }

    /// Runs a call that this happens to, and tells whether it did: one that never comes so far does its
    /// work.
    pub(crate) fn befalls(&self, env: &TestEnv, call: Call) -> (Ran, bool) {
        let log = env.path("strace.log");
        let ran = self.over(call, log.to_str().unwrap()).run(env);
        let struck = match self {
            Self::Kill(_) | Self::Tear(_) => is_killed(&ran),
            Self::Error { .. } => fs::read_to_string(log).unwrap().contains("(INJECTED)"),
            Self::NoLonger(_) => !ran.status.success(),
        };
        (ran, struck)
    }

    fn over(&self, call: Call, log: &str) -> Call {
        match self {
            Self::Kill(Point { name, nth, .. }) => {
                let inject = format!("inject={name}:signal=KILL:when={nth}");
                call.under("strace", &strace(name, log, &inject))
            }
            Self::Error { errno, at: Point { name, nth, .. }, lasts } => {
                let more = if *lasts { "+" } else { "" };
                let inject = format!("inject={name}:error={errno}:when={nth}{more}");
                call.under("strace", &strace(name, log, &inject))
            }
            Self::Tear(bytes) => {
                let limits = ["--core=0".to_owned(), format!("--fsize={bytes}"), "--".to_owned()];
                call.under("prlimit", &limits)
            }
            Self::NoLonger(bytes) => {
                // Whoever ignores the signal is told by an error instead.
                let script = format!("trap '' XFSZ; exec prlimit --fsize={bytes} -- \"$0\" \"$@\"");
                call.under("/bin/sh", &["-c".to_owned(), script])
            }
        }
    }
}

/// Whether a process ended by the signal that kills, or by the one of a file that is too long.
pub(crate) fn is_killed(ran: &Ran) -> bool {
    let signals = [Signal::KILL, Signal::XFSZ].map(|signal| Some(signal.as_raw()));
    signals.contains(&ran.status.signal())
}

/// A length of a file, short ones as often as long ones.
fn some_length(random: &mut SplitMix64) -> u64 {
    let most = 1 << (4 + random.below(14));
    random.below(most) as u64
}

fn strace(calls: &str, log: &str, inject: &str) -> Vec<String> {
    let calls = format!("trace={calls}");
    let mut arguments = ["-f", "-y", "-qq", "--seccomp-bpf", "-o", log, "-e", &calls].to_vec();
    if !inject.is_empty() {
        arguments.extend(["-e", inject]);
    }
    arguments.into_iter().map(str::to_owned).collect()
}

/// Runs a call, and finds the points at which it changes anything.
pub(crate) fn record(env: &TestEnv, call: Call) -> (Ran, Vec<Point>) {
    let log = env.path("strace.log");
    let ran = call.under("strace", &strace(CHANGING, log.to_str().unwrap(), "")).run(env);
    (ran, points(&log))
}

fn points(log: &Path) -> Vec<Point> {
    let text = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    let (mut points, mut wakers) = (Vec::new(), HashSet::from(["exit_group".to_owned()]));
    for line in text.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let Some((name, rest)) = call.trim_start().split_once('(') else { continue };
        // What went on after another's call was counted when it began.
        if name.starts_with(['<', '+', '-']) {
            continue;
        }
        let nth = counts.entry((process, name)).or_default();
        *nth += 1;
        if rest.contains("<anon_inode:") || rest.contains("<socket:") || rest.contains("<TCP:") {
            wakers.insert(name.to_owned());
        }
        // Opening to read changes nothing.
        if !name.starts_with("open") || rest.contains("O_CREAT") || rest.contains("O_TRUNC") {
            points.push(Point { name: name.to_owned(), nth: *nth, may_fail: true });
        }
    }
    points.iter_mut().for_each(|point| point.may_fail = !wakers.contains(&point.name));
    points
}
