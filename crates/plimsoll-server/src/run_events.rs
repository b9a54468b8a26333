//! Sends changes of runs to the live listeners.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_core::run::{RunId, Standing};
use plimsoll_runner::runs::RunMonitor;
use tokio::time::{MissedTickBehavior, interval};

use crate::live::News;
use crate::state::AppState;

/// Interval at which run journals are checked while anyone listens.
const PERIOD: Duration = Duration::from_secs(1);

/// Follows the runs until the server ends.
pub(crate) async fn follow(app: AppState) {
    let lookout = Arc::new(Mutex::new(RunMonitor::default()));
    let mut tick = interval(PERIOD);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        if !app.live.has_listeners() {
            continue;
        }
        let lookout = lookout.clone();
        let look = app.blocking(move |app| {
            let mut lookout = lookout.lock().unwrap_or_else(PoisonError::into_inner);
            // Journals that cannot be read now are checked again next time.
            Ok(lookout.poll(&app.world.paths).unwrap_or_default())
        });
        for (run, standing) in look.await.unwrap_or_default() {
            app.live.send(|| run_event(&run, standing));
        }
    }
}

fn run_event(run: &RunId, standing: Standing) -> News {
    News::Run { run: run.to_string(), state: standing.label() }
}
