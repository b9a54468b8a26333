//! `plimsoll batch plan`

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_agents::DEFAULT;
use plimsoll_core::Tokens;
use plimsoll_core::name::is_meant;
use plimsoll_core::plan::{self, Kind, Piece, Plan};
use plimsoll_engine::load::Measured;
use plimsoll_engine::resume;
use plimsoll_engine::sessions::{self, Found};
use plimsoll_engine::world::World;
use plimsoll_runner::batch::calibration::Calibration;
use plimsoll_runner::batch::{self, PlanWithBound, Room, Task, Workflow};
use plimsoll_runner::task_files::{self, SessionRoom};

use crate::ingest;
use crate::layout::{COLUMNS, fit};
use crate::past::counted;
use crate::report::HintExt;
use crate::ui::{Ui, shell_quoted, strip_control, thousands};

/// Show which work fits into which session
///
/// The file is YAML, JSON or a check list in Markdown; `-` reads it from stdin. A task has a
/// `description` and may have an `id`, `files`, `estimated_files`, `tokens` (if you know better),
/// `whole: true` (never split it), `after` (tasks that come first), `done` and `subtasks`.
///
/// A batch holds as much as a session has room for: the model's window, or `batch.budget`, less what a
/// fresh session of this project begins with, and less what lies above the restart line.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll batch plan TODO.md
  plimsoll batch plan tasks.yaml --available 50000
  plimsoll batch plan tasks.json --json | jq '.nodes | keys'
  plimsoll batch plan TODO.md --mermaid > plan.mmd
  printf -- '- [ ] Refactor the parser\\n- [ ] Fix the docs\\n' | plimsoll batch plan -

A task file in YAML:
  - Fix the reader
  - description: Refactor the parser
    files: [src/parser.rs, src/lexer.rs]
    after: 1")]
pub(crate) struct Args {
    /// The task file
    file: PathBuf,
    /// How many tokens a batch may hold, whatever is known
    #[arg(long, value_name = "N", value_parser = super::available, allow_negative_numbers = true,
        conflicts_with = "session")]
    available: Option<Tokens>,
    /// For what this session has left, by the beginning of its name (default: the one this runs in)
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print the workflow as JSON
    #[arg(long)]
    json: bool,
    /// Print the workflow as a Mermaid flow chart
    #[arg(long, conflicts_with = "json")]
    mermaid: bool,
}

pub(super) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let project = crate::cmd::project(world)?;
    let tasks = read(&project, &args.file)?;
    if let Some(told) = nothing_left(&tasks).filter(|_| !args.json && !args.mermaid) {
        return ui.print(&(told + "\n"));
    }
    let known = match args.available {
        Some(available) => given(available),
        None => find_room(world, ui, &project, args.session.as_deref())?,
    };
    let learned = super::learned(world, ui);
    let planned = planned(ui, &project, &args.file, &tasks, &known, &learned)?;
    let workflow = Workflow::of(&planned.plan);
    match (args.json, args.mermaid) {
        (true, _) => ui.print_json(&workflow),
        (_, true) => ui.print(&plain_lines(&workflow.mermaid())),
        _ => ui.print(&(tree(ui, &planned, &known) + &calibrated(ui, &learned, &planned.plan))),
    }
}

/// The plan of a task file for fresh sessions.
pub(super) fn for_fresh_sessions(
    world: &World,
    ui: &Ui,
    project: &Path,
    file: &Path,
    tasks: &[Task],
    available: Option<Tokens>,
) -> anyhow::Result<Plan> {
    let known = match available {
        Some(available) => given(available),
        None => fresh_room(world, ui, project),
    };
    Ok(planned(ui, project, file, tasks, &known, &super::learned(world, ui))?.plan)
}

fn planned(
    ui: &Ui,
    project: &Path,
    file: &Path,
    tasks: &[Task],
    known: &SessionRoom,
    learned: &Calibration,
) -> anyhow::Result<PlanWithBound> {
    let available = known.room.available();
    if available == 0 {
        return Err(anyhow::anyhow!("there is no room: {}", room(known)))
            .with_context(|| format!("could not plan `{}`", file.display()))
            .hint("say what a batch may hold: add `--available 50000`");
    }
    let (terms, warnings) = task_files::planning_terms(
        project,
        tasks,
        available,
        learned.factors(),
        known.model.as_deref(),
    );
    warnings.iter().for_each(|warning| ui.warn(warning));
    batch::plan(tasks, &terms)
        .with_context(|| format!("could not plan `{}`", file.display()))
        .hint(SEE_HELP)
}

const SEE_HELP: &str = "run `plimsoll batch plan --help` to see what a task may say";

/// The tasks of a file.
pub(super) fn read(project: &Path, file: &Path) -> anyhow::Result<Vec<Task>> {
    let text = match file.as_os_str() == "-" {
        true => task_files::read_text(io::stdin().lock()),
        false => task_files::read_file(file),
    };
    let hint = match text.as_ref().map_err(io::Error::kind) {
        Err(io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            format!("run `ls -l {}` to see whether it is there", shell_quoted(file))
        }
        _ => "run `plimsoll batch plan --help` to see what a task file looks like".to_owned(),
    };
    let text = text.with_context(|| format!("could not read `{}`", file.display())).hint(hint)?;
    task_files::parse_tasks(project, &file.to_string_lossy(), &text)
        .with_context(|| format!("could not read the tasks of `{}`", file.display()))
        .hint(SEE_HELP)
}

/// What is said of a file whose tasks are all done.
pub(super) fn nothing_left(tasks: &[Task]) -> Option<String> {
    let all = match tasks.len() {
        1 => "its one task is done".to_owned(),
        many => format!("all {many} tasks are done"),
    };
    tasks.iter().all(|task| task.done).then(|| format!("nothing left to do: {all}"))
}

fn given(available: Tokens) -> SessionRoom {
    let room = Room { budget: available, ..Room::default() };
    SessionRoom { room, source: "--available", model: None }
}

fn find_room(
    world: &World,
    ui: &Ui,
    project: &Path,
    named: Option<&str>,
) -> anyhow::Result<SessionRoom> {
    if let Some(measured) = session(world, named)? {
        return Ok(task_files::find_room(world, DEFAULT, None, project, Some(&measured)));
    }
    Ok(fresh_room(world, ui, project))
}

/// What a fresh session of the project has room for.
fn fresh_room(world: &World, ui: &Ui, project: &Path) -> SessionRoom {
    let ingester = ingest::everything(world, ui)
        .inspect_err(|error| ui.warn(&format!("past sessions cannot be asked: {error:#}")));
    let store = ingester.as_ref().ok().map(|ingester| &ingester.store);
    task_files::find_room(world, DEFAULT, store, project, None)
}

/// The session whose room is meant: the one named, else the one this runs in.
fn session(world: &World, named: Option<&str>) -> anyhow::Result<Option<Measured>> {
    let found = match named {
        Some(name) => Some(find(world, name)?),
        None => resume::asking(world).and_then(|session| sessions::find_one(world, &session)),
    };
    let Some(found) = found else { return Ok(None) };
    sessions::measure(world, &found)
        .with_context(|| format!("could not measure session `{}`", found.owner.session.as_str()))
        .hint("run `plimsoll doctor` to check file access")
}

fn find(world: &World, name: &str) -> anyhow::Result<Found> {
    let found = sessions::find(world)?;
    let mut named = found.into_iter().filter(|it| is_meant(it.owner.session.as_str(), name));
    named
        .next()
        .with_context(|| format!("no session is called `{name}`"))
        .hint("run `plimsoll status --all` to see all sessions")
}

/// The plan as a tree: batches with how full they are, pieces under them.
fn tree(ui: &Ui, planned: &PlanWithBound, known: &SessionRoom) -> String {
    let PlanWithBound { plan, bound } = planned;
    let mut text = String::new();
    for (at, pieces) in plan.batches.iter().enumerate() {
        if at > 0 {
            let _ = writeln!(text, "{}", ui.dim("  │ checkpoint"));
        }
        text += &head(ui, at, pieces, plan.available);
        let last = pieces.len().saturating_sub(1);
        for (at, piece) in pieces.iter().enumerate() {
            text += &branch(ui, piece, at == last);
        }
    }
    text + "\n" + &totals(ui, plan, *bound, known)
}

fn head(ui: &Ui, at: usize, pieces: &[Piece], available: Tokens) -> String {
    let load = plan::load(pieces);
    let (gauge, name) = (ui.gauge(load, available, None), ui.bold(&format!("batch {}", at + 1)));
    let share = load as f64 * 100.0 / available.max(1) as f64;
    let share = thousands(share.round() as u64);
    format!("{name}  {gauge}  {share}%  {} tokens\n", thousands(load))
}

fn branch(ui: &Ui, piece: &Piece, is_last: bool) -> String {
    let (turn, below) = if is_last { ("└─", "   ") } else { ("├─", "│  ") };
    let first = strip_control(piece.description.lines().next().unwrap_or_default());
    let (id, tokens) = (strip_control(&piece.id), thousands(piece.tokens));
    let columns = COLUMNS.saturating_sub(8 + id.chars().count() + tokens.len());
    let mut text =
        format!("  {turn} {}  {}  {}\n", ui.bold(&id), fit(&[first], columns), ui.dim(&tokens));
    let mut note = |words: String| {
        let _ = writeln!(text, "  {}{}", below, words);
    };
    if piece.of.is_some() && !piece.files.is_empty() {
        note(ui.dim(&fit(&[strip_control(&piece.files.join(" "))], COLUMNS - 5)));
    }
    if !piece.after.is_empty() {
        note(ui.dim(&fit(
            &[strip_control(&format!("after {}", piece.after.join(", ")))],
            COLUMNS - 5,
        )));
    }
    if let Some(warning) = &piece.warning {
        note(ui.yellow(&strip_control(warning)));
    }
    text
}

fn totals(ui: &Ui, plan: &Plan, bound: usize, known: &SessionRoom) -> String {
    let count = |count: usize, one: &str, many: &str| counted(count as u64, one, many);
    let (parts, tasks): (Vec<&Piece>, Vec<&Piece>) =
        plan.pieces().partition(|piece| piece.of.is_some());
    let whole =
        (parts.is_empty() || !tasks.is_empty()).then(|| count(tasks.len(), "task", "tasks"));
    let split = (!parts.is_empty()).then(|| count(parts.len(), "part of a task", "parts of tasks"));
    let parts = [
        whole.into_iter().chain(split).collect::<Vec<_>>().join(", "),
        format!("{} tokens", thousands(plan.tokens())),
        count(plan.batches.len(), "batch", "batches"),
        format!("no plan has fewer than {}", thousands(bound as u64)),
    ];
    format!("{}\n{}\n", fit(&parts, COLUMNS), ui.dim(&fit(&[room(known)], COLUMNS)))
}

/// What a batch may hold, and why.
fn room(known: &SessionRoom) -> String {
    let Room { budget, used: reading, reserve } = known.room;
    let available = thousands(known.room.available());
    let mut text = format!("{available} available = {} ({})", thousands(budget), known.source);
    for (tokens, what) in [(reading, "held"), (reserve, "reserve")] {
        if tokens > 0 {
            let _ = write!(text, " − {} {what}", thousands(tokens));
        }
    }
    text
}

/// Which kinds of tasks of this plan past work has taught to estimate.
fn calibrated(ui: &Ui, learned: &Calibration, plan: &Plan) -> String {
    let used = learned
        .factors_in_use()
        .filter(|(kind, _)| plan.pieces().any(|it| is_calibrated(it, *kind)));
    let used: Vec<String> = used.map(|(kind, factor)| format!("{kind} ×{factor:.2}")).collect();
    match used.is_empty() {
        true => String::new(),
        false => ui.dim(&format!("calibrated by past work: {}", used.join(", "))) + "\n",
    }
}

/// Whether past work has changed what a piece of that kind, or a part of it, is estimated to take.
fn is_calibrated(piece: &Piece, kind: Kind) -> bool {
    let is_own = piece.kind == kind && piece.formula.is_some();
    is_own || piece.parts.iter().any(|part| is_calibrated(part, kind))
}

/// A text of several lines from outside, each without what moves the cursor.
fn plain_lines(text: &str) -> String {
    text.lines().map(|line| strip_control(line) + "\n").collect()
}
