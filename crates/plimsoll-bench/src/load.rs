//! Sixty-four sessions at once, with their hooks, beside a server that watches them and ships to a
//! team's database: at full rate for a minute, or at the rate of busy agents for as long as one likes.

mod service;
mod session;

use std::collections::HashSet;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use plimsoll_testbed::Postgres;
use serde::Serialize;
use tempfile::TempDir;

pub(crate) use self::service::Held;
use self::service::Service;
use self::session::{Called, Session};
use crate::gates::Gate;

const REACHED: &str = include_str!("../load.sql");
const SESSIONS: usize = 64;
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
    pub(crate) sessions: usize,
    pub(crate) seconds: u64,
    /// Everyday calls: after every tool.
    pub(crate) hooks: Took,
    /// Calls before a compaction, with their checkpoint.
    pub(crate) compactions: Took,
    /// Readings, checkpoints and answers that are not where they should be.
    pub(crate) lost: Vec<String>,
    pub(crate) readings: u64,
    pub(crate) checkpoints: usize,
    /// What the server held after a quarter of the time, and at its end.
    pub(crate) early: Held,
    pub(crate) late: Held,
    /// Temporary files and processes that were left.
    pub(crate) left: Vec<String>,
}

/// How long calls took.
#[derive(Debug, Serialize)]
pub(crate) struct Took {
    pub(crate) calls: usize,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
}

impl Took {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |share: usize| {
            times.get((times.len() * share / 100).min(times.len().saturating_sub(1))).copied()
        };
        let [p50_ms, p99_ms, max_ms] = [50, 99, 100].map(|share| at(share).unwrap_or(f64::NAN));
        Self { calls: times.len(), p50_ms, p99_ms, max_ms }
    }
}

/// Drives the sessions, and looks whether all is there afterwards.
pub(crate) fn press(plimsoll: &Path, pace: Pace) -> anyhow::Result<Load> {
    let database = Postgres::start();
    let home = TempDir::new().context("could not make a temporary folder")?;
    let service = Service::start(plimsoll, home.path(), &database.url("postgres"))?;
    let mut sessions = (0..SESSIONS)
        .map(|number| Session::new(home.path(), number))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let (called, early) = drive(&mut sessions, plimsoll, &service, pace)?;
    let late = service.held()?;

    let grown: u64 = sessions.iter().map(Session::grown).sum();
    let mut lost: Vec<String> = called.iter().flat_map(|called| called.lost.clone()).collect();
    let mut checkpoints = Vec::new();
    for session in &sessions {
        checkpoints.extend(session.checkpoints(plimsoll, &mut lost)?);
    }
    let missing = || {
        let there = database.sql(REACHED);
        let readings = there.lines().find_map(|line| line.parse::<u64>().ok()).unwrap_or(0);
        let there: HashSet<&str> = there.lines().collect();
        let missing = checkpoints.iter().filter(|id| !there.contains(id.as_str()));
        let readings = (readings != grown).then(|| format!("{readings} of {grown} readings"));
        missing.cloned().chain(readings).collect::<Vec<_>>()
    };
    let end = Instant::now() + CATCHING_UP;
    while !missing().is_empty() && Instant::now() < end {
        thread::sleep(Duration::from_millis(200));
    }
    lost.extend(missing().into_iter().map(|what| format!("not in the database: {what}")));
    let left = service.end()?;
    let (hooks, compactions) = called
        .into_iter()
        .map(|called| (called.hooks, called.compactions))
        .collect::<(Vec<_>, Vec<_>)>();
    Ok(Load {
        sessions: SESSIONS,
        seconds: pace.lasts().as_secs(),
        hooks: Took::of(hooks.concat()),
        compactions: Took::of(compactions.concat()),
        lost,
        readings: grown,
        checkpoints: checkpoints.len(),
        early,
        late,
        left,
    })
}

/// Lets all sessions work at once; gives what their hooks took, and what the server held early on.
fn drive(
    sessions: &mut [Session],
    plimsoll: &Path,
    service: &Service,
    pace: Pace,
) -> anyhow::Result<(Vec<Called>, Held)> {
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
        thread::sleep(pace.lasts() / 4);
        let early = service.held()?;
        let called = working.into_iter().map(|working| match working.join() {
            Ok(called) => called,
            Err(_) => anyhow::bail!("a session has failed"),
        });
        Ok((called.collect::<anyhow::Result<_>>()?, early))
    })
}

/// What is promised of it.
pub(crate) fn gates(load: &Load) -> [Gate; 5] {
    let Load { hooks, lost, early, late, left, .. } = load;
    let gate = |promise: &str, measured: String, kept| Gate {
        promise: format!("{SESSIONS} sessions at once: {promise}"),
        measured,
        kept,
    };
    let grown = late.memory_bytes as f64 / early.memory_bytes.max(1) as f64;
    [
        gate("p99 of a hook < 20 ms", format!("{:.1} ms", hooks.p99_ms), hooks.p99_ms < 20.0),
        gate("nothing lost", format!("{} {lost:?}", lost.len()), lost.is_empty()),
        gate(
            "memory of the server, end / first quarter, ≤ 1.25",
            format!("{grown:.2}"),
            grown <= 1.25,
        ),
        gate(
            "no more open files than a quarter in",
            format!("{} then {}", early.files, late.files),
            late.files <= early.files + 4,
        ),
        gate("nothing left behind", format!("{} {left:?}", left.len()), left.is_empty()),
    ]
}
