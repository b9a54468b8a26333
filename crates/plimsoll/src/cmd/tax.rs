//! `plimsoll tax`

use std::io::Write;

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_engine::tax::{self, Cost, Times};
use plimsoll_engine::world::{World, now};
use serde::Serialize;

use crate::ingest;
use crate::layout::{self, COLUMNS, bar, end, fit};
use crate::ui::{self, Ui};

/// Show what every hook costs per call, ours included
///
/// Figures are the client's own, from your transcripts. Runs that the client does not record are not
/// in them; our own hook is therefore timed on the spot as well.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only the last N days
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    days: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let ingester = ingest::everything(world, ui)?;
    let since = args.days.map(|days| now() as Millis - Millis::from(days) * 86_400_000);
    let costs = tax::costs(&ingester.store, since.unwrap_or(Millis::MIN))?;
    let program = std::env::current_exe().context("could not find our own program")?;
    let ours = tax::time_ours(world, plimsoll_agents::DEFAULT, &program)?;
    if args.json {
        return ui.print_json(&tax_view(since, &costs, ours));
    }
    let mut out = ui.out();
    print(ui, &mut out, args, &costs, ours)?;
    Ok(out.flush()?)
}

fn print(
    ui: &Ui,
    out: &mut impl Write,
    args: &Args,
    costs: &[Cost],
    ours: Option<Times>,
) -> anyhow::Result<()> {
    if costs.is_empty() {
        let when = args.days.map_or_else(String::new, |days| format!(" of the last {days} days"));
        writeln!(out, "Your transcripts{when} tell of no hook that ran.\n")?;
    } else {
        let names = ["total", "calls", "p50", "p95", "max", "of time"];
        let [total, calls, p50, p95, max, share] = names;
        let head = format!("{total:>9}{calls:>9}{p50:>10}{p95:>10}{max:>10}{share:>11}");
        writeln!(out, "{}", ui.dim(&head))?;
        let most = costs[0].total_millis as f64;
        costs.iter().try_for_each(|cost| print_cost(ui, out, cost, most))?;
        writeln!(out)?;
    }
    if let Some(Times { p50, p95, max, .. }) = ours {
        let [p50, p95, max] = [p50, p95, max].map(layout::millis);
        writeln!(out, "plimsoll's own hook, measured now: p50 {p50}, p95 {p95}, max {max}")?;
    }
    for note in plimsoll_agents::ALL.iter().filter_map(|it| it.profile().unrecorded_hook_runs) {
        writeln!(out, "{}", ui.dim(note))?;
    }
    let is_used = |variable: &&str| costs.iter().any(|cost| cost.command.contains(variable));
    let variables = plimsoll_agents::ALL.iter().filter_map(|it| it.profile().plugin_variable);
    for variable in variables.filter(is_used) {
        let told = format!(
            "{variable} stands for the folder of any plugin: two that are laid out alike share a \
             row."
        );
        ui::wrap(&told, COLUMNS).iter().try_for_each(|it| writeln!(out, "{}", ui.dim(it)))?;
    }
    Ok(())
}

fn print_cost(ui: &Ui, out: &mut impl Write, cost: &Cost, most: f64) -> anyhow::Result<()> {
    const BAR: usize = 19;
    let time = |of: fn(&Times) -> f64| {
        cost.times.as_ref().map_or_else(|| "–".to_owned(), |times| layout::millis(of(times)))
    };
    let (p50, p95, max) =
        (time(|times| times.p50), time(|times| times.p95), time(|times| times.max));
    let total = layout::millis(cost.total_millis as f64);
    let total = if cost.times.is_some() { total } else { "–".to_owned() };
    let calls = ui::thousands(cost.runs);
    let share = cost.times.map_or_else(String::new, |_| format!("{:.2} %", cost.share() * 100.0));
    let picture = ui.bold(&bar(cost.total_millis as f64, most, BAR));
    let line = format!("{total:>9}{calls:>9}{p50:>10}{p95:>10}{max:>10}{share:>11}  {picture}");
    writeln!(out, "{}", line.trim_end())?;
    writeln!(out, "    {}", what(ui, cost))?;
    Ok(())
}

/// The command, and what else there is to say of it.
fn what(ui: &Ui, cost: &Cost) -> String {
    const ROOM: usize = COLUMNS - 4;
    let counted = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!("{} {what}", ui::thousands(count)),
    };
    let (stopped, failed) = (counted(cost.stopped, "stopped"), counted(cost.failed, "failed"));
    let told = fit(&[stopped, failed, events(&cost.events)], ROOM / 2);
    let room = ROOM - " · ".len() - layout::width(&told);
    let command = end(&ui::strip_control(&cost.command), room);
    format!("{command}{}", ui.dim(&format!(" · {told}")))
}

/// The events by name, if they are few.
fn events(events: &[String]) -> String {
    match events {
        [_] | [_, _] => ui::strip_control(&events.join(", ")),
        many => format!("{} events", many.len()),
    }
}

/// These names are a promise to scripts.
#[derive(Serialize)]
struct TaxView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Millis>,
    hooks: Vec<HookView<'a>>,
    measured_now: Option<TimesView>,
    not_recorded: String,
}

#[derive(Serialize)]
struct HookView<'a> {
    command: &'a str,
    events: &'a [String],
    calls: u64,
    stopped: u64,
    failed: u64,
    times: Option<TimesView>,
    total_ms: u64,
    sessions: u64,
    sessions_ms: u64,
    share: f64,
}

#[derive(Serialize)]
struct TimesView {
    p50_ms: f64,
    p95_ms: f64,
    max_ms: f64,
}

impl From<Times> for TimesView {
    fn from(times: Times) -> Self {
        let rounded = |millis: f64| (millis * 1000.0).round() / 1000.0;
        let Times { p50, p95, max, .. } = times;
        Self { p50_ms: rounded(p50), p95_ms: rounded(p95), max_ms: rounded(max) }
    }
}

fn tax_view<'a>(since: Option<Millis>, costs: &'a [Cost], ours: Option<Times>) -> TaxView<'a> {
    let unrecorded: Vec<&str> =
        plimsoll_agents::ALL.iter().filter_map(|it| it.profile().unrecorded_hook_runs).collect();
    TaxView {
        since,
        hooks: costs.iter().map(hook_view).collect(),
        measured_now: ours.map(TimesView::from),
        not_recorded: unrecorded.join(" "),
    }
}

fn hook_view(cost: &Cost) -> HookView<'_> {
    HookView {
        command: &cost.command,
        events: &cost.events,
        calls: cost.runs,
        stopped: cost.stopped,
        failed: cost.failed,
        times: cost.times.map(TimesView::from),
        total_ms: cost.total_millis,
        sessions: cost.sessions,
        sessions_ms: cost.session_millis,
        share: cost.share(),
    }
}
