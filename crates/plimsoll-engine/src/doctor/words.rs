//! What keeps us silent although we are called: switches, config, errors.

use std::path::Path;

use plimsoll_agents::Adapter;

use super::Finding;
use crate::settings;
use crate::world::World;

pub(super) fn examine(world: &World, adapter: &dyn Adapter, project: &Path) -> Vec<Finding> {
    let in_force = settings::load(world, adapter, project);
    let mut findings: Vec<Finding> =
        in_force.complaints.iter().map(|complaint| misread(complaint)).collect();
    if world.is_off() {
        let text = "`PLIMSOLL=off` in the environment silences every hook";
        findings.push(Finding::note("switch", text, "unset PLIMSOLL"));
    }
    if !in_force.settings.enabled {
        let text = "`auto_context.enabled: false` silences warning and guard";
        findings.push(Finding::note("switch", text, "plimsoll config show"));
    }
    if in_force.settings.quiet {
        let text = "`quiet: true` keeps every word away";
        findings.push(Finding::note("switch", text, "plimsoll config show"));
    }
    if findings.is_empty() {
        findings.push(Finding::fine("config", "every value is understood, nothing is silenced"));
    }
    findings
}

fn misread(complaint: &str) -> Finding {
    Finding::broken("config", complaint, "plimsoll config check")
}
