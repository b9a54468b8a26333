//! How a run goes, on the terminal: a line that is drawn again, or plain lines where nobody watches.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_core::run::{Ending, LegBegun, LegEnd, Run};
use plimsoll_core::text::duration;
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::run::Progress;
use plimsoll_engine::world::now;

use crate::ui::{Ui, gauge, short_tokens};

/// How wide the gauge is.
const CELLS: usize = 12;

/// What is shown of a run.
pub(super) struct Shown<'u> {
    ui: &'u Ui,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How long it was conducted before, in milliseconds.
    before: Millis,
    since: Millis,
    session: u32,
    load: Option<(Tokens, Tokens)>,
}

impl<'u> Shown<'u> {
    pub(super) fn new(ui: &'u Ui) -> Self {
        Self { ui, state: Mutex::default() }
    }

    /// A run begins, or goes on.
    pub(super) fn begin(&self, run: &Run) {
        let mut state = self.state();
        (state.before, state.since) = (run.conducted, now() as Millis);
        state.session = run.legs().count() as u32;
        let begins = if run.jobs.is_empty() { "begins" } else { "goes on" };
        self.say(&format!("run {} {begins}", run.id.short()));
    }

    /// The work is done.
    pub(super) fn done(&self, run: &Run) {
        let (sessions, time) = (run.legs().count(), self.time(&self.state()));
        let sessions =
            if sessions == 1 { "1 session".to_owned() } else { format!("{sessions} sessions") };
        self.say(&format!("run {} is done after {sessions}, {time}", run.id.short()));
    }

    /// Something happens.
    pub(super) fn take(&self, progress: Progress<'_>) {
        match progress {
            Progress::Begun(leg) => self.begun(leg),
            Progress::Load { used, window, .. } => {
                self.state().load = Some((used, window));
                self.draw();
            }
            Progress::Printed(bytes) => {
                let mut out = self.ui.out();
                // Where nobody listens any more the work goes on all the same.
                let _ = out.write_all(bytes).and_then(|()| out.flush());
            }
            Progress::Ended(end) => self.ended(end),
        }
    }

    fn begun(&self, leg: &LegBegun) {
        {
            let mut state = self.state();
            (state.session, state.load) = (leg.leg, None);
        }
        let from = leg.restore.as_ref().map(|id| format!(" from checkpoint {id}"));
        self.say(&format!("session {} begins{}", leg.leg, from.unwrap_or_default()));
        self.draw();
    }

    fn ended(&self, end: &LegEnd) {
        let how = match end.how {
            Ending::Stopped => "is full".to_owned(),
            Ending::Exited { code: 0 } => "has ended".to_owned(),
            Ending::Exited { code } => format!("has ended with exit code {code}"),
            Ending::Lost => "was lost".to_owned(),
            Ending::Halted => "was ended".to_owned(),
        };
        let held = end.used.map(|used| format!(" with {} tokens", short_tokens(used)));
        let sealed = end.checkpoint.as_ref().map(|id| format!(", checkpoint {id}"));
        let (held, sealed) = (held.unwrap_or_default(), sealed.unwrap_or_default());
        self.say(&format!("session {} {how}{held}{sealed}", end.leg));
    }

    /// A line that stays.
    fn say(&self, text: &str) {
        self.wipe();
        self.ui.complain(&format!("{}\n", self.ui.dim(&format!("plimsoll: {text}"))));
    }

    /// The line that is drawn again.
    fn draw(&self) {
        if !self.ui.redraws_errors() {
            return;
        }
        let state = self.state();
        let restarts = match state.session.saturating_sub(1) {
            1 => "1 restart".to_owned(),
            restarts => format!("{restarts} restarts"),
        };
        let load = match state.load {
            Some((used, window)) => {
                let share = used.saturating_mul(100) / window.max(1);
                let figures = format!("{}/{}", short_tokens(used), short_tokens(window));
                format!("{} {share:>3}% {figures}", gauge(used, window, None, CELLS))
            }
            None => gauge(0, 1, None, CELLS),
        };
        let time = self.time(&state);
        self.ui.redraw(&format!("session {}  {load}  {restarts}  {time}", state.session));
    }

    /// Takes that line away.
    pub(super) fn wipe(&self) {
        if self.ui.redraws_errors() {
            self.ui.redraw("");
        }
    }

    fn time(&self, state: &State) -> String {
        let passed = state.before + (now() as Millis - state.since);
        duration(u64::try_from(passed / 1000).unwrap_or(0))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
