//! `plimsoll rs`

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::text::duration;
use plimsoll_core::time::utc_second;
use plimsoll_engine::checkpoint::{self, Place};
use plimsoll_engine::resume::{self, Resumable};
use plimsoll_engine::saves;
use plimsoll_engine::settings;
use plimsoll_engine::world::{World, now};
use plimsoll_extract::save::{self, Save, SaveEnvironment};
use plimsoll_store::{MatchKind, SaveFilter, SaveKinds, Store};
use serde::Serialize;

use crate::ingest;
use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// Restore what was saved with `ss`: the newest, or what a search finds
///
/// In an agent's session the text is fenced as data, and the checkpoint that belongs to it follows.
/// Saves of commits and tests are restored only if there is nothing else, with `--all`, or by a search.
/// A single word that names no environment is searched for in all of them. Words are found in any of
/// their forms and by their beginning, then by any part, then by what is spelt almost like them;
/// nothing in a query is an operator.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll rs                          the newest of this environment
  plimsoll rs release --limit 5        the five newest of another
  plimsoll rs release load_line_of     what was saved about that
  plimsoll rs load_line_of             the same in every environment
  plimsoll rs --all --json             the newest, be it of a commit or a test run")]
pub(crate) struct Args {
    /// What it was filed under; by default PLIMSOLL_ENV or CONTEXTS_ENV, else `development`
    #[arg(value_name = "ENV")]
    environment: Option<String>,
    /// What to look for
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Also saves of commits and tests
    #[arg(long, alias = "include-auto")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let store = ingest::saves(world, ui)?;
    let wanted = wanted(world, &store, ui, args)?;
    let saves = find(&store, ui, args, &wanted)
        .context("could not look for your saves")
        .hint("run `plimsoll doctor` to see why")?;
    if args.json {
        return ui.print_json(&saves.iter().map(view).collect::<Vec<_>>());
    }
    if saves.is_empty() {
        return nothing(ui, &store, &wanted);
    }
    let texts: Vec<String> = saves.iter().map(|save| text(world, ui, save)).collect();
    ui.print(&texts.join("\n"))
}

/// The saves that are asked for.
struct Wanted {
    /// `None` for every environment.
    environment: Option<SaveEnvironment>,
    /// Words to search for; empty for the newest.
    query: String,
}

/// Tells environments from queries: a single word that names no environment is a query. An agent's
/// command may give all words as one argument.
fn wanted(world: &World, store: &Store, ui: &Ui, args: &Args) -> anyhow::Result<Wanted> {
    let Some(first) = args.environment.as_deref().filter(|_| args.query.is_empty()) else {
        let environment = environment(world, args.environment.as_deref())?;
        return Ok(Wanted { environment: Some(environment), query: args.query.join(" ") });
    };
    let usual = saves::environment(world, None).ok();
    let known = store.environments()?.into_iter().map(|(name, _)| name).chain(usual);
    let (name, rest) = first.trim().split_once(char::is_whitespace).unwrap_or((first.trim(), ""));
    if let Some(environment) = known.into_iter().find(|known| known.as_str() == name) {
        return Ok(Wanted { environment: Some(environment), query: rest.trim().to_owned() });
    }
    let query = strip_control(first);
    ui.warn(&format!("no environment named `{query}`; searching saves for `{query}`"));
    Ok(Wanted { environment: None, query })
}

/// The environment that is meant.
pub(super) fn environment(world: &World, named: Option<&str>) -> anyhow::Result<SaveEnvironment> {
    saves::environment(world, named)
        .map_err(anyhow::Error::from)
        .hint("name one, for example `plimsoll rs development`")
}

fn find(store: &Store, ui: &Ui, args: &Args, wanted: &Wanted) -> anyhow::Result<Vec<Save>> {
    let Wanted { environment, query } = wanted;
    let filter = SaveFilter { environment: environment.as_ref(), ..SaveFilter::default() };
    if query.is_empty() {
        let kinds = if args.all { SaveKinds::All } else { SaveKinds::Restorable };
        return Ok(store.saves_to_restore(&SaveFilter { kinds, ..filter }, args.limit)?);
    }
    let found = store
        .search_saves(query, &filter, args.limit)?
        .with_context(|| format!("there is no word to search for in `{}`", strip_control(query)))?;
    if !found.saves.is_empty() {
        tell(ui, &found.matched_by);
    }
    Ok(found.saves)
}

/// Says what was found in the place of what was asked for.
fn tell(ui: &Ui, by: &MatchKind) {
    match by {
        MatchKind::AllWords | MatchKind::WordParts => {}
        MatchKind::Corrected(words) => words.iter().for_each(|(typed, word)| {
            ui.warn(&format!("no save has `{typed}` in it; this has `{word}`"));
        }),
        MatchKind::SomeWords => ui.warn("no save has all of these words; this has some of them"),
    }
}

/// Says that there is nothing, and where there is something.
fn nothing(ui: &Ui, store: &Store, wanted: &Wanted) -> anyhow::Result<()> {
    let Wanted { environment, query } = wanted;
    let place = environment.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
    let what = match query.is_empty() {
        true => format!("Nothing is saved{place} yet."),
        false => format!("No save{place} has `{}` in it.", strip_control(query)),
    };
    let others = store.environments()?;
    let others: Vec<String> = others
        .iter()
        .filter(|(other, _)| Some(other) != environment.as_ref())
        .map(|(other, count)| format!("{other} ({count})"))
        .collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" There are saves in {}.", others.join(", ")),
    };
    ui.print(&format!("{what}{others}\n"))
}

/// What a session or a person goes on with.
fn text(world: &World, ui: &Ui, save: &Save) -> String {
    let asks = resume::asking(world);
    let resumed = resumable(world, save);
    let Some(session) = asks else { return for_people(ui, save, resumed.is_some()) };
    let mut text = save::render_fenced(save, age(save));
    if let Some(resumed) = resumed {
        // Without it only the lineage of its own checkpoints is shorter.
        let _ = resume::note_given(world, &session, &resumed);
        let project = PathBuf::from(&resumed.meta.project);
        let budget = settings::of_project(world, &project).budget();
        text += &format!("\n{}", resumed.text(budget));
    }
    text
}

/// The checkpoint that a save points to, if it is there and ours.
fn resumable(world: &World, save: &Save) -> Option<Resumable> {
    let project = PathBuf::from(save.what.project.as_ref()?);
    let place = Place::of_project(world, project);
    let listed = checkpoint::find(&place, save.what.checkpoint.as_ref()?).ok()?;
    resume::of(&place, &listed, resume::asking(world).as_ref()).ok().flatten()
}

fn for_people(ui: &Ui, save: &Save, has_checkpoint: bool) -> String {
    const INDENT: &str = "\n    ";
    let (environment, age) = (save.what.environment.as_str(), duration(age(save) / 1000));
    let mut text = format!("{}\n", ui.bold(&format!("{environment}, {age} ago")));
    for (name, said) in save::sections(save) {
        let lines: Vec<String> = said.lines().map(strip_control).collect();
        let _ = writeln!(text, "  {}{INDENT}{}", ui.dim(name), lines.join(INDENT));
    }
    if let Some(id) = save.what.checkpoint.as_deref().filter(|_| has_checkpoint) {
        let id = strip_control(id);
        let _ = writeln!(
            text,
            "  {}{INDENT}{id}: `plimsoll restore --checkpoint {id}` prints it",
            ui.dim("Checkpoint")
        );
    }
    text
}

fn age(save: &Save) -> u64 {
    u64::try_from(now() as Millis - save.created).unwrap_or(0)
}

/// A save for scripts. These names are a promise.
#[derive(Serialize)]
pub(super) struct View<'a> {
    id: &'a str,
    environment: &'a str,
    kind: &'static str,
    created: String,
    task: &'a str,
    context: Option<&'a str>,
    blockers: Option<&'a str>,
    next_steps: Option<&'a str>,
    tags: &'a [String],
    key_artifacts: &'a [String],
    project: Option<&'a str>,
    session_id: Option<&'a str>,
    checkpoint: Option<&'a str>,
    commit: Option<&'a str>,
}

pub(super) fn view(save: &Save) -> View<'_> {
    let what = &save.what;
    View {
        id: &save.id,
        environment: what.environment.as_str(),
        kind: what.kind.label(),
        created: utc_second(save.created),
        task: &what.task,
        context: what.context.as_deref(),
        blockers: what.blockers.as_deref(),
        next_steps: what.next_steps.as_deref(),
        tags: &what.tags,
        key_artifacts: &what.key_artifacts,
        project: what.project.as_deref(),
        session_id: what.session.as_deref(),
        checkpoint: what.checkpoint.as_deref(),
        commit: what.commit.as_deref(),
    }
}
