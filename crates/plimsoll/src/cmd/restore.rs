//! `plimsoll restore`

use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_core::event::SessionId;
use plimsoll_engine::checkpoint;
use plimsoll_engine::jsonl::JsonLines;
use plimsoll_engine::load;
use plimsoll_engine::restore;
use plimsoll_engine::resume::{self, Resumable};
use plimsoll_engine::sessions;
use plimsoll_engine::work;
use plimsoll_engine::world::World;
use plimsoll_extract::work::RestoreOrigin;

use super::checkpoint::{found, place, standing};
use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// Print the restore text that a session would be given
///
/// After a compaction that is made from the transcript alone, without any model: the task in the
/// user's words, how they want to have it, what is open, commands as they were typed, references, and
/// the files with the symbols in play. A new session is given the same from a checkpoint, with its
/// origin and age; by default from the newest of this project that no running session made. If a session
/// was rewound to its start, the text is made from the branch that was left, and says so.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll restore
  plimsoll restore --checkpoint 2026-11-15-0558
  plimsoll restore --transcript SESSION.jsonl --budget 1000 | less")]
pub(crate) struct Args {
    /// From a transcript, a file of JSON lines
    #[arg(long, value_name = "FILE", conflicts_with = "checkpoint")]
    transcript: Option<PathBuf>,
    /// From a checkpoint that you sealed: its id, the beginning of one, or `latest`
    #[arg(long, value_name = "ID")]
    checkpoint: Option<String>,
    /// How long it may be, in tokens of four characters
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(50..=20_000))]
    budget: u32,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let budget = args.budget as usize;
    ui.print(&match (&args.transcript, &args.checkpoint) {
        (Some(transcript), _) => after_compaction(ui, transcript, budget)?,
        (None, Some(id)) => given(world, &named(world, id)?, budget),
        (None, None) => given(world, &newest(world)?, budget),
    })
}

/// What the hook gives to the session of a transcript.
fn after_compaction(ui: &Ui, transcript: &Path, budget: usize) -> anyhow::Result<String> {
    read(ui, transcript, budget)
        .with_context(|| format!("could not read `{}`", transcript.display()))
        .hint("give the path of a transcript; `plimsoll status --all --json` names them")
}

fn read(ui: &Ui, transcript: &Path, budget: usize) -> anyhow::Result<String> {
    let file = JsonLines::open(&transcript.canonicalize()?)?.context("it is gone")?;
    let agent = sessions::agent_of(&file);
    let project = load::first_folder(agent, &file).unwrap_or_default();
    let folded = work::scan(agent, &file)?;
    if !folded.work.is_empty() {
        return Ok(restore::text(&project, &folded.work, budget));
    }
    let left =
        work::scan_left_branch(agent, &file)?.context("no line of it is one of a conversation")?;
    ui.warn("this session was rewound to its start; this is the branch that was left");
    Ok(restore::text_from(&RestoreOrigin::AbandonedBranch, &project, &left.work, budget))
}

/// The text of a checkpoint. A session that asks for it goes on from there.
fn given(world: &World, resumed: &Resumable, budget: usize) -> String {
    if let Some(session) = asking(world) {
        // Without it only the lineage of its own checkpoints is shorter.
        let _ = resume::note_given(world, &session, resumed);
    }
    resumed.text(budget)
}

/// A checkpoint by its name. What anybody else wrote is given to nobody.
fn named(world: &World, id: &str) -> anyhow::Result<Resumable> {
    let place = place(world)?;
    let listed = found(checkpoint::find(&place, id))?;
    found(resume::of(&place, &listed, asking(world).as_ref()))?
        .ok_or_else(|| anyhow::anyhow!(standing(&listed)))
        .with_context(|| {
            format!("could not restore the checkpoint `{}`", strip_control(&listed.id))
        })
        .hint(format!("`plimsoll checkpoint show {}` shows it", strip_control(&listed.id)))
}

fn asking(world: &World) -> Option<SessionId> {
    resume::asking(world)
}

fn newest(world: &World) -> anyhow::Result<Resumable> {
    let place = place(world)?;
    found(resume::newest(world, &place, asking(world).as_ref()))?
        .ok_or_else(|| {
            let project = strip_control(&place.project.to_string_lossy());
            anyhow::anyhow!("there is no checkpoint to go on from in `{project}`")
        })
        .hint("`plimsoll checkpoint create` makes one of this project's newest session")
}
