//! Keeping what was read: the store takes in what is new, in few transactions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use plimsoll_agents::Agent;

use crate::damage;
use crate::ingest::{Ingester, Transcript};
use crate::log;
use crate::world::{World, now};

/// What is new is gathered for so long.
const PERIOD: Duration = Duration::from_secs(2);
/// For so long the store may keep the watcher from reading.
const TIME: Duration = Duration::from_millis(100);
/// How long others are waited for; then it is tried again later.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long a last attempt may take.
const LAST_TIME: Duration = Duration::from_secs(1);
/// How many sessions are thinned at a time.
const THINNED: u32 = 50;

/// What waits to be taken in.
pub(super) struct Keeper<'a> {
    world: &'a World,
    store: Option<Ingester<'a>>,
    waiting: HashMap<PathBuf, &'static dyn Agent>,
    due: Option<Instant>,
    /// Compactions have come that the hooks are to know of.
    has_lessons: bool,
    /// The last attempt has failed, and somebody was told.
    has_failed: bool,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        let (waiting, due) = (HashMap::new(), None);
        Self { world, store: None, waiting, due, has_lessons: true, has_failed: false }
    }

    /// The window behind a transcript has news.
    pub(super) fn add(&mut self, agent: &'static dyn Agent, transcript: PathBuf) {
        self.waiting.insert(transcript, agent);
        self.due.get_or_insert_with(|| Instant::now() + PERIOD);
    }

    /// A session was compacted, which is told to the hooks when it is taken in.
    pub(super) fn compacted(&mut self) {
        self.has_lessons = true;
    }

    /// When the store is to take in what waits.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Takes in what waits. What cannot be done now is done another time.
    pub(super) fn keep(&mut self) {
        self.keep_for(TIME);
    }

    /// Takes in what waits, for good.
    pub(super) fn finish(&mut self) {
        if self.due.is_some() {
            self.keep_for(LAST_TIME);
        }
    }

    fn keep_for(&mut self, time: Duration) {
        let waiting: Vec<Transcript> =
            self.waiting.drain().map(|(path, agent)| (agent, path)).collect();
        let has_lessons = std::mem::take(&mut self.has_lessons);
        let left = self.store().and_then(|store| {
            let left = store.together(waiting.clone(), Instant::now() + time)?;
            if has_lessons {
                store.learn()?;
            }
            Ok(left)
        });
        let pause = if left.is_ok() { TIME } else { PERIOD };
        self.has_failed = match left {
            Ok(left) => {
                self.wait_for(left);
                false
            }
            Err(error) => {
                self.complain(&error);
                self.wait_for(waiting);
                true
            }
        };
        self.due = (!self.waiting.is_empty()).then(|| Instant::now() + pause);
    }

    fn wait_for(&mut self, transcripts: Vec<Transcript>) {
        self.waiting.extend(transcripts.into_iter().map(|(agent, path)| (path, agent)));
    }

    /// Thins what is old.
    pub(super) fn tidy(&mut self) {
        let thinned =
            self.store().and_then(|store| Ok(store.store.thin_readings(now() as i64, THINNED)?));
        if let Err(error) = thinned {
            self.complain(&error);
            self.has_failed = true;
        }
    }

    fn store(&mut self) -> anyhow::Result<&mut Ingester<'a>> {
        let opened = match self.store.take() {
            Some(open) => open,
            None => Ingester::open(self.world, PATIENCE, None)?,
        };
        Ok(self.store.insert(opened))
    }

    /// Says what went wrong, once until it goes right again.
    fn complain(&mut self, error: &anyhow::Error) {
        if !self.has_failed {
            log::write(&self.world.paths.log(), &format!("watch: {error:#}"));
        }
        self.store = None;
        if damage::is_cause(error)
            && let Err(error) = damage::put_aside(&self.world.paths)
        {
            log::write(&self.world.paths.log(), &format!("watch: {error:#}"));
        }
    }
}
