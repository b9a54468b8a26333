//! `plimsoll search`

mod hit;
mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_engine::paths;
use plimsoll_engine::project;
use plimsoll_engine::world::World;
use plimsoll_store::{MatchKind, SaveFilter};

use self::hit::{Hit, ranked, view};
use self::text::text;
use super::checkpoint::place;
use crate::ingest;
use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// Search the text of your checkpoints and saves, in all projects
///
/// Words are found in any of their forms and by their beginning; where nothing has all of them, by any
/// part, then by what is spelt almost like them, then some of them. Best first: the best checkpoint and
/// the best save, the newer before the other, then the second of each. What hooks saved by themselves is
/// found by its checkpoint. Nothing in a query is an operator; quote what belongs together. That nothing
/// fits is no failure.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll search load_line
  plimsoll search '\"connection refused\" postgres'
  plimsoll search --project . src/auth.rs
  plimsoll search migration --json | jq -r '.[].path'")]
pub(crate) struct Args {
    /// What to look for
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Only in the project of this folder
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let query = args.query.join(" ");
    let project =
        args.project.as_deref().map(|folder| project::enclosing(world, &paths::canonical(folder)));
    let (mut hits, by) = find(world, ui, &query, project.as_deref(), args.limit)?
        .ok_or_else(|| {
            anyhow::anyhow!("there is no word to search for in `{}`", strip_control(&query))
        })
        .hint("give a word, for example `plimsoll search migration`")?;
    hits.truncate(args.limit as usize);
    if args.json {
        return ui.print_json(&hits.iter().map(view).collect::<Vec<_>>());
    }
    if hits.is_empty() {
        return ui
            .print(&format!("No checkpoint and no save has `{}` in it.\n", strip_control(&query)));
    }
    tell(ui, &by);
    let hits = hits.iter().map(|hit| text(ui, world, hit));
    ui.print(&hits.collect::<Vec<_>>().join("\n"))
}

fn find(
    world: &World,
    ui: &Ui,
    query: &str,
    project: Option<&Path>,
    limit: u32,
) -> anyhow::Result<Option<(Vec<Hit>, Vec<MatchKind>)>> {
    let mut ingester = ingest::checkpoints(world, ui, &place(world)?)?;
    let searched = ingester.saves().and_then(|_| {
        let folder = project.map(Path::to_string_lossy);
        let filter = SaveFilter { project: folder.as_deref(), ..SaveFilter::default() };
        let checkpoints = ingester.store.search(query, project, limit)?;
        Ok(checkpoints.zip(ingester.store.search_saves(query, &filter, limit)?))
    });
    let found = searched
        .context("could not search your checkpoints and saves")
        .hint("run `plimsoll doctor` to see why")?;
    Ok(found.map(|(checkpoints, saves)| ranked(query, checkpoints, saves)))
}

/// Says what was found in the place of what was asked for.
fn tell(ui: &Ui, by: &[MatchKind]) {
    let corrected = by.iter().filter_map(|by| match by {
        MatchKind::Corrected(words) => Some(words),
        _ => None,
    });
    let corrected: BTreeSet<_> = corrected.flatten().collect();
    for (typed, word) in corrected {
        ui.warn(&format!("nothing has `{typed}` in it; this has `{word}`"));
    }
    if by.contains(&MatchKind::SomeWords) {
        ui.warn("nothing has all of these words; this has some of them");
    }
}
