//! Identifies processes by id and start time, because ids are reused.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plimsoll_core::run::Process;

/// Returns the current process.
pub fn this() -> Process {
    let pid = std::process::id();
    Process { pid, started: started(pid).unwrap_or(0) }
}

/// Returns the process with this id; `None` if there is none.
pub fn named(pid: u32) -> Option<Process> {
    Some(Process { pid, started: started(pid)? })
}

pub fn is_alive(process: &Process) -> bool {
    named(process.pid).is_some_and(|now| now == *process)
}

/// Returns the start time of a process in ticks since boot; `None` if there is none. Process ids
/// are reused, but not within a tick.
pub fn started(process: u32) -> Option<u64> {
    const START: usize = 22 - 3;
    field(process, START)
}

/// Reports whether the process that wrote a file at `written` has ended, even if its id was reused.
pub(crate) fn has_ended_since(process: u32, written: SystemTime) -> bool {
    match started(process) {
        None => true,
        Some(ticks) => started_at(ticks).is_some_and(|started| started > written),
    }
}

/// Converts ticks since boot to a time, rounded down to the second.
fn started_at(ticks: u64) -> Option<SystemTime> {
    /// The unit that Linux reports to programs, whatever the kernel's own tick rate.
    const TICKS_A_SECOND: u64 = 100;
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let boot = stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(UNIX_EPOCH + Duration::from_secs(boot) + Duration::from_secs(ticks / TICKS_A_SECOND))
}

/// Returns the processes of a group.
pub fn of_group(group: u32) -> impl Iterator<Item = u32> {
    const GROUP: usize = 5 - 3;
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(move |process| field(*process, GROUP) == Some(u64::from(group)))
}

/// Reads a field of `/proc/PID/stat`, counted from the state field; `None` if the process has
/// ended.
fn field(process: u32, number: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The command is in parentheses and may contain any character; the state follows it.
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
