//! Correction factors for the estimate formula, learned from past work.
//!
//! The factor of a kind is computed from the older cases of that kind and tested on the newer ones.
//! It is used only if it estimates those better than the formula.

use plimsoll_core::plan::{Case, Kind};

use super::Factors;

/// Minimum number of cases of a kind.
const MIN_CASES: usize = 8;
/// One case in this many is held back for testing: the newest ones.
const HELD_BACK_ONE_IN: usize = 3;

/// Results of learning from past work, by kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// Kinds that occur in past work, the most expensive first.
    pub kinds: Vec<KindCalibration>,
}

/// Result of learning about one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct KindCalibration {
    pub kind: Kind,
    pub cases: usize,
    /// `None` if there are too few cases.
    pub test: Option<FactorTest>,
}

/// A factor and its test on cases that were not used to compute it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorTest {
    /// Multiplier for the formula's figure.
    pub factor: f64,
    /// Number of cases held back for the test.
    pub held_back: usize,
    /// Median factor by which the formula alone is wrong, in either direction.
    pub formula_error: f64,
    /// Median factor by which the corrected formula is wrong, in either direction.
    pub calibrated_error: f64,
}

impl Calibration {
    /// Learns from cases in any order.
    pub fn of(cases: &[Case]) -> Self {
        let fit = |kind| {
            let mut cases: Vec<Case> = cases.iter().copied().filter(|case| case.is(kind)).collect();
            cases.sort_by_key(|case| (case.at, case.predicted, case.measured));
            let trial = (cases.len() >= MIN_CASES).then(|| FactorTest::of(&cases)).flatten();
            (!cases.is_empty()).then_some(KindCalibration { kind, cases: cases.len(), test: trial })
        };
        Self { kinds: Kind::ALL.into_iter().filter_map(fit).collect() }
    }

    /// Returns the factors in use, for an estimator.
    pub fn factors(&self) -> Factors {
        let thousandths = |factor: f64| (factor * 1_000.0).round() as u64;
        self.factors_in_use().fold(Factors::default(), |factors, (kind, factor)| {
            factors.with(kind, thousandths(factor))
        })
    }

    /// Returns the factor of a kind; `None` if the formula is used unchanged.
    pub fn factor(&self, kind: Kind) -> Option<f64> {
        let fit = self.kinds.iter().find(|fit| fit.kind == kind)?;
        fit.test.filter(FactorTest::is_better).map(|trial| trial.factor)
    }

    /// Returns the kinds whose factor is in use, with the factor.
    pub fn factors_in_use(&self) -> impl Iterator<Item = (Kind, f64)> {
        self.kinds.iter().filter_map(|fit| Some((fit.kind, self.factor(fit.kind)?)))
    }
}

impl KindCalibration {
    /// Returns the number of further cases needed for a test.
    pub fn missing_cases(&self) -> usize {
        MIN_CASES.saturating_sub(self.cases)
    }
}

impl FactorTest {
    /// Computes a factor from the older cases and tests it on the newer ones.
    fn of(cases: &[Case]) -> Option<Self> {
        let (older, newer) = cases.split_at(cases.len() - cases.len() / HELD_BACK_ONE_IN);
        let factor = median(older.iter().map(Case::ratio))?;
        // Use the rounded factor that users see.
        let factor = (factor * 100.0).round().max(1.0) / 100.0;
        Some(Self {
            factor,
            held_back: newer.len(),
            formula_error: median(newer.iter().map(|case| error_factor(case.ratio())))?,
            calibrated_error: median(newer.iter().map(|case| error_factor(case.ratio() / factor)))?,
        })
    }

    /// Whether the factor estimates better than the formula.
    pub fn is_better(&self) -> bool {
        self.calibrated_error < self.formula_error
    }
}

/// Turns a ratio into a factor of at least 1, regardless of direction.
fn error_factor(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio)
}

/// Returns the median; for an even count the mean of the middle two.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (low, high) =
        (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use plimsoll_core::{Millis, Tokens};
    use proptest::prelude::*;

    use super::*;

    /// Builds cases of one kind, oldest first, each predicted as 1,000 tokens.
    fn cases(kind: Kind, measured: &[Tokens]) -> Vec<Case> {
        let case = |(at, measured): (usize, &Tokens)| Case {
            at: at as Millis,
            kind,
            predicted: 1_000,
            measured: *measured,
        };
        measured.iter().enumerate().map(case).collect()
    }

    #[test]
    fn a_factor_is_used_if_it_is_better_on_held_back_cases() {
        let history = cases(Kind::Fix, &[4_000, 5_000, 6_000, 5_000, 5_000, 4_000, 5_000, 4_000]);
        let calibration = Calibration::of(&history);
        let trial = calibration.kinds[0].test.unwrap();
        assert_eq!((trial.factor, trial.held_back), (5.0, 2));
        assert_eq!((trial.formula_error, trial.calibrated_error), (4.5, 1.125));
        assert_eq!(calibration.factors().of(Kind::Fix), 5_000);
        assert_eq!(calibration.factors().of(Kind::Add), 1_000, "nothing is known of it");
        assert_eq!(calibration.factors_in_use().collect::<Vec<_>>(), [(Kind::Fix, 5.0)]);
    }

    #[test]
    fn a_factor_that_newer_cases_contradict_is_not_used() {
        let history = cases(Kind::Fix, &[9_000, 9_000, 9_000, 9_000, 9_000, 9_000, 1_100, 900]);
        let calibration = Calibration::of(&history);
        assert!(calibration.kinds[0].test.is_some());
        assert_eq!(calibration.factor(Kind::Fix), None);
    }

    #[test]
    fn seven_cases_are_too_few_and_empty_ones_do_not_count() {
        let mut history = cases(Kind::Refactor, &[5_000; 7]);
        history.extend(cases(Kind::Refactor, &[0; 5]));
        let calibration = Calibration::of(&history);
        let fit = KindCalibration { kind: Kind::Refactor, cases: 7, test: None };
        assert_eq!((fit.missing_cases(), calibration.kinds), (1, vec![fit]));
    }

    #[test]
    fn kinds_do_not_mix() {
        let history = [cases(Kind::Fix, &[5_000; 9]), cases(Kind::Add, &[500; 9])].concat();
        let used: Vec<_> = Calibration::of(&history).factors_in_use().collect();
        assert_eq!(used, [(Kind::Add, 0.5), (Kind::Fix, 5.0)]);
    }

    proptest! {
        #[test]
        fn factors_in_use_are_better_and_order_does_not_matter(
            measured in prop::collection::vec(0_u64..1_000_000, 0..60)
        ) {
            let mut history = cases(Kind::Other, &measured);
            let calibration = Calibration::of(&history);
            for fit in &calibration.kinds {
                let is_used = calibration.factor(fit.kind).is_some();
                prop_assert_eq!(is_used, fit.test.is_some_and(|it| it.calibrated_error < it.formula_error));
                prop_assert!(fit.test.is_none_or(|trial| trial.factor > 0.0 && fit.cases >= MIN_CASES));
            }
            history.reverse();
            prop_assert_eq!(Calibration::of(&history), calibration);
        }
    }
}
