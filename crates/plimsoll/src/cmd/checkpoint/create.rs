//! `plimsoll checkpoint create`

use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::name::is_meant;
use plimsoll_engine::capture::{Captured, Subject};
use plimsoll_engine::checkpoint::{Place, Sealed, Unsealed};
use plimsoll_engine::resume;
use plimsoll_engine::running::running;
use plimsoll_engine::sessions::{self, Found};
use plimsoll_engine::settings;
use plimsoll_engine::spool;
use plimsoll_engine::world::World;
use plimsoll_extract::work::ModelSummary;

use crate::report::HintExt;
use crate::ui::Ui;

/// Make a checkpoint of a session now, and print the verified file's path
///
/// Made from the transcript alone, without any model: what changed, what is open, what was decided,
/// the task in the user's words, commands, files with the symbols in play. Secrets are taken out
/// first. What is added with `--refine` stands beside that, marked, and never in its place.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll checkpoint create           of this session, or the newest of the project
  plimsoll checkpoint create 5f2c      of another one
  plimsoll checkpoint create --refine < notes.md")]
pub(super) struct Args {
    /// The session: its name or the beginning of it
    session: Option<String>,
    /// Add words of your own, in Markdown on stdin: items below `## Why Changed`, `## Key Decisions`,
    /// `## Next Steps`
    #[arg(long)]
    refine: bool,
}

pub(super) fn run(world: &World, place: &Place, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let found = choose(world, place, args.session.as_deref())?;
    let words = if args.refine { words(ui)? } else { ModelSummary::default() };
    let sealed = seal(world, &found, &place.project, words)?;
    for warning in &sealed.warnings {
        ui.warn(warning);
    }
    ui.print(&format!("{}\n", crate::ui::strip_control(&sealed.path.to_string_lossy())))
}

/// Makes a checkpoint of a session because somebody asks for it. `here` stands in for a project that
/// its transcript does not name, or that is gone: it may have been moved here.
pub(crate) fn seal(
    world: &World,
    found: &Found,
    here: &Path,
    words: ModelSummary,
) -> anyhow::Result<Sealed> {
    let session = &found.owner.session;
    // Wherever the user stands, or the agent has moved to: a session has one project.
    let project = sessions::project(found);
    let gone = project.clone().filter(|project| !project.is_dir());
    let project = project.filter(|_| gone.is_none()).unwrap_or_else(|| here.to_owned());
    let in_force = &settings::load(world, found.agent, &project);
    let place = &Place::of(world, found.agent, project);
    let state = spool::state(&world.paths.spool_of(session, None)).unwrap_or_default();
    let subject = Subject { session, transcript: &found.path, state: &state, in_force };
    let captured = Captured::read(world, found.agent, &subject, None).refined(words);
    let sealed = captured.seal(found.agent, place, Occasion::Manual, state.given.clone());
    let hint = sealed.as_ref().err().map(Unsealed::hint).unwrap_or_default();
    let mut sealed = sealed.context("could not make a checkpoint").hint(hint)?;
    sealed.warnings.extend(gone.map(|gone| {
        let (gone, here) = (gone.display(), place.project.display());
        format!("the session's folder `{gone}` is gone: its checkpoint lies in `{here}`")
    }));
    // A session that has ended has nothing more to decide.
    if running(world).contains(session) {
        // Without it only the age that its status line shows is too high.
        let _ = captured.remember(world, &sealed);
    }
    Ok(sealed)
}

/// The words on stdin. That there are none is no reason to make no checkpoint.
fn words(ui: &Ui) -> anyhow::Result<ModelSummary> {
    const LONGEST: u64 = 64 << 10;
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(LONGEST)
        .read_to_end(&mut bytes)
        .context("could not read the words on stdin")
        .hint(
            "give them as a file, for example `plimsoll checkpoint create --refine < notes.md`",
        )?;
    let words = ModelSummary::parse(&String::from_utf8_lossy(&bytes));
    if words.is_empty() {
        ui.warn("there were no words on stdin; the checkpoint holds what the transcript tells");
    }
    Ok(words)
}

/// The session that is meant: the one named, the one this runs in, or the newest of the project.
fn choose(world: &World, place: &Place, session: Option<&str>) -> anyhow::Result<Found> {
    let running = || Some(resume::asking(world)?.to_string());
    let Some(name) = session.map(str::to_owned).or_else(running) else {
        let found = sessions::find(world)?;
        let here = |found: &Found| sessions::project(found).as_deref() == Some(&*place.project);
        return found
            .into_iter()
            .find(here)
            .with_context(|| format!("no session was held in `{}`", place.project.display()))
            .hint("name one; `plimsoll status --all` shows them");
    };
    named(world, &name)
}

/// The session that is meant by a name.
pub(in super::super) fn named(world: &World, name: &str) -> anyhow::Result<Found> {
    let found = sessions::find(world)?;
    let mut named = found.into_iter().filter(|it| is_meant(it.owner.session.as_str(), name));
    match (named.next(), named.next()) {
        (Some(found), None) => Ok(found),
        (None, _) => Err(anyhow::anyhow!("no session `{name}`"))
            .hint("run `plimsoll status --all` to see all of them"),
        (Some(_), Some(_)) => Err(anyhow::anyhow!("`{name}` stands for several sessions"))
            .hint("give more of the name"),
    }
}
