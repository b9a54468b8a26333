//! Runs, for people.

use std::io::{self, Write};

use plimsoll_core::Tokens;
use plimsoll_core::run::{Ending, Job, JobState, Leg, Run, Standing};
use plimsoll_core::text::duration;
use plimsoll_engine::runs::standing;
use plimsoll_server::RunView;

use crate::cmd::short;
use crate::past::counted;
use crate::ui::{self, Ui, plain, thousands};

/// How wide the gauge of what is done is.
const CELLS: usize = 16;

/// A run in a few lines.
pub(super) fn run(ui: &Ui, out: &mut impl Write, run: &Run) -> io::Result<()> {
    let view = RunView::of(run);
    let state = state(ui, standing(run));
    let name = ui.bold(run.id.short());
    writeln!(out, "{name}  {state}  {}", plain(&view.title))?;
    let gauge = ui::gauge(view.done as Tokens, view.of as Tokens, None, CELLS);
    let tokens = format!("{} tokens{}", thousands(view.tokens), against(view.estimate));
    let took = duration(view.seconds);
    writeln!(out, "  {gauge}  {}; {}; {tokens}; {took}", done(&view), sessions(&view))?;
    if let Some((job, leg)) = run.current().filter(|_| standing(run) == Standing::Running) {
        writeln!(out, "  now: {}", now(job, leg))?;
    }
    if let Some(why) = view.why.as_ref().filter(|_| view.state != "done") {
        writeln!(out, "  {}", ui.yellow(&plain(why)))?;
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

fn done(view: &RunView) -> String {
    let (one, many) = if view.sort == "plan" { ("piece", "pieces") } else { ("job", "jobs") };
    format!("{} of {} done", view.done, counted(view.of as u64, one, many))
}

fn sessions(view: &RunView) -> String {
    let sessions = counted(view.sessions.into(), "session", "sessions");
    match view.restarts {
        0 => sessions,
        restarts => format!("{sessions}, {}", counted(restarts as u64, "restart", "restarts")),
    }
}

fn against(estimate: Option<Tokens>) -> String {
    estimate.map(|tokens| format!(" of {} estimated", thousands(tokens))).unwrap_or_default()
}

/// What is being worked on.
fn now(job: &Job, leg: &Leg) -> String {
    let session = leg.begun.session.as_ref().map(|it| format!(", session {}", short(it.as_str())));
    let again = if leg.begun.leg > 1 { format!(", leg {}", leg.begun.leg) } else { String::new() };
    plain(&format!("{}{}{again}", title(job), session.unwrap_or_default()))
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
        writeln!(out, "  planned again: {}", plain(why))?;
    }
    for piece in run.warned() {
        let warning = piece.warning.as_deref().unwrap_or_default();
        writeln!(out, "  {}", ui.yellow(&plain(&format!("task `{}`: {warning}", piece.id))))?;
    }
    Ok(())
}

/// The jobs of a run with their sessions.
pub(super) fn jobs(ui: &Ui, out: &mut impl Write, run: &Run) -> io::Result<()> {
    for job in &run.jobs {
        writeln!(out)?;
        let (state, why) = match &job.state {
            JobState::Open => ("open", None),
            JobState::Done { .. } => ("done", None),
            JobState::Failed { why, .. } => ("failed", Some(why)),
        };
        let took = match (job.measured(), job.begun.tokens) {
            (Some(took), estimate) => format!("; took {}{}", thousands(took), against(estimate)),
            (None, Some(estimate)) => format!("; {} estimated", thousands(estimate)),
            (None, None) => String::new(),
        };
        writeln!(out, "{}  {state}{took}", ui.bold(&plain(&title(job))))?;
        if let Some(why) = why {
            writeln!(out, "  {}", ui.red(&plain(why)))?;
        }
        job.legs.iter().try_for_each(|leg| self::leg(ui, out, leg))?;
    }
    Ok(())
}

fn leg(ui: &Ui, out: &mut impl Write, leg: &Leg) -> io::Result<()> {
    let session = leg.begun.session.as_ref().map_or("-", |session| session.as_str());
    let end = leg.end.as_ref().map(|(_, end)| end);
    let used = end.and_then(|end| end.used).map(|used| format!("; {} tokens", thousands(used)));
    let checkpoint = end.and_then(|end| end.checkpoint.as_ref());
    let checkpoint = checkpoint.map(|id| ui.dim(&plain(&format!("; checkpoint {id}"))));
    writeln!(
        out,
        "  {:>2}  {}  {}{}{}",
        leg.begun.leg,
        plain(session),
        ending(leg),
        used.unwrap_or_default(),
        checkpoint.unwrap_or_default()
    )
}

fn ending(leg: &Leg) -> String {
    match leg.end.as_ref().map(|(_, end)| end.how) {
        None => "has not ended".to_owned(),
        Some(Ending::Stopped) => "full, stopped by us".to_owned(),
        Some(Ending::Exited { code: 0 }) => "ended by itself".to_owned(),
        Some(Ending::Exited { code }) => format!("ended with exit code {code}"),
        Some(Ending::Lost) => "killed, or gone".to_owned(),
        Some(Ending::Halted) => "ended by us".to_owned(),
    }
}
