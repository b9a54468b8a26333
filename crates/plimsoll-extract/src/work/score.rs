//! Scores names by recency and use.

use serde::{Deserialize, Serialize};

/// The number of texts read so far; names age by it.
pub(super) type Clock = u32;

/// A score that decays. Recent use counts most, and old use never counts for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct UseScore {
    hot: f32,
    all: f32,
    at: Clock,
}

/// Number of texts after which a use counts half.
const HALF_LIFE: f32 = 400.0;
/// Minimum weight of a use, however old.
const FLOOR: f32 = 0.1;

impl UseScore {
    /// Adds a use. Several uses in the same text count once.
    pub(super) fn add(&mut self, weight: f32, now: Clock) {
        if self.all > 0.0 && self.at == now {
            return;
        }
        self.hot = self.hot * fade(now - self.at) + weight;
        self.all += weight;
        self.at = now;
    }

    /// Adds the uses of another score.
    pub(super) fn join(&mut self, other: Self) {
        let at = self.at.max(other.at);
        self.hot = self.hot * fade(at - self.at) + other.hot * fade(at - other.at);
        self.all += other.all;
        self.at = at;
    }

    /// Returns the score at `now`.
    pub(super) fn at(&self, now: Clock) -> f32 {
        self.hot * fade(now.saturating_sub(self.at)) + FLOOR * self.all
    }
}

fn fade(age: Clock) -> f32 {
    (-(age as f32) / HALF_LIFE).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_use_counts_most() {
        let (mut old, mut new) = (UseScore::default(), UseScore::default());
        old.add(1.0, 1);
        new.add(1.0, 800);
        assert!(new.at(900) > 2.0 * old.at(900));
        assert!(old.at(100_000) > 0.0);
        old.add(1.0, 900);
        assert!(old.at(900) > new.at(900), "and what was used often, more");
    }

    #[test]
    fn one_text_counts_once() {
        let mut score = UseScore::default();
        score.add(1.0, 5);
        score.add(1.0, 5);
        assert_eq!(score.at(5), 1.0 + FLOOR);
    }
}
