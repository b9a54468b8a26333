//! Checks whether the client compacts where it is configured to.

use crate::Tokens;
use crate::trigger::{LEARN_FROM, Trigger};

/// The result of comparing the newest compactions with the configured trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The client compacts at the trigger.
    Honoured,
    /// The client compacts well above the trigger.
    NotHonoured,
    /// The client compacts below the trigger.
    Earlier,
    /// The compactions do not match the trigger, but the settings are newer than they are.
    NotYetSeen,
    /// There were no compactions.
    NoneSeen,
    /// Automatic compaction is off, and there were no compactions.
    SwitchedOff,
    /// Automatic compaction is off, but there were compactions.
    OnThoughOff,
    /// The trigger has no threshold: the client compacts when the service refuses the prompt.
    NoThreshold,
}

impl Verdict {
    /// Returns the name used in machine-readable output.
    pub fn label(self) -> &'static str {
        match self {
            Self::Honoured => "honoured",
            Self::NotHonoured => "not_honoured",
            Self::Earlier => "earlier",
            Self::NotYetSeen => "not_yet_seen",
            Self::NoneSeen => "none_seen",
            Self::SwitchedOff => "switched_off",
            Self::OnThoughOff => "on_though_off",
            Self::NoThreshold => "no_threshold",
        }
    }
}

/// Says whether the settings have changed since the newest compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsSince {
    Unchanged,
    /// The settings are newer than the compaction, or may be.
    Changed,
}

/// Judges the configured trigger by the tokens in the window before each automatic compaction,
/// newest last. Only the newest [`LEARN_FROM`] count.
pub fn judge(configured: Trigger, seen: &[Tokens], settings: SettingsSince) -> Verdict {
    let seen = &seen[seen.len().saturating_sub(LEARN_FROM)..];
    let found = match configured {
        Trigger::SwitchedOff if seen.is_empty() => Verdict::SwitchedOff,
        Trigger::SwitchedOff => Verdict::OnThoughOff,
        _ if seen.is_empty() => Verdict::NoneSeen,
        Trigger::OnRefusal => Verdict::NoThreshold,
        Trigger::At { tokens, .. } => compare(tokens, seen),
    };
    match found {
        Verdict::NotHonoured | Verdict::Earlier | Verdict::OnThoughOff
            if settings == SettingsSince::Changed =>
        {
            Verdict::NotYetSeen
        }
        found => found,
    }
}

/// Tokens that one call may add to a prompt, such as a large file or tool result.
const ONE_CALL: Tokens = 25_000;
/// With this many compactions, a single large call no longer explains an overshoot of all of them.
const ENOUGH: usize = 3;

/// Compares the compactions with the configured trigger.
///
/// The client compacts before the first request over its trigger, so the window may exceed the
/// trigger by the tokens that the last call added.
fn compare(configured: Tokens, seen: &[Tokens]) -> Verdict {
    let mut sorted = seen.to_vec();
    sorted.sort_unstable();
    let (lowest, middle) = (sorted[0], sorted[sorted.len() / 2]);
    let overshoot = configured / 33;
    let overshoot = if seen.len() >= ENOUGH { overshoot } else { overshoot.max(ONE_CALL) };
    if lowest > configured + overshoot {
        Verdict::NotHonoured
    } else if middle < configured - configured / 50 {
        Verdict::Earlier
    } else {
        Verdict::Honoured
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trigger::TriggerSource;

    #[track_caller]
    fn check(configured: Trigger, seen: &[Tokens], expected: Verdict) {
        assert_eq!(judge(configured, seen, SettingsSince::Unchanged), expected);
    }

    fn at(tokens: Tokens) -> Trigger {
        Trigger::At { tokens, source: TriggerSource::Formula, lowered_by: None }
    }

    #[test]
    fn compactions_at_the_trigger_or_a_call_past_it_honour_it() {
        check(at(392_000), &[392_400, 399_000, 393_000], Verdict::Honoured);
        check(at(72_000), &[90_000], Verdict::Honoured);
        check(at(167_000), &[120_000, 168_000, 167_200], Verdict::Honoured);
    }

    #[test]
    fn compactions_well_past_the_trigger_do_not() {
        check(at(392_000), &[967_000; 5], Verdict::NotHonoured);
        check(at(72_000), &[167_000], Verdict::NotHonoured);
        check(at(167_000), &[190_000, 188_000, 191_000], Verdict::NotHonoured);
    }

    #[test]
    fn only_the_newest_count() {
        check(at(392_000), &[967_000, 967_000, 392_500, 393_000], Verdict::Honoured);
        let long_ago = [392_500, 967_000, 967_000, 967_000, 967_000, 967_000];
        check(at(392_000), &long_ago, Verdict::NotHonoured);
    }

    #[test]
    fn compactions_before_the_trigger_are_early() {
        check(at(167_000), &[155_000], Verdict::Earlier);
        check(at(967_000), &[155_000, 155_400, 967_000], Verdict::Earlier);
    }

    #[test]
    fn without_a_compaction_or_a_threshold_there_is_nothing_to_honour() {
        check(at(167_000), &[], Verdict::NoneSeen);
        check(Trigger::OnRefusal, &[], Verdict::NoneSeen);
        check(Trigger::OnRefusal, &[199_000], Verdict::NoThreshold);
        check(Trigger::SwitchedOff, &[], Verdict::SwitchedOff);
        check(Trigger::SwitchedOff, &[167_100], Verdict::OnThoughOff);
    }

    #[test]
    fn settings_newer_than_the_last_compaction_are_not_blamed_for_it() {
        let newer = |configured, seen: &[Tokens]| judge(configured, seen, SettingsSince::Changed);
        assert_eq!(newer(at(392_000), &[967_000; 5]), Verdict::NotYetSeen);
        assert_eq!(newer(at(967_000), &[155_000]), Verdict::NotYetSeen);
        assert_eq!(newer(Trigger::SwitchedOff, &[967_000]), Verdict::NotYetSeen);
        assert_eq!(newer(at(392_000), &[392_500]), Verdict::Honoured, "whatever else was changed");
        assert_eq!(newer(at(392_000), &[]), Verdict::NoneSeen);
    }
}
