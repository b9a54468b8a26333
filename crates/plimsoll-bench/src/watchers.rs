//! Times watchers on five hundred sessions that grow at once.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use plimsoll_testbed::generator::{self, GeneratorOptions};
use serde::Serialize;
use serde_json::Value;
use tempfile::TempDir;

use crate::gates::Gate;
use crate::naive_watcher;
use crate::plot::{Bar, Picture, Scale, bar_chart};
use crate::section::PartResults;
use crate::table::{megabytes, table, with_title};

pub(crate) const SESSIONS: usize = 500;
const PROJECTS: usize = 25;
/// Initial size of each transcript.
const SIZE: u64 = 300_000;
/// How often each transcript grows.
const PERIOD: Duration = Duration::from_secs(1);
/// Prompt size of the first response.
const FIRST_PROMPT: u64 = 20_000;
/// Growth per response, which exceeds the estimated weight of a tool result.
const STEP: u64 = 2_500;
/// How long to wait for outstanding readings after the last write.
const REPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a watcher may take to settle.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Results for both watchers.
#[derive(Debug, Serialize)]
pub(crate) struct WatcherResults {
    sessions: usize,
    seconds: u64,
    plimsoll: WatcherRun,
    naive: WatcherRun,
}

/// Figures of one watcher on growing sessions.
#[derive(Clone, Debug, Serialize)]
struct WatcherRun {
    /// Percent of one core.
    cpu_percent: f64,
    /// Percent of one core while nothing changes.
    idle_cpu_percent: f64,
    peak_bytes: u64,
    appends: usize,
    /// Appends that the watcher never reported.
    missed: usize,
    /// From writing a record until the watcher reports it.
    lag_p50_ms: f64,
    lag_p99_ms: f64,
}

/// Lets sessions grow while each of the two watchers runs.
pub(crate) fn time_watchers(plimsoll: &Path, quick: bool) -> anyhow::Result<WatcherResults> {
    let (seconds, idle) = if quick { (10, 5) } else { (60, 30) };
    let (time, idle) = (Duration::from_secs(seconds), Duration::from_secs(idle));
    let run = |naive: bool| -> anyhow::Result<WatcherRun> {
        let home = SessionsHome::new()?;
        let mut command = match naive {
            false => Command::new(plimsoll),
            true => Command::new(std::env::current_exe()?),
        };
        match naive {
            false => command.args(["watch", "--json"]),
            true => command.arg(naive_watcher::ARGUMENT).arg(home.projects()),
        };
        home.with_watcher(command, |home, child, reports| home.measure(child, reports, time, idle))
    };
    Ok(WatcherResults { sessions: SESSIONS, seconds, plimsoll: run(false)?, naive: run(true)? })
}

/// A temporary home with sessions.
pub(crate) struct SessionsHome {
    folder: TempDir,
    pub(crate) transcripts: Vec<GrowingTranscript>,
}

pub(crate) struct GrowingTranscript {
    pub(crate) session: String,
    path: PathBuf,
    /// How many times the transcript has grown.
    steps: u64,
}

/// Appends that the watcher has not reported yet, by session: the prompt size and the time of the
/// write.
type PendingAppends = HashMap<String, VecDeque<(u64, Instant)>>;

/// The watcher's reports, matched with the appends.
#[derive(Default)]
pub(crate) struct WatcherReports {
    sessions: HashSet<String>,
    pending: PendingAppends,
    lags: Vec<Duration>,
}

impl SessionsHome {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let folder = TempDir::new().context("could not make a temporary folder")?;
        let mut home = Self { folder, transcripts: Vec::new() };
        for number in 0..SESSIONS {
            let project = home.projects().join(format!("-project-{}", number % PROJECTS));
            fs::create_dir_all(&project)?;
            let draft = project.join("draft");
            let seed = number as u64;
            let prompt_tokens = Some(FIRST_PROMPT - 1_000);
            let options =
                GeneratorOptions { size: SIZE, seed, prompt_tokens, ..GeneratorOptions::default() };
            let truth = generator::write(BufWriter::new(File::create(&draft)?), &options)
                .context("could not write a transcript")?;
            let path = project.join(&truth.session_id).with_extension("jsonl");
            fs::rename(draft, &path)?;
            home.transcripts.push(GrowingTranscript { session: truth.session_id, path, steps: 0 });
        }
        Ok(home)
    }

    /// Returns a path inside the home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn projects(&self) -> PathBuf {
        self.path(".claude/projects")
    }

    /// Starts a watcher and runs `work` while it is running.
    pub(crate) fn with_watcher<T>(
        mut self,
        mut command: Command,
        work: impl FnOnce(&mut Self, &mut Child, &Mutex<WatcherReports>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        command.env_clear().env("HOME", self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().context("could not start a watcher")?;
        let out = child.stdout.take().context("no output to read")?;
        let reports = Arc::new(Mutex::new(WatcherReports::default()));
        let listener = thread::spawn({
            let reports = Arc::clone(&reports);
            move || record_reports(out, &reports)
        });
        let figures = work(&mut self, &mut child, &reports);
        child.kill()?;
        child.wait()?;
        if listener.join().is_err() {
            bail!("the listener has failed");
        }
        figures
    }

    fn measure(
        &mut self,
        child: &mut Child,
        reports: &Mutex<WatcherReports>,
        time: Duration,
        idle: Duration,
    ) -> anyhow::Result<WatcherRun> {
        wait_until_idle(child, reports)?;
        let idle_cpu_percent = cpu_during(child, || {
            thread::sleep(idle);
            Ok(())
        })?;
        let cpu_percent = cpu_during(child, || self.grow(reports, time))?;
        let end = Instant::now() + REPORT_TIMEOUT;
        let left = || lock(reports).pending.values().map(VecDeque::len).sum::<usize>();
        while left() > 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
        let missed = left();
        let mut lags: Vec<f64> =
            lock(reports).lags.iter().map(|lag| lag.as_secs_f64() * 1e3).collect();
        lags.sort_by(f64::total_cmp);
        let at = |share: f64| lags.get((lags.len() as f64 * share) as usize).copied();
        Ok(WatcherRun {
            cpu_percent,
            idle_cpu_percent,
            peak_bytes: peak_memory(child)?,
            appends: lags.len() + missed,
            missed,
            lag_p50_ms: at(0.5).unwrap_or(f64::NAN),
            lag_p99_ms: at(0.99).unwrap_or(f64::NAN),
        })
    }

    /// Lets every session grow once per period, evenly spaced.
    fn grow(&mut self, reports: &Mutex<WatcherReports>, time: Duration) -> anyhow::Result<()> {
        let start = Instant::now();
        let turns = (time.as_secs_f64() / PERIOD.as_secs_f64()) as usize * SESSIONS;
        for turn in 0..turns {
            let due = start + PERIOD.mul_f64(turn as f64 / SESSIONS as f64);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            self.transcripts[turn % SESSIONS].grow(reports)?;
        }
        Ok(())
    }
}

impl GrowingTranscript {
    /// Appends an answer of the model and a tool result in one write.
    fn grow(&mut self, reports: &Mutex<WatcherReports>) -> anyhow::Result<()> {
        self.grow_to(FIRST_PROMPT + (self.steps + 1) * STEP, reports)
    }

    /// Appends an answer whose prompt has `prompt` tokens, and a tool result.
    pub(crate) fn grow_to(
        &mut self,
        prompt: u64,
        reports: &Mutex<WatcherReports>,
    ) -> anyhow::Result<()> {
        self.steps += 1;
        let n = self.steps;
        let session = &self.session;
        let tail = format!(
            r#""timestamp":"2026-12-01T09:00:00.000Z","cwd":"/project","sessionId":"{session}","version":"2.1.325""#
        );
        let result = "fn load_line(hull: &Hull) -> Depth { hull.depth() }\\n".repeat(30);
        let lines = format!(
            r#"{{"parentUuid":null,"isSidechain":false,"message":{{"id":"msg_{n}","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"tool_use","id":"toolu_{n}","name":"Read","input":{{"file_path":"/project/src/hull.rs"}}}}],"stop_reason":"tool_use","usage":{{"input_tokens":{prompt},"output_tokens":60}}}},"type":"assistant","uuid":"{session}-a{n}",{tail}}}
{{"parentUuid":"{session}-a{n}","isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{n}","content":"{result}"}}]}},"uuid":"{session}-b{n}",{tail}}}
"#
        );
        let mut file = File::options().append(true).open(&self.path)?;
        let mut reports = lock(reports);
        file.write_all(lines.as_bytes())?;
        reports.pending.entry(session.clone()).or_default().push_back((prompt, Instant::now()));
        Ok(())
    }
}

fn lock(reports: &Mutex<WatcherReports>) -> std::sync::MutexGuard<'_, WatcherReports> {
    reports.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records the watcher's reports until it ends.
fn record_reports(out: ChildStdout, reports: &Mutex<WatcherReports>) {
    for line in BufReader::new(out).lines().map_while(Result::ok) {
        let now = Instant::now();
        let Ok(notice) = serde_json::from_str::<Value>(&line) else { continue };
        let session = notice["session"].as_str().unwrap_or_default();
        let Some(used) = notice["reading"]["used"].as_u64() else { continue };
        let mut reports = lock(reports);
        reports.sessions.insert(session.to_owned());
        let WatcherReports { pending: waiting, lags, .. } = &mut *reports;
        let Some(waiting) = waiting.get_mut(session) else { continue };
        while let Some((_, written)) = waiting.pop_front_if(|(prompt, _)| *prompt <= used) {
            lags.push(now.saturating_duration_since(written));
        }
    }
}

/// Waits until the watcher has reported every session and is idle.
pub(crate) fn wait_until_idle(
    child: &Child,
    reports: &Mutex<WatcherReports>,
) -> anyhow::Result<()> {
    let end = Instant::now() + SETTLE_TIMEOUT;
    while Instant::now() < end {
        let before = cpu_time(child)?;
        // Longer than the interval at which a watcher writes to the store.
        thread::sleep(Duration::from_secs(5));
        let is_quiet = cpu_time(child)? - before < Duration::from_millis(200);
        if is_quiet && lock(reports).sessions.len() == SESSIONS {
            return Ok(());
        }
    }
    bail!("a watcher does not settle: {} sessions reports", lock(reports).sessions.len())
}

/// Returns the share of one core that a process uses while `work` runs, in percent.
fn cpu_during(child: &Child, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let (start, before) = (Instant::now(), cpu_time(child)?);
    work()?;
    let used = cpu_time(child)? - before;
    Ok(used.as_secs_f64() / start.elapsed().as_secs_f64() * 100.0)
}

/// Returns the user and system CPU time of a process.
fn cpu_time(child: &Child) -> anyhow::Result<Duration> {
    // The kernel reports hundredths of a second on every machine.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let fields = stat.rsplit_once(") ").context("no process name")?.1.split(' ');
    let ticks = fields.skip(11).take(2).map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(TICK * ticks)
}

fn peak_memory(child: &Child) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kilobytes.context("no peak memory")?.parse::<u64>()? * 1024)
}

impl PartResults for WatcherResults {
    const ABOUT: &'static str = "Five hundred transcripts, each of which grows once a second. The lag is the time from a write until the \
        watcher has reports the reading that covers it; beside it, a watcher as one would first write it.";

    fn tables(&self) -> String {
        let WatcherResults { sessions, seconds, plimsoll, naive } = self;
        let row = |(name, run): (&str, &WatcherRun)| {
            let busy = [format!("{:.1}", run.cpu_percent), format!("{:.2}", run.idle_cpu_percent)];
            let [p50, p99] = [run.lag_p50_ms, run.lag_p99_ms].map(|lag| format!("{lag:.0}"));
            let [cpu, idle] = busy;
            let [appends, missed] = [run.appends, run.missed].map(|count| count.to_string());
            [name.to_owned(), cpu, idle, megabytes(run.peak_bytes), p50, p99, appends, missed]
        };
        let head = [
            "watcher",
            "CPU % of a core",
            "… while nothing happens",
            "memory ≤ MB",
            "lag p50 ms",
            "lag p99 ms",
            "appends",
            "missed",
        ];
        let rows = [("`plimsoll watch --json`", plimsoll), ("re-reads what has changed", naive)];
        with_title(&format!("{sessions} sessions, {seconds} s"), &table(head, rows.map(row)))
    }

    fn picture(&self) -> Option<Picture> {
        let runs = [("plimsoll watch", &self.plimsoll), ("re-reads what has changed", &self.naive)];
        let bar = |(name, run): (&str, &WatcherRun)| {
            [("p50", run.lag_p50_ms), ("p99", run.lag_p99_ms)]
                .map(|(share, lag)| Bar::new(&format!("{name}, {share}"), lag))
        };
        let bars = runs.map(bar).concat();
        let about = "The lag of both watchers, in milliseconds, on a logarithmic scale";
        Some(bar_chart(&Scale::logarithmic(&bars), &bars, about))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let WatcherRun { cpu_percent, peak_bytes, missed, lag_p99_ms, .. } = self.plimsoll;
        let peak = peak_bytes as f64 / 1e6;
        let gate = |promise: &str, measured: String, kept| {
            Gate::new(format!("watching {SESSIONS} growing sessions: {promise}"), measured, kept)
        };
        Ok(vec![
            gate("CPU < 25 % of a core", format!("{cpu_percent:.1} %"), cpu_percent < 25.0),
            gate("peak memory < 150 MB", format!("{peak:.1} MB"), peak < 150.0),
            gate("p99 of the lag < 500 ms", format!("{lag_p99_ms:.0} ms"), lag_p99_ms < 500.0),
            gate("none missed", missed.to_string(), missed == 0),
        ])
    }
}
