//! Forecasts the time until the client compacts, at the session's current pace.

use crate::{Millis, Tokens};

/// One counted prompt of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The time of the answer.
    pub time: Millis,
    pub tokens: Tokens,
    /// The user's turn that the prompt belongs to, counted from the start.
    pub turn: u32,
}

/// The distance of a session from a level, in three units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    pub tokens: Tokens,
    /// The user's turns left; `None` if the session has shown no pace yet.
    pub turns: Option<f64>,
    /// Minutes of work left; `None` if the session has shown no pace yet.
    pub minutes: Option<f64>,
}

/// A pause longer than this does not count as work.
pub const LONGEST_STEP: Millis = 10 * 60 * 1000;

/// Forecasts the way from `used` to `level` at the pace of `samples`, which start after the last
/// compaction.
pub fn look_ahead(used: Tokens, level: Tokens, samples: &[Sample]) -> Forecast {
    let tokens = level.saturating_sub(used);
    let pace = |work: f64| {
        let growth = growth(samples);
        (growth > 0 && work > 0.0).then(|| tokens as f64 * work / growth as f64)
    };
    Forecast { tokens, turns: pace(turns(samples)), minutes: pace(minutes(samples)) }
}

fn growth(samples: &[Sample]) -> Tokens {
    match samples {
        [first, .., last] => last.tokens.saturating_sub(first.tokens),
        _ => 0,
    }
}

fn turns(samples: &[Sample]) -> f64 {
    let turns = || samples.iter().map(|sample| sample.turn);
    match (turns().min(), turns().max()) {
        (Some(first), Some(last)) if samples.len() > 1 => f64::from(last - first + 1),
        _ => 0.0,
    }
}

fn minutes(samples: &[Sample]) -> f64 {
    let worked: Millis =
        samples.windows(2).map(|pair| (pair[1].time - pair[0].time).clamp(0, LONGEST_STEP)).sum();
    worked as f64 / 60_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(minute: i64, tokens: Tokens, turn: u32) -> Sample {
        Sample { time: minute * 60_000, tokens, turn }
    }

    #[test]
    fn the_pace_of_the_session_goes_on() {
        let samples = [sample(0, 20_000, 1), sample(2, 30_000, 1), sample(4, 40_000, 2)];
        let forecast = look_ahead(40_000, 60_000, &samples);
        assert_eq!(forecast, Forecast { tokens: 20_000, turns: Some(2.0), minutes: Some(4.0) });
    }

    #[test]
    fn a_night_between_two_calls_is_no_work() {
        let samples = [sample(0, 20_000, 1), sample(900, 40_000, 1)];
        assert_eq!(look_ahead(40_000, 60_000, &samples).minutes, Some(10.0));
    }

    #[test]
    fn turns_need_not_come_in_order() {
        let samples = [sample(0, 20_000, 9), sample(2, 30_000, 8)];
        assert_eq!(look_ahead(30_000, 40_000, &samples).turns, Some(2.0));
    }

    #[test]
    fn a_session_without_a_pace_has_no_forecast() {
        let none = Forecast { tokens: 0, turns: None, minutes: None };
        assert_eq!(look_ahead(70_000, 60_000, &[]), none);
        assert_eq!(look_ahead(5, 10, &[sample(0, 5, 1)]), Forecast { tokens: 5, ..none });
    }
}
