//! Compares `plimsoll serve` with the seed's own service under wrk: usage queries, and saves that
//! are on disk before the response.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use tempfile::TempDir;

use crate::gates::Gate;
use crate::plot::{Bar, Picture, Scale, bar_chart};
use crate::section::PartResults;
use crate::serve_process::{ServeProcess, command_in_home};
use crate::table::table;

/// Results for the server. Requests per second are medians.
#[derive(Debug, Serialize)]
pub(crate) struct ServerResults {
    usage: RequestRates,
    saves: RequestRates,
    /// Latency with 50 clients.
    usage_p99_ms: f64,
    saves_p99_ms: f64,
}

/// Requests per second of both services, with 32 connections.
#[derive(Debug, Serialize)]
struct RequestRates {
    ours: f64,
    /// `None` if the seed's service is not available.
    seeds: Option<f64>,
}

impl RequestRates {
    fn times(&self) -> Option<f64> {
        self.seeds.map(|seeds| self.ours / seeds)
    }
}

const CONNECTIONS: u32 = 32;
const CLIENTS: u32 = 50;
/// Disables the rate limit, so that the server answers as fast as it can.
const UNLIMITED: [&str; 2] = ["--writes-per-second", "1000000000"];
const USAGE: &str = "/context/usage?used_tokens=150000&max_tokens=200000";
const SAVE: &str = "/context/auto-save";
/// Script that makes wrk send a save.
const POST: &str = r#"wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"environment": "development", "used_tokens": 170000, "max_tokens": 200000}'
"#;

/// Runs both servers and sends them the same requests alternately.
pub(crate) fn time_servers(
    plimsoll: &Path,
    python: Option<&Path>,
    seeds: &Path,
    quick: bool,
) -> anyhow::Result<ServerResults> {
    let folder = TempDir::new().context("could not make a temporary folder")?;
    std::fs::write(folder.path().join("post.lua"), POST)?;
    let seed = python.filter(|_| seeds.join("contexts_mcp/server.py").is_file());
    let both = ServerPair {
        ours: ServeProcess::start(command_in_home(plimsoll, folder.path()), &UNLIMITED)?,
        seed: seed.map(|python| start_seed_service(python, seeds, folder.path())).transpose()?,
        script: folder.path().join("post.lua"),
        quick,
    };
    // In this order: after the saves, the server is busy importing tens of thousands of them.
    let (usage, usage_p99_ms) = both.measure(USAGE)?;
    let (saves, saves_p99_ms) = both.measure(SAVE)?;
    Ok(ServerResults { usage, saves, usage_p99_ms, saves_p99_ms })
}

/// The two servers to compare.
struct ServerPair {
    ours: ServeProcess,
    seed: Option<ServeProcess>,
    /// Path of wrk's script for posting.
    script: PathBuf,
    quick: bool,
}

impl ServerPair {
    /// Measures the answers per second of each server, and the p99 latency of plimsoll's.
    fn measure(&self, path: &str) -> anyhow::Result<(RequestRates, f64)> {
        let (rounds, seconds) = if self.quick { (2, 1) } else { (5, 2) };
        let p99_ms = self.run_wrk(&self.ours, path, CLIENTS, seconds)?.p99_ms;
        let (mut ours, mut seeds) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            ours.push(self.run_wrk(&self.ours, path, CONNECTIONS, seconds)?.per_second);
            if let Some(seed) = &self.seed {
                seeds.push(self.run_wrk(seed, path, CONNECTIONS, seconds)?.per_second);
            }
        }
        let ours = median(ours).context("nothing was asked")?;
        Ok((RequestRates { ours, seeds: median(seeds) }, p99_ms))
    }

    fn run_wrk(
        &self,
        server: &ServeProcess,
        path: &str,
        connections: u32,
        seconds: u32,
    ) -> anyhow::Result<WrkReport> {
        let mut wrk = Command::new("wrk");
        wrk.args(["-t1", &format!("-c{connections}"), &format!("-d{seconds}s"), "--latency"]);
        if path == SAVE {
            wrk.arg("-s").arg(&self.script);
        }
        let output = wrk.arg(format!("http://{}{path}", server.address)).output();
        let output = output.context("could not run `wrk`: `apt install wrk` installs it")?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success() && !text.contains("Non-2xx"), "wrk: {text}");
        parse_wrk(&text).with_context(|| format!("wrk says: {text}"))
    }
}

fn median(mut rates: Vec<f64>) -> Option<f64> {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied()
}

/// Figures that wrk reports.
struct WrkReport {
    per_second: f64,
    p99_ms: f64,
}

/// Starts the seed's service and waits until it accepts connections.
fn start_seed_service(python: &Path, seeds: &Path, folder: &Path) -> anyhow::Result<ServeProcess> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut command = Command::new(python);
    command.args(["-m", "uvicorn", "server:app", "--no-access-log", "--log-level", "error"]);
    command.args(["--port", &port.to_string(), "--app-dir"]).arg(seeds.join("contexts_mcp"));
    command.env("STORE", folder.join("contexts.db")).env("SYNC", "FULL");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let child = command.spawn().context("could not start the seed's service")?;
    let server = ServeProcess::from_child(child, format!("127.0.0.1:{port}"));
    let began = Instant::now();
    while TcpStream::connect(&server.address).is_err() {
        ensure!(began.elapsed() < Duration::from_secs(30), "the seed's service does not answer");
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(server)
}

fn parse_wrk(text: &str) -> Option<WrkReport> {
    let after = |label: &str| {
        text.lines().find_map(|line| Some(line.trim().strip_prefix(label)?.trim().to_owned()))
    };
    let per_second = after("Requests/sec:")?.parse().ok()?;
    Some(WrkReport { per_second, p99_ms: millis(&after("99%")?)? })
}

/// Parses a time in wrk's format: `803.00us`, `1.23ms`, `1.02s`.
fn millis(text: &str) -> Option<f64> {
    let units = [("us", 0.001), ("ms", 1.0), ("s", 1000.0)];
    units
        .iter()
        .find_map(|(unit, millis)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * millis))
}

impl PartResults for ServerResults {
    const ABOUT: &'static str = "`plimsoll serve` and the seed's service (FastAPI on uvicorn), asked the same by wrk. A save is on the \
        disk before it is answered, in both.";

    fn tables(&self) -> String {
        let row = |(name, contest, p99): (&str, &RequestRates, f64)| {
            let some = |value: Option<f64>, digits: usize| {
                value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
            };
            let ours = format!("{:.0}", contest.ours);
            let (seeds, times) = (some(contest.seeds, 0), some(contest.times(), 1));
            [name.to_owned(), ours, seeds, times, format!("{p99:.1}")]
        };
        let head = ["request", "plimsoll /s", "seed's service /s", "times", "p99 ms, 50 clients"];
        let rows = [
            ("usage", &self.usage, self.usage_p99_ms),
            ("durable save", &self.saves, self.saves_p99_ms),
        ];
        table(head, rows.map(row))
    }

    fn picture(&self) -> Option<Picture> {
        let contests = [("usage", &self.usage), ("durable saves", &self.saves)];
        let bars = contests.into_iter().flat_map(|(name, contest)| {
            let seeds =
                contest.seeds.map(|rate| Bar::new(&format!("the seed's service, {name}"), rate));
            [Some(Bar::new(&format!("plimsoll serve, {name}"), contest.ours)), seeds]
        });
        let bars: Vec<_> = bars.flatten().collect();
        Some(bar_chart(&Scale::linear(&bars, None), &bars, "Answers a second, with 32 connections"))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let times = |what: &str, contest: &RequestRates, least: f64| {
            let promise =
                format!("{what} ≥ {least} × the seed's service, {CONNECTIONS} connections");
            match contest.times() {
                Some(times) => Gate::new(promise, format!("{times:.1} ×"), times >= least),
                None => Gate::not_judged("the seed's service", promise),
            }
        };
        let quick = |what: &str, p99: f64| {
            let promise = format!("p99 of {what} < 10 ms, {CLIENTS} clients");
            Gate::new(promise, format!("{p99:.1} ms"), p99 < 10.0)
        };
        Ok(vec![
            times("usage queries", &self.usage, 10.0),
            times("durable saves", &self.saves, 8.0),
            quick("usage queries", self.usage_p99_ms),
            quick("durable saves", self.saves_p99_ms),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrk_output_is_parsed() {
        let text = "  Latency Distribution\n     50%  803.00us\n     99%    1.23ms\n  9 requests in 1.00s\nRequests/sec:  25954.10\nTransfer/sec: 1MB\n";
        let answer = parse_wrk(text).unwrap();
        assert_eq!((answer.per_second, answer.p99_ms), (25954.10, 1.23));
        assert_eq!(millis("1.5s"), Some(1500.0));
    }
}
