//! `kill -9` at any moment of a seal.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use plimsoll_testbed::generator::SplitMix64;

use crate::bed::Bed;
use crate::child::{BEGIN, refused, reported, sealing};

/// Result of killing a process that sealed repeatedly.
struct Killed {
    /// Whether it was killed during a seal.
    amidst: bool,
    /// Ids that it reported as sealed.
    reported: Vec<String>,
}

/// Starts a process that seals repeatedly, and kills it `micros` microseconds after its first
/// `begin`.
fn killed_after(bed: &Bed, session: &str, micros: u64) -> Killed {
    let mut child = sealing(bed.root(), session, 1_000).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.ends_with(BEGIN) {
        assert!(stdout.read_line(&mut said).unwrap() > 0, "it ended by itself: {said}");
    }
    std::thread::sleep(Duration::from_micros(micros));
    child.kill().unwrap();
    child.wait().unwrap();
    stdout.read_to_string(&mut said).unwrap();
    assert_eq!(refused(said.as_bytes()), Vec::<String>::new());
    Killed { amidst: said.ends_with(BEGIN), reported: reported(said.as_bytes()) }
}

/// Kills several processes at once, and checks the files they left. Returns how many were killed
/// during a seal.
fn check(bed: &Bed, random: &mut SplitMix64, kills: usize) -> usize {
    let delays: Vec<u64> = (0..kills).map(|_| random.below(12_000) as u64).collect();
    let killed: Vec<Killed> = std::thread::scope(|scope| {
        let kill = |(at, micros): (usize, &u64)| {
            let (micros, session) = (*micros, format!("session{at}-killed"));
            scope.spawn(move || killed_after(bed, &session, micros))
        };
        let threads: Vec<_> = delays.iter().enumerate().map(kill).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    bed.check();
    let listed: Vec<String> = bed.list().into_iter().map(|listed| listed.id).collect();
    for id in killed.iter().flat_map(|killed| &killed.reported) {
        assert!(listed.contains(id), "a phantom was reported: {id}");
    }
    killed.iter().filter(|killed| killed.amidst).count()
}

#[test]
fn a_thousand_kills_leave_no_phantom_no_torn_file_and_no_broken_index() {
    let mut random = SplitMix64::new(20_261_115);
    let mut kills = 0;
    while kills < 1_000 {
        let bed = Bed::new();
        kills += (0..8).map(|_| check(&bed, &mut random, 4)).sum::<usize>();
        bed.seal("the-next");
        bed.check();
        assert_eq!(bed.litter(), Vec::<PathBuf>::new(), "the next seal sweeps");
        assert_eq!(fs::read_to_string(bed.folder().join(".gitignore")).unwrap(), "*\n");
    }
}

/// System calls that change files or permissions.
const CALLS: [&str; 14] = [
    "open",
    "openat",
    "mkdir",
    "mkdirat",
    "write",
    "fsync",
    "renameat2",
    "renameat",
    "rename",
    "unlinkat",
    "unlink",
    "symlinkat",
    "flock",
    "close",
];

/// Starts a process that seals once, and kills it at the `nth` call of a system call. Returns
/// whether it got that far.
fn is_killed_at(bed: &Bed, call: &str, nth: usize) -> bool {
    let child = sealing(bed.root(), "killed", 1);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e"]);
    strace.arg(format!("inject={call}:signal=KILL:when={nth}"));
    strace.arg(child.get_program()).args(child.get_args());
    strace.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let said = strace.output().expect("strace must be installed").stdout;
    reported(&said).is_empty()
}

/// Kills a seal at every call of one kind, for the first seal of a project or a later one.
fn check_every(call: &str, is_first: bool) -> usize {
    for nth in 1.. {
        let bed = Bed::new();
        if !is_first {
            bed.seal("before");
        }
        let is_killed = is_killed_at(&bed, call, nth);
        bed.check();
        bed.seal("after");
        bed.check();
        assert_eq!(bed.litter(), Vec::<PathBuf>::new(), "{call} {nth}");
        if !is_killed {
            return nth - 1;
        }
    }
    unreachable!("no seal makes endless calls")
}

#[test]
fn a_kill_at_every_single_system_call_leaves_everything_in_order() {
    for is_first in [true, false] {
        let kills: usize = CALLS.iter().map(|call| check_every(call, is_first)).sum();
        assert!(kills > 40, "{kills}");
    }
}
