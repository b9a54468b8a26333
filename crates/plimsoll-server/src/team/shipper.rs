//! What goes to the team's database again and again, in a thread of its own.
//!
//! One batch at a time is on its way, so whoever receives sets the pace. After a failure it waits, longer
//! each time; whatever changes meanwhile is noted in the store, as far as that may grow.

use std::any::Any;
use std::io;
use std::panic::AssertUnwindSafe;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use futures_util::FutureExt;
use plimsoll_agents::Adapter;
use plimsoll_core::settings::{Shared, Team};
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::settings;
use plimsoll_engine::world::World;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::office::{Office, store};

/// How often it is looked whether there is something to send.
const PERIOD: Duration = Duration::from_secs(2);
/// How often it is looked whether there is a team at all.
const IDLE: Duration = Duration::from_secs(30);
/// How long is waited after a failure, at first and at most.
const RETRY: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);
/// How often checkpoints and saves are taken in, and the machine says that it is there.
const ROUND: Duration = Duration::from_secs(20);
/// How many rows may wait; more are not noted one by one, but found again in the store.
const MOST: u64 = 200_000;

/// The thread.
pub struct Shipper {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl Shipper {
    /// Starts it. What is worth knowing is said by `say`, once.
    pub fn start<W: AsRef<World> + Send + 'static>(
        world: W,
        adapter: &'static dyn Adapter,
        say: impl Fn(&str) + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let go = move || {
            let mut errand = Errand { world: world.as_ref(), adapter, say: &say, office: None };
            runtime.block_on(errand.run(stopped));
        };
        let thread = thread::Builder::new().name("team".to_owned()).spawn(go)?;
        Ok(Self { stop, thread })
    }

    /// Ends it; what has not gone goes next time.
    pub fn finish(self) {
        self.stop.send_replace(true);
        // One that has panicked has ended, too.
        let _ = self.thread.join();
    }
}

struct Errand<'a> {
    world: &'a World,
    adapter: &'static dyn Adapter,
    say: &'a dyn Fn(&str),
    office: Option<(Team, Office, Instant)>,
}

impl Errand<'_> {
    async fn run(&mut self, mut stopped: watch::Receiver<bool>) {
        let mut retry = RETRY;
        let mut told = String::new();
        loop {
            let team = settings::team(self.world);
            let round = tokio::select! {
                // Whoever panics, over a table that somebody has altered, say, loses this round alone.
                round = AssertUnwindSafe(self.round(&team)).catch_unwind() => {
                    round.unwrap_or_else(|panic| Err(panicked(&*panic)))
                }
                _ = stopped.changed() => return,
            };
            let pause = match round {
                Ok(()) => {
                    told.clear();
                    retry = RETRY;
                    if sends(&team) { PERIOD } else { IDLE }
                }
                Err(error) => {
                    self.fail(&error, &mut told);
                    retry = (retry * 2).min(LONGEST);
                    retry
                }
            };
            tokio::select! {
                () = self.wait(pause) => {}
                _ = stopped.changed() => return,
            }
        }
    }

    /// Sends whatever waits, and does what is due now and then.
    async fn round(&mut self, team: &Team) -> anyhow::Result<()> {
        if !sends(team) {
            self.office = None;
            // Whoever sends nothing need not know that this could not be noted.
            let _ = store(self.world, self.adapter).map(|store| store.stop_shipping());
            return Ok(());
        }
        let is_due = match &self.office {
            Some((before, office, greeted)) if before == team && !office.there.is_closed() => {
                greeted.elapsed() >= ROUND
            }
            _ => {
                let office = Office::open(self.world, self.adapter, team).await?;
                self.office = Some((team.clone(), office, Instant::now()));
                true
            }
        };
        let Some((_, office, greeted)) = &mut self.office else { return Ok(()) };
        if is_due {
            take_in(self.world, self.adapter)?;
            office.greet().await?;
            *greeted = Instant::now();
        }
        while office.ship(self.world, team).await?.is_some() {}
        if team.shares(Shared::Board) {
            office.mail(self.world, self.adapter).await?;
            office.claims(self.world, team).await?;
        }
        Ok(())
    }

    /// Notes why nothing goes, and sees to it that what waits does not grow without end.
    fn fail(&mut self, error: &anyhow::Error, told: &mut String) {
        self.office = None;
        let why = format!("{error:#}");
        if let Ok(store) = store(self.world, self.adapter) {
            // Whoever cannot write here says so elsewhere.
            let _ = store.note_trouble(Some(&why));
            if store.shed(MOST).unwrap_or(false) {
                (self.say)(
                    "more than 200,000 rows wait for the team's database: they are not noted one by one any more, but looked for in the store when it is back",
                );
            }
        }
        if *told != why {
            (self.say)(&format!("nothing goes to the team's database for now: {why}"));
            *told = why;
        }
    }

    /// Waits so long, or until somebody posts.
    async fn wait(&self, pause: Duration) {
        match &self.office {
            // Whether it rang or not: then it is time to look.
            Some((_, office, _)) => drop(timeout(pause, office.bell.notified()).await),
            None => sleep(pause).await,
        }
    }
}

/// What a panic says, in a line.
fn panicked(panic: &(dyn Any + Send)) -> anyhow::Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    anyhow!("something unforeseen: {}", text.lines().next().unwrap_or_default())
}

/// Whether anything may go anywhere.
fn sends(team: &Team) -> bool {
    team.database_url.is_some() && !team.share.is_empty()
}

/// Takes in what nobody else may have: checkpoints and saves.
fn take_in(world: &World, adapter: &dyn Adapter) -> anyhow::Result<()> {
    let mut ingester = Ingester::open(world, adapter, Duration::from_secs(30), None)?;
    ingester.saves()?;
    ingester.all_checkpoints()
}
