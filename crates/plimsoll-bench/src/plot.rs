//! The medians as a bar chart, in SVG, on a logarithmic scale.

use std::fmt::Write as _;

use crate::report::Figures;

const LABELS: f64 = 420.0;
const BARS: f64 = 480.0;
const ROW: f64 = 24.0;
/// The scale runs from 0.1 ms to 1 s.
const LOWEST_US: f64 = 100.0;
const DECADES: u32 = 4;

/// One bar per process, ours and the seeds'.
pub(crate) fn svg(figures: &Figures) -> String {
    let seeds = figures.other.iter().filter(|row| !figures.hook.iter().any(|h| h.name == row.name));
    let rows: Vec<_> = figures.hook.iter().chain(seeds).collect();
    let (width, height) = (LABELS + BARS + 90.0, ROW * (rows.len() as f64 + 2.0));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for decade in 0..=DECADES {
        let micros = LOWEST_US * 10f64.powi(decade as i32);
        let x = LABELS + length(micros);
        let bottom = height - ROW;
        let _ =
            writeln!(svg, "<line x1=\"{x}\" y1=\"8\" x2=\"{x}\" y2=\"{bottom}\" stroke=\"#ddd\"/>");
        let (y, text) = (height - 8.0, milliseconds(micros));
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>");
    }
    for (index, row) in rows.iter().enumerate() {
        let colour = if row.name.starts_with("plimsoll") { "#1f6feb" } else { "#8c959f" };
        bar(&mut svg, index, &row.name, row.p50_us, colour);
    }
    svg + "</svg>\n"
}

fn bar(svg: &mut String, index: usize, name: &str, micros: f64, colour: &str) {
    let top = 8.0 + ROW * index as f64;
    let (text, length, height) = (top + 15.0, length(micros), ROW - 6.0);
    let (before, after) = (LABELS - 8.0, LABELS + length + 6.0);
    let _ = writeln!(svg, "<text x=\"{before}\" y=\"{text}\" text-anchor=\"end\">{name}</text>");
    let _ = writeln!(
        svg,
        "<rect x=\"{LABELS}\" y=\"{top}\" width=\"{length:.1}\" height=\"{height}\" fill=\"{colour}\"/>"
    );
    let time = milliseconds(micros);
    let _ = writeln!(svg, "<text x=\"{after:.1}\" y=\"{text}\">{time}</text>");
}

fn length(micros: f64) -> f64 {
    BARS * ((micros / LOWEST_US).log10() / f64::from(DECADES)).clamp(0.0, 1.0)
}

fn milliseconds(micros: f64) -> String {
    let ms = micros / 1_000.0;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decade_has_the_same_length_anywhere() {
        assert_eq!(length(100.0), 0.0);
        assert_eq!(length(1_000.0), BARS / 4.0);
        assert_eq!(length(1_000_000.0), BARS);
    }
}
