//! Runs, for people.

use std::io::{self, Write};
use std::path::Path;

use plimsoll_core::Tokens;
use plimsoll_core::name::short;
use plimsoll_core::plan;
use plimsoll_core::run::{Ending, Job, JobState, Leg, Run, Standing, Waiting, how_ended};
use plimsoll_core::text::duration;
use plimsoll_engine::checkpoint::Place;
use plimsoll_engine::world::World;
use plimsoll_runner::runner;
use plimsoll_runner::runs::{self, status};
use plimsoll_server::RunView;

use crate::layout::{self, COLUMNS, start};
use crate::past::counted;
use crate::ui::{self, Ui, strip_control, thousands};

/// How wide the gauge of what is done is.
const CELLS: usize = 16;

/// A run in a few lines.
pub(super) fn run(ui: &Ui, out: &mut impl Write, run: &Run) -> io::Result<()> {
    let (view, standing) = (RunView::of(run), status(run));
    let name = ui.bold(run.id.short());
    writeln!(out, "{name}  {}  {}", state(ui, standing), strip_control(&view.title))?;
    let gauge = ui::gauge(view.done as Tokens, view.of as Tokens, None, CELLS);
    let done = counted(view.of as u64, "task", "tasks");
    writeln!(out, "  {gauge}  {} of {done} done; {}", view.done, duration(view.seconds))?;
    writeln!(out, "  {}; {}", sessions(&view), taken(&view))?;
    let at_work = run.at_work().filter(|_| standing == Standing::Running);
    at_work.map(|(job, leg)| now(job, leg)).try_for_each(|now| writeln!(out, "  now: {now}"))?;
    if let Some(why) = view.why.as_ref().filter(|_| view.state != "done") {
        writeln!(out, "  {}", ui.yellow(&strip_control(why)))?;
    }
    if let Some(resume) = &view.resume {
        writeln!(out, "  to go on: {resume}")?;
    }
    Ok(())
}

fn state(ui: &Ui, standing: Standing) -> String {
    let word = format!("{:<11}", standing.label());
    match standing {
        Standing::Running | Standing::Done => ui.green(&word),
        Standing::Interrupted | Standing::Limited => ui.yellow(&word),
        Standing::Failed | Standing::Broken => ui.red(&word),
    }
}

fn sessions(view: &RunView) -> String {
    let restarts = (view.restarts as u64, "restart", "restarts");
    let retries = (view.retries as u64, "retry", "retries");
    let again = [restarts, retries].into_iter().filter(|(count, ..)| *count > 0);
    let again = again.map(|(count, one, many)| format!(", {}", counted(count, one, many)));
    counted(view.sessions.into(), "session", "sessions") + &again.collect::<String>()
}

/// What it has taken: beside an estimate what is to be compared with it, else what its windows held.
fn taken(view: &RunView) -> String {
    let taken = if view.estimate.is_some() { view.measured } else { view.tokens };
    let taken = match taken {
        Some(taken) => format!("{} tokens", thousands(taken)),
        None => "tokens unknown".to_owned(),
    };
    match view.estimate {
        Some(estimate) => format!("{taken}, {} estimated", thousands(estimate)),
        None => taken,
    }
}

/// What is being worked on.
fn now(job: &Job, leg: &Leg) -> String {
    let session = leg.begun.session.as_ref().map(|it| format!(" {}", short(it.as_str())));
    let session = format!("session {}{}", leg.begun.leg, session.unwrap_or_default());
    strip_control(&format!("{}, {session}", title(job)))
}

fn title(job: &Job) -> String {
    match job.begun.batch {
        Some(batch) => format!("batch {batch}: {}", job.begun.title),
        None => job.begun.title.clone(),
    }
}

/// Why its plan was made anew, and what of that may be too large for a session.
pub(super) fn plan(ui: &Ui, out: &mut impl Write, run: &Run) -> io::Result<()> {
    for why in &run.replanned {
        writeln!(out, "  planned again: {}", strip_control(why))?;
    }
    for piece in run.warned() {
        let warning = piece.warning.as_deref().unwrap_or_default();
        writeln!(
            out,
            "  {}",
            ui.yellow(&strip_control(&format!("task `{}`: {warning}", piece.id)))
        )?;
    }
    Ok(())
}

/// What a run has been at, with the sessions.
pub(super) fn jobs(world: &World, ui: &Ui, out: &mut impl Write, run: &Run) -> io::Result<()> {
    let project = Path::new(&run.begun.project).to_owned();
    let place = Place::of_project(world, project);
    for job in &run.jobs {
        writeln!(out)?;
        let (state, why) = match &job.state {
            JobState::Open => ("open", None),
            JobState::Done { .. } => ("done", None),
            JobState::Failed { why, .. } => ("failed", Some(why)),
        };
        writeln!(out, "{}  {state}{}", ui.bold(&strip_control(&title(job))), took(job))?;
        job.legs.iter().try_for_each(|leg| self::leg(ui, out, leg))?;
        if let Some(id) = job.told_by() {
            let file = place.file(id);
            let gone = if file.exists() { "" } else { " (pruned since)" };
            writeln!(out, "  {}", ui.dim(&strip_control(&format!("checkpoint {id}{gone}"))))?;
        }
        if let Some(why) = why {
            writeln!(out, "  {}", ui.red(&strip_control(why)))?;
        }
        printed(world, ui, out, run, job)?;
    }
    Ok(())
}

/// What nobody has begun, batch by batch.
pub(super) fn waiting(ui: &Ui, out: &mut impl Write, run: &Run) -> io::Result<()> {
    let waiting = run.waiting();
    for batch in waiting.chunk_by(|one, other| one.batch == other.batch) {
        let estimate = thousands(plan::load(batch.iter().map(|it| it.piece)));
        let name = ui.bold(&format!("batch {}", batch[0].batch));
        writeln!(out, "\n{name}  waiting; {estimate} estimated")?;
        for Waiting { piece, failed, .. } in batch {
            let why =
                failed.map(|failed| format!("after {}, which has failed", strip_control(failed)));
            let why = why.unwrap_or_default();
            let columns = COLUMNS.saturating_sub(layout::width(&why) + 4).max(COLUMNS / 2);
            let first = piece.description.lines().next().unwrap_or_default();
            let line = start(&strip_control(&format!("{}  {first}", piece.id)), columns);
            writeln!(out, "{}", format!("  {line}  {}", ui.red(&why)).trim_end())?;
        }
    }
    Ok(())
}

fn took(job: &Job) -> String {
    let estimate = job.begun.tokens.map(|tokens| format!("{} estimated", thousands(tokens)));
    let took = job.measured().map(|took| format!("{} tokens", thousands(took)));
    let parts: Vec<String> = took.into_iter().chain(estimate).collect();
    if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) }
}

/// The files that hold what the agent of the last session printed, and the end of it where it failed.
fn printed(world: &World, ui: &Ui, out: &mut impl Write, run: &Run, job: &Job) -> io::Result<()> {
    let last = job.legs.last().map_or(0, |leg| leg.begun.leg);
    let short = |file: &Path| ui::short_path(file, &world.paths.home);
    for file in runner::output_files(&world.paths, &run.id, job.begun.job, last) {
        writeln!(out, "  {}", ui.dim(&short(&file)))?;
    }
    let words = runs::failed_job_output(&world.paths, &run.id, job).unwrap_or_default();
    words.lines.iter().try_for_each(|line| writeln!(out, "    {}", strip_control(line)))
}

fn leg(ui: &Ui, out: &mut impl Write, leg: &Leg) -> io::Result<()> {
    let session = leg.begun.session.as_ref().map_or("-", |session| short(session.as_str()));
    let used = leg.used().map(|used| format!("; {} tokens at its end", thousands(used)));
    let used = used.unwrap_or_default();
    let session = ui.bold(&format!("{:<8}", strip_control(session)));
    writeln!(out, "  {:>2}  {session}  {}{used}", leg.begun.leg, ending(leg))
}

fn ending(leg: &Leg) -> String {
    match leg.end.as_ref().map(|(_, end)| end.how) {
        None => "has not ended".to_owned(),
        Some(Ending::Stopped) => "full, stopped by us".to_owned(),
        Some(Ending::Exited { code: 0 }) => "ended by itself".to_owned(),
        Some(Ending::Exited { code }) => how_ended(code),
        Some(Ending::Lost) => "killed, or gone".to_owned(),
        Some(Ending::Halted) => "ended by us".to_owned(),
    }
}
