//! Asks sessions for checkpoints that their own hooks have not made.
//!
//! A session that crosses the checkpoint threshold, or works for half an hour without a checkpoint,
//! gets one message on the board per crossing. Its own hook has ten seconds to act first, unless
//! the user's settings leave the decision to the watcher. The request is recorded in the session's
//! spool, where the hooks reset it after a compaction, so the next watcher knows of it too.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use plimsoll_agents::Owner;
use plimsoll_core::board::Reason;
use plimsoll_core::event::SessionId;
use plimsoll_core::policy::{self, Crossing};
use plimsoll_core::settings::{OnLine, Settings};
use plimsoll_extract::board::{MessageContent, WATCHER};

use super::notice::{Change, Standing};
use crate::board::{self, Lasting, NewMessage};
use crate::log;
use crate::settings;
use crate::spool::{self, Locked, SpoolLine};
use crate::world::{World, now};

/// Time for a session's own hook to make the checkpoint.
const GRACE: Duration = Duration::from_secs(10);
/// Interval between messages to several sessions, so that they do not all write at once.
const APART: Duration = Duration::from_millis(2);
/// Delay before retrying a session whose spool is locked by a hook.
const AGAIN: Duration = Duration::from_millis(100);
/// Delay before retrying a session after an error, such as a full disk.
const LATER: Duration = Duration::from_secs(60);
/// Time until a request expires.
const LIVES: Duration = Duration::from_secs(24 * 3600);

/// The sessions that may have to be asked.
pub(super) struct Asking<'a> {
    world: &'a World,
    begun: Instant,
    sessions: HashMap<SessionId, Asked>,
    /// Scheduled sessions by time, in steps of [`APART`] since `begun`.
    turns: BTreeMap<u64, SessionId>,
}

/// State of one session.
struct Asked {
    project: PathBuf,
    /// Whether the window is over the threshold.
    is_over: bool,
    /// Start of the session, or when it was first seen; in milliseconds since the epoch.
    begun: u64,
    /// No request because of elapsed time before this time.
    rests_until: u64,
    /// Pending request.
    waits: Option<Waits>,
}

struct Waits {
    crossing: Crossing,
    /// Time of the crossing, in milliseconds since the epoch.
    since: u64,
    turn: u64,
}

impl<'a> Asking<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        let (sessions, turns) = (HashMap::new(), BTreeMap::new());
        Self { world, begun: Instant::now(), sessions, turns }
    }

    /// Handles a new reading of a window, or a write to its transcript.
    pub(super) fn saw(&mut self, owner: &Owner, standing: Option<&Standing>, wrote: bool) {
        if owner.subagent.is_some() {
            return;
        }
        if let Some(standing) = standing {
            self.read(&owner.session, standing);
        }
        if wrote {
            self.wrote(&owner.session);
        }
    }

    /// Drops a session that has ended.
    pub(super) fn ended(&mut self, owner: &Owner) {
        let Owner { session, subagent } = owner;
        if subagent.is_some() {
            return;
        }
        if let Some(Asked { waits: Some(waits), .. }) = self.sessions.remove(session) {
            self.turns.remove(&waits.turn);
        }
    }

    /// Returns when the next session is to be asked.
    pub(super) fn due(&self) -> Option<Instant> {
        let after = |turn: &u64| Duration::from_micros(turn * APART.as_micros() as u64);
        self.turns.keys().next().map(|turn| self.begun + after(turn))
    }

    /// Asks all sessions that are due. Returns the notices.
    pub(super) fn ask(&mut self) -> Vec<(Owner, Change)> {
        let mut told = Vec::new();
        let turn = self.turn(Duration::ZERO);
        while let Some(first) = self.turns.first_entry().filter(|first| *first.key() <= turn) {
            let session = first.remove();
            let Some(waits) = self.sessions.get_mut(&session).and_then(|it| it.waits.take()) else {
                continue;
            };
            match self.ask_one(&session, &waits) {
                Ok(Outcome::Asked(reason)) => {
                    let owner = Owner { session, subagent: None };
                    told.push((owner, Change::Asked(reason)));
                }
                Ok(Outcome::SeenTo) => {}
                Ok(Outcome::Busy) => self.wait(&session, waits.crossing, waits.since, AGAIN),
                Err(error) => {
                    let why = format!("watch: could not ask {session} for a checkpoint: {error:#}");
                    log::write(&self.world.paths.log(), &why);
                    self.wait(&session, waits.crossing, waits.since, LATER);
                }
            }
        }
        told
    }

    fn read(&mut self, session: &SessionId, standing: &Standing) {
        let known = self.sessions.entry(session.clone()).or_insert_with(|| Asked {
            project: standing.project.clone(),
            is_over: false,
            begun: standing.started.unwrap_or_else(now),
            rests_until: 0,
            waits: None,
        });
        known.project.clone_from(&standing.project);
        let was_over = std::mem::replace(&mut known.is_over, standing.is_over_line());
        match (was_over, known.is_over) {
            (false, true) => {
                let bucket = policy::bucket(standing.reading.used, standing.window.tokens);
                self.crossed(session, Crossing::Line { bucket });
            }
            (true, false) => self.let_go(session),
            _ => {}
        }
    }

    /// Checks how long a working session has had no checkpoint.
    fn wrote(&mut self, session: &SessionId) {
        let (now, spool) = (now(), self.world.paths.spool_of(session, None));
        let Some(known) = self.sessions.get_mut(session).filter(|it| it.rests_until <= now) else {
            return;
        };
        let since = spool::state(&spool).ok().and_then(|state| state.since).unwrap_or(known.begun);
        known.rests_until = since.saturating_add(policy::LONGEST_WITHOUT);
        if known.rests_until <= now {
            // Check again later, as long as there is no checkpoint.
            known.rests_until = now + policy::LONGEST_WITHOUT;
            self.crossed(session, Crossing::Time { since });
        }
    }

    fn crossed(&mut self, session: &SessionId, crossing: Crossing) {
        let Some(known) = self.sessions.get(session).filter(|known| known.waits.is_none()) else {
            return;
        };
        let settings = settings::of_project(self.world, &known.project);
        let grace = if settings.on_line == OnLine::Watcher { Duration::ZERO } else { GRACE };
        self.wait(session, crossing, now(), grace);
    }

    /// Schedules a session in the next free slot after `time`.
    fn wait(&mut self, session: &SessionId, crossing: Crossing, since: u64, time: Duration) {
        let mut turn = self.turn(time);
        while self.turns.contains_key(&turn) {
            turn += 1;
        }
        if let Some(known) = self.sessions.get_mut(session) {
            known.waits = Some(Waits { crossing, since, turn });
            self.turns.insert(turn, session.clone());
        }
    }

    /// Drops a pending request after the window fell below the threshold.
    fn let_go(&mut self, session: &SessionId) {
        let at_line = |waits: &mut Waits| matches!(waits.crossing, Crossing::Line { .. });
        let known = self.sessions.get_mut(session);
        if let Some(waits) = known.and_then(|known| known.waits.take_if(at_line)) {
            self.turns.remove(&waits.turn);
        }
    }

    /// Returns the slot for a time from now.
    fn turn(&self, time: Duration) -> u64 {
        ((self.begun.elapsed() + time).as_micros() / APART.as_micros()) as u64
    }

    /// Asks one session, unless that is no longer necessary. Holds the spool's lock, so that its
    /// hooks cannot act meanwhile.
    fn ask_one(&self, session: &SessionId, waits: &Waits) -> anyhow::Result<Outcome> {
        let paths = &self.world.paths;
        let spool = paths.spool_of(session, None);
        let Some(locked) = Locked::at_once(&spool)? else { return Ok(Outcome::Busy) };
        let last = spool::last(&spool)?;
        let is_over = last.as_ref().is_some_and(|line| line.what == spool::ENDED);
        let state = last.map(|line| line.state).unwrap_or_default();
        let next = policy::to_ask(&state, waits.crossing, waits.since, now());
        let Some(next) = next.filter(|_| !is_over) else { return Ok(Outcome::SeenTo) };
        let Some(known) = self.sessions.get(session) else { return Ok(Outcome::SeenTo) };
        let settings = settings::of_project(self.world, &known.project);
        if !settings.enabled {
            return Ok(Outcome::SeenTo);
        }
        let reason = reason(waits.crossing, &settings);
        if !board::is_asked(paths, session)? {
            board::post(paths, vec![message(session, known, reason.clone())], Lasting::Kill)?;
        }
        // If the watcher is killed here, the next one finds the message and posts no other.
        locked.append(&SpoolLine::unmeasured("asked", next))?;
        if settings.board_file
            && let Err(error) = board::mirror(paths, &known.project)
        {
            let project = known.project.display();
            let why = format!("watch: could not show the board in `{project}`: {error}");
            log::write(&paths.log(), &why);
        }
        Ok(Outcome::Asked(reason))
    }
}

/// Result of asking a session.
enum Outcome {
    Asked(Reason),
    /// There is a checkpoint, it was requested before, the session has ended, or checkpoints are
    /// disabled.
    SeenTo,
    /// A hook of the session holds the lock.
    Busy,
}

fn reason(crossing: Crossing, settings: &Settings) -> Reason {
    match crossing {
        Crossing::Line { .. } => Reason::Line(settings.lines.checkpoint),
        Crossing::Time { .. } => Reason::Age,
    }
}

fn message(session: &SessionId, known: &Asked, reason: Reason) -> NewMessage {
    NewMessage {
        to: session.clone(),
        project: Some(known.project.clone()),
        from: WATCHER.to_owned(),
        what: MessageContent::CheckpointTrigger { reason },
        lives: LIVES,
    }
}
