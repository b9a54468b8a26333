//! Taking in what happened while nobody served, and checkpoints as they are sealed.
//!
//! The watcher takes in those who are alive. All others, and the checkpoints of all projects, are
//! looked at by a thread of their own: at the beginning, and then now and again.

use std::io;
use std::thread;
use std::time::Duration;

use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::sessions;

use crate::state::{App, AppState};

/// How often it is looked.
const PERIOD: Duration = Duration::from_secs(20);
/// How long other writers are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts it. It ends with the process: whatever it is at, is done as a whole or not at all.
pub(crate) fn start(app: AppState) -> io::Result<()> {
    let look = move || {
        let mut is_told = false;
        loop {
            let taken = take_in(&app);
            if let (Err(error), false) = (&taken, is_told) {
                app.log.say(&format!("the past is not taken in: {error:#}"));
            }
            is_told = taken.is_err();
            thread::sleep(PERIOD);
        }
    };
    thread::Builder::new().name("past".to_owned()).spawn(look).map(drop)
}

fn take_in(app: &App) -> anyhow::Result<()> {
    let mut ingester = Ingester::open(&app.world, app.adapter, PATIENCE, None)?;
    let found = sessions::find(&app.world, app.adapter)?;
    ingester.catch_up(&found, |_, _| {})?;
    ingester.all_checkpoints()
}
