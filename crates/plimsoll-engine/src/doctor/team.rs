//! Checks that rows shared with a team arrive, according to the local store. No network access.

use plimsoll_core::Millis;
use plimsoll_core::text::{duration, thousands};
use plimsoll_store::{OutboxStatus, Store};

use super::Finding;
use crate::settings;
use crate::world::{World, now};

const SUBJECT: &str = "team";
const LOOK: &str = "plimsoll team status";

pub(super) fn examine(world: &World, store: &Store) -> Option<Finding> {
    let url = settings::team_as_set(world).database_url?;
    if !cfg!(feature = "team") {
        return Some(not_in_this_build(url.shown()));
    }
    let waiting = store.outbox_status().ok()?;
    Some(finding(url.shown(), &waiting, now() as Millis))
}

fn not_in_this_build(database: &str) -> Finding {
    let text = format!(
        "this build of plimsoll has no team database: nothing is sent to `{database}`, and no `team.*` setting has an effect"
    );
    let mend = "install a build with the feature `team`, or remove `team.database_url`";
    Finding::note(SUBJECT, text, mend)
}

fn finding(database: &str, waiting: &OutboxStatus, now: Millis) -> Finding {
    let rows = waiting.changed + waiting.to_sweep;
    let waits = match rows {
        1 => "1 row waits".to_owned(),
        rows => format!("{} rows wait", thousands(rows)),
    };
    match (&waiting.error, waiting.last_shipped) {
        (Some(trouble), _) => {
            Finding::note(SUBJECT, format!("{trouble}; {waits} for `{database}`"), LOOK)
        }
        (None, None) => {
            let text = format!(
                "nothing was sent to `{database}` yet: it goes while `plimsoll serve` or `plimsoll watch` runs"
            );
            Finding::note(SUBJECT, text, "plimsoll team sync")
        }
        (None, Some(shipped)) => {
            let seconds = (now - shipped).max(0) as u64 / 1000;
            let text =
                format!("{waits} for `{database}`; something arrived {} ago", duration(seconds));
            Finding::fine(SUBJECT, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn trouble_is_told_with_what_waits() {
        let trouble = Some("could not connect".to_owned());
        let waiting = OutboxStatus {
            error: trouble,
            changed: 1200,
            last_shipped: Some(0),
            ..OutboxStatus::default()
        };
        let found = finding("postgres://db/x", &waiting, 5_000);
        assert_eq!(found.text, "could not connect; 1,200 rows wait for `postgres://db/x`");
        assert_eq!(found.state, State::Note);
        let fine = finding("postgres://db/x", &OutboxStatus { error: None, ..waiting }, 5_000);
        assert_eq!(fine.state, State::Fine);
        assert_eq!(fine.text, "1,200 rows wait for `postgres://db/x`; something arrived 5 s ago");
    }
}
