//! Reads the data of the terminal dashboard on separate threads, so that keys never wait.
//!
//! One thread follows the sessions as `plimsoll watch` does. It takes no action and does not need
//! the watcher's lock, so it works beside a real watcher. The other thread measures changed
//! sessions with the functions of `plimsoll status`. Both end with the process; each of their
//! writes happens completely or not at all.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::run::Run;
use plimsoll_engine::checkpoint::{self, Place};
use plimsoll_engine::criteria::{self, Criteria};
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::sessions::{self, Found};
use plimsoll_engine::watch::{Notice, Stopper, Watcher, stopper};
use plimsoll_engine::world::World;
use plimsoll_extract::board::PathClaim;
use plimsoll_extract::checkpoint::split;
use plimsoll_extract::work::ModelSummary;
use plimsoll_runner::runs::{self, RunMonitor};
use plimsoll_store::Store;

use super::session::{DashboardSession, SessionPhase};
use crate::cmd::seal;
use crate::listing::{Listing, RECENT, Shown, is_within};
use crate::ui::strip_control;

/// Messages from the reader thread.
pub(crate) enum FeedMessage {
    /// Progress of the first scan.
    Progress(usize, usize),
    /// All sessions in their current state.
    Sessions(Vec<DashboardSession>),
    /// The lines of a checkpoint, with its id.
    Checkpoint(String, Vec<String>),
    /// Figures that show whether plimsoll achieves its goals.
    Criteria(Criteria),
    /// The active runs, and the sessions that belong to any run.
    Runs(Vec<Run>, HashSet<String>),
    /// Result of an action.
    Message(String),
}

/// Requests to the reader thread.
pub(crate) enum FeedRequest {
    /// Make a checkpoint of a session now.
    Seal(SessionId),
    /// Read the figures that show whether plimsoll achieves its goals.
    Criteria,
    /// Read the text of a session's checkpoint.
    Text(SessionId, String),
}

/// Why the reader thread wakes.
enum ReaderWake {
    Notices(Vec<Notice>),
    Request(FeedRequest),
}

/// Handle to the threads.
pub(crate) struct Feed {
    news: Receiver<FeedMessage>,
    requests: Sender<ReaderWake>,
    /// Ends the watcher thread when dropped.
    _stopper: Stopper,
}

/// Changes within this time are read together.
const DEBOUNCE: Duration = Duration::from_millis(400);
/// Interval for reading everything, to catch what no notice reports: sessions that are no longer
/// recent, and checkpoints made on request.
const PERIOD: Duration = Duration::from_secs(30);
/// Interval for reading run journals.
const RUNS_PERIOD: Duration = Duration::from_secs(2);
/// Time to wait for other writers of the store.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for scoring what compactions lost.
const SCORE_TIMEOUT: Duration = Duration::from_secs(1);

impl Feed {
    /// Starts the threads. They write a byte to `bell` for each message.
    pub(crate) fn start(world: Arc<World>, bell: UnixStream, is_all: bool) -> io::Result<Self> {
        let (requests, wakes) = mpsc::channel();
        let (tell, news) = mpsc::channel();
        let (stopper, stop) = stopper()?;
        let (noticed, watched) = (requests.clone(), world.clone());
        let follow = move || {
            let tell = |news| match noticed.send(ReaderWake::Notices(news)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            // If sessions cannot be followed, the reader still scans them periodically.
            let _ = Watcher::new(&watched, plimsoll_agents::ALL).only_looking().run(&stop, tell);
        };
        thread::Builder::new().name("watcher".to_owned()).spawn(follow)?;
        bell.set_nonblocking(true)?;
        let read = move || {
            let reader = SessionReader::new(&world, is_all, MessageSender { sender: tell, bell });
            reader.run(&wakes);
        };
        thread::Builder::new().name("reader".to_owned()).spawn(read)?;
        Ok(Self { news, requests, _stopper: stopper })
    }

    /// Sends a request. The result arrives as a message.
    pub(crate) fn ask(&self, request: FeedRequest) {
        // If the reader has ended, [`Feed::news`] reports that.
        let _ = self.requests.send(ReaderWake::Request(request));
    }

    /// Returns all new messages. Fails if the reader has ended.
    pub(crate) fn news(&self) -> anyhow::Result<Vec<FeedMessage>> {
        let mut news = Vec::new();
        loop {
            match self.news.try_recv() {
                Ok(one) => news.push(one),
                Err(mpsc::TryRecvError::Empty) => return Ok(news),
                Err(error) => return Err(error).context("the sessions are no longer read"),
            }
        }
    }
}

/// Sends messages to the dashboard and wakes it.
struct MessageSender {
    sender: Sender<FeedMessage>,
    bell: UnixStream,
}

impl MessageSender {
    fn send(&self, news: FeedMessage) {
        // Ignore errors: the dashboard may have ended, and a full pipe already wakes it.
        let _ = self.sender.send(news);
        let _ = (&self.bell).write(&[0]);
    }
}

/// Reads sessions and caches the results.
struct SessionReader<'a> {
    world: &'a World,
    /// Include sessions of any age.
    is_all: bool,
    sender: MessageSender,
    /// Without a store, only forecasts and curves are missing.
    ingester: Option<Ingester<'a>>,
    /// Last result for each transcript; an unchanged transcript is not measured again.
    cache: HashMap<PathBuf, (Shown, DashboardSession)>,
    phases: HashMap<SessionId, SessionPhase>,
    /// Sessions with notices since the last scan.
    changed: HashSet<SessionId>,
    run_monitor: RunMonitor,
}

impl<'a> SessionReader<'a> {
    fn new(world: &'a World, is_all: bool, sender: MessageSender) -> Self {
        let ingester = Ingester::open(world, STORE_TIMEOUT, None)
            .map_err(|error| {
                sender.send(FeedMessage::Message(strip_control(&format!("no forecast: {error:#}"))))
            })
            .ok();
        let (cache, phases, changed) = (HashMap::new(), HashMap::new(), HashSet::new());
        let run_monitor = RunMonitor::default();
        Self { world, is_all, sender, ingester, cache, phases, changed, run_monitor }
    }

    fn run(mut self, wakes: &Receiver<ReaderWake>) {
        // Show known data at once, and new data once it is ingested.
        self.scan();
        self.ingest(&self.sessions_to_show());
        self.changed.extend(self.cache.values().map(|(_, session)| session.id.clone()));
        self.scan();
        let (mut due, mut runs_due) = (Instant::now() + PERIOD, Instant::now());
        loop {
            let first = due.min(runs_due);
            match wakes.recv_timeout(first.saturating_duration_since(Instant::now())) {
                Ok(ReaderWake::Request(request)) => self.answer(request, &mut due),
                Ok(ReaderWake::Notices(news)) => {
                    self.notice(&news);
                    due = due.min(Instant::now() + DEBOUNCE);
                }
                Err(RecvTimeoutError::Timeout) if due <= runs_due => {
                    self.scan_changed();
                    due = Instant::now() + PERIOD;
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.read_runs();
                    runs_due = Instant::now() + RUNS_PERIOD;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn notice(&mut self, news: &[Notice]) {
        for Notice { owner, change, .. } in news {
            self.changed.insert(owner.session.clone());
            let phase = SessionPhase::after(change).filter(|_| owner.subagent.is_none());
            self.phases.extend(phase.map(|phase| (owner.session.clone(), phase)));
        }
    }

    fn answer(&mut self, request: FeedRequest, due: &mut Instant) {
        match request {
            FeedRequest::Seal(session) => {
                let told = self.seal(&session);
                let told = told.unwrap_or_else(|error| strip_control(&format!("{error:#}")));
                self.sender.send(FeedMessage::Message(told));
                self.changed.insert(session);
                *due = Instant::now();
            }
            FeedRequest::Criteria => self.read_criteria(),
            FeedRequest::Text(session, id) => {
                let text = self.text(&session, &id);
                let text = text.unwrap_or_else(|problem| format!("it cannot be read: {problem}"));
                // Show only the body: the front matter is for machines, and space is scarce.
                let body = split(&text).map_or(&*text, |parts| parts.body);
                let told = body.lines().filter(|line| !line.trim().is_empty());
                let lines = told.map(strip_control).collect();
                self.sender.send(FeedMessage::Checkpoint(id, lines));
            }
        }
    }

    fn seal(&self, session: &SessionId) -> anyhow::Result<String> {
        let (shown, _) = self.cached(session).context("the session is no longer there")?;
        let here = &shown.measured.project;
        let sealed = seal(self.world, &shown.found, here, ModelSummary::default())?;
        Ok(format!("sealed {}", strip_control(&sealed.path.to_string_lossy())))
    }

    fn text(&self, session: &SessionId, id: &str) -> anyhow::Result<String> {
        let (_, session) = self.cached(session).context("the session is no longer there")?;
        let place = Place::of_project(self.world, session.folder.clone());
        checkpoint::text(&place, id).map_err(|problem| anyhow::anyhow!(problem.to_string()))
    }

    fn read_criteria(&self) {
        let (Some(store), Ok(found)) = (self.store(), sessions::find(self.world)) else {
            return;
        };
        let found = criteria::look(self.world, store, &found, SCORE_TIMEOUT);
        self.sender.send(match found {
            Ok(found) => FeedMessage::Criteria(found),
            Err(error) => FeedMessage::Message(strip_control(&format!(
                "no figures of the last days: {error:#}"
            ))),
        });
    }

    /// Sends the runs if any of them has changed.
    fn read_runs(&mut self) {
        let paths = &self.world.paths;
        // Whatever cannot be read now is tried again next time.
        if self.run_monitor.poll(paths).unwrap_or_default().is_empty() {
            return;
        }
        let Some(ingester) = &mut self.ingester else { return };
        let _ = runs::import_journals(paths, &mut ingester.store);
        let running = runs::active_runs(&ingester.store).unwrap_or_default();
        let members = ingester.store.run_sessions().unwrap_or_default();
        self.sender.send(FeedMessage::Runs(running, members.into_keys().collect()));
    }

    fn cached(&self, session: &SessionId) -> Option<&(Shown, DashboardSession)> {
        self.cache.values().find(|(_, known)| known.id == *session)
    }

    /// Ingests changed sessions and scans again.
    fn scan_changed(&mut self) {
        let mut news = self.sessions_to_show();
        news.retain(|found| self.changed.contains(&found.owner.session));
        self.ingest(&news);
        self.scan();
    }

    fn ingest(&mut self, found: &[Found]) {
        let Some(ingester) = &mut self.ingester else { return };
        let teller = &self.sender;
        // Whatever cannot be stored now is stored next time.
        let _ = ingester.catch_up(found, |done, of| teller.send(FeedMessage::Progress(done, of)));
        let _ = ingester.all_checkpoints();
    }

    fn scan(&mut self) {
        let changed = std::mem::take(&mut self.changed);
        let mut before = std::mem::take(&mut self.cache);
        // Output on stderr would garble the screen.
        let silence = |_: &str| ();
        let mut listing = Listing::new(self.world, self.ingester.as_ref(), &silence);
        let claims = listing.claims().to_vec();
        for found in self.sessions_to_show() {
            let is_same = |(known, _): &(Shown, DashboardSession)| {
                known.is_current(&found) && !changed.contains(&found.owner.session)
            };
            let known = before.remove(&found.path).filter(is_same);
            let known = known.or_else(|| {
                let shown = listing.show(&found)?;
                let session = self.session(&shown);
                Some((shown, session))
            });
            self.cache.extend(known.map(|known| (found.path, self.updated(known, &claims))));
        }
        let sessions = self.cache.values().map(|(_, session)| session.clone()).collect();
        self.sender.send(FeedMessage::Sessions(sessions));
    }

    fn session(&self, shown: &Shown) -> DashboardSession {
        let session = &shown.found.owner.session;
        let points = self.store().and_then(|store| store.series(session, Millis::MIN).ok());
        DashboardSession::new(
            shown,
            &points.unwrap_or_default(),
            SessionPhase::Ended,
            &self.world.paths.home,
        )
    }

    /// Updates the fields that can change while the transcript does not.
    fn updated(
        &self,
        (shown, mut session): (Shown, DashboardSession),
        claims: &[PathClaim],
    ) -> (Shown, DashboardSession) {
        session.claims = claims.iter().filter(|claim| session.concerns(claim)).cloned().collect();
        session.phase = self.phases.get(&session.id).copied().unwrap_or(SessionPhase::Ended);
        if let Some(last) = self.store().and_then(|it| it.last_checkpoint(&session.id).ok()) {
            session.checkpoint = last;
        }
        (shown, session)
    }

    fn store(&self) -> Option<&Store> {
        self.ingester.as_ref().map(|ingester| &ingester.store)
    }

    /// Returns the sessions to show. A moved session has several transcripts; the newest counts.
    fn sessions_to_show(&self) -> Vec<Found> {
        let mut found = sessions::find(self.world).unwrap_or_default();
        found.retain(|found| self.is_all || is_within(found.modified, RECENT));
        let mut known = HashSet::new();
        found.retain(|found| known.insert(found.owner.session.clone()));
        found
    }
}
