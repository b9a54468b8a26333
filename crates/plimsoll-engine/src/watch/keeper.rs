//! Ingests changed transcripts into the store, in few transactions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use plimsoll_agents::Agent;

use crate::damage;
use crate::ingest::{Ingester, Transcript};
use crate::log;
use crate::world::{World, now};

/// How long to collect changes.
const PERIOD: Duration = Duration::from_secs(2);
/// How long ingesting may block the watcher.
const TIME: Duration = Duration::from_millis(100);
/// How long to wait for the store's lock before trying again later.
const PATIENCE: Duration = Duration::from_millis(200);
/// Time limit for the last attempt.
const LAST_TIME: Duration = Duration::from_secs(1);
/// Number of sessions to thin at a time.
const THINNED: u32 = 50;

/// Queue of transcripts to ingest.
pub(super) struct Keeper<'a> {
    world: &'a World,
    store: Option<Ingester<'a>>,
    waiting: HashMap<PathBuf, &'static dyn Agent>,
    due: Option<Instant>,
    /// Whether there are compactions that the hooks should learn about.
    has_lessons: bool,
    /// Whether the last attempt failed and was logged.
    has_failed: bool,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        let (waiting, due) = (HashMap::new(), None);
        Self { world, store: None, waiting, due, has_lessons: true, has_failed: false }
    }

    /// Adds a transcript with changes.
    pub(super) fn add(&mut self, agent: &'static dyn Agent, transcript: PathBuf) {
        self.waiting.insert(transcript, agent);
        self.due.get_or_insert_with(|| Instant::now() + PERIOD);
    }

    /// Notes that a session was compacted, so that the next ingestion updates the hooks.
    pub(super) fn compacted(&mut self) {
        self.has_lessons = true;
    }

    /// Returns when to ingest next.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Ingests the queue. The rest, or everything after a failure, is retried later.
    pub(super) fn keep(&mut self) {
        self.keep_for(TIME);
    }

    /// Ingests the queue before the watcher ends.
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

    /// Thins old readings in the store.
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

    /// Logs an error, once until the next success.
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
