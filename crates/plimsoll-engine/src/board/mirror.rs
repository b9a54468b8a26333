//! Mirrors the board of a project to `.coordination/blackboard.json` in the project, for tools that
//! expect it there.
//!
//! A project may be untrusted: neither folder nor file is reached through a symbolic link, and a
//! file written by another tool is left alone.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plimsoll_extract::board::Message;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::list;
use crate::lock::lock;
use crate::paths::{self, Paths};

const FOLDER: &str = ".coordination";
const NAME: &str = "blackboard.json";
const TEMPORARY: &str = ".blackboard.json.tmp";
const GENERATOR: &str = "plimsoll";

/// Content of the file.
#[derive(Serialize)]
struct Shown<'a> {
    generator: &'a str,
    messages: Vec<Message>,
}

/// The field that identifies the tool that wrote the file.
#[derive(Deserialize)]
struct Mark {
    generator: String,
}

/// Rewrites a project's file from the board.
pub fn mirror(paths: &Paths, project: &Path) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_millis(500);
    // List the messages under the lock, so that the last writer writes the newest state.
    let _locked = lock(|| paths::append(&paths.mirror_lock()), Instant::now() + PATIENCE)?;
    let name = project.to_string_lossy();
    let here = list(paths)?.into_iter().map(|posted| posted.message);
    let messages = here.filter(|message| message.project.as_deref() == Some(&*name)).collect();
    let mut text = serde_json::to_vec_pretty(&Shown { generator: GENERATOR, messages })?;
    text.push(b'\n');
    let folder = folder(project)?;
    if !is_ours(&folder)? {
        let why = format!("`{FOLDER}/{NAME}` was made by somebody else");
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    replace(&folder, &text)
}

/// Returns the path of a project's file.
pub fn mirror_of(project: &Path) -> PathBuf {
    project.join(FOLDER).join(NAME)
}

/// Reports whether a project has a file that we wrote.
pub fn is_mirrored(project: &Path) -> bool {
    let folder = open_folder(project).ok();
    let is_there = |folder: &OwnedFd| statat(folder, NAME, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    folder.is_some_and(|folder| is_there(&folder) && is_ours(&folder).unwrap_or(false))
}

/// Removes a project's file, and its folder if that is empty then.
pub fn remove_mirror(project: &Path) -> io::Result<()> {
    unlinkat(open_folder(project)?, NAME, AtFlags::empty())?;
    let _ = std::fs::remove_dir(project.join(FOLDER));
    Ok(())
}

/// Opens the folder without following symbolic links.
fn open_folder(project: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let project = open(project, flags, Mode::empty())?;
    Ok(openat(&project, FOLDER, flags | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Opens the folder without following symbolic links, creating it if necessary.
fn folder(project: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let project = open(project, flags, Mode::empty())?;
    match mkdirat(&project, FOLDER, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(openat(&project, FOLDER, flags | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Reports whether the file is missing or was written by us.
fn is_ours(folder: &OwnedFd) -> io::Result<bool> {
    const LARGEST: u64 = 16 << 20;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(folder, NAME, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(true),
        // We never create a symbolic link here.
        Err(Errno::LOOP) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(false);
    }
    let bytes = paths::read_whole(&file, metadata.len(), LARGEST)?;
    Ok(serde_json::from_slice::<Mark>(&bytes).is_ok_and(|mark| mark.generator == GENERATOR))
}

fn replace(folder: &OwnedFd, text: &[u8]) -> io::Result<()> {
    // We hold the lock, so this file is a leftover or was planted by someone else.
    let _ = unlinkat(folder, TEMPORARY, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(folder, TEMPORARY, flags, Mode::RUSR | Mode::WUSR)?;
    File::from(file).write_all(text)?;
    Ok(renameat(folder, TEMPORARY, folder, NAME)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use plimsoll_core::event::SessionId;
    use plimsoll_extract::board::MessageContent;

    use super::super::{Lasting, NewMessage, post, remove};
    use super::*;

    fn bed() -> (tempfile::TempDir, Paths) {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let paths = Paths { home: folder.path().into(), data, config: "/c".into() };
        fs::create_dir(folder.path().join("project")).unwrap();
        (folder, paths)
    }

    fn new(project: &Path) -> NewMessage {
        NewMessage {
            to: SessionId::new("a").unwrap(),
            project: Some(project.to_owned()),
            from: "me".to_owned(),
            what: MessageContent::Message { text: "hello".to_owned() },
            lives: Duration::from_secs(60),
        }
    }

    fn messages(project: &Path) -> Vec<serde_json::Value> {
        let text = fs::read(project.join(FOLDER).join(NAME)).unwrap();
        let shown: serde_json::Value = serde_json::from_slice(&text).unwrap();
        shown["messages"].as_array().unwrap().clone()
    }

    #[test]
    fn the_file_has_what_waits_for_the_project_and_nothing_else() {
        let (folder, paths) = bed();
        let project = folder.path().join("project");
        let posted = post(&paths, vec![new(&project), new(Path::new("/x"))], Lasting::Kill);
        mirror(&paths, &project).unwrap();
        let shown = messages(&project);
        assert_eq!(shown.len(), 1);
        assert_eq!((&shown[0]["type"], &shown[0]["text"]), (&"message".into(), &"hello".into()));
        let first = &posted.unwrap()[0];
        remove(&paths, &first.to, std::slice::from_ref(&first.id)).unwrap();
        mirror(&paths, &project).unwrap();
        assert!(messages(&project).is_empty());
    }

    #[test]
    fn links_are_not_followed_and_a_file_of_others_stays() {
        let (folder, paths) = bed();
        let (project, elsewhere) = (folder.path().join("project"), folder.path().join("other"));
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, project.join(FOLDER)).unwrap();
        mirror(&paths, &project).unwrap_err();
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        fs::remove_file(project.join(FOLDER)).unwrap();
        fs::create_dir(project.join(FOLDER)).unwrap();
        let target = elsewhere.join("target");
        symlink(&target, project.join(FOLDER).join(NAME)).unwrap();
        mirror(&paths, &project).unwrap_err();
        assert!(!target.exists());
        fs::remove_file(project.join(FOLDER).join(NAME)).unwrap();
        fs::write(project.join(FOLDER).join(NAME), r#"{"messages": [], "tasks": [1]}"#).unwrap();
        mirror(&paths, &project).unwrap_err();
        let kept = fs::read_to_string(project.join(FOLDER).join(NAME)).unwrap();
        assert!(kept.contains("tasks"));
    }
}
