//! How a plan goes, on the terminal: bars that are drawn again, or plain lines where nobody watches.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_core::run::{Ending, JobBegun, LegBegun, LegEnd, Run};
use plimsoll_core::text::duration;
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::run::{News, Progress};
use plimsoll_engine::world::now;

use super::view;
use crate::ui::{Ui, gauge, plain, short_tokens};

/// How wide the bar of all tasks is, and that of a session's window.
const CELLS: (usize, usize) = (16, 8);
/// How many sessions have a bar.
const BARS: usize = 3;

/// What is shown of a run.
pub(super) struct Shown<'u> {
    ui: &'u Ui,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    name: String,
    /// How long it was conducted before, in milliseconds.
    before: Millis,
    since: Millis,
    tasks: usize,
    done: usize,
    sessions: usize,
    /// The sessions that run, by their jobs, with how full they are.
    running: BTreeMap<u32, Option<(Tokens, Tokens)>>,
}

impl<'u> Shown<'u> {
    pub(super) fn new(ui: &'u Ui) -> Self {
        Self { ui, state: Mutex::default() }
    }

    /// A run begins, or goes on.
    pub(super) fn begin(&self, run: &Run) {
        let (done, tasks) = view::counts(run);
        let name = run.id.short().to_owned();
        let begins = match run.jobs.is_empty() {
            true => format!("begins: {}", plain(&run.begun.title)),
            false => format!("goes on: {done} of {tasks} tasks are done"),
        };
        self.say(&format!("run {name} {begins}"));
        *self.state() = State {
            name,
            before: run.conducted,
            since: now() as Millis,
            tasks,
            done,
            sessions: run.legs().count(),
            running: BTreeMap::new(),
        };
        self.draw();
    }

    /// Something becomes of a job.
    pub(super) fn tell(&self, news: News<'_>) {
        match news {
            News::Begun(job) => self.say(&format!("{} begins: {}", name(job), plain(&job.title))),
            News::Done(job) => self.done(job),
            News::Waits { job, code, words, pause } => {
                let pause = format!("tried again in {} s", pause.as_secs_f64().ceil());
                self.say(&format!(
                    "{} failed with exit code {code}{}; {pause}",
                    name(job),
                    said(words)
                ));
            }
            News::Failed { job, code, words } => {
                self.say(&format!("{} has failed with exit code {code}{}", name(job), said(words)));
            }
            News::Replanned { why, run } => self.replanned(why, run),
        }
        self.draw();
    }

    /// What was split anew makes more tasks; what cannot be is warned of before it begins.
    fn replanned(&self, why: &str, run: &Run) {
        (_, self.state().tasks) = view::counts(run);
        self.say(&format!("planned again: {}", plain(why)));
        for piece in run.warned() {
            let warning = piece.warning.as_deref().unwrap_or_default();
            self.say(&plain(&format!("task `{}`: {warning}", piece.id)));
        }
    }

    fn done(&self, job: &JobBegun) {
        let mut state = self.state();
        state.done += job.pieces.len();
        let (done, tasks, time) = (state.done, state.tasks, state.time());
        let sessions = match state.sessions {
            1 => "1 session".to_owned(),
            many => format!("{many} sessions"),
        };
        let all = format!("{done} of {tasks} tasks, {sessions}, {time}");
        let ends = (done == tasks).then(|| format!("run {} is done", state.name));
        drop(state);
        self.say(&format!("{} is done: {all}", name(job)));
        ends.inspect(|ends| self.say(ends));
    }

    /// Something happens in a session.
    pub(super) fn take(&self, progress: Progress<'_>) {
        match progress {
            Progress::Begun(LegBegun { job, .. }) => {
                let mut state = self.state();
                state.sessions += 1;
                state.running.insert(*job, None);
            }
            Progress::Load { job, used, window, .. } => {
                self.state().running.insert(job, Some((used, window)));
            }
            Progress::Ended(end) => self.ended(end),
            Progress::Printed(_) => {}
        }
        self.draw();
    }

    /// A session's end is told where another one goes on, or nobody else says it.
    fn ended(&self, end: &LegEnd) {
        self.state().running.remove(&end.job);
        let held = end.used.map(|used| format!(" with {} tokens", short_tokens(used)));
        let how = match end.how {
            Ending::Exited { .. } => return,
            Ending::Stopped => "is full",
            Ending::Lost => "was lost",
            Ending::Halted => "was ended",
        };
        let (LegEnd { job, leg, .. }, held) = (end, held.unwrap_or_default());
        self.say(&format!("session {leg} of job {job} {how}{held}"));
    }

    /// A line that stays.
    fn say(&self, text: &str) {
        self.wipe();
        self.ui.complain(&format!("{}\n", self.ui.dim(&format!("plimsoll: {text}"))));
    }

    /// The line that is drawn again.
    fn draw(&self) {
        if self.ui.redraws_errors() {
            self.ui.redraw(&self.state().line());
        }
    }

    /// Takes that line away.
    pub(super) fn wipe(&self) {
        if self.ui.redraws_errors() {
            self.ui.redraw("");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn line(&self) -> String {
        let (done, tasks) = (self.done as u64, self.tasks as u64);
        let bar = gauge(done, tasks, None, CELLS.0);
        let sessions = self.running.iter().take(BARS).map(|(job, load)| {
            let (used, window) = load.unwrap_or((0, 1));
            let share = used.saturating_mul(100) / window.max(1);
            format!("  job {job} {} {share:>2}%", gauge(used, window, None, CELLS.1))
        });
        let sessions: String = sessions.collect();
        let more = self.running.len().saturating_sub(BARS);
        let more = if more > 0 { format!("  +{more}") } else { String::new() };
        format!("{bar} {done}/{tasks} tasks{sessions}{more}  {}", self.time())
    }

    fn time(&self) -> String {
        let passed = self.before + (now() as Millis - self.since);
        duration(u64::try_from(passed / 1000).unwrap_or(0))
    }
}

/// What a job is called.
fn name(job: &JobBegun) -> String {
    let pieces = match &job.pieces[..] {
        [piece] => format!("task {}", plain(piece)),
        pieces => format!("{} tasks", pieces.len()),
    };
    job.batch.map_or_else(|| pieces.clone(), |batch| format!("batch {batch} ({pieces})"))
}

fn said(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(" ({})", plain(words)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_shows_all_tasks_and_how_full_the_sessions_are() {
        let loads = [Some((50_000, 200_000)), None, Some((180_000, 200_000)), None];
        let state = State {
            since: now() as Millis,
            tasks: 12,
            done: 3,
            running: (4..).zip(loads).collect(),
            ..State::default()
        };
        let expected = "████░░░░░░░░░░░░ 3/12 tasks  job 4 ██░░░░░░ 25%  job 5 ░░░░░░░░  0%  \
                        job 6 ████████ 90%  +1  0 s";
        assert_eq!(state.line(), expected);
    }
}
