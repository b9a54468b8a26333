//! `plimsoll doctor`

use std::io::Write;

use plimsoll_engine::doctor::{self, Finding, State};
use plimsoll_engine::world::World;
use serde::Serialize;

use crate::ingest;
use crate::layout::COLUMNS;
use crate::report::HintExt;
use crate::ui::{self, Ui};

/// Look for what fails silently, and say what to do about it
///
/// Looks at the client, at the hooks in every scope of this folder, at the config, the data folder and
/// past sessions. Nothing is mended by itself. The exit code is 1 if anything is broken.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    agent: super::AgentArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let project = super::project(world)?;
    let ingester = ingest::everything(world, ui);
    // A store that cannot be filled is among the findings.
    let store = ingester.as_ref().map(|ingester| &ingester.store);
    let store = store.map_err(|error| anyhow::anyhow!("{:#}", error.root_cause()));
    let findings = doctor::examine(world, args.agent.agent, &project, store);
    if args.json {
        ui.print_json(&findings.iter().map(View::from).collect::<Vec<_>>())?;
        return verdict(&findings);
    }
    let mut out = ui.out();
    print(ui, &mut out, &findings)?;
    out.flush()?;
    verdict(&findings)
}

fn verdict(findings: &[Finding]) -> anyhow::Result<()> {
    let broken = findings.iter().filter(|finding| finding.state == State::Broken).count();
    match broken {
        0 => Ok(()),
        1 => Err(anyhow::anyhow!("one thing is broken")),
        _ => Err(anyhow::anyhow!("{broken} things are broken")),
    }
    .hint("do what stands behind the arrows, then run `plimsoll doctor` again")
}

/// Where the text of a finding begins.
const INDENT: usize = 16;

fn print(ui: &Ui, out: &mut impl Write, findings: &[Finding]) -> std::io::Result<()> {
    for finding in findings {
        let mark = match finding.state {
            State::Fine => ui.green("✓"),
            State::Note => ui.yellow("!"),
            State::Broken => ui.red("✗"),
        };
        let lines = ui::wrap(&ui::strip_control(&finding.text), COLUMNS - INDENT);
        let text = lines.join(&format!("\n{:INDENT$}", ""));
        writeln!(out, "{mark} {:<13} {text}", finding.subject)?;
        if let Some(mend) = &finding.mend {
            // Not wrapped: it is there to be copied.
            writeln!(out, "{:INDENT$}{} {}", "", ui.dim("→"), ui.bold(&ui::strip_control(mend)))?;
        }
    }
    if findings.iter().all(|finding| finding.state == State::Fine) {
        writeln!(out, "\nAll is well.")?;
    }
    Ok(())
}

/// A finding in JSON.
#[derive(Serialize)]
struct View<'a> {
    subject: &'a str,
    state: &'static str,
    text: &'a str,
    mend: Option<&'a str>,
}

impl<'a> From<&'a Finding> for View<'a> {
    fn from(finding: &'a Finding) -> Self {
        Self {
            subject: finding.subject,
            state: finding.state.label(),
            text: &finding.text,
            mend: finding.mend.as_deref(),
        }
    }
}
