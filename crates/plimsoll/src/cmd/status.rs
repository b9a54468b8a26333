//! `plimsoll status`

mod json;
mod text;
mod watch;

use std::io::Write;
use std::time::Duration;

use plimsoll_core::name::is_meant;
use plimsoll_engine::criteria::{self, Criteria};
use plimsoll_engine::history;
use plimsoll_engine::sessions::{self, Found};
use plimsoll_engine::world::World;

use crate::listing::{Listing, RECENT, is_within};
use crate::report::HintExt;
use crate::ui::Ui;
use crate::view::CriteriaView;
use crate::{ingest, past};
pub(crate) use text::{ahead, figures, gauge, origin};

/// Show how full each session's context window is
///
/// Sessions that were active in the last 24 hours, newest first; each with its subagents, where the
/// client will compact, and how far that is at the pace so far.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll status
  plimsoll status 5f2c
  plimsoll status --all --json | jq '.[].reading.percent'
  plimsoll status --criteria --json | jq .phantoms")]
pub(crate) struct Args {
    /// Only this session: its name or the beginning of it
    session: Option<String>,
    /// All sessions, however old
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Look again every two seconds, until `q` is pressed
    #[arg(long)]
    watch: bool,
    /// Only whether plimsoll does what it is for: what `--all` closes with
    #[arg(long, conflicts_with_all = ["session", "all", "watch"])]
    criteria: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "watch")]
    json: bool,
}

/// How long may be looked for what compactions lost.
const SCORE_PATIENCE: Duration = Duration::from_millis(500);

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    if args.watch {
        return watch::run(world, ui, args);
    }
    if args.criteria {
        return criteria(world, ui, args.json);
    }
    let chosen = choose(world, args)?;
    if chosen.is_empty() && !args.json {
        return nothing(world, ui, args);
    }
    let ingester = ingest::sessions(world, ui, &chosen);
    let ingester = ingester.map_err(|error| ui.warn(&format!("no forecast: {error:#}"))).ok();
    let warn = |text: &str| ui.warn(text);
    let mut listing = Listing::new(world, ingester.as_ref(), &warn);
    let mut shown = chosen.iter().filter_map(|found| listing.show(found)).peekable();
    if shown.peek().is_none() && !chosen.is_empty() {
        anyhow::bail!("none of {} sessions could be read", chosen.len());
    }
    let mut out = ui.out();
    let room = if args.session.is_some() { text::ALL_ROOM } else { text::ROOM };
    match args.json {
        true => json::print(&mut out, shown)?,
        false => shown.try_for_each(|session| text::print(world, ui, &mut out, &session, room))?,
    }
    if let Some(ingester) = ingester.as_ref().filter(|_| args.all && !args.json) {
        let found = criteria::look(world, &ingester.store, &chosen, SCORE_PATIENCE);
        match found {
            Ok(found) => {
                writeln!(out)?;
                print_criteria(ui, &mut out, &found)?;
            }
            Err(error) => ui.warn(&format!("no figures of the last days: {error:#}")),
        }
    }
    drop(out);
    ingester.map_or(Ok(()), |mut ingester| ingester.prune())
}

/// Whether plimsoll does what it is for.
fn criteria(world: &World, ui: &Ui, json: bool) -> anyhow::Result<()> {
    let ingester = ingest::everything(world, ui)?;
    let found = sessions::find(world)?;
    let found = criteria::look(world, &ingester.store, &found, SCORE_PATIENCE)?;
    match json {
        true => ui.print_json(&CriteriaView::from(&found)),
        false => print_criteria(ui, &mut ui.out(), &found),
    }
}

fn print_criteria(ui: &Ui, out: &mut impl Write, found: &Criteria) -> anyhow::Result<()> {
    writeln!(out, "{}", ui.bold(&found.title()))?;
    for (name, told) in found.told() {
        writeln!(out, "  {name:<20} {told}")?;
    }
    Ok(out.flush()?)
}

/// Says that there is no such session, and what there was before.
fn nothing(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    const NO_SESSION: &str = "No session was found.";
    const NO_RECENT_SESSION: &str =
        "No session was active in the last 24 hours; `status --all` shows older ones.";
    let mut out = ui.out();
    writeln!(out, "{}", if args.all { NO_SESSION } else { NO_RECENT_SESSION })?;
    if !args.all && !sessions::find(world)?.is_empty() {
        writeln!(out)?;
        let ingester = ingest::everything(world, ui)?;
        past::show(ui, &mut out, &history::summary(world, &ingester.store)?)?;
    }
    Ok(out.flush()?)
}

/// The sessions the user asks for.
fn choose(world: &World, args: &Args) -> anyhow::Result<Vec<Found>> {
    let mut found = sessions::find(world)?;
    match &args.session {
        Some(name) => return named(found, name),
        None if args.all => {}
        None => found.retain(|found| is_within(found.modified, RECENT)),
    }
    Ok(found)
}

/// The session that is meant by a name. It may have transcripts in several folders: it was moved.
fn named(mut found: Vec<Found>, name: &str) -> anyhow::Result<Vec<Found>> {
    found.retain(|found| is_meant(found.owner.session.as_str(), name));
    let mut names: Vec<&str> = found.iter().map(|found| found.owner.session.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [] => Err(anyhow::anyhow!("no session `{name}`"))
            .hint("run `plimsoll status --all` to see all of them"),
        [_] => Ok(found),
        _ if names.contains(&name) => {
            found.retain(|found| found.owner.session.as_str() == name);
            Ok(found)
        }
        _ => Err(anyhow::anyhow!("`{name}` stands for {} sessions", names.len()))
            .hint(format!("give more of the name: {}", some_of(&names))),
    }
}

fn some_of(names: &[&str]) -> String {
    const SOME: usize = 3;
    let some: Vec<String> = names.iter().take(SOME).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(SOME) {
        0 => some.join(" or "),
        more => format!("{} or {more} more", some.join(", ")),
    }
}
