//! Every path on disk that is ours.
//!
//! Files are made for the user alone (0600, folders 0700), whatever the umask says.

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

/// Where our files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The user's home.
    pub home: PathBuf,
    /// What we remember.
    pub data: PathBuf,
    /// The user's config.
    pub config: PathBuf,
}

impl Paths {
    /// The paths that the environment asks for; nothing without a home.
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

    /// The spool of the window that `event` concerns: every window has its own.
    pub fn spool(&self, event: &Event) -> PathBuf {
        self.spool_of(&event.session, event.subagent.as_ref().map(|subagent| &subagent.id))
    }

    /// The spool of a session's window, or of one of its subagents'.
    pub fn spool_of(&self, session: &SessionId, subagent: Option<&SessionId>) -> PathBuf {
        match subagent {
            Some(subagent) => {
                let parts = ["spool/", session.as_str(), ".", subagent.as_str(), ".jsonl"];
                below(&self.data, &parts)
            }
            None => below(&self.data, &["spool/", session.as_str(), ".jsonl"]),
        }
    }

    /// What is kept of a session's work.
    pub fn work(&self, session: &SessionId) -> PathBuf {
        below(&self.data, &["work/", session.as_str(), ".bin"])
    }

    /// What waits to be told to a session.
    pub fn waiting(&self, session: &SessionId) -> PathBuf {
        below(&self.data, &["work/", session.as_str(), ".txt"])
    }

    /// The folder of what is kept of every session's work.
    pub fn works(&self) -> PathBuf {
        self.data.join("work")
    }

    /// The folder of all spools.
    pub fn spools(&self) -> PathBuf {
        self.data.join("spool")
    }

    /// The cached settings of a project.
    pub fn settings_cache(&self, key: u64) -> PathBuf {
        // Formatting would bring another two stretches of code into memory.
        let digit = |at: usize| b"0123456789abcdef"[(key >> (60 - 4 * at)) as usize & 15];
        let name: [u8; 16] = std::array::from_fn(digit);
        below(&self.data, &["settings/", str::from_utf8(&name).unwrap_or_default(), ".bin"])
    }

    /// Where compactions were seen, for the hooks.
    pub fn learned(&self) -> PathBuf {
        self.data.join("learned.json")
    }

    /// The store.
    pub fn store(&self) -> PathBuf {
        self.data.join("store.sqlite")
    }

    /// The receipts of all checkpoints.
    pub fn receipts(&self) -> PathBuf {
        self.data.join("receipts")
    }

    /// The receipt of a checkpoint: which sessions were given it.
    pub fn receipt(&self, checkpoint: &str) -> PathBuf {
        below(&self.data, &["receipts/", checkpoint])
    }

    /// The list of the checkpoints of all projects, for agents without one of their own.
    pub fn checkpoint_index(&self) -> PathBuf {
        self.data.join("checkpoints.json")
    }

    /// The journal of saves.
    pub fn saves(&self) -> PathBuf {
        below(&self.data, &["saves.jsonl"])
    }

    /// The folder of all runs.
    pub fn runs(&self) -> PathBuf {
        self.data.join("runs")
    }

    /// The journal of a run.
    pub fn run_journal(&self, run: &RunId) -> PathBuf {
        below(&self.data, &["runs/", run.as_str(), ".jsonl"])
    }

    /// The folder of what belongs to a run besides.
    pub fn run_folder(&self, run: &RunId) -> PathBuf {
        below(&self.data, &["runs/", run.as_str()])
    }

    /// Where folders are made for what nobody is to remember.
    pub fn scratch(&self) -> PathBuf {
        self.data.join("scratch")
    }

    /// The copy of our program that hooks call where the program itself lies in no lasting place.
    pub fn program_copy(&self) -> PathBuf {
        self.data.join("bin/plimsoll")
    }

    /// What `init` did to which file.
    pub fn installed(&self) -> PathBuf {
        self.data.join("installed.json")
    }

    /// The files of others as they were before we changed them.
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// The board.
    pub fn board(&self) -> PathBuf {
        self.data.join("board")
    }

    /// The inboxes of all sessions.
    pub fn inboxes(&self) -> PathBuf {
        self.data.join("board/inbox")
    }

    /// The inbox of a session. It is there only as long as something lies in it.
    pub fn inbox(&self, session: &SessionId) -> PathBuf {
        below(&self.data, &["board/inbox/", session.as_str()])
    }

    /// Where messages are written.
    pub fn drafts(&self) -> PathBuf {
        self.data.join("board/drafts")
    }

    /// The claims on paths.
    pub fn claims(&self) -> PathBuf {
        self.data.join("board/claims")
    }

    /// What whoever changes a claim holds.
    pub fn claims_lock(&self) -> PathBuf {
        self.data.join("board/claims.lock")
    }

    /// What whoever shows the board in a project holds.
    pub fn mirror_lock(&self) -> PathBuf {
        self.data.join("board/mirror.lock")
    }

    /// What checkpoints are sealed with.
    pub fn checkpoint_key(&self) -> PathBuf {
        self.data.join("checkpoint.key")
    }

    /// What whoever is not known to be the user must show to the server.
    pub fn token(&self) -> PathBuf {
        self.data.join("serve.token")
    }

    /// What the one watcher of this machine holds.
    pub fn watch_lock(&self) -> PathBuf {
        self.data.join("watch.lock")
    }

    /// How often reviewers were asked today.
    pub fn reviews(&self) -> PathBuf {
        self.data.join("reviews.json")
    }

    /// The log of what went wrong.
    pub fn log(&self) -> PathBuf {
        below(&self.data, &["hook.log"])
    }
}

/// The folders in the data folder that are ours.
pub(crate) const OWN_FOLDERS: [&str; 9] =
    ["spool", "settings", "work", "receipts", "backups", "scratch", "board", "runs", "bin"];

/// What lies on the board.
const BOARD: [&str; 5] = ["inbox", "drafts", "claims", "claims.lock", "mirror.lock"];

/// Whether `name` is one that we give: to a file in the data folder if `folder` is nothing, else to
/// what lies in that folder of ours.
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
        // A checkpoint's id is made of the same characters as a session's name.
        Some("receipts") => SessionId::new(name).is_some(),
        // Earlier releases wrote `.json`.
        Some("settings") => [".bin", ".json"]
            .iter()
            .filter_map(|ending| after("", ending))
            .any(|key| key.len() == 16 && key.bytes().all(|byte| byte.is_ascii_hexdigit())),
        // Milliseconds since the epoch have had 13 digits for a while.
        Some("backups") => {
            name.rsplit_once('.').is_some_and(|(_, time)| time.len() >= 13 && is_number(time))
        }
        Some("scratch") => return is_number(name),
        // A journal, and a folder beside it.
        Some("runs") => RunId::new(name.strip_suffix(".jsonl").unwrap_or(name)).is_some(),
        Some("board") => return BOARD.contains(&name),
        Some("bin") => name == "plimsoll",
        Some(_) => false,
    };
    ours || is_temporary(name)
}

/// Whether a file is called as `temporary` calls it.
pub fn is_temporary(name: &str) -> bool {
    owner(name).is_some()
}

/// The process that wrote a file called as [`temporary`] calls it.
fn owner(name: &str) -> Option<i32> {
    let (_, process) = name.rsplit_once(TEMPORARY)?;
    process.strip_suffix(".tmp")?.parse().ok().filter(|process| *process > 0)
}

/// How a record begins that was put aside because nobody could read it.
pub(crate) const SET_ASIDE: &str = "installed.json.bad-";

/// What tells a temporary file of ours from everybody else's.
const TEMPORARY: &str = ".plimsoll-";

/// A path by its true name, as long as it is there.
pub fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A path as people write it, with `~` for the home folder.
pub(crate) fn short(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

/// Whether two paths lead to the same place.
pub fn is_same(one: &Path, other: &Path) -> bool {
    canonical(one) == canonical(other)
}

/// Whether `path` lies in `folder`, or is it.
pub fn holds(folder: &Path, path: &Path) -> bool {
    canonical(path).starts_with(canonical(folder))
}

/// The path `parts` below `folder`. [`Path::join`] looks closely at what it joins, which a hook call
/// would pay for several times.
fn below(folder: &Path, parts: &[&str]) -> PathBuf {
    let folder = folder.as_os_str();
    let len = parts.iter().map(|part| part.len()).sum::<usize>();
    let mut path = OsString::with_capacity(folder.len() + 1 + len);
    path.push(folder);
    path.push("/");
    parts.iter().for_each(|part| path.push(part));
    path.into()
}

/// The config a project may carry.
pub fn project_config(project: &Path) -> PathBuf {
    project.join(".plimsoll.yaml")
}

/// Opens one of our files, never through a link that someone left in its place, and never waiting for
/// the other end of a FIFO; makes its folder if need be. The standard library would mark each file
/// twice as not to be inherited.
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

/// Opens one of our files for appending, and makes it and its folder if need be.
pub fn append(path: &Path) -> io::Result<File> {
    private(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)
}

/// Whether the last line of a file has no end: whoever wrote it was killed.
pub(crate) fn is_torn(file: &File) -> io::Result<bool> {
    let len = file.metadata()?.len();
    let mut last = [b'\n'];
    if len > 0 {
        file.read_exact_at(&mut last, len - 1)?;
    }
    Ok(last != [b'\n'])
}

/// Whether a link in a file's place is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Links {
    Followed,
    Refused,
}

/// The text of a small regular file that someone else may have written: nothing here waits, and
/// nothing is read past a size that no config has.
pub(crate) fn read_small(path: &Path, links: Links) -> io::Result<String> {
    let bytes = read_bytes(path, links)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// The same, as bytes.
pub fn read_bytes(path: &Path, links: Links) -> io::Result<Vec<u8>> {
    const LARGEST: u64 = 1 << 20;
    let file = open(path, links)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        let why = "it is no regular file of at most 1 MiB";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    // One read is enough: a file that changes meanwhile is another file next time.
    let mut bytes = vec![0; metadata.len() as usize];
    let read = file.read_at(&mut bytes, 0)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// The bytes of a file that is `len` long, or a little more, and not more than `most`.
pub fn read_whole(file: &File, len: u64, most: u64) -> io::Result<Vec<u8>> {
    // With room for a byte more the first read is the last but one, and finds the end.
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

/// Opens a file for reading without ever waiting: a FIFO without a writer would keep us.
///
/// The standard library marks each file twice as not to be inherited; here it costs one call.
pub fn open(path: &Path, links: Links) -> io::Result<File> {
    let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, links == Links::Refused);
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Puts `bytes` in the place of one of our files, whole or not at all, and removes what killed
/// processes left in its folder.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let replaced = put(path, bytes);
    sweep(path);
    replaced
}

/// Puts `bytes` in the place of one of our files, whole or not at all.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary(path);
    let written = write_anew(&temporary)
        .and_then(|mut file| io::Write::write_all(&mut file, bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Nothing is left behind; that the write failed is what is told.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Opens one of our files to be written from its beginning, and makes it and its folder if need be.
pub fn write_anew(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    private(path, flags)
}

/// Where a file is written that is to take the place of `path`. Its name says whose it is, for it may
/// lie in a folder of others.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    path.with_extension(format!("{}{}.tmp", &TEMPORARY[1..], std::process::id()))
}

/// A file beside `path`, called like it with an ending more.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(ending);
    beside.into()
}

/// Removes what processes that were killed meanwhile have left in the folder of `path`.
pub(crate) fn sweep(path: &Path) {
    let entries = path.parent().and_then(|folder| folder.read_dir().ok());
    for entry in entries.into_iter().flatten().flatten() {
        let written = || entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let is_left = |owner: i32| written().is_some_and(|at| is_left_behind(owner, at));
        if entry.file_name().to_str().and_then(owner).is_some_and(is_left) {
            // Whoever writes next tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether the process that wrote a file is gone. Its number may be another's by now.
fn is_left_behind(process: i32, written: SystemTime) -> bool {
    has_ended(process)
        || u32::try_from(process).is_ok_and(|process| process::has_ended_since(process, written))
}

/// Whether there is no process of that number any more.
pub(crate) fn has_ended(process: i32) -> bool {
    Pid::from_raw(process).is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
