//! Runs sixty-four sessions at once, with hooks and a server that watches them and ships to a
//! team's database: at full rate for a minute, or at the rate of busy agents for any duration.

mod resources;
mod results;
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

use self::resources::LoadedServer;
pub(crate) use self::resources::ResourceSample;
use self::session::{HookDurations, SimulatedSession};
use crate::percentiles::Percentiles;
use crate::report;
use crate::serve_process::TeamMember;

const SHIPPED_SQL: &str = include_str!("../load.sql");
const SESSIONS: usize = 64;
/// How many times the server's resources are sampled.
const SAMPLES: u32 = 24;
/// How long the shipper may take to catch up once the sessions are idle.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(60);

/// How fast the sessions work.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// For a minute, each session calls a tool every 100 ms, faster than real agents do for long.
    Full,
    /// For this many minutes, each session calls a tool every two seconds.
    Soak(u64),
}

impl Pace {
    fn period(self) -> Duration {
        match self {
            Self::Full => Duration::from_millis(100),
            Self::Soak(_) => Duration::from_secs(2),
        }
    }

    fn duration(self) -> Duration {
        match self {
            Self::Full => Duration::from_secs(60),
            Self::Soak(minutes) => Duration::from_secs(60 * minutes),
        }
    }
}

/// Results of a load run.
#[derive(Debug, Serialize)]
pub(crate) struct LoadResults {
    /// Planned duration in seconds.
    planned: u64,
    /// Actual duration.
    seconds: f64,
    /// Planned tool calls per second.
    asked_for: f64,
    /// Durations of hooks after a tool call.
    tools: Percentiles,
    /// Durations of hooks before a compaction, which write a checkpoint.
    compactions: Percentiles,
    /// Durations of hooks after a compaction, which restore.
    starts: Percentiles,
    all: Percentiles,
    /// Missing readings, checkpoints and answers.
    lost: Vec<String>,
    readings: u64,
    checkpoints: usize,
    /// Resource samples at equal intervals.
    held: Vec<ResourceSample>,
    /// Processes, connections and unfinished files left behind.
    left: Vec<String>,
}

/// Runs the sessions and checks that nothing is missing afterwards.
pub(crate) fn run_load(plimsoll: &Path, pace: Pace) -> anyhow::Result<LoadResults> {
    let database = Postgres::start();
    let home = TempDir::new().context("could not make a temporary folder")?;
    let home = home.path();
    share_all_with_team(home)?;
    let server = TeamMember::init(&database, plimsoll, home)?.serve()?;
    let place = LoadedServer { server: &server, home, database: &database };
    let mut sessions = (0..SESSIONS)
        .map(|number| SimulatedSession::new(home, number))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let began = Instant::now();
    let (called, held) = drive(&mut sessions, plimsoll, &place, pace)?;
    let seconds = began.elapsed().as_secs_f64();

    let HookDurations { tools, compactions, starts, mut lost } = called;
    let mut checkpoints = Vec::new();
    for session in &sessions {
        checkpoints.extend(session.checkpoints(plimsoll, &mut lost)?);
    }
    let readings = sessions.iter().map(SimulatedSession::answers).sum();
    lost.extend(missing_in_database(&database, readings, &checkpoints));
    let mut left = place.stray_processes()?;
    server.stop()?;
    left.extend(resources::leftovers(home, &database)?);
    Ok(LoadResults {
        planned: pace.duration().as_secs(),
        seconds,
        asked_for: SESSIONS as f64 / pace.period().as_secs_f64(),
        all: Percentiles::of([&tools[..], &compactions, &starts].concat()),
        tools: Percentiles::of(tools),
        compactions: Percentiles::of(compactions),
        starts: Percentiles::of(starts),
        lost,
        readings,
        checkpoints: checkpoints.len(),
        held,
        left,
    })
}

/// Configures the home to share everything that a team can share.
fn share_all_with_team(home: &Path) -> anyhow::Result<()> {
    let config = home.join(".config/plimsoll");
    fs::create_dir_all(&config)?;
    let share = "team: {share: [readings, checkpoints, saves, board]}\n";
    Ok(fs::write(config.join("config.yaml"), share)?)
}

/// Returns the readings and checkpoints that are missing from the database after the shipper had
/// time to catch up.
fn missing_in_database(database: &Postgres, readings: u64, checkpoints: &[String]) -> Vec<String> {
    let missing = || {
        let there = database.sql(SHIPPED_SQL);
        let count = there.lines().find_map(|line| line.parse::<u64>().ok()).unwrap_or(0);
        let there: HashSet<&str> = there.lines().collect();
        let missing = checkpoints.iter().filter(|id| !there.contains(id.as_str()));
        let count = (count != readings).then(|| format!("{count} of {readings} readings"));
        missing.cloned().chain(count).collect::<Vec<_>>()
    };
    let end = Instant::now() + CATCH_UP_TIMEOUT;
    while !missing().is_empty() && Instant::now() < end {
        thread::sleep(Duration::from_millis(200));
    }
    missing().into_iter().map(|what| format!("not in the database: {what}")).collect()
}

/// Runs all sessions concurrently. Returns the hook durations and the resource samples.
fn drive(
    sessions: &mut [SimulatedSession],
    plimsoll: &Path,
    place: &LoadedServer,
    pace: Pace,
) -> anyhow::Result<(HookDurations, Vec<ResourceSample>)> {
    let start = Instant::now();
    let until = start + pace.duration();
    thread::scope(|scope| {
        let working: Vec<_> = sessions
            .iter_mut()
            .zip(0..)
            .map(|(session, number)| {
                // Staggers the sessions within one period.
                let from = start + pace.period() * number / SESSIONS as u32;
                scope.spawn(move || session.work(plimsoll, from, until, pace.period()))
            })
            .collect();
        let held = sample_resources(place, start, pace.duration());
        let mut called = HookDurations::default();
        for working in working {
            match working.join() {
                Ok(more) => called.add(more?),
                Err(_) => anyhow::bail!("a session has failed"),
            }
        }
        Ok((called, held?))
    })
}

/// Samples the resource usage at equal intervals and prints each sample.
fn sample_resources(
    place: &LoadedServer,
    start: Instant,
    lasts: Duration,
) -> anyhow::Result<Vec<ResourceSample>> {
    let look = |number| {
        let after = lasts * number / SAMPLES;
        thread::sleep((start + after).saturating_duration_since(Instant::now()));
        let held = place.sample(after.as_secs())?;
        report::print_sample(&held, lasts);
        Ok(held)
    };
    (1..=SAMPLES).map(look).collect()
}
