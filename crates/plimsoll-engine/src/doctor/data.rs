//! Checks the data folder. If it cannot be written, plimsoll has no memory and stays silent.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Access, access, statfs, statvfs};

use super::{Finding, quoted};
use crate::world::World;

const SUBJECT: &str = "data folder";

pub(super) fn examine(world: &World) -> Vec<Finding> {
    let folder = &world.paths.data;
    if let Err(error) = try_write(folder) {
        return vec![unwritable(folder, &error)];
    }
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    let kind = statfs(there).ok().map(|system| system.f_type as u32);
    let left = statvfs(there).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    let found = [
        kind.and_then(|kind| network(folder, kind)),
        left.and_then(|left| full(folder, left)),
        open_to_others(folder),
    ];
    let mut findings: Vec<Finding> = found.into_iter().flatten().collect();
    if findings.is_empty() {
        findings.push(Finding::fine(SUBJECT, format!("`{}` can be written", folder.display())));
    }
    findings
}

/// Writes, syncs and removes a file. If the folder does not exist, checks that it can be created.
fn try_write(folder: &Path) -> io::Result<()> {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    if there != folder {
        return Ok(access(there, Access::WRITE_OK | Access::EXEC_OK)?);
    }
    let probe = folder.join(format!("probe.{}.tmp", std::process::id()));
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    let written = options
        .open(&probe)
        .and_then(|mut file| file.write_all(b"plimsoll\n").and_then(|()| file.sync_all()));
    // If nothing could be written, there is nothing to remove.
    let _ = fs::remove_file(&probe);
    written
}

fn unwritable(folder: &Path, error: &io::Error) -> Finding {
    let text = format!(
        "`{}` cannot be written ({error}): without a memory plimsoll gives no warnings",
        folder.display()
    );
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    let mend = match there.is_dir() {
        true => format!("chown \"$(id -u)\" {0} && chmod u+rwx {0}", quoted(there)),
        false => ELSEWHERE.to_owned(),
    };
    Finding::broken(SUBJECT, text, mend)
}

/// File systems with unreliable locks and write-ahead logs, by magic number.
const NETWORKS: [(u32, &str); 9] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x6573_5546, "FUSE"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
];

const ELSEWHERE: &str =
    "export PLIMSOLL_DATA_DIR=/var/tmp/plimsoll-$(id -u)   # or any local folder";

fn network(folder: &Path, kind: u32) -> Option<Finding> {
    let (_, name) = NETWORKS.into_iter().find(|(magic, _)| *magic == kind)?;
    let mend = ELSEWHERE;
    if matches!(name, "FUSE" | "9P") {
        let text = format!("`{}` is on {name}: is that a disk of this machine?", folder.display());
        return Some(Finding::note(SUBJECT, text, mend));
    }
    let text = format!(
        "`{}` is on {name}: locks may not hold there, and each hook call waits for it",
        folder.display()
    );
    Some(Finding::broken(SUBJECT, text, mend))
}

fn full(folder: &Path, left: u64) -> Option<Finding> {
    const LEAST: u64 = 16 << 20;
    let text = format!("only {} MB are left for `{}`", left >> 20, folder.display());
    let mend = format!("df -h {}   # and make room", quoted(folder));
    (left < LEAST).then(|| Finding::broken(SUBJECT, text, mend))
}

fn open_to_others(folder: &Path) -> Option<Finding> {
    let mode = fs::metadata(folder).ok()?.permissions().mode();
    let text = format!("`{}` is open to others (mode {:o})", folder.display(), mode & 0o777);
    let mend = format!("chmod 700 {}", quoted(folder));
    (mode & 0o077 != 0).then(|| Finding::note(SUBJECT, text, mend))
}

/// Reports a store that cannot be opened or filled.
pub(super) fn unusable(world: &World, error: &anyhow::Error) -> Finding {
    let path = world.paths.store();
    let store = quoted(&path);
    let mend = match path.exists() {
        // The store is derived from transcripts and spools, so moving it away is safe.
        true => format!("mv {store} {store}.bad && plimsoll status --all"),
        false => "plimsoll status --all   # once the data folder can be written".to_owned(),
    };
    Finding::broken("store", format!("it cannot be used: {error:#}"), mend)
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn folders_on_a_network_are_named() {
        let folder = Path::new("/data");
        let state = |kind| network(folder, kind).map(|finding| finding.state);
        assert_eq!(state(0x6969), Some(State::Broken));
        assert_eq!(state(0x6573_5546), Some(State::Note));
        assert_eq!(state(0xef53), None, "ext4");
    }

    #[test]
    fn a_full_disk_is_named() {
        let folder = Path::new("/my data");
        let found = full(folder, 3 << 20).unwrap();
        assert_eq!(found.text, "only 3 MB are left for `/my data`");
        assert_eq!(found.mend.unwrap(), "df -h '/my data'   # and make room");
        assert_eq!(full(folder, 1 << 30), None);
    }
}
