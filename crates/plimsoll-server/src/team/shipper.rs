//! Background thread that sends rows to the team database and exchanges messages.
//!
//! Only one batch is in flight at a time, so the receiver sets the pace. After a failure the thread
//! waits, longer each time. Meanwhile the store records changed rows, up to a limit.

use std::any::Any;
use std::io;
use std::panic::AssertUnwindSafe;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use futures_util::FutureExt;
use plimsoll_core::settings::{Shared, Team};
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::settings;
use plimsoll_engine::world::World;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::connection::{TeamConnection, open_store};

/// Interval at which waiting rows are checked.
const PERIOD: Duration = Duration::from_secs(2);
/// Interval at which the settings are checked while nothing is shared.
const IDLE: Duration = Duration::from_secs(30);
/// First and longest pause after a failure.
const RETRY: Duration = Duration::from_millis(500);
const MAX_RETRY: Duration = Duration::from_secs(60);
/// Interval at which checkpoints and saves are ingested and this machine's entry is updated.
const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(20);
/// Maximum number of recorded rows. Above it the store is scanned for changes instead.
const MAX_OUTBOX_ROWS: u64 = 200_000;

/// Handle of the thread.
pub struct Shipper {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl Shipper {
    /// Starts the thread. It reports each problem once, through `say`.
    pub fn start<W: AsRef<World> + Send + 'static>(
        world: W,
        say: impl Fn(&str) + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let go = move || {
            let mut errand = ShipperLoop { world: world.as_ref(), say: &say, connection: None };
            runtime.block_on(errand.run(stopped));
        };
        let thread = thread::Builder::new().name("team".to_owned()).spawn(go)?;
        Ok(Self { stop, thread })
    }

    /// Stops the thread. Unsent rows are sent next time.
    pub fn finish(self) {
        self.stop.send_replace(true);
        // A thread that panicked has ended, too.
        let _ = self.thread.join();
    }
}

struct ShipperLoop<'a> {
    world: &'a World,
    say: &'a dyn Fn(&str),
    connection: Option<(Team, TeamConnection, Instant)>,
}

impl ShipperLoop<'_> {
    async fn run(&mut self, mut stopped: watch::Receiver<bool>) {
        let mut retry = RETRY;
        let mut told = String::new();
        loop {
            let team = settings::team(self.world);
            let round = tokio::select! {
                // A panic, for example over an altered table, fails only this round.
                round = AssertUnwindSafe(self.round(&team)).catch_unwind() => {
                    round.unwrap_or_else(|panic| Err(panic_error(&*panic)))
                }
                _ = stopped.changed() => return,
            };
            let pause = match round {
                Ok(()) => {
                    told.clear();
                    retry = RETRY;
                    if is_sharing(&team) { PERIOD } else { IDLE }
                }
                Err(error) => {
                    self.record_failure(&error, &mut told);
                    retry = (retry * 2).min(MAX_RETRY);
                    retry
                }
            };
            tokio::select! {
                () = self.wait(pause) => {}
                _ = stopped.changed() => return,
            }
        }
    }

    /// Sends all waiting rows, exchanges messages, and does the periodic work if it is due.
    async fn round(&mut self, team: &Team) -> anyhow::Result<()> {
        if !is_sharing(team) {
            self.connection = None;
            // Nothing is sent anyway, so a failure to record this does not matter.
            let _ = open_store(self.world).map(|store| store.stop_shipping());
            return Ok(());
        }
        let is_due = match &self.connection {
            Some((before, office, greeted)) if before == team && !office.database.is_closed() => {
                greeted.elapsed() >= ANNOUNCE_INTERVAL
            }
            _ => {
                let office = TeamConnection::open(self.world, team).await?;
                self.connection = Some((team.clone(), office, Instant::now()));
                true
            }
        };
        let Some((_, office, greeted)) = &mut self.connection else { return Ok(()) };
        if is_due {
            ingest(self.world)?;
            office.announce().await?;
            *greeted = Instant::now();
        }
        while office.ship(self.world, team).await?.is_some() {}
        if team.shares(Shared::Board) {
            office.exchange_messages(self.world).await?;
            office.exchange_claims(self.world, team).await?;
        }
        Ok(())
    }

    /// Records and reports a failure, and limits the number of recorded rows.
    fn record_failure(&mut self, error: &anyhow::Error, told: &mut String) {
        self.connection = None;
        let why = format!("{error:#}");
        if let Ok(store) = open_store(self.world) {
            // If the store is not writable, `say` below still reports the failure.
            let _ = store.set_shipping_error(Some(&why));
            if store.replace_long_outbox(MAX_OUTBOX_ROWS).unwrap_or(false) {
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

    /// Waits for `pause`, or until a message is posted.
    async fn wait(&self, pause: Duration) {
        match &self.connection {
            // A timeout and a notification both lead to the next round.
            Some((_, office, _)) => drop(timeout(pause, office.bell.notified()).await),
            None => sleep(pause).await,
        }
    }
}

/// Turns a panic into an error with the first line of its message.
fn panic_error(panic: &(dyn Any + Send)) -> anyhow::Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    anyhow!("something unforeseen: {}", text.lines().next().unwrap_or_default())
}

/// Returns whether anything is shared with a team.
fn is_sharing(team: &Team) -> bool {
    team.database_url.is_some() && !team.share.is_empty()
}

/// Ingests checkpoints and saves, in case no other process does.
fn ingest(world: &World) -> anyhow::Result<()> {
    let mut ingester = Ingester::open(world, Duration::from_secs(30), None)?;
    ingester.saves()?;
    ingester.all_checkpoints()
}
