//! The dashboard's first page in a real browser, with a thousand sessions in the store.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::driver::Browser;
use crate::gates::Gate;
use crate::listing;
use crate::saves::Spread;
use crate::server::{Server, at_home};

const SESSIONS: usize = 1_000;
/// How many of them run.
const RUNNING: usize = 100;
const PROJECTS: usize = 20;
/// How large a transcript is. The page does not read them.
const BYTES: u64 = 40_000;
const ROUNDS: usize = 40;

/// What opening the page took.
#[derive(Debug, Serialize)]
pub(crate) struct Painting {
    pub(crate) sessions: usize,
    /// How many of them the page lists at first.
    pub(crate) rows: u64,
    /// The page's own size.
    pub(crate) bytes: u64,
    /// From the request to the end of the answer.
    pub(crate) answer: Spread,
    /// From the beginning of the navigation to the first contentful paint.
    pub(crate) paint: Spread,
}

/// Fills a store, serves it and opens the page, without anything in the browser's cache.
pub(crate) fn paint(plimsoll: &Path) -> anyhow::Result<Painting> {
    let home = TempDir::new().context("could not make a temporary folder")?;
    listing::write(home.path(), SESSIONS, PROJECTS, &[BYTES])?;
    rest(home.path())?;
    take_in(plimsoll, home.path())?;
    let server = Server::start(at_home(plimsoll, home.path()), &[])?;
    let browser = Browser::start();
    browser.tell("Network.enable", &json!({}));
    browser.tell("Network.setCacheDisabled", &json!({"cacheDisabled": true}));
    let url = format!("http://{}/", server.address);
    settled(&browser, &url)?;
    let (mut answer, mut paint, mut last) = (Vec::new(), Vec::new(), Opened::default());
    for _ in 0..ROUNDS {
        last = open(&browser, &url)?;
        answer.push(last.answer_ms);
        paint.push(last.paint_ms);
    }
    let (answer, paint) = (Spread::of(answer), Spread::of(paint));
    Ok(Painting { sessions: SESSIONS, rows: last.rows, bytes: last.bytes, answer, paint })
}

/// Lets all but a few sessions be long over.
fn rest(home: &Path) -> anyhow::Result<()> {
    let long_ago = SystemTime::now() - Duration::from_secs(86_400);
    let mut transcripts = Vec::new();
    for project in home.join(".claude/projects").read_dir()? {
        for transcript in project?.path().read_dir()? {
            transcripts.push(transcript?.path());
        }
    }
    for transcript in &transcripts[RUNNING..] {
        File::options().append(true).open(transcript)?.set_modified(long_ago)?;
    }
    Ok(())
}

fn take_in(plimsoll: &Path, home: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(plimsoll);
    command.args(["status", "--all", "--json"]).env_clear().env("HOME", home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().context("could not start `plimsoll status`")?;
    ensure!(status.success(), "`plimsoll status` failed: {status}");
    Ok(())
}

/// Waits until the page counts all sessions.
fn settled(browser: &Browser, url: &str) -> anyhow::Result<()> {
    const COUNT: &str = "return [...document.querySelectorAll('h2 .count')]
        .reduce((sum, it) => sum + Number(it.textContent.replace(/[^0-9]/g, '')), 0)";
    let began = Instant::now();
    loop {
        browser.go(url);
        let count = browser.run(COUNT);
        if count == SESSIONS {
            return Ok(());
        }
        ensure!(began.elapsed() < Duration::from_secs(60), "the page counts {count} sessions");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// What a browser says of a page it has opened.
#[derive(Default)]
struct Opened {
    answer_ms: f64,
    paint_ms: f64,
    rows: u64,
    bytes: u64,
}

fn open(browser: &Browser, url: &str) -> anyhow::Result<Opened> {
    const TOLD: &str = "const paint = performance.getEntriesByName('first-contentful-paint')[0];
        const page = performance.getEntriesByType('navigation')[0];
        return paint && [page.responseEnd - page.requestStart, paint.startTime,
            document.querySelectorAll('tbody tr').length, page.encodedBodySize]";
    browser.go("about:blank");
    browser.go(url);
    let began = Instant::now();
    loop {
        if let Value::Array(told) = browser.run(TOLD) {
            let number = |at: usize| told.get(at).and_then(Value::as_f64).unwrap_or(f64::NAN);
            let (rows, bytes) = (number(2) as u64, number(3) as u64);
            return Ok(Opened { answer_ms: number(0), paint_ms: number(1), rows, bytes });
        }
        ensure!(began.elapsed() < Duration::from_secs(30), "the page is never painted");
    }
}

/// What is promised of the dashboard.
pub(crate) fn gates(painting: &Painting) -> Vec<Gate> {
    let p95 = painting.paint.p95_ms;
    vec![Gate {
        promise: format!("p95 of the dashboard's first paint, {SESSIONS} sessions, < 100 ms"),
        measured: format!("{p95:.1} ms"),
        kept: p95 < 100.0,
    }]
}
