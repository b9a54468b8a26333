//! Runs the watcher while the server runs. Only one process per machine watches at a time.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_engine::review;
use plimsoll_engine::watch::{Lock, Notice, Stop, Stopper, Watcher, stopper};

use crate::state::{App, AppState};

/// Handle of the watcher thread.
pub(crate) struct WatcherThread {
    stopper: Stopper,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// Interval at which the watch lock is tried while another process has it.
const LOCK_RETRY: Duration = Duration::from_secs(10);

impl WatcherThread {
    pub(crate) fn start(app: AppState) -> io::Result<Self> {
        let (stopper, stop) = stopper()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = is_over.clone();
        let watch = move || watch(&app, &stop, &ends);
        let thread = thread::Builder::new().name("watcher".to_owned()).spawn(watch)?;
        Ok(Self { stopper, is_over, thread })
    }

    /// Stops the watcher, after it has written its state to the store.
    pub(crate) fn finish(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.stopper.stop();
        self.thread.thread().unpark();
        // A thread that panicked has ended, too.
        let _ = self.thread.join();
    }
}

fn watch(app: &App, stop: &Stop, is_over: &AtomicBool) {
    let Some(_lock) = acquire_lock(app, is_over) else { return };
    let watched = review::beside(&app.world, &|notices| record_notices(app, notices), |noticed| {
        Watcher::new(&app.world, plimsoll_agents::ALL).run(stop, |notices| {
            noticed(&notices);
            record_notices(app, notices);
            ControlFlow::Continue(())
        })
    });
    watched.unwrap_or_else(|error| log_failure(app, &error));
}

/// Takes the watch lock once no other process has it. Until then this server only observes.
fn acquire_lock(app: &App, is_over: &AtomicBool) -> Option<Lock> {
    let error = match Lock::take(&app.world.paths) {
        Ok(lock) => return Some(lock),
        Err(error) => error,
    };
    app.log.message(&format!("only looking at the sessions for now: {error}"));
    let (stopper, stop) = stopper().inspect_err(|error| log_failure(app, error)).ok()?;
    let lock = thread::scope(|scope| {
        scope.spawn(|| observe(app, &stop));
        let lock = wait_for_lock(app, is_over);
        stopper.stop();
        lock
    });
    // The new watcher does not report sessions that ended in between, so stale windows are removed.
    app.live.windows().clear();
    lock
}

fn wait_for_lock(app: &App, is_over: &AtomicBool) -> Option<Lock> {
    while !is_over.load(Ordering::Relaxed) {
        if let Ok(lock) = Lock::take(&app.world.paths) {
            return Some(lock);
        }
        thread::park_timeout(LOCK_RETRY);
    }
    None
}

/// Observes sessions beside the process that has the watch lock, without asking them for anything.
fn observe(app: &App, stop: &Stop) {
    let looked =
        Watcher::new(&app.world, plimsoll_agents::ALL).only_looking().run(stop, |notices| {
            record_notices(app, notices);
            ControlFlow::Continue(())
        });
    looked.unwrap_or_else(|error| log_failure(app, &error));
}

fn record_notices(app: &App, notices: Vec<Notice>) {
    notices.into_iter().for_each(|notice| app.live.record(notice));
    app.metrics.set_live(&app.live);
}

fn log_failure(app: &App, error: &io::Error) {
    app.log.message(&format!("live readings have ended: {error}"));
}
