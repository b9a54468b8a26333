//! Processes, told from later ones that got their numbers.

use plimsoll_core::run::Process;

/// This process.
pub(crate) fn this() -> Process {
    let pid = std::process::id();
    Process { pid, started: started(pid).unwrap_or(0) }
}

/// The process of that number; nothing if there is none any more.
pub(crate) fn named(pid: u32) -> Option<Process> {
    Some(Process { pid, started: started(pid)? })
}

/// Whether a process still runs.
pub fn is_alive(process: &Process) -> bool {
    named(process.pid).is_some_and(|now| now == *process)
}

/// When a process was started, in ticks since the machine was; nothing if there is none. Numbers of
/// processes are used again, but not for two that were started at once.
pub(crate) fn started(process: u32) -> Option<u64> {
    const START: usize = 22 - 3;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The command stands in parentheses, whatever is in it; the state comes next.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let is_dead = matches!(fields.clone().next()?, "Z" | "X");
    fields.nth(START).filter(|_| !is_dead)?.parse().ok()
}
