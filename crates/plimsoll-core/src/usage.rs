//! Recommends an action for a given share of a window, for callers that count tokens themselves.

use crate::Tokens;
use crate::policy::Levels;
use crate::reading::Band;
use crate::settings::Lines;

/// The usage of a window, with a recommendation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Tokens in the window.
    pub used: Tokens,
    /// The window's size.
    pub max: Tokens,
    /// Percentage used, with one decimal.
    pub percent: f64,
    pub band: Band,
    pub advice: Advice,
}

/// A recommended action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    None,
    Save,
    SaveAndRestart,
}

impl Usage {
    /// Returns the usage of `used` tokens in a window of `max`. More tokens than fit are an
    /// overflow.
    pub fn of(used: Tokens, max: Tokens, lines: &Lines) -> Self {
        Self::at(used, max, lines, &Levels::of(lines, max))
    }

    /// Like [`Usage::of`], but with the thresholds moved to `levels` because the client compacts
    /// earlier.
    pub fn at(used: Tokens, max: Tokens, lines: &Lines, levels: &Levels) -> Self {
        let advice = match () {
            () if used >= levels.restart => Advice::SaveAndRestart,
            () if used >= levels.save => Advice::Save,
            () => Advice::None,
        };
        let percent = tenths(share(used, max)).parse().unwrap_or(0.0);
        Self { used, max, percent, band: Band::between(used, max, lines), advice }
    }

    /// Removes the recommendation, for users who have disabled advice.
    #[must_use]
    pub fn without_advice(self) -> Self {
        Self { advice: Advice::None, ..self }
    }

    /// Returns the recommendation as a sentence; `None` if there is none.
    pub fn message(&self) -> Option<String> {
        let percent = tenths(self.percent);
        match self.advice {
            Advice::None => None,
            Advice::Save => Some(format!("Context at {percent}%. Consider saving session.")),
            Advice::SaveAndRestart => {
                Some(format!("Context at {percent}%. Save and restart recommended."))
            }
        }
    }
}

impl Advice {
    /// Returns the name used in answers.
    pub fn label(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Save => "save",
            Self::SaveAndRestart => "save_and_restart",
        }
    }

    /// Returns whether a hook may carry it out without asking.
    pub fn is_automatic(self) -> bool {
        self == Self::SaveAndRestart
    }
}

/// Returns a percentage, unrounded.
pub fn share(used: Tokens, max: Tokens) -> f64 {
    used as f64 / max.max(1) as f64 * 100.0
}

fn tenths(percent: f64) -> String {
    format!("{percent:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Percent;

    #[track_caller]
    fn check(used: Tokens, max: Tokens, percent: f64, band: &str, message: Option<&str>) {
        let usage = Usage::of(used, max, &Lines::default());
        assert_eq!((usage.percent, usage.band.label()), (percent, band), "{used}/{max}");
        assert_eq!(usage.message().as_deref(), message, "{used}/{max}");
    }

    #[test]
    fn every_share_has_its_name_and_its_recommendation() {
        check(0, 200_000, 0.0, "healthy", None);
        check(99_999, 200_000, 50.0, "healthy", None);
        check(100_000, 200_000, 50.0, "warning", None);
        check(139_999, 200_000, 70.0, "warning", None);
        let save = Some("Context at 75.0%. Consider saving session.");
        check(150_000, 200_000, 75.0, "critical", save);
        let save = Some("Context at 70.0%. Consider saving session.");
        check(140_000, 200_000, 70.0, "critical", save);
        let save = Some("Context at 85.0%. Consider saving session.");
        check(169_999, 200_000, 85.0, "critical", save);
        let restart = Some("Context at 85.0%. Save and restart recommended.");
        check(170_000, 200_000, 85.0, "overflow", restart);
        let restart = Some("Context at 90.0%. Save and restart recommended.");
        check(180_000, 200_000, 90.0, "overflow", restart);
        let restart = Some("Context at 150.0%. Save and restart recommended.");
        check(300_000, 200_000, 150.0, "overflow", restart);
    }

    #[test]
    fn only_a_restart_is_carried_out_without_asking() {
        let advice = [100_000, 150_000, 170_000]
            .map(|used| Usage::of(used, 200_000, &Lines::default()).advice);
        assert_eq!(advice.map(Advice::label), ["none", "save", "save_and_restart"]);
        assert_eq!(advice.map(Advice::is_automatic), [false, false, true]);
    }

    #[test]
    fn without_advice_only_the_figures_are_left() {
        let full = Usage::of(180_000, 200_000, &Lines::default()).without_advice();
        assert_eq!((full.percent, full.band.label()), (90.0, "overflow"));
        assert_eq!((full.advice, full.message()), (Advice::None, None));
    }

    #[test]
    fn what_the_client_would_forestall_is_recommended_earlier() {
        let lines = Lines::default();
        let levels = Levels { restart: 150_000, ..Levels::of(&lines, 200_000) };
        let usage = Usage::at(150_000, 200_000, &lines, &levels);
        assert_eq!((usage.band.label(), usage.advice.label()), ("critical", "save_and_restart"));
    }

    #[test]
    fn the_lines_decide_where_saving_is_recommended() {
        let lines =
            Lines { save: Percent::whole(40), restart: Percent::whole(60), ..Lines::default() };
        let told = |used| {
            let usage = Usage::of(used, 100_000, &lines);
            (usage.band.label(), usage.advice.label())
        };
        assert_eq!(told(39_999), ("healthy", "none"));
        assert_eq!(told(40_000), ("critical", "save"));
        assert_eq!(told(60_000), ("overflow", "save_and_restart"));
    }
}
