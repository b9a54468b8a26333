//! `plimsoll measure`

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;

use anyhow::Context;
use plimsoll_agents::Agent;
use plimsoll_core::Tokens;
use plimsoll_core::session::SessionState;
use plimsoll_engine::jsonl::JsonLines;
use plimsoll_engine::load::{self, Fallback, Measured};
use plimsoll_engine::sessions;
use plimsoll_engine::world::{World, now};

use super::status;
use crate::report::HintExt;
use crate::ui::Ui;
use crate::view::ReadingView;

/// Measure how full one transcript's context window is
///
/// The figure is the predicted size of the next prompt: what the service counted for the last
/// response, plus an estimate of what was appended since.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll measure --transcript SESSION.jsonl
  plimsoll measure --transcript SESSION.jsonl --tokens
  plimsoll measure --transcript SESSION.jsonl --json | jq .trigger")]
pub(crate) struct Args {
    /// The transcript, a file of JSON lines
    #[arg(long, value_name = "FILE")]
    transcript: PathBuf,
    /// The context window in tokens, if you know better
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    window: Option<Tokens>,
    /// Print nothing but the number of tokens
    #[arg(long)]
    tokens: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "tokens")]
    json: bool,
    /// The agent that wrote it [default: recognised by its records]
    #[arg(long, value_name = "NAME", value_parser = super::known_agent)]
    agent: Option<&'static dyn Agent>,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let measured = measure(world, args)
        .with_context(|| format!("could not measure `{}`", args.transcript.display()))
        .hint("give the path of a transcript; `plimsoll status --all --json` names them")?;
    if args.json {
        return ui.print_json(&ReadingView::new(&measured, now()));
    }
    let mut out = ui.out();
    if args.tokens {
        writeln!(out, "{}", measured.reading.used)?;
    } else {
        writeln!(out, "{}", status::gauge(ui, &measured))?;
        writeln!(out, "{}", ui.dim(&status::origin(&measured)))?;
        if measured.reading.anchor.is_none() {
            ui.warn("nothing was counted in this file: the figure is estimated by its size");
        }
    }
    out.flush()?;
    Ok(())
}

fn measure(world: &World, args: &Args) -> anyhow::Result<Measured> {
    let path = args.transcript.canonicalize()?;
    let state = SessionState::default();
    let recognised = || JsonLines::open(&path).ok().flatten().map(|file| sessions::agent_of(&file));
    let agent = args.agent.or_else(recognised).unwrap_or(plimsoll_agents::DEFAULT);
    let measured = load::measure(world, agent, &path, args.window, &state, Fallback::FileSize)?;
    let measured = measured.context("it is gone")?;
    // A transcript may have just begun, and its first line be torn.
    if measured.reading.anchor.is_none() {
        let mut first = [0];
        let count = File::open(&path)?.read(&mut first)?;
        anyhow::ensure!(count == 0 || first == *b"{", "its first line is no JSON object");
    }
    Ok(measured)
}
