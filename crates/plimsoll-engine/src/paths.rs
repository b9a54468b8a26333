//! Paths of our own files, and functions to open and replace them.
//!
//! Files are created private to the user (0600, folders 0700), whatever the umask.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use plimsoll_core::event::{Event, SessionId};
use plimsoll_core::run::RunId;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::process;

/// Locations of our files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    pub home: PathBuf,
    /// Data folder.
    pub data: PathBuf,
    /// The user's config file.
    pub config: PathBuf,
}

impl Paths {
    /// Resolves the paths from the environment; `None` without `HOME`.
    pub fn resolve(env: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let folder = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME")?;
        let data = folder("PLIMSOLL_DATA_DIR").unwrap_or_else(|| match folder("XDG_DATA_HOME") {
            Some(data) => below(&data, &["plimsoll"]),
            None => below(&home, &[".local/share/plimsoll"]),
        });
        let config = match folder("XDG_CONFIG_HOME") {
            Some(config) => below(&config, &["plimsoll/config.yaml"]),
            None => below(&home, &[".config/plimsoll/config.yaml"]),
        };
        Some(Self { data, config, home })
    }

    /// Returns the spool of the window that `event` belongs to. Every window has its own.
    pub fn spool(&self, event: &Event) -> PathBuf {
        self.spool_of(&event.session, event.subagent.as_ref().map(|subagent| &subagent.id))
    }

    /// Returns the spool of a session's window, or of one of its subagents.
    pub fn spool_of(&self, session: &SessionId, subagent: Option<&SessionId>) -> PathBuf {
        match subagent {
            Some(subagent) => {
                let parts = ["spool/", session.as_str(), ".", subagent.as_str(), ".jsonl"];
                below(&self.data, &parts)
            }
            None => below(&self.data, &["spool/", session.as_str(), ".jsonl"]),
        }
    }

    /// Returns the cache of the work extracted from a session.
    pub fn work(&self, session: &SessionId) -> PathBuf {
        below(&self.data, &["work/", session.as_str(), ".bin"])
    }

    /// Returns the file with text waiting to be sent to a session.
    pub fn waiting(&self, session: &SessionId) -> PathBuf {
        below(&self.data, &["work/", session.as_str(), ".txt"])
    }

    /// Returns the folder of the caches of all sessions' work.
    pub fn works(&self) -> PathBuf {
        self.data.join("work")
    }

    /// Returns the folder of all spools.
    pub fn spools(&self) -> PathBuf {
        self.data.join("spool")
    }

    /// Returns the cached settings of a project.
    pub fn settings_cache(&self, key: u64) -> PathBuf {
        // `format!` would bring two more pages of code into memory.
        let digit = |at: usize| b"0123456789abcdef"[(key >> (60 - 4 * at)) as usize & 15];
        let name: [u8; 16] = std::array::from_fn(digit);
        below(&self.data, &["settings/", str::from_utf8(&name).unwrap_or_default(), ".bin"])
    }

    /// Returns the file with observed compactions, for the hooks.
    pub fn learned(&self) -> PathBuf {
        self.data.join("learned.json")
    }

    pub fn store(&self) -> PathBuf {
        self.data.join("store.sqlite")
    }

    /// Returns the folder of all receipts.
    pub fn receipts(&self) -> PathBuf {
        self.data.join("receipts")
    }

    /// Returns the receipt of a checkpoint: the sessions that received it.
    pub fn receipt(&self, checkpoint: &str) -> PathBuf {
        below(&self.data, &["receipts/", checkpoint])
    }

    /// Returns the index of all projects' checkpoints, for agents without one of their own.
    pub fn checkpoint_index(&self) -> PathBuf {
        self.data.join("checkpoints.json")
    }

    /// Returns the journal of saves.
    pub fn saves(&self) -> PathBuf {
        below(&self.data, &["saves.jsonl"])
    }

    pub fn runs(&self) -> PathBuf {
        self.data.join("runs")
    }

    pub fn run_journal(&self, run: &RunId) -> PathBuf {
        below(&self.data, &["runs/", run.as_str(), ".jsonl"])
    }

    /// Returns the folder of a run's other files.
    pub fn run_folder(&self, run: &RunId) -> PathBuf {
        below(&self.data, &["runs/", run.as_str()])
    }

    /// Returns the folder for temporary folders.
    pub fn scratch(&self) -> PathBuf {
        self.data.join("scratch")
    }

    /// Returns the copy of our program that hooks call if the program itself is in a short-lived
    /// folder.
    pub fn program_copy(&self) -> PathBuf {
        self.data.join("bin/plimsoll")
    }

    /// Returns the record of the files that `init` changed.
    pub fn installed(&self) -> PathBuf {
        self.data.join("installed.json")
    }

    /// Returns the folder of backups of changed files.
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    pub fn board(&self) -> PathBuf {
        self.data.join("board")
    }

    /// Returns the folder of all inboxes.
    pub fn inboxes(&self) -> PathBuf {
        self.data.join("board/inbox")
    }

    /// Returns the inbox of a session. The folder exists only while it contains messages.
    pub fn inbox(&self, session: &SessionId) -> PathBuf {
        below(&self.data, &["board/inbox/", session.as_str()])
    }

    /// Returns the folder in which messages are written.
    pub fn drafts(&self) -> PathBuf {
        self.data.join("board/drafts")
    }

    /// Returns the folder of claims.
    pub fn claims(&self) -> PathBuf {
        self.data.join("board/claims")
    }

    /// Returns the lock file for changing claims.
    pub fn claims_lock(&self) -> PathBuf {
        self.data.join("board/claims.lock")
    }

    /// Returns the lock file for writing the board's mirror in a project.
    pub fn mirror_lock(&self) -> PathBuf {
        self.data.join("board/mirror.lock")
    }

    /// Returns the key that seals checkpoints.
    pub fn checkpoint_key(&self) -> PathBuf {
        self.data.join("checkpoint.key")
    }

    /// Returns the token that clients of the server must present, unless they are known to be the
    /// user.
    pub fn token(&self) -> PathBuf {
        self.data.join("serve.token")
    }

    /// Returns the lock file of this machine's watcher.
    pub fn watch_lock(&self) -> PathBuf {
        self.data.join("watch.lock")
    }

    /// Returns the count of reviews today.
    pub fn reviews(&self) -> PathBuf {
        self.data.join("reviews.json")
    }

    /// Returns the error log.
    pub fn log(&self) -> PathBuf {
        below(&self.data, &["hook.log"])
    }
}

/// Our folders in the data folder.
pub(crate) const OWN_FOLDERS: [&str; 9] =
    ["spool", "settings", "work", "receipts", "backups", "scratch", "board", "runs", "bin"];

/// Names in the board's folder.
const BOARD: [&str; 5] = ["inbox", "drafts", "claims", "claims.lock", "mirror.lock"];

/// Reports whether we use `name`: for a file in the data folder if `folder` is `None`, else for an
/// entry of that folder of ours.
pub(crate) fn is_own_name(folder: Option<&str>, name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let after = |begin: &str, end: &str| name.strip_prefix(begin)?.strip_suffix(end);
    let ours = match folder {
        None => {
            matches!(
                name,
                "learned.json"
                    | "checkpoints.json"
                    | "installed.json"
                    | "saves.jsonl"
                    | "watch.lock"
                    | "reviews.json"
                    | "hook.log"
                    | "hook.log.1"
            ) || name.starts_with("store.sqlite")
                || name.starts_with("checkpoint.key")
                || name.starts_with("serve.token")
                || after(SET_ASIDE, "").is_some_and(is_number)
                || after("probe.", ".tmp").is_some_and(is_number)
        }
        Some("spool") => after("", ".jsonl").is_some_and(|windows| {
            windows.split('.').count() <= 2
                && windows.split('.').all(|window| SessionId::new(window).is_some())
        }),
        Some("work") => [".bin", ".txt"]
            .iter()
            .filter_map(|ending| after("", ending))
            .any(|session| SessionId::new(session).is_some()),
        // Checkpoint ids and session ids consist of the same characters.
        Some("receipts") => SessionId::new(name).is_some(),
        // Earlier releases wrote `.json`.
        Some("settings") => [".bin", ".json"]
            .iter()
            .filter_map(|ending| after("", ending))
            .any(|key| key.len() == 16 && key.bytes().all(|byte| byte.is_ascii_hexdigit())),
        // Milliseconds since the epoch have 13 digits or more.
        Some("backups") => {
            name.rsplit_once('.').is_some_and(|(_, time)| time.len() >= 13 && is_number(time))
        }
        Some("scratch") => return is_number(name),
        // A journal, and the run's folder beside it.
        Some("runs") => RunId::new(name.strip_suffix(".jsonl").unwrap_or(name)).is_some(),
        Some("board") => return BOARD.contains(&name),
        Some("bin") => name == "plimsoll",
        Some(_) => false,
    };
    ours || is_temporary(name)
}

/// Reports whether `name` is a temporary file made by [`put`].
pub fn is_temporary(name: &str) -> bool {
    owner(name).is_some()
}

/// Returns the process id in the name of a temporary file.
fn owner(name: &str) -> Option<i32> {
    let (_, process) = name.rsplit_once(TEMPORARY)?;
    process.strip_suffix(".tmp")?.parse().ok().filter(|process| *process > 0)
}

/// Prefix of a record of installed files that was moved aside because it could not be parsed.
pub(crate) const SET_ASIDE: &str = "installed.json.bad-";

/// Marks our temporary files.
const TEMPORARY: &str = ".plimsoll-";

/// Resolves symbolic links in a path; returns the path unchanged if it does not exist.
pub fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Abbreviates the home folder to `~`.
pub(crate) fn short(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

/// Reports whether two paths lead to the same file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    canonical(one) == canonical(other)
}

/// Reports whether `path` is `folder` or inside it.
pub fn holds(folder: &Path, path: &Path) -> bool {
    canonical(path).starts_with(canonical(folder))
}

/// Joins `parts` to `folder`. [`Path::join`] inspects what it joins, which a hook call would pay
/// for several times.
fn below(folder: &Path, parts: &[&str]) -> PathBuf {
    let folder = folder.as_os_str();
    let len = parts.iter().map(|part| part.len()).sum::<usize>();
    let mut path = OsString::with_capacity(folder.len() + 1 + len);
    path.push(folder);
    path.push("/");
    parts.iter().for_each(|part| path.push(part));
    path.into()
}

/// Returns the config file of a project.
pub fn project_config(project: &Path) -> PathBuf {
    project.join(".plimsoll.yaml")
}

/// Opens one of our files without following symbolic links or waiting for the other end of a FIFO.
/// Creates its folder if necessary. The standard library would set close-on-exec with a second
/// call.
fn private(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = || rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR);
    let opened = match open() {
        Err(Errno::NOENT) => {
            make_folder(path)?;
            open()
        }
        opened => opened,
    };
    Ok(opened?.into())
}

/// Opens one of our files for appending. Creates file and folder if necessary.
pub fn append(path: &Path) -> io::Result<File> {
    private(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)
}

/// Reports whether the last line of a file is incomplete because its writer was killed.
pub(crate) fn is_torn(file: &File) -> io::Result<bool> {
    let len = file.metadata()?.len();
    let mut last = [b'\n'];
    if len > 0 {
        file.read_exact_at(&mut last, len - 1)?;
    }
    Ok(last != [b'\n'])
}

/// Whether to follow a symbolic link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Links {
    Followed,
    Refused,
}

/// Reads a small regular file that others may have written. Never blocks, and refuses files larger
/// than any config.
pub(crate) fn read_small(path: &Path, links: Links) -> io::Result<String> {
    let bytes = read_bytes(path, links)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// Reads a small regular file that others may have written, as bytes.
pub fn read_bytes(path: &Path, links: Links) -> io::Result<Vec<u8>> {
    const LARGEST: u64 = 1 << 20;
    let file = open(path, links)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        let why = "it is no regular file of at most 1 MiB";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    // One read is enough: a file that changes meanwhile is read again next time.
    let mut bytes = vec![0; metadata.len() as usize];
    let read = file.read_at(&mut bytes, 0)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Reads a file whose length is about `len`, up to `most` bytes.
pub fn read_whole(file: &File, len: u64, most: u64) -> io::Result<Vec<u8>> {
    // With room for one more byte, the second read finds the end of the file.
    let mut bytes = vec![0; len.saturating_add(1).min(most) as usize];
    let mut read = 0;
    loop {
        match file.read_at(&mut bytes[read..], read as u64)? {
            0 => break,
            more => read += more,
        }
        if read == bytes.len() && (read as u64) < most {
            bytes.resize((2 * read).min(most as usize), 0);
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

/// Opens a file for reading without blocking on a FIFO that has no writer.
///
/// The standard library would set close-on-exec with a second call.
pub fn open(path: &Path, links: Links) -> io::Result<File> {
    let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, links == Links::Refused);
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Replaces one of our files atomically, and removes leftovers of killed processes from its folder.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let replaced = put(path, bytes);
    sweep(path);
    replaced
}

/// Replaces one of our files atomically.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary(path);
    let written = write_anew(&temporary)
        .and_then(|mut file| io::Write::write_all(&mut file, bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The original error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Opens one of our files for writing and truncates it. Creates file and folder if necessary.
pub fn write_anew(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    private(path, flags)
}

/// Returns the temporary file that will replace `path`. Its name contains ours, because it may be
/// in a foreign folder.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    path.with_extension(format!("{}{}.tmp", &TEMPORARY[1..], std::process::id()))
}

/// Returns `path` with `ending` appended to its name.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(ending);
    beside.into()
}

/// Removes leftovers of killed processes from the folder of `path`.
pub(crate) fn sweep(path: &Path) {
    let entries = path.parent().and_then(|folder| folder.read_dir().ok());
    for entry in entries.into_iter().flatten().flatten() {
        let written = || entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let is_left = |owner: i32| written().is_some_and(|at| is_left_behind(owner, at));
        if entry.file_name().to_str().and_then(owner).is_some_and(is_left) {
            // If this fails, the next write tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Reports whether the process that wrote a file has ended. Its id may belong to another process
/// now.
fn is_left_behind(process: i32, written: SystemTime) -> bool {
    has_ended(process)
        || u32::try_from(process).is_ok_and(|process| process::has_ended_since(process, written))
}

/// Reports whether no process has this id.
pub(crate) fn has_ended(process: i32) -> bool {
    Pid::from_raw(process).is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
