//! The score as people read it.

use std::io::Write;

use plimsoll_core::name::short;
use plimsoll_engine::clock;
use plimsoll_extract::work::{FactKind, RecallCounts};

use super::{Compaction, comparable, of_kind, sessions};
use crate::layout::{self, COLUMNS};
use crate::past::counted;
use crate::ui::{self, Ui};

/// How many compactions are listed one by one.
const LISTED: usize = 20;

pub(super) fn print(
    ui: &Ui,
    out: &mut impl Write,
    compactions: &[Compaction],
) -> anyhow::Result<()> {
    if compactions.is_empty() {
        writeln!(out, "No conversation was compacted: nothing was lost that could be counted.")?;
        return Ok(());
    }
    let facts = comparable(compactions);
    let total = RecallCounts::of(facts.iter().copied());
    writeln!(out, "{}", ui.bold(&total.headline()))?;
    writeln!(out, "{}", ui.dim(&extent(compactions, total)))?;
    if total.needed > 0 {
        writeln!(out, "\n{}", ui.dim(&heading("")))?;
        for kind in FactKind::ALL {
            print_row(ui, out, kind.label(), of_kind(&facts, kind), true)?;
        }
        print_row(ui, out, "all", total, true)?;
    }
    print_list(ui, out, compactions)
}

fn extent(compactions: &[Compaction], total: RecallCounts) -> String {
    let bare = compactions.iter().filter(|compaction| !compaction.judgement.has_summary).count();
    let mut parts = vec![
        counted(compactions.len() as u64, "compaction", "compactions"),
        counted(sessions(compactions) as u64, "session", "sessions"),
        counted(total.needed, "needed name", "needed names"),
    ];
    if bare > 0 {
        parts.push(format!("{bare} without a summary, not counted"));
    }
    layout::fit(&parts, COLUMNS)
}

fn heading(label: &str) -> String {
    let [needed, summary, restore, together] = ["needed", "summary", "restore", "together"];
    format!("{label:<20}{needed:>8}{summary:>9}{restore:>9}{together:>10}")
}

/// One line of either table; a share of nothing is left out.
fn print_row(
    ui: &Ui,
    out: &mut impl Write,
    label: &str,
    tally: RecallCounts,
    has_summary: bool,
) -> anyhow::Result<()> {
    let RecallCounts { needed, summary, restore, either: together } = tally;
    let summary_share = if has_summary { tally.share(summary) } else { "–".to_owned() };
    let (restore, together_share) = (tally.share(restore), tally.share(together));
    let needed_count = ui::thousands(needed);
    let figures = format!("{needed_count:>8}{summary_share:>9}{restore:>9}{together_share:>10}");
    writeln!(out, "{}", format!("{label:<20}{figures}  {}", picture(ui, tally)).trim_end())?;
    Ok(())
}

/// The needed names as a line: those that the summary kept, those that the restore adds, and the rest.
fn picture(ui: &Ui, tally: RecallCounts) -> String {
    const CELLS: u64 = 22;
    if tally.needed == 0 {
        return String::new();
    }
    let cells = |kept: u64| ((kept * CELLS + tally.needed / 2) / tally.needed) as usize;
    let (summary, together) = (cells(tally.summary), cells(tally.either));
    let rest = "░".repeat(CELLS as usize - together);
    let (summary, added) = ("█".repeat(summary), "▒".repeat(together - summary));
    format!("{summary}{}{}", ui.green(&added), ui.red(&rest))
}

fn print_list(ui: &Ui, out: &mut impl Write, compactions: &[Compaction]) -> anyhow::Result<()> {
    let telling = || compactions.iter().filter(|compaction| !compaction.judgement.facts.is_empty());
    if telling().next().is_none() {
        return Ok(());
    }
    writeln!(out, "\n{}", ui.dim(&heading("compaction")))?;
    telling().take(LISTED).try_for_each(|compaction| print_compaction(ui, out, compaction))?;
    writeln!(out, "\n{}", ui.dim("█ the summary kept   ▒ the restore adds   ░ neither"))?;
    if let Some(older @ 1..) = telling().count().checked_sub(LISTED) {
        let more = format!("{older} older ones, and every name: `plimsoll score --json`");
        writeln!(out, "{}", ui.dim(&more))?;
    }
    Ok(())
}

fn print_compaction(ui: &Ui, out: &mut impl Write, compaction: &Compaction) -> anyhow::Result<()> {
    let judgement = &compaction.judgement;
    let session = ui::strip_control(short(&compaction.session));
    let day = judgement.time.map_or_else(String::new, clock::day);
    let label = format!("{session:<8}  {day}");
    print_row(ui, out, &label, compaction.tally(), judgement.has_summary)?;
    let lost = compaction.lost().map(|fact| layout::end(&ui::strip_control(&fact.name), 40));
    let lost: Vec<String> = lost.collect();
    if !lost.is_empty() {
        writeln!(out, "  {}", ui.dim(&examples(&lost, COLUMNS - 2)))?;
    }
    Ok(())
}

/// `3 lost: one, two, …`, as many as fit.
fn examples(lost: &[String], columns: usize) -> String {
    let mut line = format!("{} lost:", lost.len());
    for (at, name) in lost.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let more = if at + 1 < lost.len() { ", …".chars().count() } else { 0 };
        if layout::width(&line) + layout::width(name) + 2 + more > columns {
            return format!("{line}{comma} …");
        }
        line += &format!("{comma} {name}");
    }
    line
}
