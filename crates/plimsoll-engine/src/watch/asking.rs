//! Asking sessions for the checkpoint that their own hooks have not made.
//!
//! A session that crosses the checkpoint line, or works for half an hour without a checkpoint, gets a
//! message on the board, one per crossing. Its own hook acts first and has ten seconds for it, unless
//! the user wants the watcher alone to decide. That it was asked stands in the session's spool, where
//! the hooks void it when the window is emptied: so the next watcher knows, too.

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

/// How long a session's own hook has for its checkpoint.
const GRACE: Duration = Duration::from_secs(10);
/// Messages to many sessions lie so far apart: all of them would begin to write at once.
const APART: Duration = Duration::from_millis(2);
/// When a session is tried again whose hook is at work right now.
const AGAIN: Duration = Duration::from_millis(100);
/// When one is tried again that could not be asked: a disk that is full has room again at some time.
const LATER: Duration = Duration::from_secs(60);
/// How long a request waits for a session that does nothing.
const LIVES: Duration = Duration::from_secs(24 * 3600);

/// Who may have to be asked.
pub(super) struct Asking<'a> {
    world: &'a World,
    begun: Instant,
    sessions: HashMap<SessionId, Asked>,
    /// Whose turn it is when, in steps of [`APART`] since we began.
    turns: BTreeMap<u64, SessionId>,
}

/// What is known of a session.
struct Asked {
    project: PathBuf,
    /// Its window is over the line.
    is_over: bool,
    /// When it began, or else when it was first seen; in milliseconds since the epoch.
    begun: u64,
    /// Before that moment the clock asks for nothing.
    rests_until: u64,
    /// What it may have to be asked for.
    waits: Option<Waits>,
}

struct Waits {
    crossing: Crossing,
    /// When that was noticed, in milliseconds since the epoch.
    since: u64,
    turn: u64,
}

impl<'a> Asking<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        let (sessions, turns) = (HashMap::new(), BTreeMap::new());
        Self { world, begun: Instant::now(), sessions, turns }
    }

    /// A window was read, or written to.
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

    /// Nobody asks a session that is over.
    pub(super) fn ended(&mut self, owner: &Owner) {
        let Owner { session, subagent } = owner;
        if subagent.is_some() {
            return;
        }
        if let Some(Asked { waits: Some(waits), .. }) = self.sessions.remove(session) {
            self.turns.remove(&waits.turn);
        }
    }

    /// When the next one is to be asked.
    pub(super) fn due(&self) -> Option<Instant> {
        let after = |turn: &u64| Duration::from_micros(turn * APART.as_micros() as u64);
        self.turns.keys().next().map(|turn| self.begun + after(turn))
    }

    /// Asks all whose turn it is, and gives what is to be told of it.
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

    /// The session works: maybe it has for long.
    fn wrote(&mut self, session: &SessionId) {
        let (now, spool) = (now(), self.world.paths.spool_of(session, None));
        let Some(known) = self.sessions.get_mut(session).filter(|it| it.rests_until <= now) else {
            return;
        };
        let since = spool::state(&spool).ok().and_then(|state| state.since).unwrap_or(known.begun);
        known.rests_until = since.saturating_add(policy::LONGEST_WITHOUT);
        if known.rests_until <= now {
            // It is looked at again as long as nothing is done about it.
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

    /// Gives a session the next free turn after `time`.
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

    /// The window has fallen below the line.
    fn let_go(&mut self, session: &SessionId) {
        let at_line = |waits: &mut Waits| matches!(waits.crossing, Crossing::Line { .. });
        let known = self.sessions.get_mut(session);
        if let Some(waits) = known.and_then(|known| known.waits.take_if(at_line)) {
            self.turns.remove(&waits.turn);
        }
    }

    /// The turn of a moment so far from now.
    fn turn(&self, time: Duration) -> u64 {
        ((self.begun.elapsed() + time).as_micros() / APART.as_micros()) as u64
    }

    /// Asks one session, unless somebody has seen to it. Its hooks cannot act meanwhile.
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
        // A watcher that is killed right here finds the message, and leaves it at that.
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

/// What has come of asking.
enum Outcome {
    Asked(Reason),
    /// There is a checkpoint, or it was asked for before, or there is nobody to ask, or none is wanted.
    SeenTo,
    /// A hook of the session is at work.
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
