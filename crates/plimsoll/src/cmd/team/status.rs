//! `plimsoll team status`

use std::io::Write;

use plimsoll_core::text::duration;
use plimsoll_core::time::utc_second;
use plimsoll_engine::world::{World, now};
use plimsoll_server::team::{self, ClaimRow, MachineRow, TeamError, TeamReport, WithOwner};
use serde::Serialize;

use crate::past::counted;
use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// Show whether the team's database is in reach, what waits for it, and who else is there
///
/// The exit code is 1 if it is not in reach.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll team status
  plimsoll team status --json | jq .waiting")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let report = team::status(world)?;
    match args.json {
        true => ui.print_json(&View::of(&report))?,
        false => print(ui, &report)?,
    }
    match report.database {
        Ok(_) => Ok(()),
        Err(error) => {
            let hint = error.hint();
            Err(error.into()).hint(hint)
        }
    }
}

fn print(ui: &Ui, report: &TeamReport) -> anyhow::Result<()> {
    let TeamReport { team, waiting, database: there } = report;
    let mut out = ui.out();
    let database = team.database_url.as_ref().map_or("none", |url| url.shown());
    writeln!(out, "Database  {}", strip_control(database))?;
    if let Ok(there) = there {
        let kept = there.about.retention_days.map(|days| format!("kept for {days} days"));
        let kept = kept.unwrap_or_else(|| "kept for ever".to_owned());
        writeln!(
            out,
            "          in reach, version {}; what is there is {kept}",
            there.about.version
        )?;
    }
    writeln!(out, "Shared    {} of {}", words(&team.share), words(&team.projects))?;
    let last = waiting.last_shipped.map_or_else(
        || "nothing was sent yet".to_owned(),
        |moment| format!("something arrived {} ago", ago(moment)),
    );
    let rows = counted(waiting.changed + waiting.to_sweep, "row", "rows");
    writeln!(out, "Waiting   {rows}; {last}")?;
    if let Some(trouble) = &waiting.error {
        writeln!(out, "          {}", ui.yellow(&strip_control(trouble)))?;
    }
    for machine in there.iter().flat_map(|there| &there.machines) {
        let WithOwner { person, host, value: it } = machine;
        let (person, host) = (strip_control(person), strip_control(host));
        let sessions = counted(it.sessions, "session", "sessions");
        let heard = ago(it.last_seen);
        writeln!(out, "Machine   {person} on {host}: {sessions}, heard of {heard} ago")?;
    }
    for claim in there.iter().flat_map(|there| &there.claims) {
        let path = strip_control(&claim.value.path.display().to_string());
        let (holder, host) = (strip_control(&claim.value.holder), strip_control(&claim.host));
        writeln!(out, "Claimed   {path} by {holder} on {host}")?;
    }
    Ok(out.flush()?)
}

fn words(words: &[String]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { strip_control(&words.join(", ")) }
}

fn ago(moment: i64) -> String {
    duration((now() as i64 - moment).max(0) as u64 / 1000)
}

#[derive(Serialize)]
struct View<'a> {
    database: Option<&'a str>,
    reachable: bool,
    error: Option<String>,
    version: Option<i32>,
    retention_days: Option<u32>,
    share: &'a [String],
    projects: &'a [String],
    waiting: u64,
    last_shipped: Option<String>,
    trouble: Option<&'a str>,
    machines: Vec<MachineView<'a>>,
    claims: Vec<ClaimView<'a>>,
}

#[derive(Serialize)]
struct MachineView<'a> {
    machine: &'a str,
    person: &'a str,
    host: &'a str,
    sessions: u64,
    version: &'a str,
    last_seen: String,
}

/// What somebody works on, on another machine.
#[derive(Serialize)]
struct ClaimView<'a> {
    path: String,
    holder: &'a str,
    person: &'a str,
    host: &'a str,
    since: String,
    until: String,
}

impl<'a> View<'a> {
    fn of(report: &'a TeamReport) -> Self {
        let TeamReport { team, waiting, database: there } = report;
        let about = there.as_ref().ok().map(|there| &there.about);
        Self {
            database: team.database_url.as_ref().map(|url| url.shown()),
            reachable: there.is_ok(),
            error: there.as_ref().err().map(TeamError::to_string),
            version: about.map(|about| about.version),
            retention_days: about.and_then(|about| about.retention_days),
            share: &team.share,
            projects: &team.projects,
            waiting: waiting.changed + waiting.to_sweep,
            last_shipped: waiting.last_shipped.map(utc_second),
            trouble: waiting.error.as_deref(),
            machines: there.iter().flat_map(|there| &there.machines).map(machine).collect(),
            claims: there.iter().flat_map(|there| &there.claims).map(claim).collect(),
        }
    }
}

fn machine(machine: &WithOwner<MachineRow>) -> MachineView<'_> {
    let WithOwner { person, host, value: it } = machine;
    MachineView {
        machine: &it.id,
        person,
        host,
        sessions: it.sessions,
        version: &it.version,
        last_seen: utc_second(it.last_seen),
    }
}

fn claim(claim: &ClaimRow) -> ClaimView<'_> {
    let WithOwner { person, host, value: it } = claim;
    ClaimView {
        path: it.path.display().to_string(),
        holder: &it.holder,
        person,
        host,
        since: utc_second(it.since),
        until: utc_second(it.until),
    }
}
