//! The data folder: without it nothing is remembered, so nothing is said.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use plimsoll_store::Store;
use rustix::fs::{Access, access, statfs, statvfs};

use super::Finding;
use crate::paths;
use crate::world::World;

const SUBJECT: &str = "data folder";

pub(super) fn examine(world: &World) -> Vec<Finding> {
    let folder = &world.paths.data;
    if let Err(error) = try_write(folder) {
        return vec![unwritable(folder, &error)];
    }
    let mut findings: Vec<Finding> =
        [network(folder), full(folder), open_to_others(folder), store(&world.paths.store())]
            .into_iter()
            .flatten()
            .collect();
    if findings.is_empty() {
        findings.push(Finding::fine(SUBJECT, format!("`{}` can be written", folder.display())));
    }
    findings
}

/// Writes, syncs and removes a file; a folder that is not there yet only has to be makeable.
fn try_write(folder: &Path) -> io::Result<()> {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    if there != folder {
        return Ok(access(there, Access::WRITE_OK | Access::EXEC_OK)?);
    }
    let probe = folder.join(format!("probe.{}.tmp", std::process::id()));
    let written = File::create_new(&probe)
        .and_then(|mut file| file.write_all(b"plimsoll\n").and_then(|()| file.sync_all()));
    // Where nothing could be written there is nothing to remove.
    let _ = fs::remove_file(&probe);
    written
}

fn unwritable(folder: &Path, error: &io::Error) -> Finding {
    let text = format!(
        "`{}` cannot be written ({error}): no warning is given, for it could not be given once",
        folder.display()
    );
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    let mend = format!("chown \"$(id -u)\" '{0}' && chmod u+rwx '{0}'", there.display());
    Finding::broken(SUBJECT, text, mend)
}

/// File systems on which locks and write-ahead logs are not to be trusted, by their magic numbers.
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

fn network(folder: &Path) -> Option<Finding> {
    let there = folder.ancestors().find(|folder| folder.exists())?;
    let kind = statfs(there).ok()?.f_type as u32;
    let (_, name) = NETWORKS.into_iter().find(|(magic, _)| *magic == kind)?;
    let mend = "export PLIMSOLL_DATA_DIR=/var/tmp/plimsoll-$(id -u)   # or any local folder";
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

fn full(folder: &Path) -> Option<Finding> {
    const LEAST: u64 = 16 << 20;
    let disk = statvfs(folder.ancestors().find(|folder| folder.exists())?).ok()?;
    let left = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = format!("only {} MB are left for `{}`", left >> 20, folder.display());
    let mend = format!("df -h '{}'   # and make room", folder.display());
    (left < LEAST).then(|| Finding::broken(SUBJECT, text, mend))
}

fn open_to_others(folder: &Path) -> Option<Finding> {
    let mode = fs::metadata(folder).ok()?.permissions().mode();
    let text = format!("`{}` is open to others (mode {:o})", folder.display(), mode & 0o777);
    let mend = format!("chmod 700 '{}'", folder.display());
    (mode & 0o077 != 0).then(|| Finding::note(SUBJECT, text, mend))
}

fn store(path: &Path) -> Option<Finding> {
    const PATIENCE: Duration = Duration::from_secs(2);
    paths::open(path, paths::Links::Refused).ok()?;
    let error = Store::open(path, PATIENCE).err()?;
    let text = format!("the store cannot be opened: {}", causes(&error));
    // It is derived: everything in it comes from transcripts and spools.
    let mend = format!("mv '{0}' '{0}.bad' && plimsoll status --all", path.display());
    Some(Finding::broken("store", text, mend))
}

fn causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
