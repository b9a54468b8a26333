//! Checks past sessions: compactions away from the configured trigger, and slow hooks.

use std::path::Path;

use plimsoll_agents::Agent;
use plimsoll_core::Millis;
use plimsoll_core::audit::Verdict;
use plimsoll_core::shell;
use plimsoll_core::text::thousands;
use plimsoll_store::Store;

use super::{Finding, data};
use crate::audit;
use crate::tax::{self, Cost};
use crate::world::{World, now};

pub(super) fn examine(
    world: &World,
    agent: &'static dyn Agent,
    project: &Path,
    store: &Store,
) -> Vec<Finding> {
    const WEEK: u64 = 7 * 24 * 3600 * 1000;
    let since = now().saturating_sub(WEEK) as Millis;
    let mut findings = Vec::new();
    match audit::audit(world, agent, store, project) {
        Ok(found) => findings.extend(found.iter().filter_map(trigger)),
        Err(error) => findings.push(data::unusable(world, &error)),
    }
    match tax::costs(store, since) {
        Ok(costs) => findings.extend(costs.iter().filter_map(slow)),
        Err(error) => findings.push(data::unusable(world, &error)),
    }
    findings.push(ours(world, agent));
    findings
}

/// Reports a client that compacts elsewhere than configured.
fn trigger(found: &audit::Finding) -> Option<Finding> {
    let last = found.seen.last()?.tokens;
    let setting = found.setting.as_deref().unwrap_or("the client's own formula");
    let what = match found.verdict {
        Verdict::NotHonoured => format!("{setting} is not honoured"),
        Verdict::OnThoughOff => {
            format!("{setting} is not honoured: it compacts though that is off")
        }
        Verdict::Earlier => format!("{setting} is not where it compacts"),
        _ => return None,
    };
    let text = format!(
        "{what}: {} ({}) compacted at {} of {} tokens last",
        found.model,
        found.version,
        thousands(last),
        thousands(found.window.tokens)
    );
    Some(Finding::broken("trigger", text, "plimsoll audit"))
}

/// Reports a hook, ours or foreign, that keeps the agent waiting.
fn slow(cost: &Cost) -> Option<Finding> {
    const SLOW: f64 = 1000.0;
    let times = cost.times.filter(|times| times.p95 >= SLOW)?;
    let text = format!(
        "`{}` keeps the agent waiting: one run in twenty takes {:.1} s or more ({} runs in a week)",
        cost.command,
        times.p95 / 1000.0,
        thousands(cost.runs)
    );
    Some(Finding::note("slow hook", text, "plimsoll tax"))
}

/// Runs our own hook and measures its time.
fn ours(world: &World, agent: &'static dyn Agent) -> Finding {
    let program = std::env::current_exe().map_err(anyhow::Error::from);
    let timed = program.and_then(|program| Ok((tax::time_ours(world, agent, &program)?, program)));
    match timed {
        Ok((times, program)) => {
            let (min, p50) = times.map_or((0.0, 0.0), |times| (times.min, times.p50));
            speed(min, p50, &program)
        }
        Err(error) => {
            let text = format!("plimsoll's own hook cannot be run: {error:#}");
            Finding::broken("speed", text, "plimsoll log")
        }
    }
}

/// Judges by the minimum: on a slow disk every call is slow, on a busy machine only some are.
fn speed(min: f64, p50: f64, program: &Path) -> Finding {
    const SLOW: f64 = 50.0;
    let text = format!("plimsoll's own hook takes {p50:.1} ms");
    if min < SLOW {
        return Finding::fine("speed", text);
    }
    let text = format!("{text}: is the program, or the data folder, on a slow disk?");
    let program = shell::quote(&program.display().to_string());
    let mend = format!("cp {program} ~/.local/bin/plimsoll && ~/.local/bin/plimsoll init");
    Finding::broken("speed", text, mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_hooks_are_named() {
        let cost = |p95: f64| Cost {
            command: "notify".to_owned(),
            events: vec!["Stop".to_owned()],
            runs: 1200,
            stopped: 0,
            failed: 0,
            times: Some(tax::Times { min: 1.0, p50: 100.0, p95, max: 9000.0 }),
            total_millis: 1,
            sessions: 1,
            session_millis: 1,
        };
        assert_eq!(slow(&cost(999.0)), None);
        let found = slow(&cost(2500.0)).unwrap();
        let text = "`notify` keeps the agent waiting: one run in twenty takes 2.5 s or more (1,200 runs in a week)";
        assert_eq!((found.text.as_str(), found.mend.as_deref()), (text, Some("plimsoll tax")));
    }

    #[test]
    fn our_own_hook_may_be_slow_too() {
        assert_eq!(speed(3.0, 70.0, Path::new("/p")).mend, None);
        assert!(speed(60.0, 70.0, Path::new("/my p")).mend.unwrap().starts_with("cp '/my p' "));
    }
}
