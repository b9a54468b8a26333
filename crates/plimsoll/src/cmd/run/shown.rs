//! How a run goes, on the terminal: a line that is drawn again, or plain lines where nobody watches.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_core::run::{Ending, LegBegun, LegEnd, Run, killed_by};
use plimsoll_core::text::duration;
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::world::now;
use plimsoll_runner::runner::RunProgress;

use crate::layout::start;
use crate::past::counted;
use crate::ui::footer::Footer;
use crate::ui::{Ui, gauge, short_tokens};

/// How wide the gauge is.
const CELLS: usize = 12;

/// What is shown of a run.
pub(super) struct Shown<'u> {
    ui: &'u Ui,
    footer: Footer<'u>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How long it was conducted before, in milliseconds.
    before: Millis,
    since: Millis,
    session: u32,
    restarts: u32,
    load: Option<(Tokens, Tokens)>,
    /// Whether hooks of ours give sessions their checkpoints.
    gives: bool,
}

impl<'u> Shown<'u> {
    pub(super) fn new(ui: &'u Ui) -> Self {
        Self { ui, footer: Footer::new(ui), state: Mutex::default() }
    }

    /// A run begins, or goes on; hooks give its sessions their checkpoints, or do not.
    pub(super) fn begin(&self, run: &Run, gives: bool) {
        let mut state = self.state();
        state.gives = gives;
        (state.before, state.since) = (run.conducted, now() as Millis);
        state.session = run.legs().count() as u32;
        let begins = if run.jobs.is_empty() { "begins" } else { "goes on" };
        self.say(&format!("run {} {begins}", run.id.short()));
    }

    /// The work is done.
    pub(super) fn done(&self, run: &Run) {
        let sessions = counted(run.legs().count() as u64, "session", "sessions");
        let time = self.state().time();
        self.say(&format!("run {} is done after {sessions}, {time}", run.id.short()));
    }

    /// Something happens.
    pub(super) fn take(&self, progress: RunProgress<'_>) {
        match progress {
            RunProgress::SessionBegun { leg, .. } => self.begun(leg),
            RunProgress::SessionFound { leg, .. } => {
                let mut state = self.state();
                (state.session, state.restarts) = (leg.leg, leg.leg.saturating_sub(leg.attempt));
                drop(state);
                self.say(&format!("session {} goes on", leg.leg));
            }
            RunProgress::Load { used, window, .. } => self.state().load = Some((used, window)),
            RunProgress::Tick => {}
            RunProgress::Output(bytes) => {
                self.wipe();
                let mut out = self.ui.out();
                // Where nobody listens any more the work goes on all the same.
                let _ = out.write_all(bytes).and_then(|()| out.flush());
            }
            RunProgress::SessionEnded(end) => return self.ended(end),
        }
        self.draw();
    }

    fn begun(&self, leg: &LegBegun) {
        let gives = {
            let mut state = self.state();
            (state.session, state.load) = (leg.leg, None);
            // The others tried again.
            state.restarts = leg.leg.saturating_sub(leg.attempt);
            state.gives
        };
        let from =
            leg.restore.as_ref().filter(|_| gives).map(|id| format!(" from checkpoint {id}"));
        self.say(&format!("session {} begins{}", leg.leg, from.unwrap_or_default()));
    }

    fn ended(&self, end: &LegEnd) {
        let how = match end.how {
            Ending::Stopped => "is full".to_owned(),
            Ending::Exited { code: 0 } => "has ended".to_owned(),
            Ending::Exited { code } => match killed_by(code) {
                Some(signal) => format!("was killed by signal {signal}"),
                None => format!("has ended with exit code {code}"),
            },
            Ending::Lost => "was lost".to_owned(),
            Ending::Halted => "was ended".to_owned(),
        };
        let held = end.used.map(|used| format!(" with {} tokens", short_tokens(used)));
        let sealed = end.checkpoint.as_ref().map(|id| format!(", checkpoint {id}"));
        let (held, sealed) = (held.unwrap_or_default(), sealed.unwrap_or_default());
        self.say(&format!("session {} {how}{held}{sealed}", end.leg));
    }

    /// Draws the line below, as things stand.
    fn draw(&self) {
        self.footer.draw(|columns| start(&self.state().line(), columns));
    }

    /// Takes that line away.
    pub(super) fn wipe(&self) {
        self.footer.wipe();
    }

    fn say(&self, text: &str) {
        self.footer.say(text);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn line(&self) -> String {
        let restarts = counted(self.restarts.into(), "restart", "restarts");
        let load = match self.load {
            Some((used, window)) => {
                let share = used.saturating_mul(100) / window.max(1);
                let figures = format!("{}/{}", short_tokens(used), short_tokens(window));
                format!("{} {share:>3}% {figures}", gauge(used, window, None, CELLS))
            }
            None => gauge(0, 1, None, CELLS),
        };
        format!("session {}  {load}  {restarts}  {}", self.session, self.time())
    }

    fn time(&self) -> String {
        let passed = self.before + (now() as Millis - self.since);
        duration(u64::try_from(passed / 1000).unwrap_or(0))
    }
}
