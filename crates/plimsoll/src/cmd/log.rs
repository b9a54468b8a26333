//! `plimsoll log`

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use anyhow::Context;
use plimsoll_core::time::utc;
use plimsoll_engine::clock;
use plimsoll_engine::log::{Line, Reader};
use plimsoll_engine::world::World;
use serde::Serialize;

use crate::ui::json::write_json;
use crate::ui::{self, Ui};

/// Show what went wrong in hooks
///
/// A hook never disturbs the agent: what goes wrong in one is written to a log instead, without a
/// word of the conversation. The oldest line comes first. Times are local, in JSON in UTC.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll log -n 5
  plimsoll log --follow
  plimsoll log --json | jq -r .what")]
pub(crate) struct Args {
    /// Show at most this many lines
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    lines: usize,
    /// Stay, and show what is added
    #[arg(short, long)]
    follow: bool,
    /// Print JSON, an object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let log = world.paths.log();
    let path = ui::strip_control(&log.to_string_lossy());
    let failed = || format!("could not read the log `{path}`");
    let (mut reader, mut lines) = Reader::open(&log).with_context(failed)?;
    lines.drain(..lines.len().saturating_sub(args.lines));
    if lines.is_empty() && args.lines > 0 {
        ui.warn(&format!("nothing went wrong so far; the log is `{path}`"));
    }
    print(ui, args, &lines)?;
    if !args.follow {
        return Ok(());
    }
    loop {
        std::thread::sleep(PAUSE);
        print(ui, args, &reader.read_on().with_context(failed)?)?;
    }
}

/// How long new lines may wait to be seen.
const PAUSE: Duration = Duration::from_millis(200);

fn print(ui: &Ui, args: &Args, lines: &[Line]) -> anyhow::Result<()> {
    let mut out = ui.out();
    for line in lines {
        match args.json {
            true => write_json(&mut out, &view(line))?,
            false => writeln!(out, "{}", shown(ui, line))?,
        }
    }
    Ok(out.flush()?)
}

fn shown(ui: &Ui, line: &Line) -> String {
    let mut text = String::new();
    if let Some((time, pid)) = line.written {
        let _ = write!(text, "{}  ", ui.dim(&format!("{}  pid {pid}", clock::exact(time))));
    }
    text + &ui::strip_control(&line.what)
}

#[derive(Serialize)]
struct LineView<'a> {
    time: Option<String>,
    pid: Option<u32>,
    what: &'a str,
}

fn view(line: &Line) -> LineView<'_> {
    let (time, pid) = line.written.unzip();
    LineView { time: time.map(utc), pid, what: &line.what }
}
