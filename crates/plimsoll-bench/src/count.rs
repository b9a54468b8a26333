//! Counts the work of a process: instructions with callgrind, system calls and memory with strace,
//! page faults with the kernel's counters.

use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::Serialize;

use crate::bench_env::BenchEnv;
use crate::spawn::{self, Competitor};

/// System calls of one process, and how many of them wait for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SystemCalls {
    pub(crate) total: u64,
    pub(crate) syncs: u64,
}

/// Counts the user-space instructions of one run.
pub(crate) fn instructions(stage: &BenchEnv, competitor: &Competitor) -> anyhow::Result<u64> {
    let options = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let output = spawn::run_untimed(stage, &traced_by(&options, competitor))?;
    let log = String::from_utf8_lossy(&output.stderr);
    parse_callgrind_count(&log)
        .with_context(|| format!("callgrind counted nothing for `{}`", competitor.name))
}

/// Counts the system calls of one run, including its children.
pub(crate) fn system_calls(
    stage: &BenchEnv,
    competitor: &Competitor,
) -> anyhow::Result<SystemCalls> {
    let table = stage.path("tmp/strace");
    let table_name = table.to_string_lossy();
    let options = ["strace", "-f", "-c", "-o", &table_name];
    let output = spawn::run_untimed(stage, &traced_by(&options, competitor))?;
    ensure!(output.status.success(), "strace of `{}` failed: {}", competitor.name, output.status);
    Ok(parse_strace_table(
        &fs::read_to_string(table).context("could not read the table of strace")?,
    ))
}

/// Measures the peak memory of one run in bytes, read while strace delays the process at its exit.
///
/// `wait4` is not usable here: its value starts at the peak of the parent process.
pub(crate) fn peak_memory(stage: &BenchEnv, competitor: &Competitor) -> anyhow::Result<u64> {
    let hold = "inject=exit_group:delay_enter=50000";
    let options = ["strace", "-qq", "-o", "/dev/null", "-e", hold];
    let mut strace = traced_by(&options, competitor).command(stage)?.spawn()?;
    let children = format!("/proc/{0}/task/{0}/children", strace.id());
    let mut peak = None;
    while strace.try_wait()?.is_none() {
        let pids = fs::read_to_string(&children).unwrap_or_default();
        for pid in pids.split_whitespace() {
            let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            if Some(program.as_os_str()) == competitor.argv.first().map(AsRef::as_ref) {
                let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
                peak = parse_peak_memory(&status).or(peak);
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
    peak.with_context(|| format!("`{}` was never seen at its exit", competitor.name))
}

/// Counts the page faults of one run. Returns the minimum of several runs, because the number of
/// pages mapped at once depends on how the kernel has read the file.
pub(crate) fn page_faults(stage: &BenchEnv, competitor: &Competitor) -> anyhow::Result<u64> {
    const RUNS: usize = 9;
    let run = || {
        let before = children_page_faults()?;
        spawn::run_untimed(stage, competitor)?;
        Ok(children_page_faults()? - before)
    };
    let runs = (0..RUNS).map(|_| run()).collect::<anyhow::Result<Vec<u64>>>()?;
    Ok(runs.into_iter().min().unwrap_or_default())
}

/// Returns the page faults of all children that have ended so far.
fn children_page_faults() -> anyhow::Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat").context("could not read /proc/self/stat")?;
    parse_children_page_faults(&stat).context("/proc/self/stat tells no page faults")
}

/// Returns the ninth field after the program name. Searches from the last `)`, because the name may
/// contain any character.
fn parse_children_page_faults(stat: &str) -> Option<u64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(8)?.parse().ok()
}

fn traced_by(tool: &[&str], competitor: &Competitor) -> Competitor {
    let mut traced = competitor.clone();
    traced.argv = tool.iter().map(Into::into).chain(traced.argv).collect();
    traced
}

fn parse_callgrind_count(log: &str) -> Option<u64> {
    let line = log.lines().find_map(|line| line.split_once("Collected :"))?;
    line.1.trim().parse().ok()
}

/// Returns `VmHWM` of a process status, in bytes.
fn parse_peak_memory(status: &str) -> Option<u64> {
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(kilobytes.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1_024)
}

/// Sums up a table of `strace -c`: the count is the fourth column, the name the last.
fn parse_strace_table(table: &str) -> SystemCalls {
    let mut calls = SystemCalls { total: 0, syncs: 0 };
    for line in table.lines() {
        let columns: Vec<_> = line.split_whitespace().collect();
        let count = columns.get(3).and_then(|count| count.parse::<u64>().ok());
        let (Some(count), Some(&name)) = (count, columns.last()) else { continue };
        match name {
            "total" => continue,
            "fsync" | "fdatasync" | "sync" | "syncfs" | "msync" | "sync_file_range" => {
                calls.syncs += count;
            }
            _ => {}
        }
        calls.total += count;
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_strace_is_added_up() {
        let table = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000030           3        10         2 openat
 40.00    0.000020          10         2           fsync
------ ----------- ----------- --------- --------- ----------------
100.00    0.000050           4        12         2 total
";
        assert_eq!(parse_strace_table(table), SystemCalls { total: 12, syncs: 2 });
    }

    #[test]
    fn the_high_water_mark_is_found() {
        assert_eq!(parse_peak_memory("VmPeak:\t 9 kB\nVmHWM:\t    1412 kB\n"), Some(1_412 * 1_024));
        assert_eq!(parse_peak_memory("Name:\tnoop\n"), None);
    }

    #[test]
    fn the_page_faults_of_children_are_found() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194304 101 2345 0 0 1 2 3 4 20 0 1 0 99";
        assert_eq!(parse_children_page_faults(stat), Some(2_345));
        assert_eq!(parse_children_page_faults("7 (a) S 1"), None);
    }

    #[test]
    fn the_count_of_callgrind_is_found() {
        let log = "==7== Events    : Ir\n==7== Collected : 52345\n==7==\n";
        assert_eq!(parse_callgrind_count(log), Some(52_345));
        assert_eq!(parse_callgrind_count("valgrind: cannot execute"), None);
    }
}
