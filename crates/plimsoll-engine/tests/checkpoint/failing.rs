//! Full disks, missing permissions and vanishing folders.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_engine::checkpoint::{Closed, Unsealed, seal};

use crate::bed::{Bed, NOW, all_under, draft};
use crate::child::{refused, reported, sealing};

const NOBODY: u32 = 65_534;

/// Makes a command run as a user who is subject to permissions, which root is not.
fn as_plain_user(bed: &Bed, command: &mut Command) {
    if rustix::process::geteuid().is_root() {
        for path in all_under(bed.root()).iter().map(PathBuf::as_path).chain([bed.root()]) {
            std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command.uid(NOBODY).gid(NOBODY);
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Copies the test binary to where every user can run it.
fn reachable(bed: &Bed, command: &Command) -> Command {
    let copy = bed.root().join("child");
    // With `cp`, not in this process: a file that a forking process has open for writing cannot be
    // run.
    let copied = Command::new("cp").arg(command.get_program()).arg(&copy).status().unwrap();
    assert!(copied.success());
    let mut again = Command::new(copy);
    again.args(command.get_args()).env_clear();
    again.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    again.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    again
}

#[track_caller]
fn check_unsealed(bed: &Bed, command: &mut Command, words: &str) {
    let said = command.spawn().unwrap().wait_with_output().unwrap().stdout;
    let (sealed, why) = (reported(&said), refused(&said));
    assert_eq!(sealed, Vec::<String>::new());
    assert!(why.len() == 1 && why[0].contains(words), "{why:?}");
    assert_eq!(bed.litter(), Vec::<PathBuf>::new());
}

/// Creates a command with a file size limit, in blocks of 512 bytes, to simulate a full disk.
fn with_little_room(bed: &Bed, blocks: usize) -> Command {
    let child = sealing(bed.root(), "full", 1);
    let mut shell = Command::new("/bin/sh");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    shell.arg("-c").arg(script).arg(child.get_program()).args(child.get_args()).env_clear();
    shell.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    shell
}

#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let bed = Bed::new();
    bed.seal("before");
    check_unsealed(&bed, &mut with_little_room(&bed, 1), "could not write a checkpoint");
    bed.check();
    assert_eq!((bed.list().len(), bed.indexed().len()), (1, 1));
    bed.seal("after");
    bed.check();
    assert_eq!((bed.list().len(), bed.indexed().len()), (2, 2));
}

#[test]
fn a_disk_that_is_full_from_the_start_makes_no_key_of_half_a_length() {
    let bed = Bed::new();
    check_unsealed(&bed, &mut with_little_room(&bed, 0), "could not use the key");
    assert!(!bed.place.key.exists());
    bed.seal("after");
    bed.check();
}

#[test]
fn a_checkpoint_stands_where_only_the_index_found_no_room() {
    let bed = Bed::new();
    for _ in 0..8 {
        bed.seal("before");
    }
    let before = fs::read(&bed.place.index).unwrap();
    assert!(before.len() > 2 * 1024, "the index is larger than a checkpoint");
    let said = with_little_room(&bed, 4).output().unwrap().stdout;
    assert!(refused(&said)[0].contains("not in the index yet"), "{:?}", refused(&said));
    assert_eq!(fs::read(&bed.place.index).unwrap(), before, "the old one is whole");
    bed.check();
    assert_eq!((bed.list().len(), bed.indexed().len()), (9, 8));
    plimsoll_engine::checkpoint::verify_all(&bed.place).unwrap();
    assert_eq!(bed.indexed().len(), 9, "a look at all of them puts it in");
}

#[test]
fn a_small_disk_fills_up_and_every_checkpoint_on_it_is_whole() {
    let bed = Bed::new();
    let disk = bed.place.project.clone();
    let mount = ["-t", "tmpfs", "-o", "size=64k", "none"];
    if !Command::new("mount").args(mount).arg(&disk).status().is_ok_and(|status| status.success()) {
        // Only root may mount; the other tests limit file sizes instead.
        return;
    }
    let full = (0..100).find_map(|_| seal(&bed.place, &draft("full", NOW)).err());
    let checked = std::panic::catch_unwind(|| bed.check());
    let litter = bed.litter();
    assert!(Command::new("umount").arg("-l").arg(&disk).status().unwrap().success());
    checked.unwrap();
    assert!(matches!(full, Some(Unsealed::Io(..))), "{full:?}");
    assert_eq!(litter, Vec::<PathBuf>::new());
}

#[test]
fn a_read_only_folder_is_named() {
    let bed = Bed::new();
    bed.seal("before");
    let folder = bed.folder();
    let mut child = reachable(&bed, &sealing(bed.root(), "s", 1));
    as_plain_user(&bed, &mut child);
    set_mode(&folder, 0o500);
    check_unsealed(
        &bed,
        &mut child,
        &format!("could not write a checkpoint in `{}`", folder.display()),
    );
    set_mode(&folder, 0o700);
}

#[test]
fn a_read_only_project_is_named() {
    let bed = Bed::new();
    let mut child = reachable(&bed, &sealing(bed.root(), "s", 1));
    as_plain_user(&bed, &mut child);
    set_mode(&bed.place.project, 0o500);
    check_unsealed(&bed, &mut child, "could not open the folder");
    assert!(all_under(&bed.place.project).is_empty());
    set_mode(&bed.place.project, 0o700);
}

#[test]
fn a_file_in_the_folders_place_stays_as_it_is() {
    let bed = Bed::new();
    let folder = bed.folder();
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    fs::write(&folder, "mine").unwrap();
    let refused = seal(&bed.place, &draft("s", NOW)).unwrap_err();
    assert!(matches!(&refused, Unsealed::Closed(Closed::NotAFolder(path)) if *path == folder));
    assert_eq!(fs::read(&folder).unwrap(), b"mine");
}

#[test]
fn a_project_that_is_gone_is_not_made_again() {
    let bed = Bed::new();
    fs::remove_dir(&bed.place.project).unwrap();
    let refused = seal(&bed.place, &draft("s", NOW)).unwrap_err();
    assert!(matches!(refused, Unsealed::Closed(Closed::Io(..))), "{refused:?}");
    assert!(!bed.place.project.exists());
}

#[test]
fn a_folder_that_vanishes_all_the_time_never_holds_a_phantom() {
    let bed = Bed::new();
    let folder = bed.folder();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = fs::remove_dir_all(&folder);
            }
        });
        for _ in 0..100 {
            // Success is up to chance. It must not hang or panic.
            let _ = seal(&bed.place, &draft("s", NOW));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    bed.seal("after");
    let found = plimsoll_engine::checkpoint::verify_all(&bed.place).unwrap();
    assert!(found.checkpoints.iter().any(plimsoll_engine::checkpoint::Listed::is_own));
    let unverified = bed.indexed().into_iter().filter(|entry| !entry.verified);
    assert!(unverified.into_iter().all(|entry| !entry.path.exists()));
}
