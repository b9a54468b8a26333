//! The files that are watched: transcripts, spools and the client's notes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use plimsoll_agents::{Agent, Layout, Owner};
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
    homes: Vec<AgentHome>,
    events: Option<Events>,
    rules: Rules,
    windows: HashMap<PathBuf, Window>,
    /// How long each spool was, and which file it was.
    spools: HashMap<PathBuf, (u64, u64)>,
    /// What was complained about.
    complaints: HashSet<String>,
}

/// Where an agent keeps what is watched.
#[derive(Clone)]
struct AgentHome {
    agent: &'static dyn Agent,
    layout: Layout,
    /// The folder of the client's notes on running sessions.
    notes: Option<PathBuf>,
}

impl AgentHome {
    fn of(world: &World, agent: &'static dyn Agent) -> Self {
        let notes = agent.liveness().map(|it| world.with_home(agent, |home| it.folder(home)));
        Self { agent, layout: sessions::layout(world, agent), notes }
    }

    /// Returns how many levels `folder` lies below the root of the transcripts.
    fn level_of(&self, folder: &Path) -> Option<usize> {
        Some(folder.strip_prefix(&self.layout.root).ok()?.components().count())
    }
}

/// A transcript, and how far it was read.
struct Window {
    agent: &'static dyn Agent,
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
    pub(super) fn new(
        world: &'a World,
        agents: &[&'static dyn Agent],
        events: Option<Events>,
    ) -> Self {
        Self {
            world,
            homes: agents.iter().map(|agent| AgentHome::of(world, *agent)).collect(),
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
            for subagent in self.nested(found.agent, &found.path) {
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
                Some(folder) if self.has_notes(folder) => changes.has_notes = true,
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
        let nests = main.map(|(path, window)| (window.agent, path.clone()));
        let nests: Vec<(&'static dyn Agent, PathBuf)> = nests.collect();
        found.extend(nests.iter().flat_map(|(agent, transcript)| self.nested(*agent, transcript)));
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
        let leads_to_home = self.watched_homes().iter().any(|home| home.starts_with(folder));
        let found = if leads_to_home {
            self.watch_homes();
            self.listed()
        } else {
            self.found_in(folder)
        };
        found.iter().filter_map(|found| self.compare(found)).collect()
    }

    /// The transcripts in a folder that is new below the transcripts of an agent.
    fn found_in(&mut self, folder: &Path) -> Vec<Found> {
        let mut homes = self.homes.iter();
        let Some((home, level)) =
            homes.find_map(|home| Some((home.clone(), home.level_of(folder)?)))
        else {
            return Vec::new();
        };
        match level.checked_sub(home.layout.depth) {
            // It lies above the folders of transcripts, or is one.
            None | Some(0) => self.listed_below(&home, folder.to_owned(), level),
            Some(1) => self.nested(home.agent, &folder.with_extension("jsonl")),
            Some(_) => {
                let parent = folder.parent().unwrap_or(folder);
                self.nested(home.agent, &parent.with_extension("jsonl"))
            }
        }
    }

    fn has_notes(&self, folder: &Path) -> bool {
        self.homes.iter().any(|home| home.notes.as_deref() == Some(folder))
    }

    /// The folders that do not depend on a session.
    fn watched_homes(&self) -> Vec<PathBuf> {
        let roots = self.homes.iter().map(|home| home.layout.root.clone());
        let notes = self.homes.iter().filter_map(|home| home.notes.clone());
        roots.chain(notes).collect()
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
        let agent = window.agent;
        let before = window.follow.take();
        let told = before.as_ref().map(|follow| follow.standing.clone());
        let before = before.map_or_else(Before::default, |follow| follow.into_before());
        let known = |ground: &crate::load::Ground| Known {
            in_force: self.rules.of(self.world, agent, &ground.project),
            state: state(self.world, &window.owner),
        };
        let follow = Follow::look(agent, &file, before, known)?;
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
        let is_above = |home: &&AgentHome| path.starts_with(&home.layout.root);
        let agent = self.homes.iter().find(is_above)?.agent;
        let owner = agent.transcript().owner(path)?;
        let read = self.read_on(agent, path, owner);
        self.tolerate(path, read)
    }

    fn read_on(
        &mut self,
        agent: &'static dyn Agent,
        path: &Path,
        owner: Owner,
    ) -> io::Result<Option<Seen>> {
        let Some(file) = JsonLines::open(path)? else { return Ok(self.gone(path)) };
        let file = file.in_whole_lines()?;
        let is_known = self.windows.contains_key(path);
        let window =
            self.windows.entry(path.to_owned()).or_insert_with(|| Window::new(agent, &owner));
        let is_other = is_known && window.inode != file.inode() || file.len() < window.read_to;
        if !is_other && file.len() == window.read_to && is_known {
            return Ok(None);
        }
        window.grew = Instant::now();
        let before = window.follow.as_ref().map(|follow| follow.standing.clone());
        let appended = match window.follow.as_mut().filter(|_| !is_other) {
            Some(follow) => follow.read_on(agent, &file, window.read_to)?,
            None => Appended { is_lost: true, ..Appended::default() },
        };
        window.read_to = file.len();
        if appended.is_lost {
            self.take_look(path)?;
        }
        if before.is_none() && owner.subagent.is_none() {
            // What its subagents write from now on is told.
            self.nested(agent, path);
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

    /// Forgets a transcript that is gone, and reports that its session is over.
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
        for home in self.watched_homes().into_iter().chain([self.world.paths.spools()]) {
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
        let homes = self.homes.clone();
        homes.iter().flat_map(|home| self.listed_below(home, home.layout.root.clone(), 0)).collect()
    }

    /// The transcripts below a folder that lies `level` levels below the root of an agent's. All folders on
    /// the way are watched from now on.
    fn listed_below(&mut self, home: &AgentHome, folder: PathBuf, level: usize) -> Vec<Found> {
        if !folder.is_dir() {
            return Vec::new();
        }
        self.watch(&folder, Interest::Contents);
        if level == home.layout.depth {
            return sessions::transcripts(home.agent, folder).collect();
        }
        let below: Vec<PathBuf> = sessions::folders(folder, 1).collect();
        below.into_iter().flat_map(|folder| self.listed_below(home, folder, level + 1)).collect()
    }

    /// The transcripts of a session's subagents, whose folder is watched from now on.
    fn nested(&mut self, agent: &'static dyn Agent, transcript: &Path) -> Vec<Found> {
        let Some(folder) = agent.transcript().subagents(transcript) else { return Vec::new() };
        let Some(parent) = folder.parent().filter(|parent| parent.is_dir()) else {
            return Vec::new();
        };
        self.watch(parent, Interest::Names);
        if !folder.is_dir() {
            return Vec::new();
        }
        self.watch(&folder, Interest::Contents);
        sessions::transcripts(agent, folder).collect()
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
    fn new(agent: &'static dyn Agent, owner: &Owner) -> Self {
        Self {
            agent,
            owner: owner.clone(),
            inode: 0,
            read_to: 0,
            grew: Instant::now(),
            follow: None,
        }
    }

    /// One that was there before.
    fn past(found: &Found) -> Self {
        Self { inode: found.inode, read_to: found.len, ..Self::new(found.agent, &found.owner) }
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

/// Returns the state that the hooks saved for a window.
fn state(world: &World, owner: &Owner) -> SessionState {
    let spool = world.paths.spool_of(&owner.session, owner.subagent.as_ref());
    spool::state(&spool).unwrap_or_default()
}
