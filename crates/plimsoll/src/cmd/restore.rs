//! `plimsoll restore`

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use plimsoll_core::reading::Scope;
use plimsoll_core::work::{Work, restore};
use plimsoll_engine::jsonl::JsonLines;
use plimsoll_engine::world::World;

use crate::ui::Ui;

/// Print the restore text that a session would be given
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The transcript
    #[arg(long)]
    transcript: PathBuf,
    /// Most tokens
    #[arg(long, default_value_t = 2000)]
    budget: usize,
}

pub(crate) fn run(_world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let adapter = plimsoll_agents::ALL[0];
    let file = JsonLines::open(&args.transcript)?.context("no such transcript")?;
    let mut work = Work::default();
    let mut lines = file.forward(0);
    while let Some(line) = lines.next()? {
        if let Some(record) = adapter.record(line.bytes, Scope::Main) {
            work.take(&record);
        }
    }
    let mut out = ui.out();
    out.write_all(restore(&work, args.budget).as_bytes())?;
    out.flush()?;
    Ok(())
}
