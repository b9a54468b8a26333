//! `plimsoll restore`

use std::path::PathBuf;

use anyhow::Context;
use plimsoll_core::work::{restore, unlooked};
use plimsoll_engine::jsonl::JsonLines;
use plimsoll_engine::work;

use crate::report::HintExt;
use crate::ui::Ui;

/// Print the restore text that a session would be given after a compaction
///
/// Made from the transcript alone, without any model: the task in the user's words, how they want to
/// have it, what is open, commands as they were typed, references, and the files with the symbols in
/// play.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll restore --transcript SESSION.jsonl
  plimsoll restore --transcript SESSION.jsonl --budget 1000 | less")]
pub(crate) struct Args {
    /// The transcript, a file of JSON lines
    #[arg(long, value_name = "FILE")]
    transcript: PathBuf,
    /// How long it may be, in tokens of four characters
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(50..=20_000))]
    budget: u32,
}

pub(crate) fn run(ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let folded = fold(args)
        .with_context(|| format!("could not read `{}`", args.transcript.display()))
        .hint("give the path of a transcript; `plimsoll status --all --json` names them")?;
    ui.print(&restore(&folded.work, args.budget as usize, &unlooked))
}

fn fold(args: &Args) -> anyhow::Result<work::Folded> {
    let path = args.transcript.canonicalize()?;
    let file = JsonLines::open(&path)?.context("it is gone")?;
    let folded = work::scan(plimsoll_agents::ALL[0], &file)?;
    anyhow::ensure!(!folded.work.is_empty(), "no line of it is one of a conversation");
    Ok(folded)
}
