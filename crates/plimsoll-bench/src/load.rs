//! Sixty-four sessions at once, with their hooks, beside a server that watches them and ships to a
//! team's database: at full rate for a minute, or at the rate of busy agents for as long as one likes.

mod findings;
mod held;
mod session;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use plimsoll_testbed::Postgres;
use serde::Serialize;
use tempfile::TempDir;

pub(crate) use self::held::Held;
use self::held::Place;
use self::session::{Called, Session};
use crate::report;
use crate::server::Member;
use crate::spread::Spread;

const REACHED: &str = include_str!("../load.sql");
const SESSIONS: usize = 64;
/// How often it is looked at what the server holds.
const LOOKS: u32 = 24;
/// How long the shipper may take to catch up once the sessions rest.
const CATCHING_UP: Duration = Duration::from_secs(60);

/// How hard the sessions are driven.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// For a minute: an agent of each session calls a tool every 100 ms, which none does for long.
    Full,
    /// For so many minutes: every two seconds.
    Soak(u64),
}

impl Pace {
    fn period(self) -> Duration {
        match self {
            Self::Full => Duration::from_millis(100),
            Self::Soak(_) => Duration::from_secs(2),
        }
    }

    fn lasts(self) -> Duration {
        match self {
            Self::Full => Duration::from_secs(60),
            Self::Soak(minutes) => Duration::from_secs(60 * minutes),
        }
    }
}

/// What became of it.
#[derive(Debug, Serialize)]
pub(crate) struct Load {
    /// How long the sessions were to work, and how long they did, in seconds.
    planned: u64,
    seconds: f64,
    /// How many tool calls a second they were to make.
    asked_for: f64,
    /// Hooks after a tool call.
    tools: Spread,
    /// Hooks before a compaction, with their checkpoint.
    compactions: Spread,
    /// Hooks after a compaction, which restore.
    starts: Spread,
    all: Spread,
    /// Readings, checkpoints and answers that are not where they should be.
    lost: Vec<String>,
    readings: u64,
    checkpoints: usize,
    /// What was held, at moments as far from each other.
    held: Vec<Held>,
    /// Processes, connections and half-written files that were left.
    left: Vec<String>,
}

/// Drives the sessions, and looks whether all is there afterwards.
pub(crate) fn press(plimsoll: &Path, pace: Pace) -> anyhow::Result<Load> {
    let database = Postgres::start();
    let home = TempDir::new().context("could not make a temporary folder")?;
    let home = home.path();
    share(home)?;
    let server = Member::of(&database, plimsoll, home)?.serve()?;
    let place = Place { server: &server, home, database: &database };
    let mut sessions = (0..SESSIONS)
        .map(|number| Session::new(home, number))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let began = Instant::now();
    let (called, held) = drive(&mut sessions, plimsoll, &place, pace)?;
    let seconds = began.elapsed().as_secs_f64();

    let Called { tools, compactions, starts, mut lost } = called;
    let mut checkpoints = Vec::new();
    for session in &sessions {
        checkpoints.extend(session.checkpoints(plimsoll, &mut lost)?);
    }
    let readings = sessions.iter().map(Session::grown).sum();
    lost.extend(missing(&database, readings, &checkpoints));
    let mut left = place.strays()?;
    server.end()?;
    left.extend(held::left(home, &database)?);
    Ok(Load {
        planned: pace.lasts().as_secs(),
        seconds,
        asked_for: SESSIONS as f64 / pace.period().as_secs_f64(),
        all: Spread::of([&tools[..], &compactions, &starts].concat()),
        tools: Spread::of(tools),
        compactions: Spread::of(compactions),
        starts: Spread::of(starts),
        lost,
        readings,
        checkpoints: checkpoints.len(),
        held,
        left,
    })
}

/// Lets everything that a team can share be shared.
fn share(home: &Path) -> anyhow::Result<()> {
    let config = home.join(".config/plimsoll");
    fs::create_dir_all(&config)?;
    let share = "team: {share: [readings, checkpoints, saves, board]}\n";
    Ok(fs::write(config.join("config.yaml"), share)?)
}

/// What does not reach the database, though the shipper is given time to catch up.
fn missing(database: &Postgres, readings: u64, checkpoints: &[String]) -> Vec<String> {
    let missing = || {
        let there = database.sql(REACHED);
        let count = there.lines().find_map(|line| line.parse::<u64>().ok()).unwrap_or(0);
        let there: HashSet<&str> = there.lines().collect();
        let missing = checkpoints.iter().filter(|id| !there.contains(id.as_str()));
        let count = (count != readings).then(|| format!("{count} of {readings} readings"));
        missing.cloned().chain(count).collect::<Vec<_>>()
    };
    let end = Instant::now() + CATCHING_UP;
    while !missing().is_empty() && Instant::now() < end {
        thread::sleep(Duration::from_millis(200));
    }
    missing().into_iter().map(|what| format!("not in the database: {what}")).collect()
}

/// Lets all sessions work at once; gives what their hooks took, and what was held meanwhile.
fn drive(
    sessions: &mut [Session],
    plimsoll: &Path,
    place: &Place,
    pace: Pace,
) -> anyhow::Result<(Called, Vec<Held>)> {
    let start = Instant::now();
    let until = start + pace.lasts();
    thread::scope(|scope| {
        let working: Vec<_> = sessions
            .iter_mut()
            .zip(0..)
            .map(|(session, number)| {
                // Not all at the same moment.
                let from = start + pace.period() * number / SESSIONS as u32;
                scope.spawn(move || session.work(plimsoll, from, until, pace.period()))
            })
            .collect();
        let held = look(place, start, pace.lasts());
        let mut called = Called::default();
        for working in working {
            match working.join() {
                Ok(more) => called.add(more?),
                Err(_) => anyhow::bail!("a session has failed"),
            }
        }
        Ok((called, held?))
    })
}

/// Looks again and again at what is held, and says so.
fn look(place: &Place, start: Instant, lasts: Duration) -> anyhow::Result<Vec<Held>> {
    let look = |number| {
        let after = lasts * number / LOOKS;
        thread::sleep((start + after).saturating_duration_since(Instant::now()));
        let held = place.held(after.as_secs())?;
        report::progress(&held, lasts);
        Ok(held)
    };
    (1..=LOOKS).map(look).collect()
}
