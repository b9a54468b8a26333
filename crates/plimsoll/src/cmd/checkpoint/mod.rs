//! `plimsoll checkpoint`

pub(super) mod create;
mod diff;
mod list;
mod prune;
mod show;
mod verify;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use plimsoll_engine::checkpoint::{Listed, NotFound, Place};
use plimsoll_engine::world::World;
use plimsoll_engine::{paths, project, resume, sessions};
use plimsoll_extract::checkpoint::{CheckpointProblem, Meta, SealOrigin};

use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// Make, list, show, verify, compare and prune checkpoints
///
/// A checkpoint is the state of the work at a moment, in a Markdown file of the project. Each is
/// sealed with a key of yours: what anybody else wrote or changed is told apart, and no agent is ever
/// given it. The times in names and files are in UTC.
///
/// In a subfolder the project is the nearest folder above (within the repository, if there is one)
/// that has checkpoints or in which a session was held.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  plimsoll checkpoint create           seal the state of the work now
  plimsoll checkpoint list             what is there in this project?
  plimsoll checkpoint show             the newest, to read
  plimsoll checkpoint verify --all     are they all there, whole and mine?
  plimsoll checkpoint diff             what happened since the one before?";

#[derive(Subcommand)]
enum Command {
    Create(create::Args),
    List(list::Args),
    Show(show::Args),
    Verify(verify::Args),
    Diff(diff::Args),
    Prune(prune::Args),
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let place = place(world)?;
    match &args.command {
        Command::Create(args) => create::run(world, &place, ui, args),
        Command::List(args) => list::run(world, &place, ui, args),
        Command::Show(args) => show::run(&place, ui, args),
        Command::Verify(args) => verify::run(world, &place, ui, args),
        Command::Diff(args) => diff::run(&place, ui, args),
        Command::Prune(args) => prune::run(world, &place, ui, args),
    }
}

/// Where the checkpoints of the project are: of the session that this runs in, else of the project that
/// the user's folder belongs to.
pub(super) fn place(world: &World) -> anyhow::Result<Place> {
    let project = match asking_project(world) {
        Some(project) => project,
        None => project::enclosing(world, &super::project(world)?),
    };
    Ok(Place::of_project(world, project))
}

/// The project of the session that this runs in: the one that the agent names, else the one its
/// transcript begins with. The agent may have moved to another folder.
fn asking_project(world: &World) -> Option<PathBuf> {
    let variables = plimsoll_agents::ALL.iter().map(|agent| agent.profile().variables.project);
    if let Some(project) = variables.flatten().find_map(|name| world.env(name)) {
        return Some(paths::canonical(Path::new(&project)));
    }
    let session = resume::asking(world)?;
    let found = sessions::find(world).ok()?;
    let found = found.iter().find(|found| found.owner.session == session)?;
    sessions::project(found)
}

/// An error with what to do about it. Names of files in a project may be anybody's.
pub(super) fn found<T>(result: Result<T, NotFound>) -> anyhow::Result<T> {
    result.or_else(|error| {
        let hint = match &error {
            NotFound::Key(unusable) => unusable.hint(),
            NotFound::Closed(_) | NotFound::Io(..) => {
                "look at the folder with `ls -la`; nothing in it was changed".to_owned()
            }
            NotFound::NoneOwn(_) | NotFound::Unknown(..) | NotFound::Ambiguous(..) => {
                "`plimsoll checkpoint list` shows what is there".to_owned()
            }
        };
        let error = anyhow::Error::from(error);
        let mut causes = error.chain().map(|cause| strip_control(&cause.to_string())).rev();
        let innermost = anyhow::Error::msg(causes.next().unwrap_or_default());
        Err(causes.fold(innermost, anyhow::Error::context)).hint(strip_control(&hint))
    })
}

/// Lines of a file as they may be shown.
fn shown(line: &str) -> String {
    strip_control(&line.replace('\t', "    "))
}

fn meta(listed: &Listed) -> Option<&Meta> {
    listed.verdict.meta.as_ref()
}

/// What is to be said of a checkpoint, in a few words: whose it is, or what is wrong with it.
pub(super) fn standing(listed: &Listed) -> String {
    let problems: Vec<String> =
        listed.verdict.problems.iter().map(CheckpointProblem::to_string).collect();
    match listed.verdict.origin {
        _ if !problems.is_empty() => strip_control(&problems.join("; ")),
        SealOrigin::Own => "whole, and sealed by you".to_owned(),
        SealOrigin::OtherKey => "foreign: sealed with a key that is not yours".to_owned(),
        SealOrigin::Foreign | SealOrigin::Forged => "foreign: not sealed".to_owned(),
    }
}

/// The parts of a view that are the same everywhere. These names are a promise to scripts.
#[derive(serde::Serialize)]
struct View<'a> {
    id: &'a str,
    path: Cow<'a, str>,
    /// `own`, `foreign`, `other_key` or `forged`.
    origin: &'static str,
    /// Whether it is ours and nothing is wrong with it.
    sealed: bool,
    problems: Vec<String>,
}

impl<'a> From<&'a Listed> for View<'a> {
    fn from(listed: &'a Listed) -> Self {
        Self {
            id: &listed.id,
            path: listed.path.to_string_lossy(),
            origin: listed.verdict.origin.label(),
            sealed: listed.is_own(),
            problems: listed.verdict.problems.iter().map(CheckpointProblem::to_string).collect(),
        }
    }
}
