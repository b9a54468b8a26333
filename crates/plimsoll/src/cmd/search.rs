//! `plimsoll search`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::text::duration;
use plimsoll_core::time::utc_second;
use plimsoll_engine::paths;
use plimsoll_engine::world::{World, now};
use plimsoll_store::{Found, Hit, Match, Piece};
use serde::Serialize;

use super::checkpoint::place;
use crate::ingest;
use crate::layout::{self, COLUMNS, fit};
use crate::report::HintExt;
use crate::ui::{Ui, plain};

/// Search the text of your checkpoints, in all projects
///
/// Best first, the newer of two that fit alike. Words are found in any of their forms and by their
/// beginning, then by any part, then by what is spelt almost like them. Nothing in a query is an
/// operator; quote what belongs together. That nothing fits is no failure.
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
    let project = args.project.as_deref().map(paths::canonical);
    let found = find(world, ui, &query, project.as_deref(), args.limit)?
        .ok_or_else(|| anyhow::anyhow!("there is no word to search for in `{}`", plain(&query)))
        .hint("give a word, for example `plimsoll search migration`")?;
    if args.json {
        return ui.print_json(&found.hits.iter().map(view).collect::<Vec<_>>());
    }
    if found.hits.is_empty() {
        return ui.print(&format!("No checkpoint has `{}` in it.\n", plain(&query)));
    }
    tell(ui, &found.by);
    let hits = found.hits.iter().map(|hit| text(ui, world, hit));
    ui.print(&hits.collect::<Vec<_>>().join("\n"))
}

fn find(
    world: &World,
    ui: &Ui,
    query: &str,
    project: Option<&Path>,
    limit: u32,
) -> anyhow::Result<Option<Found>> {
    let ingester = ingest::checkpoints(world, ui, plimsoll_agents::ALL[0], &place(world)?)?;
    let found = ingester.store.search(query, project, limit);
    found.context("could not search your checkpoints").hint("run `plimsoll doctor` to see why")
}

/// Says what was found in the place of what was asked for.
fn tell(ui: &Ui, by: &Match) {
    match by {
        Match::Words | Match::Parts => {}
        Match::Corrected(words) => words.iter().for_each(|(typed, word)| {
            ui.warn(&format!("no checkpoint has `{typed}` in it; these have `{word}`"));
        }),
        Match::Some => ui.warn("no checkpoint has all of these words; these have some of them"),
    }
}

fn text(ui: &Ui, world: &World, hit: &Hit) -> String {
    let row = &hit.checkpoint;
    let age = u64::try_from(now() as Millis - row.created).unwrap_or(0) / 1000;
    let facts = [
        format!("{} ago", duration(age)),
        layout::path(&row.project, &world.paths.home, 40),
        row.occasion.clone(),
    ];
    let mut text = format!("{}\n", ui.bold(&plain(&row.id)));
    let _ = writeln!(text, "  {}", ui.dim(&fit(&facts, COLUMNS - 2)));
    let _ = writeln!(text, "  {}", fit(&[plain(&row.summary)], COLUMNS - 2));
    let _ = writeln!(text, "  {}", snippet(ui, hit));
    text
}

/// The line that fits, with its section before it: what fits is marked and always in view.
fn snippet(ui: &Ui, hit: &Hit) -> String {
    const BEFORE: usize = 24;
    let title = plain(&hit.section);
    let room = COLUMNS - 2 - layout::width(&title) - "  ……".len();
    let letters = letters(&hit.line);
    let first = letters.iter().position(|(_, fits)| *fits).unwrap_or(0);
    let begin = if letters.len() > room { first.saturating_sub(BEFORE) } else { 0 };
    let end = letters.len().min(begin + room);
    let mut line = format!("{}  ", ui.dim(&title));
    line += if begin > 0 { "…" } else { "" };
    for run in letters[begin..end].chunk_by(|(_, one), (_, other)| one == other) {
        let text: String = run.iter().map(|(letter, _)| letter).collect();
        line += &if run[0].1 { ui.yellow(&text) } else { text };
    }
    line + if end < letters.len() { "…" } else { "" }
}

/// The letters of a line, each with whether it fits, without the marks of lists.
fn letters(line: &[Piece]) -> Vec<(char, bool)> {
    let letters = line.iter().flat_map(|piece| {
        let text = plain(&piece.text.replace('\t', " "));
        text.chars().map(|letter| (letter, piece.fits)).collect::<Vec<_>>()
    });
    letters.skip_while(|(letter, fits)| !fits && matches!(letter, '-' | '>' | ' ')).collect()
}

/// These names are a promise to scripts.
#[derive(Serialize)]
struct View<'a> {
    id: &'a str,
    path: String,
    project: String,
    session_id: &'a str,
    created: String,
    trigger: &'a str,
    iteration: u64,
    partial: bool,
    used: Option<u64>,
    window: Option<u64>,
    summary: &'a str,
    section: &'a str,
    snippet: String,
}

fn view(hit: &Hit) -> View<'_> {
    let row = &hit.checkpoint;
    View {
        id: &row.id,
        path: row.path.to_string_lossy().into_owned(),
        project: row.project.to_string_lossy().into_owned(),
        session_id: &row.session,
        created: utc_second(row.created),
        trigger: &row.occasion,
        iteration: row.iteration,
        partial: row.partial,
        used: row.used,
        window: row.window,
        summary: &row.summary,
        section: &hit.section,
        snippet: letters(&hit.line).into_iter().map(|(letter, _)| letter).collect(),
    }
}
