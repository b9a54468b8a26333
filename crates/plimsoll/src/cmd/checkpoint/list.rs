//! `plimsoll checkpoint list`

use std::fmt::Write as _;

use plimsoll_core::Millis;
use plimsoll_core::text::duration;
use plimsoll_core::time::utc_second;
use plimsoll_engine::checkpoint::{self, Listed, Place};
use plimsoll_engine::world::{World, now};
use serde::Serialize;

use super::{View, found, meta, standing};
use crate::layout::{COLUMNS, fit};
use crate::ui::{self, Ui};

/// List the checkpoints of this project, newest first
///
/// Files that you did not seal are listed too, and marked: an agent is never given them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll checkpoint list
  plimsoll checkpoint list --json | jq -r '.[] | select(.sealed) | .path'")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, place: &Place, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let listed = found(checkpoint::list(place))?;
    let now = now() as Millis;
    if args.json {
        return ui.print_json(&listed.iter().map(|listed| view(listed, now)).collect::<Vec<_>>());
    }
    if listed.is_empty() {
        let folder = ui::short_path(&place.path(), &world.paths.home);
        ui.warn(&format!("there is no checkpoint in `{folder}` yet"));
    }
    ui.print(&listed.iter().map(|listed| text(ui, listed, now)).collect::<String>())
}

fn text(ui: &Ui, listed: &Listed, now: Millis) -> String {
    let mut text = ui.bold(&ui::strip_control(&listed.id));
    let facts = fit(&facts(listed, now), COLUMNS - 2);
    let _ = match facts.is_empty() {
        true => writeln!(text),
        false => writeln!(text, "\n  {}", ui.dim(&facts)),
    };
    let standing = ui::strip_control(&standing(listed));
    let _ = match listed.is_own() {
        true => writeln!(text, "  {}", fit(&[ui::strip_control(&listed.summary)], COLUMNS - 2)),
        false if listed.verdict.is_valid() => writeln!(text, "  {}", ui.yellow(&standing)),
        false => writeln!(text, "  {}", ui.red(&standing)),
    };
    text
}

fn facts(listed: &Listed, now: Millis) -> Vec<String> {
    let Some(meta) = meta(listed) else { return Vec::new() };
    let age = listed.age(now).unwrap_or_default().as_secs();
    let word = |is_so: bool, word: &str| if is_so { word.to_owned() } else { String::new() };
    vec![
        format!("{} ago", duration(age)),
        meta.occasion.label().to_owned(),
        format!("iteration {}", meta.iteration),
        word(meta.partial, "partial"),
        word(listed.is_stale(now), "stale"),
    ]
}

#[derive(Serialize)]
struct ListView<'a> {
    #[serde(flatten)]
    view: View<'a>,
    created: Option<String>,
    age_seconds: Option<u64>,
    trigger: Option<&'static str>,
    session_id: Option<&'a str>,
    iteration: Option<u64>,
    parent: Option<&'a str>,
    partial: bool,
    stale: bool,
    summary: &'a str,
}

fn view(listed: &Listed, now: Millis) -> ListView<'_> {
    let meta = meta(listed);
    ListView {
        view: listed.into(),
        created: meta.map(|meta| utc_second(meta.created)),
        age_seconds: listed.age(now).map(|age| age.as_secs()),
        trigger: meta.map(|meta| meta.occasion.label()),
        session_id: meta.map(|meta| meta.session_id.as_str()),
        iteration: meta.map(|meta| meta.iteration),
        parent: meta.and_then(|meta| meta.parent.as_deref()),
        partial: meta.is_some_and(|meta| meta.partial),
        stale: listed.is_stale(now),
        summary: &listed.summary,
    }
}
