//! Waits for an agent to end.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use plimsoll_core::run::{LegBegun, Outcome};
use rustix::process::Signal;

use super::lifecycle::{RunProgress, Runner};
use super::session_process::SessionProcess;
use super::session_result::WindowUsage;

/// Interval between checks whether the agent has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Interval between measurements of its window.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);
/// Time that an agent has to end before it is killed.
const KILL_AFTER: Duration = Duration::from_secs(10);

impl Runner<'_> {
    /// Waits for the end of a session and reports progress. Returns why the session was ended;
    /// `None` if it ended without being asked.
    pub(super) fn wait(
        &self,
        leg: &LegBegun,
        running: &mut SessionProcess,
    ) -> anyhow::Result<Option<Outcome>> {
        let mut ending: Option<(Outcome, Instant)> = None;
        let mut window = UsageMonitor::default();
        let mut printed = OutputFollower::new(
            self.agent.streams_progress(),
            &self.files.stdout(leg.job, leg.leg),
        );
        loop {
            let has_ended = running.has_ended().context("could not wait for the agent")?;
            printed.pass_on(&|bytes| (self.context.progress)(RunProgress::Output(bytes)));
            if has_ended {
                return Ok(ending.map(|(outcome, _)| outcome));
            }
            match &ending {
                None => ending = self.stop_reason().map(|over| self.ask_to_end(running, over)),
                Some((_, since)) if since.elapsed() > KILL_AFTER => running.signal(Signal::KILL),
                Some(_) => {}
            }
            (self.context.progress)(RunProgress::Tick);
            if let Some(WindowUsage { used, window }) = window.measure_if_due(self, leg) {
                let LegBegun { job, leg, .. } = *leg;
                (self.context.progress)(RunProgress::Load { job, leg, used, window });
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Asks an agent to end, with the signal that the runner received or else SIGTERM.
    fn ask_to_end(&self, running: &SessionProcess, over: Outcome) -> (Outcome, Instant) {
        let signal = match over {
            Outcome::Interrupted { signal } => Signal::from_named_raw(signal),
            _ => None,
        };
        running.signal(signal.unwrap_or(Signal::TERM));
        (over, Instant::now())
    }
}

/// The window of a running session, measured at intervals.
#[derive(Default)]
struct UsageMonitor {
    transcript: Option<PathBuf>,
    measured_at: Option<Instant>,
}

impl UsageMonitor {
    /// Returns the usage of the window; `None` if it is not yet time to measure.
    fn measure_if_due(&mut self, conductor: &Runner<'_>, leg: &LegBegun) -> Option<WindowUsage> {
        if self.measured_at.is_some_and(|looked| looked.elapsed() < MEASURE_INTERVAL) {
            return None;
        }
        self.measured_at = Some(Instant::now());
        let looked = conductor.agent_session(leg)?;
        if self.transcript.is_none() {
            self.transcript = looked.transcript();
        }
        looked.usage(self.transcript.as_deref()?)
    }
}

/// Passes an agent's output on while the agent works.
struct OutputFollower {
    file: Option<File>,
    read_to: u64,
}

impl OutputFollower {
    fn new(streams: bool, out: &Path) -> Self {
        Self { file: streams.then(|| File::open(out).ok()).flatten(), read_to: 0 }
    }

    fn pass_on(&mut self, to: &dyn Fn(&[u8])) {
        let mut piece = [0; 16 << 10];
        let Some(file) = &self.file else { return };
        while let Ok(read @ 1..) = file.read_at(&mut piece, self.read_to) {
            to(&piece[..read]);
            self.read_to += read as u64;
        }
    }
}
