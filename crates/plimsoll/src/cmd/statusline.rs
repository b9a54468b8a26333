//! `plimsoll statusline`
//!
//! Like a hook, it never stands in the client's way: what goes wrong is logged, and the user's own
//! status line is shown all the same.

use std::io::{Read, Write};

use anyhow::Context;
use plimsoll_agents::Agent;
use plimsoll_core::text::duration;
use plimsoll_core::trigger::Trigger;
use plimsoll_engine::hook::LARGEST_PAYLOAD;
use plimsoll_engine::log;
use plimsoll_engine::statusline::{self, Standing, WRAPPING, Wrapped};
use plimsoll_engine::world::World;

use crate::ui::{self, GAUGE_CELLS, Ui};
use crate::view::percent;

/// Print the status line: the client's payload on stdin, one line on stdout
///
/// `plimsoll init` makes it the client's status line. It shows a gauge, the tokens in the window,
/// the distance to the compaction and the last checkpoint's age, in as many columns as COLUMNS says (80 if it says nothing), and
/// tells the hooks how large the window is.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    agent: super::AgentArg,
    /// Show the output of this shell command above ours
    #[arg(long, value_name = "COMMAND")]
    wrap: Option<String>,
    /// No colours (NO_COLOR is respected too)
    #[arg(long)]
    no_color: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> anyhow::Result<()> {
    // Wrapped in ourselves: the outer one has all to say.
    if world.env(WRAPPING).is_some() {
        return Ok(());
    }
    let mut payload = Vec::new();
    std::io::stdin().lock().take(LARGEST_PAYLOAD).read_to_end(&mut payload)?;
    let wrapped =
        args.wrap.as_ref().map(|command| Wrapped::start(command.clone(), payload.clone()));
    let ours = match world.is_off() {
        true => None,
        false => logged(world, ours(world, args.agent.agent, &payload)),
    };
    let ui = Ui::for_status_line(!args.no_color);
    let mut out = ui.out();
    let (theirs, trouble) = wrapped.map(Wrapped::output).unwrap_or_default();
    if let Some(trouble) = trouble {
        log::write(&world.paths.log(), &format!("statusline: the wrapped command: {trouble}"));
    }
    out.write_all(&theirs)?;
    if let Some(standing) = ours {
        let gap = if theirs.last().is_some_and(|byte| *byte != b'\n') { "\n" } else { "" };
        writeln!(out, "{gap}{}", line(&ui, &standing, columns(world)))?;
    }
    out.flush()?;
    Ok(())
}

fn ours(world: &World, agent: &'static dyn Agent, payload: &[u8]) -> anyhow::Result<Standing> {
    let dialect = agent.status_line().context("this agent has no status line")?;
    let status = dialect.decode(payload)?;
    logged(world, statusline::remember(world, &status));
    Ok(statusline::standing(world, agent, &status))
}

fn logged<T>(world: &World, result: anyhow::Result<T>) -> Option<T> {
    let log = |error: &anyhow::Error| {
        log::write(&world.paths.log(), &format!("statusline: {error:#}"));
    };
    result.inspect_err(log).ok()
}

fn columns(world: &World) -> usize {
    const USUAL: usize = 80;
    world.env("COLUMNS").and_then(|columns| columns.parse().ok()).unwrap_or(USUAL)
}

/// The line, as much of it as fits: what comes first matters most.
fn line(ui: &Ui, standing: &Standing, columns: usize) -> String {
    let Standing { used, window, trigger, sealed_before } = *standing;
    let unknown = || "…".to_owned();
    let share = used.map_or_else(unknown, |used| format!("{:.0}%", percent(used, window)));
    let held = used.map_or_else(unknown, ui::short_tokens);
    let has_gauge = columns > GAUGE_CELLS + share.len();
    let held = format!("{held}/{}", ui::short_tokens(window));
    let mut width = if has_gauge { GAUGE_CELLS + 1 } else { 0 };
    let mut text = String::new();
    let mut parts = vec![("", share), (" · ", held), (" · ", distance(standing))];
    parts.extend(sealed_before.map(|age| (" · ", format!("saved {} ago", duration(age)))));
    for (gap, part) in parts {
        width += gap.chars().count() + part.chars().count();
        if !text.is_empty() && width > columns {
            break;
        }
        text = text + gap + &part;
    }
    match has_gauge {
        true => format!("{} {text}", ui.gauge(used.unwrap_or(0), window, trigger.within(window))),
        false => text,
    }
}

/// How far it is to the compaction, or to the end of a window that the client does not know of.
fn distance(standing: &Standing) -> String {
    let Standing { used, window, trigger, .. } = *standing;
    match (trigger, used) {
        (Trigger::At { tokens, .. }, _) if tokens > window => {
            format!("{} left", ui::short_tokens(window.saturating_sub(used.unwrap_or(0))))
        }
        (Trigger::At { tokens, .. }, Some(used)) if used < tokens => {
            format!("{} to compaction", ui::short_tokens(tokens - used))
        }
        (Trigger::At { .. }, Some(_)) => "compacts any moment".to_owned(),
        (Trigger::At { tokens, .. }, None) => {
            format!("compacts at {}", ui::short_tokens(tokens))
        }
        (Trigger::SwitchedOff, _) => "auto-compaction off".to_owned(),
        (Trigger::OnRefusal, _) => "compacts when full".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_core::Tokens;
    use plimsoll_core::trigger::TriggerSource;

    use super::*;

    #[track_caller]
    fn check(used: Option<Tokens>, trigger: Trigger, columns: usize, expected: &str) {
        let standing = Standing { used, window: 200_000, trigger, sealed_before: None };
        let text = line(&Ui::for_status_line(false), &standing, columns);
        assert_eq!(text, expected);
        assert!(text.chars().count() <= columns.max(3));
    }

    const AT: Trigger =
        Trigger::At { tokens: 167_000, source: TriggerSource::Formula, lowered_by: None };

    #[test]
    fn the_line_shows_load_and_distance() {
        let full = "████████████░░░░░░░░│░░░ 50% · 100k/200k · 67k to compaction";
        check(Some(100_000), AT, 80, full);
        let over = "█████████████████████░░░ 84% · 168k/200k · compacts any moment";
        check(Some(168_000), AT, 80, over);
        let off = "████████████░░░░░░░░░░░░ 50% · 100k/200k · auto-compaction off";
        check(Some(100_000), Trigger::SwitchedOff, 80, off);
    }

    #[test]
    fn a_compaction_beyond_a_pretended_window_is_not_announced() {
        let standing =
            Standing { used: Some(48_000), window: 60_000, trigger: AT, sealed_before: None };
        let shown = line(&Ui::for_status_line(false), &standing, 80);
        assert_eq!(shown, "████████████████████░░░░ 80% · 48k/60k · 12k left");
    }

    #[test]
    fn the_age_of_the_last_checkpoint_is_shown_where_there_is_room() {
        let standing = Standing {
            used: Some(100_000),
            window: 200_000,
            trigger: AT,
            sealed_before: Some(190),
        };
        let shown = |columns| line(&Ui::for_status_line(false), &standing, columns);
        assert!(shown(80).ends_with(" · 67k to compaction · saved 3 min ago"), "{}", shown(80));
        assert!(shown(70).ends_with(" · 67k to compaction"), "{}", shown(70));
    }

    #[test]
    fn what_nobody_knows_is_not_called_nothing() {
        let fresh = "░░░░░░░░░░░░░░░░░░░░│░░░ … · …/200k · compacts at 167k";
        check(None, AT, 80, fresh);
    }

    #[test]
    fn a_narrow_terminal_shows_what_matters_most() {
        check(Some(100_000), AT, 59, "████████████░░░░░░░░│░░░ 50% · 100k/200k");
        check(Some(100_000), AT, 39, "████████████░░░░░░░░│░░░ 50%");
        check(Some(100_000), AT, 27, "50% · 100k/200k");
        check(Some(100_000), AT, 4, "50%");
    }
}
