//! Describes when, where and with which binary the figures were measured.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use plimsoll_core::time::utc;

/// Returns the date, the binary's version, the machine, and its load before the run.
pub(crate) fn describe_run(plimsoll: &Path) -> anyhow::Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64;
    let output = Command::new(plimsoll).arg("--version").env_clear().output();
    let version = output.context("could not start `plimsoll --version`")?.stdout;
    let cores = std::thread::available_parallelism()?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let load = fs::read_to_string("/proc/loadavg")?;
    let words = [
        utc(now).chars().take(10).collect(),
        String::from_utf8_lossy(&version).trim().to_owned(),
        field(&fs::read_to_string("/proc/cpuinfo")?, "model name")
            .unwrap_or("a processor".to_owned()),
        format!("{cores} cores"),
        memory(&fs::read_to_string("/proc/meminfo")?).context("no memory")?,
        format!("Linux {}", kernel.trim()),
        format!("load {} before it began", load.split(' ').next().unwrap_or("unknown")),
    ];
    Ok(words.join(", "))
}

fn memory(meminfo: &str) -> Option<String> {
    let kilobytes = field(meminfo, "MemTotal")?;
    let kilobytes: f64 = kilobytes.strip_suffix(" kB")?.parse().ok()?;
    Some(format!("{:.0} GB", kilobytes * 1_024.0 / 1e9))
}

/// Returns the first value named `name`.
fn field(text: &str, name: &str) -> Option<String> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(known, _)| known.trim() == name).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_and_memory_are_parsed() {
        let processors = "processor\t: 0\nmodel name\t: AMD EPYC\n\nmodel name\t: another\n";
        assert_eq!(field(processors, "model name").as_deref(), Some("AMD EPYC"));
        assert_eq!(memory("MemTotal:       16777216 kB\n").as_deref(), Some("17 GB"));
    }
}
