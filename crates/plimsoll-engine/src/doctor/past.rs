//! What past sessions show: a client that does not do what it is told, hooks that take their time.

use std::path::Path;

use plimsoll_agents::Adapter;
use plimsoll_core::Millis;
use plimsoll_core::audit::Verdict;
use plimsoll_core::text::thousands;
use plimsoll_store::Store;

use super::Finding;
use crate::audit;
use crate::tax::{self, Cost};
use crate::world::{World, now};

pub(super) fn examine(
    world: &World,
    adapter: &dyn Adapter,
    project: &Path,
    store: &Store,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for found in audit::audit(world, adapter, store, project).unwrap_or_default() {
        findings.extend(trigger(&found));
    }
    const WEEK: u64 = 7 * 24 * 3600 * 1000;
    let since = now().saturating_sub(WEEK) as Millis;
    let costs = tax::costs(store, since).unwrap_or_default();
    findings.extend(costs.iter().filter_map(slow));
    findings.extend(ours(world, adapter));
    findings
}

/// A client that compacts elsewhere than it is configured to.
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

/// A hook that half of its runs kept the agent waiting for a second.
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

/// Our own hook, timed now.
fn ours(world: &World, adapter: &dyn Adapter) -> Option<Finding> {
    const SLOW: f64 = 50.0;
    let program = std::env::current_exe().ok()?;
    let times = tax::time_ours(world, adapter, &program).ok()??;
    let text = format!("plimsoll's own hook takes {:.1} ms", times.p50);
    if times.p50 < SLOW {
        return Some(Finding::fine("speed", text));
    }
    let text = format!("{text}: is the program, or the data folder, on a slow disk?");
    let mend =
        format!("cp '{}' ~/.local/bin/plimsoll && ~/.local/bin/plimsoll init", program.display());
    Some(Finding::broken("speed", text, mend))
}
