//! Costs of all hooks, ours included.
//!
//! Figures of foreign hooks are the client's own, from transcripts; each agent declares which runs
//! are not recorded there. Most runs of ours are not, so our hook is timed directly.

use std::collections::HashMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use plimsoll_agents::{Agent, Owner};
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::hook_run::Outcome;
use plimsoll_store::{HookCount, HookSpan, Store};

use crate::scratch::Scratch;
use crate::sessions;
use crate::world::World;

/// Cost of one hook command.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The command, without secrets.
    pub command: String,
    /// Names of the events it ran on.
    pub events: Vec<String>,
    /// Recorded runs.
    pub runs: u64,
    /// Runs stopped by a timeout or by the user.
    pub stopped: u64,
    /// Failed runs.
    pub failed: u64,
    /// Distribution of run times; `None` if none is recorded.
    pub times: Option<Times>,
    /// Sum of all recorded times.
    pub total_millis: u64,
    /// Sessions it ran in.
    pub sessions: u64,
    /// Total duration of those sessions.
    pub session_millis: u64,
}

impl Cost {
    /// Returns its share of the sessions' time, from 0 to 1.
    pub fn share(&self) -> f64 {
        match self.session_millis {
            0 => 0.0,
            millis => (self.total_millis as f64 / millis as f64).min(1.0),
        }
    }
}

/// Distribution of times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    pub min: f64,
    pub p50: f64,
    pub p95: f64,
    pub max: f64,
}

/// Returns the cost of every hook command since a time, most expensive first.
pub fn costs(store: &Store, since: Millis) -> anyhow::Result<Vec<Cost>> {
    let spans: HashMap<u64, HookSpan> =
        store.hook_spans(since)?.into_iter().map(|span| (span.command, span)).collect();
    let counts = store.hook_counts(since)?;
    let commands = counts.chunk_by(|one, next| one.command.id == next.command.id);
    let mut costs: Vec<Cost> =
        commands.map(|counts| cost(counts, spans.get(&counts[0].command.id))).collect();
    costs.sort_by(|one, other| {
        (other.total_millis, other.runs, &one.command).cmp(&(
            one.total_millis,
            one.runs,
            &other.command,
        ))
    });
    Ok(costs)
}

/// Combines the counts of one command.
fn cost(counts: &[HookCount], span: Option<&HookSpan>) -> Cost {
    let runs = |outcome: Outcome| {
        let of_it = counts.iter().filter(|count| count.outcome == outcome);
        of_it.map(|count| count.runs).sum::<u64>()
    };
    let mut events: Vec<String> = counts.iter().map(|count| count.event.clone()).collect();
    events.sort_unstable();
    events.dedup();
    let timed = || counts.iter().filter_map(|count| Some((count.millis?, count.runs)));
    Cost {
        command: counts[0].command.shown.clone(),
        events,
        runs: counts.iter().map(|count| count.runs).sum(),
        stopped: runs(Outcome::Stopped),
        failed: runs(Outcome::Failed),
        times: times(timed().map(|(millis, runs)| (millis as f64, runs))),
        total_millis: timed().map(|(millis, runs)| millis.saturating_mul(runs)).sum(),
        sessions: span.map_or(0, |span| span.sessions),
        session_millis: span.map_or(0, |span| span.millis),
    }
}

/// Computes the distribution of times given in ascending order, each with its number of runs.
fn times(taken: impl Iterator<Item = (f64, u64)>) -> Option<Times> {
    let taken: Vec<(f64, u64)> = taken.collect();
    let all: u64 = taken.iter().map(|(_, runs)| runs).sum();
    let at = |share: f64| {
        let mut left = (share * all as f64).ceil().max(1.0) as u64;
        let found = taken.iter().find(|(_, runs)| {
            let found = *runs >= left;
            left = left.saturating_sub(*runs);
            found
        });
        found.map(|(millis, _)| *millis)
    };
    Some(Times { min: at(0.0)?, p50: at(0.5)?, p95: at(0.95)?, max: at(1.0)? })
}

const WARM_UP: usize = 2;
const TIMED: usize = 20;

/// Times our own hook as `program` runs it: a common call about the newest session, with a
/// temporary folder in place of everything it may write to.
pub fn time_ours(
    world: &World,
    agent: &'static dyn Agent,
    program: &Path,
) -> anyhow::Result<Option<Times>> {
    let folder = world.paths.scratch();
    let failed = || format!("could not make a folder in `{}`", folder.display());
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    let scratch = made.and_then(|()| Scratch::new(&folder)).with_context(failed)?;
    let payload = payload(world, agent, scratch.path())?;
    let mut taken = Vec::with_capacity(TIMED);
    for round in 0..WARM_UP + TIMED {
        let time = call(agent, program, scratch.path(), &payload);
        let time = time.context("could not run our own hook")?;
        if round >= WARM_UP {
            taken.push(time.as_secs_f64() * 1000.0);
        }
    }
    drop(scratch);
    // Fails if another process uses the folder, as intended.
    let _ = fs::remove_dir(&folder);
    taken.sort_by(f64::total_cmp);
    Ok(times(taken.into_iter().map(|millis| (millis, 1))))
}

fn payload(world: &World, agent: &'static dyn Agent, scratch: &Path) -> anyhow::Result<Vec<u8>> {
    let newest = sessions::find(world)?.into_iter().next();
    let found = newest.map(|found| (found.owner, found.path)).or_else(|| {
        let session = SessionId::new("none")?;
        Some((Owner { session, subagent: None }, scratch.join("none.jsonl")))
    });
    let (owner, path) = found.context("no session to call about")?;
    Ok(agent.hooks().everyday_payload(&owner.session, &path))
}

fn call(
    agent: &'static dyn Agent,
    program: &Path,
    scratch: &Path,
    payload: &[u8],
) -> io::Result<Duration> {
    let mut command = Command::new(program);
    command
        .args(["hook", "--agent", agent.id().as_str()])
        .env("PLIMSOLL_DATA_DIR", scratch)
        .env_remove("PLIMSOLL");
    // In a session past its threshold the hook seals a checkpoint; keep it out of the project and
    // the agent's index.
    let variables = &agent.profile().variables;
    for variable in [variables.project, variables.config_folder].into_iter().flatten() {
        command.env(variable, scratch);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn()?;
    give(&mut child, payload)?;
    child.wait()?;
    Ok(start.elapsed())
}

fn give(child: &mut Child, payload: &[u8]) -> io::Result<()> {
    match child.stdin.take() {
        Some(mut stdin) => stdin.write_all(payload),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_core::hook_run::Command;

    use super::*;

    #[test]
    fn quantiles_are_times_that_were_taken() {
        let taken = [(5.0, 18), (40.0, 1), (900.0, 1)];
        assert_eq!(
            times(taken.into_iter()),
            Some(Times { min: 5.0, p50: 5.0, p95: 40.0, max: 900.0 })
        );
        let one = Times { min: 7.0, p50: 7.0, p95: 7.0, max: 7.0 };
        assert_eq!(times([(7.0, 1)].into_iter()), Some(one));
        assert_eq!(times(std::iter::empty()), None);
    }

    #[test]
    fn a_command_is_put_together_from_all_its_runs() {
        let command = Command::new("sh slow.sh");
        let count = |event: &str, millis, outcome, runs| HookCount {
            command: command.clone(),
            event: event.to_owned(),
            millis,
            outcome,
            runs,
        };
        let counts = [
            count("Stop", None, Outcome::Refused, 2),
            count("Stop", Some(10), Outcome::Done, 3),
            count("PreToolUse", Some(300), Outcome::Stopped, 1),
        ];
        let span = HookSpan { command: command.id, sessions: 2, millis: 6_600 };
        let cost = cost(&counts, Some(&span));
        assert_eq!(cost.events, ["PreToolUse", "Stop"]);
        assert_eq!((cost.runs, cost.stopped, cost.failed, cost.total_millis), (6, 1, 0, 330));
        assert_eq!(cost.times, Some(Times { min: 10.0, p50: 10.0, p95: 300.0, max: 300.0 }));
        assert_eq!(cost.share(), 0.05);
    }
}
