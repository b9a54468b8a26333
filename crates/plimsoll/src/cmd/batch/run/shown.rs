//! How a plan goes, on the terminal: a line of bars that is drawn again, or plain lines where nobody
//! watches.

mod line;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_core::Millis;
use plimsoll_core::run::{Ending, JobBegun, LegBegun, LegEnd, Run, killed_by};
use plimsoll_engine::world::now;
use plimsoll_runner::runner::{JobNews, OutputTail, RunProgress};

use self::line::State;
use super::view;
use crate::past::counted;
use crate::ui::footer::Footer;
use crate::ui::{Ui, short_path, short_tokens, strip_control};

/// What is shown of a run.
pub(super) struct Shown<'u> {
    footer: Footer<'u>,
    home: &'u Path,
    state: Mutex<State>,
    /// The jobs whose beginning has been told.
    told: Mutex<BTreeSet<u32>>,
}

impl<'u> Shown<'u> {
    pub(super) fn new(ui: &'u Ui, home: &'u Path) -> Self {
        Self { footer: Footer::new(ui), home, state: Mutex::default(), told: Mutex::default() }
    }

    /// Prints that a run starts or continues.
    pub(super) fn begin(&self, run: &Run) {
        let (done, tasks) = view::counts(run);
        let name = run.id.short().to_owned();
        let begins = match run.jobs.is_empty() {
            true => format!("begins: {}", strip_control(&run.begun.title)),
            false => format!("goes on: {}", view::are_done(run)),
        };
        self.footer.say(&format!("run {name} {begins}"));
        *self.state() = State {
            name,
            before: run.conducted,
            since: now() as Millis,
            tasks,
            done,
            sessions: run.legs().count(),
            ..State::default()
        };
        self.draw();
    }

    /// Prints a change in the state of a job.
    pub(super) fn tell(&self, news: JobNews<'_>) {
        match news {
            JobNews::Done(job) => self.done(job),
            JobNews::Retrying { job, code, output, pause } => {
                let last =
                    output.lines.last().map(|line| format!(" ({})", strip_control(line.trim())));
                let failed = match killed_by(code) {
                    Some(signal) => format!("{} was killed by signal {signal}", name(job)),
                    None => format!("{} failed with exit code {code}", name(job)),
                };
                let pause = format!("tried again in {} s", pause.as_secs_f64().ceil());
                self.footer.say(&format!("{failed}{}; {pause}", last.unwrap_or_default()));
            }
            JobNews::Failed { job, code, output } => {
                let how = match killed_by(code) {
                    Some(signal) => format!(", killed by signal {signal}"),
                    None => format!(" with exit code {code}"),
                };
                let failed = format!("{} has failed{how}", name(job));
                self.footer.say(&format!("{failed}{}", self.said(output)));
            }
            JobNews::Replanned { why, run } => self.replanned(why, run),
        }
        self.draw();
    }

    /// What an agent that has failed said last, and where all of it stands.
    fn said(&self, words: &OutputTail) -> String {
        if words.lines.is_empty() {
            return " and said nothing".to_owned();
        }
        let lines: String =
            words.lines.iter().map(|line| format!("\n  {}", strip_control(line))).collect();
        format!("; the end of {}:{lines}", short_path(&words.file, self.home))
    }

    /// What was split anew makes more tasks; what cannot be is warned of before it begins.
    fn replanned(&self, why: &str, run: &Run) {
        (_, self.state().tasks) = view::counts(run);
        self.footer.say(&format!("planned again: {}", strip_control(why)));
        for piece in run.warned() {
            let warning = piece.warning.as_deref().unwrap_or_default();
            self.footer.say(&strip_control(&format!("task `{}`: {warning}", piece.id)));
        }
    }

    fn done(&self, job: &JobBegun) {
        let mut state = self.state();
        state.done += job.pieces.len();
        let (done, tasks, time) = (state.done, state.tasks, state.time());
        let sessions = counted(state.sessions as u64, "session", "sessions");
        let of = counted(tasks as u64, "task", "tasks");
        let all = format!("{done} of {of}, {sessions}, {time}");
        let ends = (done == tasks).then(|| format!("run {} is done", state.name));
        drop(state);
        self.footer.say(&format!("{} is done: {all}", name(job)));
        ends.inspect(|ends| self.footer.say(ends));
    }

    /// Something happens in a session.
    pub(super) fn take(&self, progress: RunProgress<'_>) {
        match progress {
            RunProgress::SessionBegun { job, leg } => {
                self.state().sessions += 1;
                self.begun(job, leg, "begins");
            }
            RunProgress::SessionFound { job, leg } => self.begun(job, leg, "goes on"),
            RunProgress::Load { job, used, window, .. } => {
                if let Some(session) = self.state().running.get_mut(&job) {
                    session.load = Some((used, window));
                }
            }
            RunProgress::SessionEnded(end) => self.ended(end),
            RunProgress::Output(_) | RunProgress::Tick => {}
        }
        self.draw();
    }

    /// The first session of a job tells of the job, too.
    fn begun(&self, job: &JobBegun, leg: &LegBegun, how: &str) {
        let session = line::Session { name: short_name(job), of: of(job), load: None };
        self.state().running.insert(leg.job, session);
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(leg.job) {
            self.footer.say(&format!("{} {how}: {}", name(job), strip_control(&job.title)));
        }
    }

    /// A session's end is told where another one goes on, or nobody else says it.
    fn ended(&self, end: &LegEnd) {
        let session = self.state().running.remove(&end.job);
        let how = match end.how {
            Ending::Exited { .. } => return,
            Ending::Stopped => "is full",
            Ending::Lost => "was lost",
            Ending::Halted => "was ended",
        };
        let of = session.map(|session| format!(" of {}", session.of)).unwrap_or_default();
        let held = end.used.map(|used| format!(" with {} tokens", short_tokens(used)));
        let held = held.unwrap_or_default();
        self.footer.say(&format!("session {}{of} {how}{held}", end.leg));
    }

    /// Draws the line below, as things stand.
    fn draw(&self) {
        self.footer.draw(|columns| self.state().line(columns));
    }

    /// Takes that line away.
    pub(super) fn wipe(&self) {
        self.footer.wipe();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a job is called.
fn name(job: &JobBegun) -> String {
    let pieces = match &job.pieces[..] {
        [piece] => format!("task {}", strip_control(piece)),
        pieces => format!("{} tasks", pieces.len()),
    };
    job.batch.map_or_else(|| pieces.clone(), |batch| format!("batch {batch} ({pieces})"))
}

/// The same as what a session is of.
fn of(job: &JobBegun) -> String {
    match (&job.pieces[..], job.batch) {
        ([piece], _) | ([piece, ..], None) => format!("task `{}`", strip_control(piece)),
        (_, batch) => format!("batch {}", batch.unwrap_or_default()),
    }
}

/// The same in a few characters.
fn short_name(job: &JobBegun) -> String {
    match (&job.pieces[..], job.batch) {
        ([piece], _) | ([piece, ..], None) => strip_control(piece),
        (_, batch) => format!("batch {}", batch.unwrap_or_default()),
    }
}
