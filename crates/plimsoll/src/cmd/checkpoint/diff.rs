//! `plimsoll checkpoint diff`

use std::fmt::Write as _;

use plimsoll_engine::checkpoint::{self, Listed, Place};
use plimsoll_extract::checkpoint::{self as core, SectionDiff, split};
use serde::Serialize;

use super::{found, meta, shown};
use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// Show what the work did between two checkpoints
///
/// Section by section: the lines that only the later one has, and those that only the earlier one
/// has.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll checkpoint diff                            the newest against the one before it
  plimsoll checkpoint diff 2026-11-14                 the newest against that one
  plimsoll checkpoint diff 2026-11-14 2026-11-15-05   two of them")]
pub(crate) struct Args {
    /// The earlier one (default: the one that the later went on from)
    #[arg(value_name = "BEFORE")]
    before: Option<String>,
    /// The later one
    #[arg(value_name = "AFTER", default_value = "latest")]
    after: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(place: &Place, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let after = found(checkpoint::find(place, &args.after))?;
    let before = match &args.before {
        Some(before) => found(checkpoint::find(place, before))?,
        None => before(place, &after)?,
    };
    let sections = core::diff(&body(place, &before)?, &body(place, &after)?);
    match args.json {
        true => ui.print_json(&view(&before, &after, &sections)),
        false => ui.print(&text(ui, &before, &after, &sections)),
    }
}

/// The checkpoint that `after` went on from: its parent, or the next older one of ours.
fn before(place: &Place, after: &Listed) -> anyhow::Result<Listed> {
    let parent = meta(after).and_then(|meta| meta.parent.clone());
    let mut own = found(checkpoint::list(place))?;
    own.retain(Listed::is_own);
    let by_parent = own.iter().position(|listed| Some(&listed.id) == parent.as_ref());
    let here = own.iter().position(|listed| listed.id == after.id);
    let older = here.map(|here| here + 1).filter(|older| *older < own.len());
    by_parent
        .or(older)
        .map(|at| own.swap_remove(at))
        .ok_or_else(|| {
            anyhow::anyhow!("there is no checkpoint before `{}`", strip_control(&after.id))
        })
        .hint("`plimsoll checkpoint list` shows what there is to compare")
}

fn body(place: &Place, listed: &Listed) -> anyhow::Result<String> {
    let text = super::show::text(place, listed)?;
    Ok(split(&text).map_or_else(|_| text.clone(), |parts| parts.body.to_owned()))
}

fn text(ui: &Ui, before: &Listed, after: &Listed, sections: &[SectionDiff]) -> String {
    let mut text = format!("--- {}\n+++ {}\n", strip_control(&before.id), strip_control(&after.id));
    for SectionDiff { section, added, removed } in sections {
        // A string takes whatever is written to it.
        let _ = writeln!(text, "\n{}", ui.bold(&format!("## {section}")));
        for line in removed {
            let _ = writeln!(text, "{}", ui.red(&format!("-{}", shown(line))));
        }
        for line in added {
            let _ = writeln!(text, "{}", ui.green(&format!("+{}", shown(line))));
        }
    }
    if sections.is_empty() {
        text += "\nThey say the same.\n";
    }
    text
}

#[derive(Serialize)]
struct DiffView<'a> {
    before: &'a str,
    after: &'a str,
    sections: Vec<SectionView<'a>>,
}

#[derive(Serialize)]
struct SectionView<'a> {
    section: &'static str,
    added: &'a [String],
    removed: &'a [String],
}

fn view<'a>(before: &'a Listed, after: &'a Listed, sections: &'a [SectionDiff]) -> DiffView<'a> {
    let section = |SectionDiff { section, added, removed }: &'a SectionDiff| SectionView {
        section,
        added,
        removed,
    };
    let sections = sections.iter().map(section).collect();
    DiffView { before: &before.id, after: &after.id, sections }
}
