//! Ingests past sessions and new checkpoints in the background.
//!
//! The watcher ingests live sessions. This thread ingests all other sessions and the checkpoints of
//! all projects, at start and then periodically.

use std::io;
use std::thread;
use std::time::Duration;

use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::sessions;

use crate::state::{App, AppState};

/// Time between two passes.
const PERIOD: Duration = Duration::from_secs(20);
/// Time limit for waiting on other writers of the store.
const STORE_TIMEOUT: Duration = Duration::from_secs(30);

/// Starts the thread. It ends with the process, which is safe because each write is atomic.
pub(crate) fn start(app: AppState) -> io::Result<()> {
    let look = move || {
        let mut is_told = false;
        loop {
            let taken = ingest(&app);
            if let (Err(error), false) = (&taken, is_told) {
                app.log.message(&format!("the past is not taken in: {error:#}"));
            }
            is_told = taken.is_err();
            thread::sleep(PERIOD);
        }
    };
    thread::Builder::new().name("past".to_owned()).spawn(look).map(drop)
}

fn ingest(app: &App) -> anyhow::Result<()> {
    let mut ingester = Ingester::open(&app.world, STORE_TIMEOUT, None)?;
    let found = sessions::find(&app.world)?;
    ingester.catch_up(&found, |_, _| {})?;
    ingester.all_checkpoints()
}
