//! Redaction of journal records.

use plimsoll_core::run::{Line, Outcome, Repeats, What};
use plimsoll_extract::redact::redact;

/// Redacts a journal record and removes the agent's command, which may contain secrets. Only the
/// runner itself may use the original record.
#[must_use]
pub fn redact_record(mut line: Line) -> Line {
    let clean = |text: &mut String| *text = redact(text).into_owned();
    match &mut line.what {
        What::Begun(begun) => {
            begun.command.clear();
            clean(&mut begun.title);
        }
        What::Planned { plan, why } => {
            plan.for_each_text(clean);
            why.iter_mut().for_each(clean);
        }
        What::JobBegun(begun) => clean(&mut begun.title),
        What::JobFailed { why, .. } => clean(why),
        What::LegEnded(end) => end.fingerprint.errors.iter_mut().for_each(clean),
        What::Ended(Outcome::Broken { repeats: Repeats::Work { errors, .. } }) => {
            errors.iter_mut().for_each(clean);
        }
        _ => {}
    }
    line
}
