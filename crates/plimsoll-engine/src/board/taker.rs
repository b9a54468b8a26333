//! The lease on a message, which is part of its file name.

use std::fmt;
use std::time::Duration;

use plimsoll_core::Millis;

use crate::process::started;
use crate::world::now;

/// A lease on a message: the process that took the message, and until when it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taker {
    /// Process id and start time. `None` if the lease does not depend on a process.
    process: Option<(u32, u64)>,
    until: Millis,
}

impl Taker {
    /// Creates a lease for this process that lasts for `time` at most.
    pub fn this_process(time: Duration) -> Self {
        let own = std::process::id();
        Self { process: Some((own, started(own).unwrap_or(0))), ..Self::anybody(time) }
    }

    /// Creates a lease without a process, for the reader of what this process prints.
    pub fn anybody(time: Duration) -> Self {
        Self { process: None, until: (now() as Millis).saturating_add(time.as_millis() as Millis) }
    }

    pub fn until(&self) -> Millis {
        self.until
    }

    /// Reports whether the lease is still valid: its time is not up and its process lives.
    pub fn holds(&self, now: Millis) -> bool {
        let is_alive =
            |(process, start)| started(process).is_some_and(|other| start == 0 || other == start);
        now < self.until && self.process.is_none_or(is_alive)
    }

    /// Parses the [`fmt::Display`] form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut next = || parts.next()?.parse::<u64>().ok();
        let (process, start, until) = (next()?, next()?, next()?);
        let process = u32::try_from(process).ok()?;
        let process = (process != 0).then_some((process, start));
        Some(Self { process, until: Millis::try_from(until).ok()? })
    }
}

impl fmt::Display for Taker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (process, start) = self.process.unwrap_or_default();
        write!(f, "{process}-{start}-{}", self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_taker_is_known_again_by_its_name() {
        for taker in [Taker::this_process(LONG), Taker::anybody(LONG)] {
            assert_eq!(Taker::parse(&taker.to_string()), Some(taker));
            assert!(taker.holds(now() as Millis));
            assert!(!taker.holds(taker.until()), "it is late");
        }
        for bad in ["", "1", "1-2", "1-2-x", "-1-2-3"] {
            assert_eq!(Taker::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_process_that_is_gone_or_another_by_now_holds_nothing() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let start = started(child.id()).unwrap();
        let taker = Taker { process: Some((child.id(), start)), ..Taker::anybody(LONG) };
        assert!(taker.holds(now() as Millis));
        let other = Taker { process: Some((child.id(), start + 1)), ..taker };
        assert!(!other.holds(now() as Millis));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!taker.holds(now() as Millis));
    }
}
