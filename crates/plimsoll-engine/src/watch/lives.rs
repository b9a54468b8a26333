//! Tracks which sessions and subagents are alive.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use plimsoll_agents::Owner;
use plimsoll_core::event::SessionId;

use super::notice::Change;

/// A session that writes nothing for this long is idle.
pub(super) const IDLE: Duration = Duration::from_secs(600);
/// A write this soon after the end of a session does not start it again: clients write after the
/// end.
const AFTERWORD: Duration = Duration::from_secs(5);
/// How long ended sessions are remembered.
const MEMORY: Duration = Duration::from_secs(3600);

/// All sessions and subagents seen so far.
#[derive(Default)]
pub(super) struct Lives(HashMap<Owner, Life>);

struct Life {
    phase: Phase,
    /// Time of the last write, or start of the phase.
    since: Instant,
    /// Whether the client listed it as running.
    is_noted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Idle,
    Over,
}

/// A session in the client's list, and whether its process lives.
pub(super) struct Noted {
    pub(super) session: SessionId,
    pub(super) is_alive: bool,
}

impl Lives {
    /// Adds a live session without a notice.
    pub(super) fn know(&mut self, owner: Owner, now: Instant) {
        self.0.entry(owner).or_insert(Life::new(now));
    }

    /// Handles a write to a transcript.
    pub(super) fn wrote(&mut self, owner: &Owner, now: Instant) -> Option<Change> {
        let Some(life) = self.0.get_mut(owner) else {
            self.0.insert(owner.clone(), Life::new(now));
            return Some(Change::Started);
        };
        let is_over = life.phase == Phase::Over;
        if is_over && now.duration_since(life.since) < AFTERWORD {
            return None;
        }
        (life.phase, life.since) = (Phase::Running, now);
        is_over.then_some(Change::Started)
    }

    /// Ends a session and its subagents. Returns the notices, with the change `how`.
    pub(super) fn end(
        &mut self,
        session: &SessionId,
        how: &Change,
        now: Instant,
    ) -> Vec<(Owner, Change)> {
        let own = self.0.iter_mut().filter(|(owner, _)| owner.session == *session);
        let alive = own.filter(|(_, life)| life.phase != Phase::Over);
        let mut told: Vec<(Owner, Change)> = alive
            .map(|(owner, life)| {
                *life = Life { phase: Phase::Over, since: now, is_noted: false };
                (owner.clone(), how.clone())
            })
            .collect();
        // The session itself comes last.
        told.sort_by_key(|(owner, _)| owner.subagent.is_none());
        told
    }

    /// Compares with the client's current list.
    pub(super) fn note(&mut self, notes: &[Noted], now: Instant) -> Vec<(Owner, Change)> {
        let mut told = Vec::new();
        for Noted { session, .. } in notes.iter().filter(|noted| noted.is_alive) {
            let owner = Owner { session: session.clone(), subagent: None };
            let life = self.0.entry(owner.clone());
            let is_new = matches!(&life, std::collections::hash_map::Entry::Vacant(_));
            let life = life.or_insert(Life::new(now));
            // An entry that is briefly still listed after the session's end starts nothing.
            life.is_noted |= life.phase != Phase::Over;
            told.extend(is_new.then_some((owner, Change::Started)));
        }
        for (session, how) in self.gone(notes) {
            told.extend(self.end(&session, &how, now));
        }
        told
    }

    /// Returns sessions that are no longer listed, or whose process has ended.
    fn gone(&self, notes: &[Noted]) -> Vec<(SessionId, Change)> {
        let noted = self.0.iter().filter(|(_, life)| life.is_noted);
        let gone = noted.filter_map(|(owner, _)| {
            let mut notes = notes.iter().filter(|noted| noted.session == owner.session).peekable();
            let how = if notes.peek().is_some() { Change::Died } else { Change::Ended };
            let is_gone = !notes.any(|noted| noted.is_alive);
            is_gone.then(|| (owner.session.clone(), how))
        });
        gone.collect()
    }

    /// Marks silent sessions idle and drops ended ones after an hour.
    pub(super) fn tire(&mut self, now: Instant) -> Vec<(Owner, Change)> {
        self.0
            .retain(|_, life| life.phase != Phase::Over || now.duration_since(life.since) < MEMORY);
        let silent = |life: &Life| now.duration_since(life.since) >= IDLE;
        let running = self.0.iter_mut().filter(|(_, life)| life.phase == Phase::Running);
        let idle = running.filter(|(_, life)| silent(life));
        idle.map(|(owner, life)| {
            life.phase = Phase::Idle;
            (owner.clone(), Change::Idle)
        })
        .collect()
    }
}

impl Life {
    fn new(now: Instant) -> Self {
        Self { phase: Phase::Running, since: now, is_noted: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(name: &str) -> SessionId {
        SessionId::new(name).unwrap()
    }

    fn owner(name: &str, subagent: Option<&str>) -> Owner {
        Owner { session: session(name), subagent: subagent.map(session) }
    }

    fn noted(name: &str, is_alive: bool) -> Noted {
        Noted { session: session(name), is_alive }
    }

    fn words(told: &[(Owner, Change)]) -> Vec<String> {
        told.iter()
            .map(|(owner, change)| format!("{} {change:?}", owner.session.as_str()))
            .collect()
    }

    #[test]
    fn a_session_starts_once_and_again_after_its_end() {
        let (mut lives, now) = (Lives::default(), Instant::now());
        let own = owner("a", None);
        assert!(matches!(lives.wrote(&own, now), Some(Change::Started)));
        assert!(lives.wrote(&own, now).is_none());
        assert_eq!(words(&lives.end(&own.session, &Change::Ended, now)), ["a Ended"]);
        assert!(lives.end(&own.session, &Change::Ended, now).is_empty());
        assert!(lives.wrote(&own, now + AFTERWORD / 2).is_none(), "an afterword");
        assert!(matches!(lives.wrote(&own, now + AFTERWORD), Some(Change::Started)));
    }

    #[test]
    fn a_note_tells_of_a_start_its_removal_of_an_end_and_a_lost_process_of_a_death() {
        let (mut lives, now) = (Lives::default(), Instant::now());
        let both = [noted("a", true), noted("b", true)];
        let mut told = words(&lives.note(&both, now));
        told.sort();
        assert_eq!(told, ["a Started", "b Started"]);
        assert!(lives.note(&both, now).is_empty());
        assert_eq!(words(&lives.note(&[noted("a", true)], now)), ["b Ended"]);
        assert_eq!(words(&lives.note(&[noted("a", false)], now)), ["a Died"]);
        assert!(lives.note(&[noted("a", false)], now).is_empty());
    }

    #[test]
    fn subagents_end_with_their_session() {
        let (mut lives, now) = (Lives::default(), Instant::now());
        lives.know(owner("a", None), now);
        lives.know(owner("a", Some("one")), now);
        lives.know(owner("b", None), now);
        let told = lives.end(&session("a"), &Change::Died, now);
        assert_eq!(words(&told), ["a Died", "a Died"]);
        assert_eq!(told[1].0.subagent, None);
    }

    #[test]
    fn silence_is_told_once_and_what_is_long_gone_is_forgotten() {
        let (mut lives, now) = (Lives::default(), Instant::now());
        lives.know(owner("a", None), now);
        assert!(lives.tire(now).is_empty());
        assert_eq!(words(&lives.tire(now + IDLE)), ["a Idle"]);
        assert!(lives.tire(now + IDLE * 2).is_empty());
        assert!(lives.wrote(&owner("a", None), now + IDLE * 2).is_none(), "it only goes on");
        lives.end(&session("a"), &Change::Ended, now + IDLE * 2);
        lives.tire(now + IDLE * 2 + MEMORY);
        assert!(lives.0.is_empty());
    }
}
