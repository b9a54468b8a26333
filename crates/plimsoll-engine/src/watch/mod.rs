//! Follows every session on the machine.
//!
//! The watcher takes the same path as a hook call, starting from a file: it reads what was appended
//! to a transcript, reports the reading, and ingests the rest into the store. If a session's hooks
//! have not made a checkpoint that is due, the watcher requests it on the board. One thread, one
//! loop, one closed set of reasons to wake; it sleeps while nothing happens. Hooks never depend on
//! it.

mod asking;
mod events;
mod files;
mod follow;
mod keeper;
mod lives;
mod lock;
mod notice;
mod rules;
mod stop;

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use plimsoll_agents::{Agent, Owner, of_session};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use self::asking::Asking;
use self::events::Events;
use self::files::Files;
use self::keeper::Keeper;
use self::lives::{Lives, Noted};
pub use self::lock::{Holder, Lock, NotLocked, is_watched};
pub use self::notice::{Change, Notice, Standing};
pub use self::stop::{Stop, Stopper, stopper};
use crate::board;
use crate::log;
use crate::paths;
use crate::running;
use crate::settings;
use crate::world::{self, World};

/// Minimum interval between two reads of a file that is written all the time.
const PACE: Duration = Duration::from_millis(100);
/// Interval between checks for ended and idle sessions.
const TICK: Duration = Duration::from_secs(30);
/// Longest interval between two polls, within the range of the clock.
const LONGEST_PERIOD: Duration = Duration::from_secs(365 * 24 * 3600);

/// Follows every session of some agents.
pub struct Watcher<'a> {
    world: &'a World,
    files: Files<'a>,
    lives: Lives,
    keeper: Keeper<'a>,
    /// `None` if another watcher asks for checkpoints.
    asking: Option<Asking<'a>>,
    /// Notices to report.
    news: Vec<Notice>,
    /// Interval between two looks at every file, regardless of events.
    poll_period: Duration,
    next_poll: Instant,
    next_tick: Instant,
    /// Earliest time to handle events again.
    next_changes: Instant,
}

/// Reason to wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wake {
    Stop,
    /// File system events.
    Changes,
    /// Look at every file.
    Poll,
    /// Check for ended and idle sessions.
    Tick,
    /// Ingest into the store.
    Keep,
    /// Ask a session for a checkpoint.
    Ask,
}

impl<'a> Watcher<'a> {
    /// Creates a watcher that uses file system events if available, and polls at the configured
    /// interval.
    pub fn new(world: &'a World, agents: &'static [&'static dyn Agent]) -> Self {
        let settings = settings::of_user(world);
        let events = Events::open().map_err(|error| {
            let why = format!("watch: no file events, only looking now and then: {error}");
            log::write(&world.paths.log(), &why);
        });
        let period = Duration::from_secs(settings.poll_interval_seconds).min(LONGEST_PERIOD);
        Self::with(world, agents, events.ok(), period)
    }

    /// Turns off requests for checkpoints, for watchers beside the one that holds the lock.
    #[must_use]
    pub fn only_looking(mut self) -> Self {
        self.asking = None;
        self
    }

    /// Creates a watcher without events that polls at an interval of `period`.
    #[cfg(feature = "test-switches")]
    pub fn polling(
        world: &'a World,
        agents: &'static [&'static dyn Agent],
        period: Duration,
    ) -> Self {
        Self::with(world, agents, None, period)
    }

    fn with(
        world: &'a World,
        agents: &'static [&'static dyn Agent],
        events: Option<Events>,
        poll_period: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            world,
            files: Files::new(world, agents, events),
            lives: Lives::default(),
            keeper: Keeper::new(world),
            asking: Some(Asking::new(world)),
            news: Vec::new(),
            poll_period,
            next_poll: now + poll_period,
            next_tick: now + TICK,
            next_changes: now,
        }
    }

    /// Watches until `stop` fires or `tell` returns `Break`. Reports the live sessions first;
    /// changes that occur together are reported together.
    pub fn run(
        &mut self,
        stop: &Stop,
        mut tell: impl FnMut(Vec<Notice>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        self.begin();
        loop {
            let news = std::mem::take(&mut self.news);
            if !news.is_empty() && tell(news).is_break() {
                break;
            }
            match self.wait(stop)? {
                Wake::Stop => break,
                Wake::Changes => self.changes()?,
                Wake::Poll => self.poll(),
                Wake::Tick => self.tick(),
                Wake::Keep => self.keeper.keep(),
                Wake::Ask => self.ask(),
            }
        }
        self.keeper.finish();
        Ok(())
    }

    /// Sleeps until there is something to do.
    fn wait(&self, stop: &Stop) -> io::Result<Wake> {
        loop {
            let (next, wake) = self.next();
            let now = Instant::now();
            let rests = now < self.next_changes;
            let until = if rests { next.min(self.next_changes) } else { next };
            let events = self.files.events().filter(|_| !rests);
            match sleep(stop, events, until.saturating_duration_since(now))? {
                None if Instant::now() >= next => return Ok(wake),
                // Timers that are overdue take precedence over events.
                Some(Wake::Changes) if now >= next => return Ok(wake),
                None => {}
                Some(other) => return Ok(other),
            }
        }
    }

    /// Returns the next timer.
    fn next(&self) -> (Instant, Wake) {
        let keep = self.keeper.due().map(|due| (due, Wake::Keep));
        let ask = self.asking.as_ref().and_then(Asking::due).map(|due| (due, Wake::Ask));
        let others = [(self.next_poll, Wake::Poll), (self.next_tick, Wake::Tick)];
        let first = others.into_iter().chain(keep).chain(ask).min_by_key(|(at, _)| *at);
        first.unwrap_or((self.next_tick, Wake::Tick))
    }

    fn begin(&mut self) {
        let notes = self.notes();
        let alive: Vec<_> =
            notes.iter().filter(|noted| noted.is_alive).map(|noted| &noted.session).collect();
        let now = Instant::now();
        for seen in self.files.begin(&|session| alive.contains(&session)) {
            self.lives.know(seen.owner.clone(), now);
            self.take(seen, now);
        }
        let told = self.lives.note(&notes, now);
        self.tell(told);
    }

    /// Handles file system events.
    fn changes(&mut self) -> io::Result<()> {
        let now = Instant::now();
        self.next_changes = now + PACE;
        let changed = self.files.changes()?;
        if changed.has_notes {
            self.look_for_lives(now);
        }
        for seen in changed.seen {
            self.take(seen, now);
        }
        if changed.is_incomplete {
            self.poll();
        }
        Ok(())
    }

    fn poll(&mut self) {
        let now = Instant::now();
        self.next_poll = now + self.poll_period;
        for seen in self.files.poll() {
            self.take(seen, now);
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.next_tick = now + TICK;
        self.look_for_lives(now);
        let idle = self.lives.tire(now);
        self.tell(idle);
        self.files.forget_oldest();
        self.keeper.tidy();
        if self.asking.is_some() {
            self.tidy_board();
        }
    }

    /// Asks for the checkpoints that are due.
    fn ask(&mut self) {
        let told = self.asking.as_mut().map(Asking::ask);
        self.tell(told.into_iter().flatten());
    }

    /// Turns an observation of a window into notices.
    fn take(&mut self, seen: files::Seen, now: Instant) {
        let files::Seen { owner, transcript, wrote, written, is_over, compactions, standing } =
            seen;
        if wrote {
            let started = self.lives.wrote(&owner, now);
            self.tell(started.map(|change| (owner.clone(), change)));
        }
        if !compactions.is_empty() {
            self.keeper.compacted();
        }
        if let Some(asking) = &mut self.asking {
            asking.saw(&owner, standing.as_ref(), wrote);
        }
        let read = standing.map(|standing| Change::Read(Box::new(standing)));
        let changes = compactions.into_iter().map(Change::Compacted).chain(read);
        let at = written.unwrap_or(u64::MAX).min(world::now());
        self.tell_of(at, changes.map(|change| (owner.clone(), change)));
        if is_over {
            let ended = self.lives.end(&owner.session, &Change::Ended, now);
            self.tell(ended);
        }
        if let (Some(transcript), Some(agent)) = (transcript, of_session(&owner.session)) {
            self.keeper.add(agent, transcript);
        }
    }

    fn look_for_lives(&mut self, now: Instant) {
        let notes = self.notes();
        let told = self.lives.note(&notes, now);
        self.tell(told);
    }

    /// Removes expired messages from the board.
    fn tidy_board(&self) {
        if let Err(error) = board::tidy_and_show(self.world) {
            log::write(
                &self.world.paths.log(),
                &format!("watch: could not tidy the board: {error}"),
            );
        }
    }

    /// Reads the client's list of running sessions.
    fn notes(&self) -> Vec<Noted> {
        let noted = running::noted(self.world).into_iter();
        noted
            .map(|noted| Noted {
                session: noted.session,
                is_alive: !paths::has_ended(noted.process),
            })
            .collect()
    }

    fn tell(&mut self, changes: impl IntoIterator<Item = (Owner, Change)>) {
        self.tell_of(world::now(), changes);
    }

    /// Queues notices with a given time.
    fn tell_of(&mut self, at: u64, changes: impl IntoIterator<Item = (Owner, Change)>) {
        for (owner, change) in changes {
            let is_over = matches!(change, Change::Ended | Change::Died);
            if let Some(asking) = self.asking.as_mut().filter(|_| is_over) {
                asking.ended(&owner);
            }
            self.news.push(Notice { at, owner, change });
        }
    }
}

/// Sleeps for `time`, or until a stop or an event.
fn sleep(stop: &Stop, events: Option<&Events>, time: Duration) -> io::Result<Option<Wake>> {
    let mut asked = vec![PollFd::new(stop, PollFlags::IN)];
    asked.extend(events.map(|events| PollFd::new(events, PollFlags::IN)));
    let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
    match poll(&mut asked, Some(&time)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let has_news = |at: usize| asked.get(at).is_some_and(|fd| !fd.revents().is_empty());
    let wakes = [(0, Wake::Stop), (1, Wake::Changes)];
    Ok(wakes.into_iter().find(|(at, _)| has_news(*at)).map(|(_, wake)| wake))
}
