//! Draws figures as SVG: bars, and a line over time.

use std::fmt::Write as _;

const LABELS: f64 = 420.0;
const BARS: f64 = 480.0;
const ROW: f64 = 24.0;
/// Height of the caption.
const CAPTION_HEIGHT: f64 = 36.0;
const OURS: &str = "#1f6feb";
const OTHERS: &str = "#8c959f";

/// A picture and its caption.
pub(crate) struct Picture {
    pub(crate) about: &'static str,
    pub(crate) svg: String,
}

#[derive(Clone)]
pub(crate) struct Bar {
    name: String,
    value: f64,
    colour: &'static str,
}

impl Bar {
    /// Creates a bar. The name decides whether it has plimsoll's colour.
    pub(crate) fn new(name: &str, value: f64) -> Self {
        let ours = name.starts_with("plimsoll") || name.starts_with('…');
        Self { name: name.to_owned(), value, colour: if ours { OURS } else { OTHERS } }
    }

    /// Creates a bar in plimsoll's colour, whatever its name.
    pub(crate) fn ours(name: &str, value: f64) -> Self {
        Self { name: name.to_owned(), value, colour: OURS }
    }
}

/// Maps values to bar lengths.
pub(crate) enum Scale {
    /// Starts at a power of ten and spans `decades`.
    Logarithmic { lowest: f64, decades: i32 },
    /// From zero to the largest value.
    Linear { largest: f64, limit: Option<f64> },
}

impl Scale {
    pub(crate) fn logarithmic(bars: &[Bar]) -> Self {
        let values = || bars.iter().map(|bar| bar.value.max(1e-6).log10());
        let lowest = values().fold(f64::MAX, f64::min).floor();
        let highest = values().fold(f64::MIN, f64::max).ceil();
        let decades = ((highest - lowest) as i32).max(1);
        Self::Logarithmic { lowest: 10f64.powf(lowest), decades }
    }

    pub(crate) fn linear(bars: &[Bar], limit: Option<f64>) -> Self {
        let largest =
            bars.iter().map(|bar| bar.value).chain(limit).fold(f64::MIN_POSITIVE, f64::max);
        Self::Linear { largest, limit }
    }

    fn length(&self, value: f64) -> f64 {
        BARS * match self {
            Self::Logarithmic { lowest, decades } => {
                ((value / lowest).log10() / f64::from(*decades)).clamp(0.0, 1.0)
            }
            Self::Linear { largest, .. } => (value / largest).clamp(0.0, 1.0),
        }
    }

    /// Returns the values at which to draw vertical lines, with their colours.
    fn marks(&self) -> Vec<(f64, &'static str)> {
        const FAINT: &str = "#ddd";
        match self {
            Self::Logarithmic { lowest, decades } => {
                (0..=*decades).map(|decade| (lowest * 10f64.powi(decade), FAINT)).collect()
            }
            Self::Linear { limit, .. } => {
                [(0.0, FAINT)].into_iter().chain(limit.map(|limit| (limit, "#cf222e"))).collect()
            }
        }
    }
}

/// Draws horizontal bars, one per row.
pub(crate) fn bar_chart(scale: &Scale, bars: &[Bar], about: &'static str) -> Picture {
    let height = CAPTION_HEIGHT + ROW * (bars.len() as f64 + 1.5);
    let mut svg = svg_head(LABELS + BARS + 90.0, height, about);
    for (value, colour) in scale.marks() {
        let (x, bottom, y) = (LABELS + scale.length(value), height - ROW, height - 8.0);
        let _ = writeln!(
            svg,
            r#"<line x1="{x:.1}" y1="{CAPTION_HEIGHT}" x2="{x:.1}" y2="{bottom}" stroke="{colour}"/>
<text x="{x:.1}" y="{y}" text-anchor="middle">{}</text>"#,
            format_number(value)
        );
    }
    for (index, Bar { name, value, colour }) in bars.iter().enumerate() {
        let top = CAPTION_HEIGHT + ROW * index as f64;
        let (text, length, height) = (top + 15.0, scale.length(*value), ROW - 6.0);
        let (before, after) = (LABELS - 8.0, LABELS + length + 6.0);
        let _ = writeln!(
            svg,
            r#"<text x="{before}" y="{text}" text-anchor="end">{name}</text>
<rect x="{LABELS}" y="{top}" width="{length:.1}" height="{height}" fill="{colour}"/>
<text x="{after:.1}" y="{text}">{}</text>"#,
            format_number(*value)
        );
    }
    Picture { about, svg: svg + "</svg>\n" }
}

/// Draws a line through the points, with a vertical axis that starts at zero.
pub(crate) fn line_chart(points: &[(f64, f64)], about: &'static str) -> Picture {
    const LEFT: f64 = 50.0;
    const HEIGHT: f64 = 200.0;
    let most = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).fold(f64::MIN_POSITIVE, f64::max);
    let (longest, largest) = (most(|point| point.0), most(|point| point.1));
    let place = |(x, y): &(f64, f64)| {
        format!(
            "{:.1},{:.1}",
            LEFT + x / longest * 2.0 * BARS,
            CAPTION_HEIGHT + HEIGHT * (1.0 - y / largest)
        )
    };
    let places: Vec<_> = points.iter().map(place).collect();
    let (right, bottom) = (LEFT + 2.0 * BARS, CAPTION_HEIGHT + HEIGHT);
    let mut svg = svg_head(right + 40.0, bottom + 30.0, about);
    for (y, value) in [(CAPTION_HEIGHT, largest), (bottom, 0.0)] {
        let (before, below) = (LEFT - 6.0, y + 4.0);
        let _ = writeln!(
            svg,
            r##"<line x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="#ddd"/>
<text x="{before}" y="{below}" text-anchor="end">{}</text>"##,
            format_number(value)
        );
    }
    let (places, below, seconds) = (places.join(" "), bottom + 20.0, format_number(longest));
    svg += &format!(
        r#"<polyline points="{places}" fill="none" stroke="{OURS}" stroke-width="2"/>
<text x="{right}" y="{below}" text-anchor="end">{seconds} s</text>
</svg>
"#
    );
    Picture { about, svg }
}

fn svg_head(width: f64, height: f64, about: &str) -> String {
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="white"/>
<text x="8" y="20" font-weight="bold">{about}</text>
"#
    )
}

/// Formats a number with only its significant digits.
fn format_number(value: f64) -> String {
    let digits = if value < 1.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decade_has_the_same_length_anywhere() {
        let bars = [0.2, 30.0, 500.0].map(|value| Bar::new("plimsoll", value));
        let scale = Scale::logarithmic(&bars);
        assert_eq!([0.1, 1.0, 1_000.0].map(|value| scale.length(value)), [0.0, BARS / 4.0, BARS]);
    }

    #[test]
    fn the_scale_includes_the_limit() {
        let scale = Scale::linear(&[Bar::new("a page", 5.0)], Some(50.0));
        assert_eq!((scale.length(5.0), scale.length(50.0)), (BARS / 10.0, BARS));
    }

    #[test]
    fn numbers_have_few_digits() {
        assert_eq!(
            [0.0, 0.1, 0.345, 9.0, 63.72, 500.0].map(format_number),
            ["0", "0.1", "0.34", "9", "63.7", "500"]
        );
    }
}
