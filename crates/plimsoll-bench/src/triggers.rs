//! Lets five hundred sessions cross the checkpoint threshold at once, without hooks.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use plimsoll_core::time::moment;
use serde::Serialize;
use serde_json::Value;

use crate::gates::Gate;
use crate::section::PartResults;
use crate::table::table;
use crate::watchers::{SESSIONS, SessionsHome, wait_until_idle};

/// Prompt size that takes a session over its threshold.
const PROMPT_OVER_THRESHOLD: u64 = 125_000;
/// How long the watcher gives hooks to act before it asks for a checkpoint.
const GRACE_MS: i64 = 10_000;
/// How long the watcher may then take to ask all sessions.
const REQUEST_LIMIT_MS: i64 = 2_000;
/// How long to wait for missing requests.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait for duplicate requests.
const DUPLICATE_WAIT: Duration = Duration::from_secs(3);

/// Requests that the watcher sent, and their delays.
#[derive(Debug, Serialize)]
pub(crate) struct TriggerResults {
    sessions: usize,
    /// With hooks acting first, of which there are none.
    hooks: CheckpointRequests,
    /// With the watcher alone deciding.
    watcher: CheckpointRequests,
}

/// Requests received, and delays from writing a crossing until the message is posted.
#[derive(Debug, Serialize)]
struct CheckpointRequests {
    asked: usize,
    missed: usize,
    twice: usize,
    first_ms: i64,
    p50_ms: i64,
    last_ms: i64,
}

/// Lets all sessions cross, once for each way to decide.
pub(crate) fn time_crossings(plimsoll: &Path) -> anyhow::Result<TriggerResults> {
    let hooks = run(plimsoll, "")?;
    let watcher = run(plimsoll, "checkpoint: {on_line: watcher}\n")?;
    Ok(TriggerResults { sessions: SESSIONS, hooks, watcher })
}

fn run(plimsoll: &Path, config: &str) -> anyhow::Result<CheckpointRequests> {
    let home = SessionsHome::new()?;
    let file = home.path(".config/plimsoll/config.yaml");
    fs::create_dir_all(file.parent().context("no folder")?)?;
    fs::write(file, config)?;
    let mut command = Command::new(plimsoll);
    command.args(["watch", "--json"]);
    home.with_watcher(command, |home, child, told| {
        wait_until_idle(child, told)?;
        let mut crossed = HashMap::new();
        for transcript in &mut home.transcripts {
            // Take the time before writing: the watcher may react before this thread continues.
            crossed.insert(transcript.session.clone(), now()?);
            transcript.grow_to(PROMPT_OVER_THRESHOLD, told)?;
        }
        let inboxes = home.path(".local/share/plimsoll/board/inbox");
        let end = Instant::now() + REQUEST_TIMEOUT;
        while fs::read_dir(&inboxes).map_or(0, Iterator::count) < SESSIONS && Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(DUPLICATE_WAIT);
        collect_requests(&inboxes, &crossed)
    })
}

fn collect_requests(
    inboxes: &Path,
    crossed: &HashMap<String, i64>,
) -> anyhow::Result<CheckpointRequests> {
    let mut lags = Vec::new();
    let (mut missed, mut twice) = (0, 0);
    for (session, written) in crossed {
        let posted = posted_times(&inboxes.join(session))?;
        missed += usize::from(posted.is_empty());
        twice += posted.len().saturating_sub(1);
        lags.extend(posted.first().map(|posted| posted - written));
    }
    lags.sort_unstable();
    let at = |place: usize| lags.get(place).copied().unwrap_or(i64::MAX);
    Ok(CheckpointRequests {
        asked: lags.len(),
        missed,
        twice,
        first_ms: at(0),
        p50_ms: at(lags.len() / 2),
        last_ms: at(lags.len().saturating_sub(1)),
    })
}

/// Returns the times at which the messages in an inbox were posted.
fn posted_times(inbox: &Path) -> anyhow::Result<Vec<i64>> {
    let files = fs::read_dir(inbox).into_iter().flatten().flatten();
    let read = |path: &Path| -> anyhow::Result<i64> {
        let message: Value = serde_json::from_slice(&fs::read(path)?)?;
        let timestamp = message["timestamp"].as_str().and_then(moment);
        timestamp.context("a message without a moment")
    };
    files.map(|file| read(&file.path())).collect()
}

fn now() -> anyhow::Result<i64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64)
}

impl PartResults for TriggerResults {
    const ABOUT: &'static str = "From the writing of the response that takes a session over its checkpoint line until it is asked for a \
        checkpoint; no session has hooks, and with `hooks` they are given ten seconds first.";

    fn tables(&self) -> String {
        let row = |(name, asked): (&str, &CheckpointRequests)| {
            let CheckpointRequests { asked, missed, twice, first_ms, p50_ms, last_ms } = asked;
            let [asked, missed, twice] = [asked, missed, twice].map(usize::to_string);
            let [first, p50, last] = [first_ms, p50_ms, last_ms].map(i64::to_string);
            [name.to_owned(), asked, missed, twice, first, p50, last]
        };
        let head = ["who decides", "asked", "missed", "twice", "first ms", "p50 ms", "last ms"];
        let rows = [("hooks, within 10 s", &self.hooks), ("the watcher", &self.watcher)];
        table(head, rows.map(row))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let TriggerResults { sessions, hooks, watcher } = self;
        let gate = |promise: &str, measured: String, kept| {
            Gate::new(format!("{sessions} sessions crossing at once: {promise}"), measured, kept)
        };
        let lost = [hooks, watcher].map(|it| it.missed + it.twice).iter().sum::<usize>();
        Ok(vec![
            gate("none missed, none asked twice", lost.to_string(), lost == 0),
            gate(
                "each asked within 2 s of its 10 s of grace",
                format!("{} to {} ms", hooks.first_ms, hooks.last_ms),
                hooks.first_ms >= GRACE_MS && hooks.last_ms <= GRACE_MS + REQUEST_LIMIT_MS,
            ),
            gate(
                "without grace each within 2 s",
                format!("{} to {} ms", watcher.first_ms, watcher.last_ms),
                watcher.last_ms <= REQUEST_LIMIT_MS,
            ),
        ])
    }
}
