//! Every path on disk that is ours.
//!
//! Files are made for the user alone (0600, folders 0700), whatever the umask says.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use plimsoll_core::event::{Event, SessionId};

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
        let data = folder("PLIMSOLL_DATA_DIR").unwrap_or_else(|| {
            folder("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")).join("plimsoll")
        });
        let config = folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        Some(Self { data, config: config.join("plimsoll/config.yaml"), home })
    }

    /// The spool of the window that `event` concerns: every window has its own.
    pub fn spool(&self, event: &Event) -> PathBuf {
        self.spool_of(&event.session, event.subagent.as_ref().map(|subagent| &subagent.id))
    }

    /// The spool of a session's window, or of one of its subagents'.
    pub fn spool_of(&self, session: &SessionId, subagent: Option<&SessionId>) -> PathBuf {
        let name = match subagent {
            Some(subagent) => format!("{session}.{subagent}.jsonl"),
            None => format!("{session}.jsonl"),
        };
        self.spools().join(name)
    }

    /// The folder of all spools.
    pub fn spools(&self) -> PathBuf {
        self.data.join("spool")
    }

    /// The cached settings of a project.
    pub fn settings_cache(&self, key: u64) -> PathBuf {
        self.data.join(format!("settings/{key:016x}.json"))
    }

    /// Where compactions were seen, for the hooks.
    pub fn learned(&self) -> PathBuf {
        self.data.join("learned.json")
    }

    /// The store.
    pub fn store(&self) -> PathBuf {
        self.data.join("store.sqlite")
    }

    /// The log of what went wrong.
    pub fn log(&self) -> PathBuf {
        self.data.join("hook.log")
    }
}

/// The config a project may carry.
pub fn project_config(project: &Path) -> PathBuf {
    project.join(".plimsoll.yaml")
}

/// How our files are opened: never through a link that someone left in their place.
fn private() -> OpenOptions {
    let mut options = File::options();
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::CLOEXEC;
    options.mode(0o600).custom_flags(flags.bits() as i32);
    options
}

/// Opens one of our files for appending, and makes it and its folder if need be.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let mut options = private();
    options.read(true).append(true).create(true);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_folder(path)?;
            options.open(path)
        }
        opened => opened,
    }
}

/// Puts `bytes` in the place of one of our files, whole or not at all.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_folder(path)?;
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary)
        .and_then(|mut file| io::Write::write_all(&mut file, bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Nothing is left behind; that the write failed is what is told.
        let _ = fs::remove_file(&temporary);
    }
    written
}

pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
