//! The user's own past sessions at a glance: the first thing plimsoll shows to someone new.

use std::io::Write;

use plimsoll_engine::clock;
use plimsoll_engine::history::Summary;
use plimsoll_engine::score::Newest;

use crate::layout::{self, bar, end};
use crate::ui::{self, Ui};

/// Prints the past.
pub(crate) fn show(ui: &Ui, out: &mut impl Write, past: &Summary) -> anyhow::Result<()> {
    let Some(since) = past.extent.since.filter(|_| past.extent.sessions > 0) else {
        writeln!(out, "There is no session to look back on yet.")?;
        return Ok(());
    };
    let sessions = counted(past.extent.sessions, "session", "sessions");
    let projects = counted(past.extent.projects, "project", "projects");
    let since = clock::day(since);
    writeln!(out, "{} in {projects} since {since}", ui.bold(&sessions))?;
    writeln!(out)?;
    print_peaks(ui, out, past)?;
    writeln!(out)?;
    let lines = [heavy(past), compacted(past), fired(past), unwarned(past), hooks(past)];
    lines.iter().flatten().try_for_each(|line| writeln!(out, "  {line}"))?;
    Ok(())
}

/// How full the sessions' windows were at their fullest.
fn print_peaks(ui: &Ui, out: &mut impl Write, past: &Summary) -> anyhow::Result<()> {
    const BAR: usize = 48;
    let most = past.peaks.iter().max().copied().unwrap_or(0) as f64;
    writeln!(out, "  {}", ui.dim("how full their windows were at most"))?;
    for (tenth, sessions) in past.peaks.iter().enumerate().rev() {
        let bar = bar(*sessions as f64, most, BAR);
        let is_heavy = (tenth * 10) as f64 >= past.warn_percent;
        let count = if *sessions > 0 { ui::thousands(*sessions) } else { String::new() };
        let line = format!("{:>4}–{:>3} %  {bar} {count}", tenth * 10, tenth * 10 + 10);
        let line = line.trim_end();
        writeln!(out, "{}", if is_heavy { ui.red(line) } else { line.to_owned() })?;
    }
    Ok(())
}

fn heavy(past: &Summary) -> Option<String> {
    let sessions = match past.heavy {
        0 => "No session".to_owned(),
        heavy => counted(heavy, "session", "sessions"),
    };
    Some(format!("{sessions} went past the line where plimsoll warns."))
}

fn compacted(past: &Summary) -> Option<String> {
    let (automatic, manual) = (past.automatic.len() as u64, past.manual);
    Some(match automatic + manual {
        0 => "No conversation was compacted.".to_owned(),
        _ => format!(
            "Compactions: {} by the client, {} by hand.",
            ui::thousands(automatic),
            ui::thousands(manual)
        ),
    })
}

fn fired(past: &Summary) -> Option<String> {
    let mut sorted = past.automatic.clone();
    sorted.sort_by(f64::total_cmp);
    let (lowest, highest) = (sorted.first()?, sorted.last()?);
    Some(match sorted.len() {
        1 => format!("The client's fired at {lowest:.1} % of the window."),
        all => {
            let middle = sorted[(all - 1) / 2];
            format!(
                "The client's fired at {lowest:.1} to {highest:.1} % of the window, half of them \
                 by {middle:.1} %."
            )
        }
    })
}

fn unwarned(past: &Summary) -> Option<String> {
    (past.unwarned > 0).then(|| {
        let were = if past.unwarned == 1 { "was" } else { "were" };
        let sessions = counted(past.unwarned, "session", "sessions");
        format!("{sessions} {were} compacted without a word of warning.")
    })
}

/// Prints what the compactions of the past lost, if anything was needed after them.
pub(crate) fn show_recall(out: &mut impl Write, newest: &Newest) -> anyhow::Result<()> {
    let tally = newest.tally;
    if tally.needed == 0 {
        return Ok(());
    }
    let (alone, with_us) = (tally.share(tally.summary), tally.share(tally.either));
    writeln!(
        out,
        "  Summaries kept {alone} of what the work needed later; with plimsoll {with_us}."
    )?;
    let Newest { sessions, of, .. } = newest;
    match sessions == of {
        true => writeln!(out, "  What was lost: `plimsoll score`.")?,
        false => writeln!(
            out,
            "  That is of {sessions} of {of} compacted sessions: `plimsoll score` tells all."
        )?,
    }
    Ok(())
}

fn hooks(past: &Summary) -> Option<String> {
    let dearest = past.dearest_hook.as_ref()?;
    let total = layout::millis(past.hook_millis as f64);
    let own = layout::millis(dearest.total_millis as f64);
    let command = end(&ui::strip_control(&dearest.command), 30);
    Some(format!("Hooks took {total}, {own} of it `{command}`."))
}

/// A number with its noun.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", ui::thousands(count), if count == 1 { one } else { many })
}
