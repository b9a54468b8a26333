//! The files that are watched: transcripts, spools and the client's notes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use plimsoll_agents::{Adapter, Owner};
use plimsoll_core::entry::Boundary;
use plimsoll_core::event::SessionId;
use plimsoll_core::session::SessionState;

use super::events::{Events, Interest};
use super::follow::{Appended, Before, Follow, Known};
use super::lives::IDLE;
use super::notice::Standing;
use super::rules::Rules;
use crate::ingest;
use crate::jsonl::JsonLines;
use crate::log;
use crate::paths;
use crate::sessions::{self, Found};
use crate::spool;
use crate::world::World;

/// So many windows are followed at once; those that have been silent longest are looked at anew when
/// they grow again.
const MOST_FOLLOWED: usize = 2_000;

/// All files that matter.
pub(super) struct Files<'a> {
    world: &'a World,
    adapter: &'a dyn Adapter,
    /// The folder of the transcripts.
    root: PathBuf,
    /// The folder of the client's notes.
    notes: PathBuf,
    events: Option<Events>,
    rules: Rules,
    windows: HashMap<PathBuf, Window>,
    /// How long each spool was, and which file it was.
    spools: HashMap<PathBuf, (u64, u64)>,
    /// What was complained about.
    complaints: HashSet<String>,
}

/// A transcript, and how far it was read.
struct Window {
    owner: Owner,
    inode: u64,
    read_to: u64,
    /// When it last grew.
    grew: Instant,
    follow: Option<Box<Follow>>,
}

/// What has been seen of a window.
pub(super) struct Seen {
    pub(super) owner: Owner,
    /// Its transcript, if there is something new for the store.
    pub(super) transcript: Option<PathBuf>,
    /// The transcript was written to.
    pub(super) wrote: bool,
    /// When that was last, in milliseconds since the epoch, where it was looked at.
    pub(super) written: Option<u64>,
    /// The session is over.
    pub(super) is_over: bool,
    pub(super) compactions: Vec<Boundary>,
    /// How the window stands, if that is news.
    pub(super) standing: Option<Standing>,
}

/// What the system has told of.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) seen: Vec<Seen>,
    /// The client's notes have changed.
    pub(super) has_notes: bool,
    /// There was more.
    pub(super) is_incomplete: bool,
}

impl<'a> Files<'a> {
    pub(super) fn new(world: &'a World, adapter: &'a dyn Adapter, events: Option<Events>) -> Self {
        Self {
            world,
            adapter,
            root: world.with_home(adapter, |home| adapter.transcripts(home)),
            notes: world.with_home(adapter, |home| adapter.running_folder(home)),
            events,
            rules: Rules::default(),
            windows: HashMap::new(),
            spools: HashMap::new(),
            complaints: HashSet::new(),
        }
    }

    /// What tells of changes, if anything does.
    pub(super) fn events(&self) -> Option<&Events> {
        self.events.as_ref()
    }

    /// Learns of every file there is, and looks at the windows of those who are alive: who wrote
    /// lately and is not over, or `is_running`.
    pub(super) fn begin(&mut self, is_running: &dyn Fn(&SessionId) -> bool) -> Vec<Seen> {
        // It is ours; a hook would make it too.
        let _ = paths::make_folder(&self.world.paths.spools().join("x"));
        self.watch_homes();
        self.spools = self.listed_spools();
        let is_recent = |found: &Found| {
            let age = SystemTime::now().duration_since(found.modified).unwrap_or_default();
            age < IDLE
        };
        let mut seen = Vec::new();
        for found in self.listed() {
            let is_alive = is_running(&found.owner.session)
                || is_recent(&found) && !self.is_over(&found.owner);
            self.windows.insert(found.path.clone(), Window::past(&found));
            if !is_alive {
                continue;
            }
            seen.extend(self.look(&found.path));
            for subagent in self.nested(&found.path) {
                self.windows.insert(subagent.path.clone(), Window::past(&subagent));
                seen.extend(is_recent(&subagent).then(|| self.look(&subagent.path)).flatten());
            }
        }
        seen
    }

    /// Takes what the system has told since the last time.
    pub(super) fn changes(&mut self) -> io::Result<Changes> {
        let Some(events) = &mut self.events else { return Ok(Changes::default()) };
        let changed = events.take()?;
        let mut changes = Changes { is_incomplete: changed.is_incomplete, ..Changes::default() };
        for folder in changed.folders {
            changes.seen.extend(self.folder_came(&folder));
        }
        let spools = self.world.paths.spools();
        for file in changed.files {
            match file.parent() {
                Some(folder) if folder == self.notes => changes.has_notes = true,
                Some(folder) if folder == spools => changes.seen.extend(self.spooled(&file)),
                _ => changes.seen.extend(self.read(&file)),
            }
        }
        Ok(changes)
    }

    /// Looks at every file, for what the system has not told.
    pub(super) fn poll(&mut self) -> Vec<Seen> {
        self.watch_homes();
        let mut found = self.listed();
        let followed = self.windows.iter().filter(|(_, window)| window.follow.is_some());
        let main = followed.filter(|(_, window)| window.owner.subagent.is_none());
        let nests: Vec<PathBuf> = main.map(|(path, _)| path.clone()).collect();
        found.extend(nests.iter().flat_map(|transcript| self.nested(transcript)));
        let mut seen: Vec<Seen> = self.missing(&found);
        seen.extend(found.iter().filter_map(|found| self.compare(found)));
        let spools = self.listed_spools();
        let written = spools.iter().filter(|(path, stamp)| self.spools.get(*path) != Some(stamp));
        let written: Vec<PathBuf> = written.map(|(path, _)| path.clone()).collect();
        self.spools = spools;
        seen.extend(written.iter().filter_map(|spool| self.spooled(spool)));
        seen
    }

    /// Follows no more windows than there is room for.
    pub(super) fn forget_oldest(&mut self) {
        let mut followed: Vec<&mut Window> =
            self.windows.values_mut().filter(|window| window.follow.is_some()).collect();
        followed.sort_by_key(|window| std::cmp::Reverse(window.grew));
        for window in followed.into_iter().skip(MOST_FOLLOWED) {
            window.follow = None;
        }
    }

    /// The windows that were followed and are not among the files any more.
    fn missing(&mut self, found: &[Found]) -> Vec<Seen> {
        let there: HashSet<&Path> = found.iter().map(|found| found.path.as_path()).collect();
        let followed = self.windows.iter().filter(|(_, window)| window.follow.is_some());
        let missing = followed.filter(|(path, _)| !there.contains(path.as_path()));
        let missing: Vec<PathBuf> = missing.map(|(path, _)| path.clone()).collect();
        missing.iter().filter_map(|path| self.read(path)).collect()
    }

    /// Reads a file on that is not as it was.
    fn compare(&mut self, found: &Found) -> Option<Seen> {
        let known = self.windows.get(&found.path);
        let is_new =
            known.is_none_or(|window| (window.inode, window.read_to) != (found.inode, found.len));
        is_new.then(|| self.read(&found.path)).flatten()
    }

    /// A folder is there that was not.
    fn folder_came(&mut self, folder: &Path) -> Vec<Seen> {
        if self.root.starts_with(folder) || self.notes.starts_with(folder) {
            self.watch_homes();
            let found = self.listed();
            return found.iter().filter_map(|found| self.compare(found)).collect();
        }
        let found = match folder.parent() {
            Some(parent) if parent == self.root => self.project(folder),
            Some(parent) if parent.parent() == Some(&self.root) => {
                self.nested(&folder.with_extension("jsonl"))
            }
            Some(parent) => self.nested(&parent.with_extension("jsonl")),
            None => Vec::new(),
        };
        found.iter().filter_map(|found| self.compare(found)).collect()
    }

    /// A spool was written to: the session is over, or its window may be another.
    fn spooled(&mut self, path: &Path) -> Option<Seen> {
        let owner = ingest::owner_of_spool(path)?;
        let known = self.windows.iter().find(|(_, window)| window.owner == owner);
        let transcript = known.map(|(transcript, _)| transcript.clone());
        if owner.subagent.is_none() && self.is_over(&owner) {
            return Some(Seen { transcript, is_over: true, ..Seen::of(owner) });
        }
        let is_followed = known.is_some_and(|(_, window)| window.follow.is_some());
        let transcript = transcript.filter(|_| is_followed)?;
        let seen = self.look(&transcript);
        Some(Seen { transcript: Some(transcript), ..seen.unwrap_or(Seen::of(owner)) })
    }

    fn is_over(&self, owner: &Owner) -> bool {
        let spool = self.world.paths.spool_of(&owner.session, None);
        let last = spool::last(&spool).ok().flatten();
        last.is_some_and(|line| line.what == spool::ENDED)
    }

    /// Looks at a window from its end, whatever was known.
    fn look(&mut self, path: &Path) -> Option<Seen> {
        let taken = self.take_look(path);
        self.tolerate(path, taken)
    }

    fn take_look(&mut self, path: &Path) -> io::Result<Option<Seen>> {
        let Some(file) = JsonLines::open(path)? else { return Ok(None) };
        let file = file.in_whole_lines()?;
        let Some(window) = self.windows.get_mut(path) else { return Ok(None) };
        let before = window.follow.take();
        let told = before.as_ref().map(|follow| follow.standing.clone());
        let before = before.map_or_else(Before::default, |follow| follow.into_before());
        let known = |ground: &crate::load::Ground| Known {
            in_force: self.rules.of(self.world, self.adapter, &ground.project),
            state: state(self.world, &window.owner),
        };
        let follow = Follow::look(self.adapter, &file, before, known)?;
        (window.inode, window.read_to) = (file.inode(), file.len());
        let standing = (told.as_ref() != Some(&follow.standing)).then(|| follow.standing.clone());
        window.follow = Some(Box::new(follow));
        let (transcript, written) = (Some(path.to_owned()), file.written().ok());
        Ok(Some(Seen { transcript, written, standing, ..Seen::of(window.owner.clone()) }))
    }

    /// Reads what was appended to a transcript.
    fn read(&mut self, path: &Path) -> Option<Seen> {
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            return None;
        }
        let owner = self.adapter.owner(path)?;
        let read = self.read_on(path, owner);
        self.tolerate(path, read)
    }

    fn read_on(&mut self, path: &Path, owner: Owner) -> io::Result<Option<Seen>> {
        let Some(file) = JsonLines::open(path)? else { return Ok(self.gone(path)) };
        let file = file.in_whole_lines()?;
        let is_known = self.windows.contains_key(path);
        let window = self.windows.entry(path.to_owned()).or_insert_with(|| Window::new(&owner));
        let is_other = is_known && window.inode != file.inode() || file.len() < window.read_to;
        if !is_other && file.len() == window.read_to && is_known {
            return Ok(None);
        }
        window.grew = Instant::now();
        let before = window.follow.as_ref().map(|follow| follow.standing.clone());
        let appended = match window.follow.as_mut().filter(|_| !is_other) {
            Some(follow) => follow.read_on(self.adapter, &file, window.read_to)?,
            None => Appended { is_lost: true, ..Appended::default() },
        };
        window.read_to = file.len();
        if appended.is_lost {
            self.take_look(path)?;
        }
        if before.is_none() && owner.subagent.is_none() {
            // What its subagents write from now on is told.
            self.nested(path);
        }
        let now = self.windows.get(path).and_then(|window| window.follow.as_ref());
        let standing =
            now.map(|follow| follow.standing.clone()).filter(|now| Some(now) != before.as_ref());
        Ok(Some(Seen {
            transcript: Some(path.to_owned()),
            wrote: true,
            written: file.written().ok(),
            compactions: appended.compactions,
            standing,
            ..Seen::of(owner)
        }))
    }

    /// A transcript is not there any more.
    fn gone(&mut self, path: &Path) -> Option<Seen> {
        let window = self.windows.remove(path)?;
        let is_over = window.owner.subagent.is_none();
        Some(Seen { is_over, ..Seen::of(window.owner) })
    }

    /// A file that cannot be read keeps nobody else's from being read.
    fn tolerate(&mut self, path: &Path, read: io::Result<Option<Seen>>) -> Option<Seen> {
        read.unwrap_or_else(|error| {
            self.complain(&format!("watch: could not read `{}`: {error}", path.display()));
            None
        })
    }

    /// Watches the folders that do not depend on a session, or waits for them.
    fn watch_homes(&mut self) {
        for home in [self.root.clone(), self.notes.clone(), self.world.paths.spools()] {
            let there = home.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned);
            match there {
                Some(there) if there == home => self.watch(&there, Interest::Contents),
                Some(there) => self.watch(&there, Interest::Names),
                None => {}
            }
        }
    }

    /// All transcripts of sessions.
    fn listed(&mut self) -> Vec<Found> {
        let folders = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let folders: Vec<PathBuf> = folders.map(|folder| folder.path()).collect();
        folders.iter().flat_map(|folder| self.project(folder)).collect()
    }

    /// The transcripts in a project's folder, which is watched from now on.
    fn project(&mut self, folder: &Path) -> Vec<Found> {
        if !folder.is_dir() {
            return Vec::new();
        }
        self.watch(folder, Interest::Contents);
        sessions::transcripts(self.adapter, folder.to_owned()).collect()
    }

    /// The transcripts of a session's subagents, whose folder is watched from now on.
    fn nested(&mut self, transcript: &Path) -> Vec<Found> {
        let folder = self.adapter.subagents(transcript);
        let Some(parent) = folder.parent().filter(|parent| parent.is_dir()) else {
            return Vec::new();
        };
        self.watch(parent, Interest::Names);
        if !folder.is_dir() {
            return Vec::new();
        }
        self.watch(&folder, Interest::Contents);
        sessions::transcripts(self.adapter, folder).collect()
    }

    fn watch(&mut self, folder: &Path, interest: Interest) {
        let Some(events) = &mut self.events else { return };
        match events.watch(folder, interest) {
            // It was there a moment ago.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if error.kind() == ErrorKind::StorageFull => self.complain(
                "watch: no more folders can be watched (fs.inotify.max_user_watches); \
                 the rest is looked at every `auto_context.poll_interval_seconds`",
            ),
            Err(error) => {
                self.complain(&format!("watch: could not watch `{}`: {error}", folder.display()));
            }
            Ok(()) => {}
        }
    }

    fn listed_spools(&self) -> HashMap<PathBuf, (u64, u64)> {
        let spools = fs::read_dir(self.world.paths.spools()).into_iter().flatten().flatten();
        spools
            .filter_map(|spool| {
                let metadata = spool.metadata().ok()?;
                Some((spool.path(), (metadata.ino(), metadata.len())))
            })
            .collect()
    }

    /// Writes a line to the log, once.
    fn complain(&mut self, what: &str) {
        if self.complaints.insert(what.to_owned()) {
            log::write(&self.world.paths.log(), what);
        }
    }
}

impl Window {
    fn new(owner: &Owner) -> Self {
        Self { owner: owner.clone(), inode: 0, read_to: 0, grew: Instant::now(), follow: None }
    }

    /// One that was there before.
    fn past(found: &Found) -> Self {
        Self { inode: found.inode, read_to: found.len, ..Self::new(&found.owner) }
    }
}

impl Seen {
    fn of(owner: Owner) -> Self {
        Self {
            owner,
            transcript: None,
            wrote: false,
            written: None,
            is_over: false,
            compactions: Vec::new(),
            standing: None,
        }
    }
}

/// What the hooks know of a window.
fn state(world: &World, owner: &Owner) -> SessionState {
    let spool = world.paths.spool_of(&owner.session, owner.subagent.as_ref());
    spool::state(&spool).unwrap_or_default()
}
