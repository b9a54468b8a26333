//! Times the dashboard's first page in a real browser, with a thousand sessions in the store.

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
use crate::percentiles::Percentiles;
use crate::section::PartResults;
use crate::serve_process::{ServeProcess, command_in_home};
use crate::table::{percentile_table, with_title};

const SESSIONS: usize = 1_000;
/// Number of sessions that are still active.
const RUNNING: usize = 100;
const PROJECTS: usize = 20;
/// Size of each transcript. The page does not read them.
const BYTES: u64 = 40_000;
const ROUNDS: usize = 40;
/// A page that makes no requests.
const ONE_WORD_PAGE: &str = "data:text/html,<p>word";

/// Timings of the dashboard's first page.
#[derive(Debug, Serialize)]
pub(crate) struct DashboardTimings {
    sessions: usize,
    /// Number of sessions that the page lists initially.
    rows: u64,
    /// Size of the page itself.
    bytes: u64,
    /// From the request to the end of the response.
    answer: Percentiles,
    /// From the start of the navigation to the first contentful paint.
    paint: Percentiles,
    /// First contentful paint of a one-word page, which is the browser's own overhead.
    word: Percentiles,
}

/// Fills a store, serves it, and opens the page with the browser's cache disabled.
pub(crate) fn time_dashboard(plimsoll: &Path) -> anyhow::Result<DashboardTimings> {
    let home = TempDir::new().context("could not make a temporary folder")?;
    listing::write_transcripts(home.path(), SESSIONS, PROJECTS, &[BYTES])?;
    age_transcripts(home.path())?;
    ingest(plimsoll, home.path())?;
    let server = ServeProcess::start(command_in_home(plimsoll, home.path()), &[])?;
    let browser = Browser::start();
    browser.tell("Network.enable", &json!({}));
    browser.tell("Network.setCacheDisabled", &json!({"cacheDisabled": true}));
    let url = format!("http://{}/", server.address);
    wait_for_all_sessions(&browser, &url)?;
    let (mut answer, mut paint, mut word) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = PageLoad::default();
    for _ in 0..ROUNDS {
        last = load_page(&browser, &url)?;
        answer.push(last.answer_ms);
        paint.push(last.paint_ms);
    }
    // Not interleaved: the browser starts another process for a page of a different origin.
    for _ in 0..ROUNDS {
        word.push(load_page(&browser, ONE_WORD_PAGE)?.paint_ms);
    }
    let [answer, paint, word] = [answer, paint, word].map(Percentiles::of);
    Ok(DashboardTimings {
        sessions: SESSIONS,
        rows: last.rows,
        bytes: last.bytes,
        answer,
        paint,
        word,
    })
}

/// Sets the modification time of all but [`RUNNING`] transcripts to a day ago, so that those
/// sessions count as ended.
fn age_transcripts(home: &Path) -> anyhow::Result<()> {
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

fn ingest(plimsoll: &Path, home: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(plimsoll);
    command.args(["status", "--all", "--json"]).env_clear().env("HOME", home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().context("could not start `plimsoll status`")?;
    ensure!(status.success(), "`plimsoll status` failed: {status}");
    Ok(())
}

/// Waits until the page counts all sessions.
fn wait_for_all_sessions(browser: &Browser, url: &str) -> anyhow::Result<()> {
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

/// Figures that the browser reports for a page.
#[derive(Default)]
struct PageLoad {
    answer_ms: f64,
    paint_ms: f64,
    rows: u64,
    bytes: u64,
}

fn load_page(browser: &Browser, url: &str) -> anyhow::Result<PageLoad> {
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
            return Ok(PageLoad { answer_ms: number(0), paint_ms: number(1), rows, bytes });
        }
        ensure!(began.elapsed() < Duration::from_secs(30), "the page is never painted");
    }
}

impl PartResults for DashboardTimings {
    const ABOUT: &'static str = "The first page in headless Chromium without anything in its cache; the browser itself tells its first \
        contentful paint.";

    fn tables(&self) -> String {
        let Self { sessions, rows, bytes, answer, paint, word } = self;
        let title = format!("{sessions} sessions: {rows} rows, {bytes} bytes");
        let rows = [
            ("answer", answer),
            ("first contentful paint", paint),
            ("… of a page that is one word", word),
        ];
        with_title(&title, &percentile_table("headless Chromium", rows))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let p95 = self.paint.p95_ms;
        Ok(vec![Gate::new(
            format!("p95 of the dashboard's first paint, {SESSIONS} sessions, < 100 ms"),
            format!("{p95:.1} ms"),
            p95 < 100.0,
        )])
    }
}
