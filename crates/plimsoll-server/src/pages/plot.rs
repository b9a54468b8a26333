//! Plots the tokens in a window over time, as SVG.

use std::fmt::Write as _;

use maud::{Markup, html};
use plimsoll_core::text::thousands;
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::clock;

/// Data of a plot. Times are in milliseconds since the epoch, oldest first.
#[derive(Debug, Default)]
pub(super) struct Plot {
    /// Tokens in the window, by time.
    pub(super) readings: Vec<(Millis, Tokens)>,
    /// Window size.
    pub(super) window: Tokens,
    /// Horizontal lines: name, CSS class, height.
    pub(super) lines: Vec<(&'static str, &'static str, Tokens)>,
    pub(super) compactions: Vec<Millis>,
    pub(super) checkpoints: Vec<Millis>,
    /// Commits and test runs.
    pub(super) breakpoints: Vec<Millis>,
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 300.0;
/// Margins around the curve, for labels.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 84.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 40.0;

/// Maps times and tokens to coordinates.
struct Scale {
    from: Millis,
    to: Millis,
    top: Tokens,
}

impl Scale {
    fn of(plot: &Plot) -> Option<Self> {
        let marks = [&plot.compactions, &plot.checkpoints, &plot.breakpoints];
        let marks = marks.into_iter().flatten().copied();
        let moments = || plot.readings.iter().map(|(time, _)| *time).chain(marks.clone());
        let (from, to) = (moments().min()?, moments().max()?);
        let largest = plot.readings.iter().map(|(_, used)| *used).max().unwrap_or(0);
        Some(Self { from, to: to.max(from + 60_000), top: plot.window.max(largest).max(1) })
    }

    fn x(&self, moment: Millis) -> f64 {
        let share = (moment - self.from) as f64 / (self.to - self.from) as f64;
        LEFT + share.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, tokens: Tokens) -> f64 {
        let share = tokens as f64 / self.top as f64;
        HEIGHT - BOTTOM - share.min(1.0) * (HEIGHT - BOTTOM - TOP)
    }
}

/// Draws the plot. `None` if there are no readings.
pub(super) fn plot(plot: &Plot) -> Option<Markup> {
    let scale = Scale::of(plot).filter(|_| !plot.readings.is_empty())?;
    let base = HEIGHT - BOTTOM;
    let parts = columns(plot, &scale);
    let told = description(plot);
    Some(html! {
        svg.plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
            aria-labelledby="plot-title plot-desc" {
            title #plot-title { "Tokens in the window over time" }
            desc #plot-desc { (told) }
            @for tokens in axis_values(scale.top) {
                @let y = scale.y(tokens);
                path.grid d=(format!("M{LEFT} {y:.1}H{}", WIDTH - RIGHT)) {}
                text.axis x=(LEFT - 8.0) y=(format!("{:.1}", y + 4.0)) text-anchor="end" {
                    (rounded(tokens))
                }
            }
            @for (name, class, tokens) in &plot.lines {
                @let y = scale.y(*tokens);
                path class=(format!("rule {class}")) d=(format!("M{LEFT} {y:.1}H{}", WIDTH - RIGHT)) {}
                text class=(format!("rule {class}")) x=(WIDTH - RIGHT + 6.0) y=(format!("{:.1}", y + 4.0)) { (name) }
            }
            @for part in &parts {
                path.area d=(area(part, base)) {}
                path.curve d=(curve(part)) {}
            }
            @for moment in &plot.compactions {
                path.compaction d=(format!("M{:.1} {TOP}V{base}", scale.x(*moment))) {}
            }
            @for moment in &plot.checkpoints {
                @let x = scale.x(*moment);
                circle.checkpoint cx=(format!("{x:.1}")) cy=(base) r="4.5" {}
                path.checkpoint d=(format!("M{:.1} {base}h14", x - 7.0)) {}
            }
            @for moment in &plot.breakpoints {
                path.breakpoint d=(format!("M{:.1} {}l4.5 4.5l-4.5 4.5l-4.5 -4.5z", scale.x(*moment), base - 4.5)) {}
            }
            @for (moment, anchor) in [(scale.from, "start"), (scale.to, "end")] {
                text.axis x=(format!("{:.1}", scale.x(moment))) y=(HEIGHT - 14.0) text-anchor=(anchor) {
                    (clock::shown(moment))
                }
            }
        }
    })
}

/// Splits the curve at compactions, and keeps at most two points per column of pixels.
fn columns(plot: &Plot, scale: &Scale) -> Vec<Vec<(f64, f64)>> {
    let mut parts: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    let mut compactions = plot.compactions.iter().peekable();
    for (time, used) in &plot.readings {
        while compactions.next_if(|compaction| *compaction <= time).is_some() {
            parts.push(Vec::new());
        }
        let point = (scale.x(*time), scale.y(*used));
        let part = parts.last_mut();
        part.into_iter().for_each(|part| push(part, point));
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Adds a point. Within a column of pixels only the highest reading and the last one remain.
fn push(part: &mut Vec<(f64, f64)>, point: (f64, f64)) {
    const COLUMN: f64 = 1.0;
    match part.as_mut_slice() {
        [.., before, last] if point.0 - before.0 < COLUMN => {
            before.1 = before.1.min(last.1);
            *last = point;
        }
        _ => part.push(point),
    }
}

fn curve(part: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (at, (x, y)) in part.iter().enumerate() {
        // Writing to a `String` cannot fail.
        let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
    }
    // A single reading needs a short line, because a line of length zero is invisible.
    if part.len() == 1 { path + "h0.1" } else { path }
}

fn area(part: &[(f64, f64)], base: f64) -> String {
    let (first, last) = (part.first().map_or(0.0, |it| it.0), part.last().map_or(0.0, |it| it.0));
    format!("{}L{last:.1} {base}L{first:.1} {base}z", curve(part))
}

/// Returns the labelled values of the vertical axis.
fn axis_values(top: Tokens) -> Vec<Tokens> {
    const NICE: [Tokens; 8] = [1_000, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000];
    let step = NICE.into_iter().find(|step| top / step <= 5).unwrap_or(top / 4).max(1);
    (0..=top / step).map(|at| at * step).collect()
}

fn rounded(tokens: Tokens) -> String {
    if tokens == 0 { "0".to_owned() } else { format!("{} k", thousands(tokens / 1000)) }
}

/// Describes the plot in words, for screen readers.
fn description(plot: &Plot) -> String {
    let newest = plot.readings.last().map_or(0, |(_, used)| *used);
    let largest = plot.readings.iter().map(|(_, used)| *used).max().unwrap_or(0);
    format!(
        "{} readings; the last is {} tokens, the largest {}, of a window of {}. {} compactions, {} \
         checkpoints, {} breakpoints.",
        plot.readings.len(),
        thousands(newest),
        thousands(largest),
        thousands(plot.window),
        plot.compactions.len(),
        plot.checkpoints.len(),
        plot.breakpoints.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curve_splits_at_compactions_and_has_few_points() {
        let readings = (0..100_000).map(|at| (at * 100, 1000 + at as u64)).collect();
        let it =
            Plot { readings, window: 200_000, compactions: vec![5_000_000], ..Plot::default() };
        let scale = Scale::of(&it).unwrap();
        let parts = columns(&it, &scale);
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().map(Vec::len).sum::<usize>() < 2 * WIDTH as usize);
        let picture = plot(&it).unwrap().into_string();
        assert!(picture.contains("100000 readings; the last is 100,999 tokens"), "{picture}");
    }

    #[test]
    fn no_readings_draw_nothing_and_one_reading_draws_a_point() {
        assert!(plot(&Plot::default()).is_none());
        let one = Plot { readings: vec![(5, 5)], window: 10, ..Plot::default() };
        assert!(plot(&one).unwrap().into_string().contains("h0.1"));
    }

    #[test]
    fn an_axis_has_few_figures() {
        assert_eq!(axis_values(200_000), [0, 50_000, 100_000, 150_000, 200_000]);
        assert!((1..5_000_000).step_by(9_973).all(|top| axis_values(top).len() <= 7));
    }
}
