//! Markdown tables.

use crate::competitors::NOOP;
use crate::percentiles::Percentiles;
use crate::spawn::Timing;

/// Formats a table whose first column is left-aligned and whose other columns are right-aligned.
pub(crate) fn table<const N: usize>(
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let rule = format!("|---|{}\n", "---:|".repeat(N - 1));
    let row = |row: [String; N]| line(&row.each_ref().map(String::as_str));
    line(&head) + &rule + &rows.into_iter().map(row).collect::<String>()
}

/// Formats a table below a heading.
pub(crate) fn with_title(title: &str, table: &str) -> String {
    format!("### {title}\n\n{table}\n")
}

pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

const TIMED: [&str; 9] = [
    "process",
    "rounds",
    "min µs",
    "p50 µs",
    "p99 µs",
    "CPU p50 µs",
    "memory ≤ MB",
    "× no-op (min)",
    "× no-op (CPU)",
];

/// Formats process timings with their ratios to the no-op, followed by the missing processes.
pub(crate) fn timing_table(timings: &[Timing], missing: &[String]) -> String {
    let noop = timings.iter().find(|timing| timing.name == NOOP);
    let (min, cpu) = noop.map_or((f64::NAN, f64::NAN), |noop| (noop.min_us, noop.cpu_p50_us));
    let timed = |row: &Timing| {
        let times = [row.min_us, row.p50_us, row.p99_us, row.cpu_p50_us];
        let [least, p50, p99, cpu_p50] = times.map(|time| format!("{time:.0}"));
        let ratios = [row.min_us / min, row.cpu_p50_us / cpu];
        let [by_min, by_cpu] = ratios.map(|ratio| format!("{ratio:.2}"));
        let (rounds, memory) = (row.rounds.to_string(), megabytes(row.rss_bytes));
        [row.name.clone(), rounds, least, p50, p99, cpu_p50, memory, by_min, by_cpu]
    };
    let absent = |name: &String| {
        let mut row: [String; 9] = Default::default();
        row[0].clone_from(name);
        row[1] = "not here".to_owned();
        row
    };
    table(TIMED, timings.iter().map(timed).chain(missing.iter().map(absent)))
}

/// Formats one row of percentiles per repeated call.
pub(crate) fn percentile_table<'a>(
    what: &str,
    rows: impl IntoIterator<Item = (&'a str, &'a Percentiles)>,
) -> String {
    let row = |(name, Percentiles { calls, p50_ms, p95_ms, .. }): (&str, &Percentiles)| {
        let [p50, p95] = [p50_ms, p95_ms].map(|time| format!("{time:.1}"));
        [name.to_owned(), calls.to_string(), p50, p95]
    };
    table([what, "calls", "p50 ms", "p95 ms"], rows.into_iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_names_to_the_left_and_numbers_to_the_right() {
        let rows = [["hook", "1"], ["no-op", "2"]].map(|row| row.map(str::to_owned));
        let expected = "| process | µs |\n|---|---:|\n| hook | 1 |\n| no-op | 2 |\n";
        assert_eq!(table(["process", "µs"], rows), expected);
    }
}
