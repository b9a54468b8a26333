//! Checks for settings and errors that keep the hooks silent.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use plimsoll_agents::Agent;
use plimsoll_core::settings::OnLine;
use plimsoll_core::shell;

use super::Finding;
use crate::log;
use crate::settings;
use crate::watch::is_watched;
use crate::world::{World, now};

pub(super) fn examine(world: &World, agent: &'static dyn Agent, project: &Path) -> Vec<Finding> {
    let in_force = settings::load(world, agent, project);
    let mut findings: Vec<Finding> =
        in_force.complaints.iter().map(|complaint| misread(complaint)).collect();
    if world.is_off() {
        let text = "`PLIMSOLL=off` in the environment silences every hook";
        findings.push(Finding::note("switch", text, "unset PLIMSOLL"));
    }
    if !in_force.settings.enabled {
        let text = "`auto_context.enabled: false` silences warning, guard and saves";
        findings.push(Finding::note("switch", text, "plimsoll config show"));
    }
    if in_force.settings.quiet {
        let text = "`quiet: true` keeps every word away";
        findings.push(Finding::note("switch", text, "plimsoll config show"));
    }
    if in_force.settings.on_line == OnLine::Watcher && !is_watched(&world.paths) {
        let text = "`checkpoint.on_line: watcher` leaves checkpoints at the line to a watcher, and none runs";
        findings.push(Finding::note("watcher", text, "plimsoll watch"));
    }
    findings.extend(
        settings::useless_variables(world)
            .into_iter()
            .map(|sentence| Finding::note("variable", sentence, "plimsoll config show")),
    );
    findings.extend(open_password(world));
    findings.extend(errors(world));
    if findings.is_empty() {
        findings.push(Finding::fine("config", "every value is understood, nothing is silenced"));
    }
    findings
}

fn misread(complaint: &str) -> Finding {
    Finding::broken("config", complaint, "plimsoll config check")
}

/// Reports a database password in a config file that others can read.
fn open_password(world: &World) -> Option<Finding> {
    const OTHERS: u32 = 0o044;
    let config = &world.paths.config;
    settings::team_in_config(world).database_url.filter(|url| url.has_password())?;
    let mode = fs::metadata(config).ok()?.permissions().mode() & 0o777;
    let path = config.display().to_string();
    let text = format!(
        "`{path}` holds the password of a database, and others can read it (mode {mode:o})"
    );
    let mend = format!("chmod 600 {}", shell::quote(&path));
    (mode & OTHERS != 0).then(|| Finding::note("config", text, mend))
}

/// Reports recent errors of hooks.
fn errors(world: &World) -> Option<Finding> {
    const DAY: u64 = 24 * 3600 * 1000;
    let since = now().saturating_sub(DAY) as i64;
    let (_, mut lines) = log::Reader::open(&world.paths.log()).ok()?;
    // Errors in the config have findings of their own.
    lines.retain(|line| {
        line.written.is_some_and(|(time, _)| time >= since) && !line.what.starts_with("config:")
    });
    let last = lines.last()?;
    let times = match lines.len() {
        1 => "a hook call went wrong in the last day".to_owned(),
        times => format!("{times} hook calls went wrong in the last day, the last"),
    };
    Some(Finding::note("log", format!("{times}: {}", last.what), "plimsoll log"))
}
