//! `plimsoll audit`

use std::collections::HashSet;
use std::io::Write;

use plimsoll_core::audit::Verdict;
use plimsoll_core::trigger::{Trigger, TriggerSource};
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::audit::{self, Finding};
use plimsoll_engine::world::World;
use serde::Serialize;

use crate::ingest;
use crate::layout::{self, COLUMNS, fit};
use crate::ui::{self, Ui};
use crate::view::{TriggerView, WindowView, percent};

/// Show whether the client compacts where it is configured to
///
/// For each model and client version: where the settings in force in this folder put automatic
/// compaction, and where the last five of them really fired.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let ingester = ingest::everything(world, ui)?;
    let project = super::project(world)?;
    let mut findings = Vec::new();
    for agent in plimsoll_agents::ALL {
        findings.extend(audit::audit(world, *agent, &ingester.store, &project)?);
    }
    if args.json {
        return ui.print_json(&findings.iter().map(view).collect::<Vec<_>>());
    }
    let mut out = ui.out();
    print(ui, &mut out, &findings)?;
    Ok(out.flush()?)
}

fn print(ui: &Ui, out: &mut impl Write, findings: &[Finding]) -> anyhow::Result<()> {
    if findings.is_empty() {
        writeln!(out, "No model has answered yet in any transcript: there is nothing to audit.")?;
        return Ok(());
    }
    let (telling, others) = telling(findings);
    for finding in &telling {
        print_finding(ui, out, finding)?;
        writeln!(out)?;
    }
    writeln!(out, "{}", ui.dim("◆ configured   ● compacted   ◈ both"))?;
    if others > 0 {
        let what = if others == 1 { "version" } else { "versions" };
        let more = format!("{others} older {what} without a compaction: `plimsoll audit --json`");
        writeln!(out, "{}", ui.dim(&more))?;
    }
    Ok(())
}

/// The findings that tell something: those with a compaction, and the newest of each model. And how
/// many others there are.
fn telling(findings: &[Finding]) -> (Vec<&Finding>, usize) {
    let mut models = HashSet::new();
    let telling: Vec<&Finding> = findings
        .iter()
        .filter(|finding| models.insert(&finding.model) || !finding.seen.is_empty())
        .collect();
    let others = findings.len() - telling.len();
    (telling, others)
}

fn print_finding(ui: &Ui, out: &mut impl Write, finding: &Finding) -> anyhow::Result<()> {
    let window = finding.window.tokens;
    let sessions = match finding.sessions {
        0 => "subagents".to_owned(),
        1 => "1 session".to_owned(),
        sessions => format!("{} sessions", ui::thousands(sessions)),
    };
    let (model, version) = (
        fit(&[ui::strip_control(&finding.model)], COLUMNS / 2),
        ui::strip_control(&finding.version),
    );
    let facts =
        [format!("client {version}"), format!("window {}", ui::thousands(window)), sessions];
    let room = COLUMNS - layout::width(&model) - 2;
    writeln!(out, "{}  {}", ui.bold(&model), ui.dim(&fit(&facts, room)))?;
    writeln!(out, "  {}", picture(finding))?;
    writeln!(out, "  {}", configured(finding))?;
    if let Trigger::At { tokens, source: TriggerSource::Learned { compactions }, .. } =
        finding.trigger
    {
        let tokens = ui::thousands(tokens);
        writeln!(out, "  learned: {tokens}, from {compactions}; warnings go by that")?;
    }
    let verdict = verdict(finding);
    let is_bad = matches!(finding.verdict, Verdict::NotHonoured | Verdict::OnThoughOff);
    writeln!(out, "  {}", if is_bad { ui.red(&verdict) } else { ui.bold(&verdict) })?;
    Ok(())
}

/// The window as a line, with a mark where the client is configured to compact and one for each
/// place where it did.
fn picture(finding: &Finding) -> String {
    const CELLS: u64 = 60;
    let window = finding.window.tokens.max(1);
    let cell = |tokens: Tokens| (tokens.min(window) * CELLS / window).min(CELLS - 1);
    let configured = finding.configured.tokens().map(cell);
    let seen: HashSet<u64> = finding.seen.iter().map(|seen| cell(seen.tokens)).collect();
    let line: String = (0..CELLS)
        .map(|at| match (configured == Some(at), seen.contains(&at)) {
            (true, true) => '◈',
            (true, false) => '◆',
            (false, true) => '●',
            (false, false) => '─',
        })
        .collect();
    format!("├{line}┤")
}

fn configured(finding: &Finding) -> String {
    let by = finding.setting.as_deref().map(ui::strip_control);
    match finding.configured {
        Trigger::At { tokens, .. } => {
            let by = by.unwrap_or_else(|| "the client's default".to_owned());
            let share = percent(tokens, finding.window.tokens);
            format!("configured: {} ({share:.1} %), by {by}", ui::thousands(tokens))
        }
        Trigger::SwitchedOff => format!("configured: never, by {}", by.unwrap_or_default()),
        Trigger::OnRefusal => "configured: no threshold for this model".to_owned(),
    }
}

fn verdict(finding: &Finding) -> String {
    let window = finding.window.tokens;
    let share = finding.configured.tokens().map_or(0.0, |tokens| percent(tokens, window));
    let seen = seen(finding);
    match finding.verdict {
        Verdict::Honoured => format!("honoured: configured {share:.1} %, {seen}"),
        Verdict::NotHonoured => format!("not honoured: configured {share:.1} %, {seen}"),
        Verdict::Earlier => format!("earlier: configured {share:.1} %, {seen}"),
        Verdict::NotYetSeen => {
            format!("settings changed since: not yet seen in action ({seen})")
        }
        Verdict::NoneSeen => "no automatic compaction seen".to_owned(),
        Verdict::SwitchedOff => "switched off, and none seen".to_owned(),
        Verdict::OnThoughOff => format!("switched off, and yet compacted: {seen}"),
        Verdict::NoThreshold => format!("compacts when the prompt is refused: {seen}"),
    }
}

/// `last five at 96.7 %`, or `last two at 77.4 to 83.6 %`.
fn seen(finding: &Finding) -> String {
    const COUNTS: [&str; 6] = ["none", "last", "last two", "last three", "last four", "last five"];
    let shares = || finding.seen.iter().map(|seen| percent(seen.tokens, finding.window.tokens));
    let (lowest, highest) = (shares().fold(f64::MAX, f64::min), shares().fold(0.0, f64::max));
    let count = COUNTS[finding.seen.len().min(COUNTS.len() - 1)];
    match lowest == highest {
        true => format!("{count} at {lowest:.1} %"),
        false => format!("{count} at {lowest:.1} to {highest:.1} %"),
    }
}

/// These names are a promise to scripts.
#[derive(Serialize)]
struct FindingView<'a> {
    model: &'a str,
    client_version: &'a str,
    sessions: u64,
    window: WindowView,
    configured: ConfiguredView<'a>,
    compactions: Vec<SeenView>,
    trigger: TriggerView,
    verdict: &'static str,
}

#[derive(Serialize)]
struct ConfiguredView<'a> {
    tokens: Option<Tokens>,
    percent: Option<f64>,
    setting: Option<&'a str>,
}

#[derive(Serialize)]
struct SeenView {
    time: Millis,
    tokens: Tokens,
    percent: f64,
}

fn view(finding: &Finding) -> FindingView<'_> {
    let window = finding.window.tokens;
    let tokens = finding.configured.tokens();
    FindingView {
        model: &finding.model,
        client_version: &finding.version,
        sessions: finding.sessions,
        window: finding.window.into(),
        configured: ConfiguredView {
            tokens,
            percent: tokens.map(|tokens| percent(tokens, window)),
            setting: finding.setting.as_deref(),
        },
        compactions: finding
            .seen
            .iter()
            .map(|seen| SeenView {
                time: seen.time,
                tokens: seen.tokens,
                percent: percent(seen.tokens, window),
            })
            .collect(),
        trigger: finding.trigger.into(),
        verdict: finding.verdict.label(),
    }
}
