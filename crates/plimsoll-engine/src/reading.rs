//! Takes the reading of a transcript.

use std::io;

use plimsoll_agents::Agent;
use plimsoll_core::reading::{Fold, Reading, Scope};

use crate::jsonl::{HORIZON, JsonLines};
use crate::tail::{Start, Tail};

/// Returns the reading of a transcript from its tail; `None` if it contains no token count.
///
/// Equal to the reading of [`scan`], which reads the whole file.
pub fn take(
    agent: &'static dyn Agent,
    file: &JsonLines,
    scope: Scope,
    tail: &Tail,
) -> io::Result<Option<Reading>> {
    Ok(fold(agent, file, scope, tail)?.and_then(|fold| fold.reading()))
}

/// Folds the end of a transcript for a reading; `None` if the tail contains no token count.
pub(crate) fn fold(
    agent: &'static dyn Agent,
    file: &JsonLines,
    scope: Scope,
    tail: &Tail,
) -> io::Result<Option<Fold>> {
    let (offset, mut fold) = match tail.start {
        Start::Nowhere | Start::OutOfSight => return Ok(None),
        Start::Response(offset) => (offset, Fold::new(agent.profile().estimation)),
        Start::Compaction(offset) => {
            let model = tail.newest.as_ref().and_then(|newest| newest.model.clone());
            let opening = opening(agent, file, scope)?;
            (offset, Fold::after_compaction(&opening, tail.newest.is_some(), model))
        }
    };
    fold_from(agent, file, scope, offset, &mut fold)?;
    Ok(Some(fold))
}

/// Folds a whole transcript.
pub fn scan(agent: &'static dyn Agent, file: &JsonLines, scope: Scope) -> io::Result<Fold> {
    let mut fold = Fold::new(agent.profile().estimation);
    fold_from(agent, file, scope, 0, &mut fold)?;
    Ok(fold)
}

fn fold_from(
    agent: &'static dyn Agent,
    file: &JsonLines,
    scope: Scope,
    offset: u64,
    fold: &mut Fold,
) -> io::Result<()> {
    let mut lines = file.forward(offset);
    while let Some(line) = lines.next()? {
        if let Some(entry) = agent.transcript().entry(line.bytes, scope) {
            fold.push(&entry, &agent.transcript().weigh(line.bytes));
        }
    }
    Ok(())
}

/// Folds a transcript up to its first response, which shows how much the client adds to every
/// prompt.
fn opening(agent: &'static dyn Agent, file: &JsonLines, scope: Scope) -> io::Result<Fold> {
    let mut fold = Fold::new(agent.profile().estimation);
    let mut lines = file.forward(0);
    while let Some(line) = lines.next()? {
        if line.offset > HORIZON || fold.overhead().is_some() {
            break;
        }
        if let Some(entry) = agent.transcript().entry(line.bytes, scope) {
            fold.push(&entry, &agent.transcript().weigh(line.bytes));
        }
    }
    Ok(fold)
}
