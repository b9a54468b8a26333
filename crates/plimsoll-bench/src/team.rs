//! Times the pages of a team with a million readings and a hundred thousand checkpoints in its
//! database.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use plimsoll_testbed::Postgres;
use serde::Serialize;
use tempfile::TempDir;

use crate::gates::Gate;
use crate::percentiles::Percentiles;
use crate::plot::{Bar, Picture, Scale, bar_chart};
use crate::section::PartResults;
use crate::serve_process::TeamMember;
use crate::table::percentile_table;

const FILL_SQL: &str = include_str!("../team.sql");
const ROUNDS: usize = 60;
/// Maximum time of a page.
const LIMIT_MS: f64 = 50.0;

/// Pages to time, each with a description.
const PAGES: [(&str, &str); 9] = [
    ("sessions, the newest", "/team"),
    ("sessions, page 50", "/team?page=50"),
    ("sessions of a machine", "/team?machine=machine-7"),
    ("a session", "/team/session/session-17"),
    ("a session of 20,000 readings", "/team/session/session-0"),
    ("a checkpoint", "/team/checkpoint/2026-11-15-777"),
    ("saves, the newest", "/team/saves"),
    ("saves by a word of all", "/team/saves?q=hull"),
    ("saves by two words", "/team/saves?q=careen+word4321&environment=development"),
];

/// Durations of each page, as a user experiences them.
#[derive(Debug, Serialize)]
pub(crate) struct TeamPageTimings {
    pages: Vec<(&'static str, Percentiles)>,
}

/// Fills a database, serves it, and opens each page repeatedly.
pub(crate) fn time_pages(plimsoll: &Path) -> anyhow::Result<TeamPageTimings> {
    let database = Postgres::start();
    let home = TempDir::new().context("could not make a temporary folder")?;
    let member = TeamMember::init(&database, plimsoll, home.path())?;
    database.sql(FILL_SQL);
    database.sql("VACUUM ANALYZE");
    let server = member.serve()?;
    let mut pages = Vec::new();
    for (name, path) in PAGES {
        let times: anyhow::Result<Vec<f64>> =
            (0..ROUNDS).map(|_| get(&server.address, path)).collect();
        pages.push((name, Percentiles::of(times?)));
    }
    Ok(TeamPageTimings { pages })
}

/// Returns the duration of a page load in milliseconds, from the connection to the last byte.
fn get(host: &str, path: &str) -> anyhow::Result<f64> {
    let began = Instant::now();
    let mut stream = TcpStream::connect(host)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    ensure!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer:.300}");
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

impl PartResults for TeamPageTimings {
    const ABOUT: &'static str = "Whole pages, from the connection to the last byte, of a team in PostgreSQL with forty machines, 5,000 \
        sessions, 1,000,000 readings, 100,000 checkpoints and 100,000 saves.";

    fn tables(&self) -> String {
        percentile_table("page", self.pages.iter().map(|(name, spread)| (*name, spread)))
    }

    fn picture(&self) -> Option<Picture> {
        let bars = self.pages.iter().map(|(name, spread)| Bar::ours(name, spread.p95_ms));
        let bars: Vec<_> = bars.collect();
        let about = "The p95 of each page, in milliseconds; the red line is the limit";
        Some(bar_chart(&Scale::linear(&bars, Some(LIMIT_MS)), &bars, about))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let gate = |(name, spread): &(&str, Percentiles)| {
            let promise = format!("p95 of the team's page, {name}, < {LIMIT_MS} ms");
            Gate::new(promise, format!("{:.1} ms", spread.p95_ms), spread.p95_ms < LIMIT_MS)
        };
        Ok(self.pages.iter().map(gate).collect())
    }
}
