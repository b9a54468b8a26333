//! Curves drawn with block characters, which every terminal supports.

use plimsoll_core::{Millis, Tokens};

/// Blocks by height, in eighths of a cell.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the newest readings as a single line.
pub(super) fn trend(curve: &[(Millis, Tokens)], window: Tokens, columns: usize) -> String {
    let newest = &curve[curve.len().saturating_sub(columns * 4)..];
    let per_column = newest.len().div_ceil(columns.max(1)).max(1);
    let eighth = |used: Tokens| EIGHTHS[eighths(used, window, 1).clamp(1, 8)];
    newest
        .chunks(per_column)
        .filter_map(|chunk| chunk.iter().map(|(_, used)| *used).max())
        .map(eighth)
        .collect()
}

/// Usage of a session over time.
pub(super) struct Curve<'a> {
    pub(super) readings: &'a [(Millis, Tokens)],
    pub(super) window: Tokens,
    pub(super) trigger: Option<Tokens>,
}

impl Curve<'_> {
    /// Draws the curve, from the top row down. A dashed line marks the compaction trigger.
    pub(super) fn rows(&self, columns: usize, rows: usize) -> Vec<String> {
        let levels = self.levels(columns);
        let line = self.trigger.map(|trigger| eighths(trigger, self.window, rows).div_ceil(8));
        let row = |from_below: usize| {
            let cell = |used: &Option<Tokens>| {
                let filled = used.map_or(0, |used| eighths(used, self.window, rows));
                match filled.saturating_sub((from_below - 1) * 8).min(8) {
                    0 if line == Some(from_below) => '┄',
                    filled => EIGHTHS[filled],
                }
            };
            levels.iter().map(cell).collect()
        };
        (1..=rows).rev().map(row).collect()
    }

    /// Returns the column of a moment; `None` if it is outside the curve.
    pub(super) fn column(&self, moment: Millis, columns: usize) -> Option<usize> {
        let (first, last) = (self.readings.first()?.0, self.readings.last()?.0);
        let span = (last - first).max(1) as f64;
        let share = (moment - first) as f64 / span;
        let at = (share * columns.saturating_sub(1) as f64).round();
        (0.0..columns as f64).contains(&at).then_some(at as usize)
    }

    /// Returns the maximum of each column. A column without readings repeats the last reading
    /// before it.
    fn levels(&self, columns: usize) -> Vec<Option<Tokens>> {
        let mut levels: Vec<Option<Tokens>> = vec![None; columns];
        let mut last = vec![None; columns];
        for (time, used) in self.readings {
            if let Some(at) = self.column(*time, columns) {
                levels[at] = levels[at].max(Some(*used));
                last[at] = Some(*used);
            }
        }
        let mut before = None;
        for (level, last) in levels.iter_mut().zip(last) {
            *level = level.or(before);
            before = last.or(before);
        }
        levels
    }
}

/// Returns the height of a value in eighths of `rows` cells, rounded up so that small values stay
/// visible.
fn eighths(used: Tokens, window: Tokens, rows: usize) -> usize {
    let all = (rows * 8) as u128;
    let share = u128::from(used.min(window)) * all;
    share.div_ceil(u128::from(window.max(1))) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_rises_and_falls_with_the_window() {
        let curve = [(0, 0), (1, 100), (2, 50), (3, 25)];
        assert_eq!(trend(&curve, 100, 8), "▁█▄▂");
        assert_eq!(trend(&curve, 100, 1), "█");
        assert_eq!(trend(&curve, 100, 0), "");
        assert_eq!(trend(&[], 100, 8), "");
    }

    #[test]
    fn a_curve_continues_without_readings_and_shows_the_trigger() {
        let readings = [(0, 25), (10, 50), (70, 100)];
        let curve = Curve { readings: &readings, window: 100, trigger: Some(75) };
        assert_eq!(curve.rows(8, 4), ["       █", "┄┄┄┄┄┄┄█", " ███████", "████████"]);
        assert_eq!(curve.column(35, 8), Some(4));
        assert_eq!((curve.column(-30, 8), curve.column(200, 8)), (None, None));
        assert_eq!(curve.rows(0, 2), ["", ""]);
    }
}
