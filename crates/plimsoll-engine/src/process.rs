//! Processes, told from later ones that got their numbers.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plimsoll_core::run::Process;

/// This process.
pub fn this() -> Process {
    let pid = std::process::id();
    Process { pid, started: started(pid).unwrap_or(0) }
}

/// The process of that number; nothing if there is none any more.
pub fn named(pid: u32) -> Option<Process> {
    Some(Process { pid, started: started(pid)? })
}

/// Whether a process still runs.
pub fn is_alive(process: &Process) -> bool {
    named(process.pid).is_some_and(|now| now == *process)
}

/// When a process was started, in ticks since the machine was; nothing if there is none. Numbers of
/// processes are used again, but not for two that were started at once.
pub fn started(process: u32) -> Option<u64> {
    const START: usize = 22 - 3;
    field(process, START)
}

/// Whether the process that wrote a file at `written` is gone, whoever may have its number now.
pub(crate) fn has_ended_since(process: u32, written: SystemTime) -> bool {
    match started(process) {
        None => true,
        Some(ticks) => started_at(ticks).is_some_and(|started| started > written),
    }
}

/// When a process was started that began so many ticks after the machine; to the second, and never too
/// late.
fn started_at(ticks: u64) -> Option<SystemTime> {
    /// What Linux tells every program, whatever it counts by itself.
    const TICKS_A_SECOND: u64 = 100;
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let boot = stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(UNIX_EPOCH + Duration::from_secs(boot) + Duration::from_secs(ticks / TICKS_A_SECOND))
}

/// The processes of a group.
pub fn of_group(group: u32) -> impl Iterator<Item = u32> {
    const GROUP: usize = 5 - 3;
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(move |process| field(*process, GROUP) == Some(u64::from(group)))
}

/// What the system tells of a process that runs, counted from its state on.
fn field(process: u32, number: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The command stands in parentheses, whatever is in it; the state comes next.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let is_dead = matches!(fields.clone().next()?, "Z" | "X");
    fields.nth(number).filter(|_| !is_dead)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_older_than_the_process_of_that_number_is_not_its_own() {
        let own = std::process::id();
        assert!(!has_ended_since(own, SystemTime::now()));
        assert!(has_ended_since(own, SystemTime::now() - Duration::from_secs(24 * 3600)));
        assert!(has_ended_since(u32::MAX, SystemTime::now()));
    }
}
