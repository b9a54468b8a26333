//! Fitting words into the columns of a terminal.

use std::path::Path;

use plimsoll_core::text::duration;

use crate::ui;

/// What every terminal has.
pub(crate) const COLUMNS: usize = 80;

/// As many of `parts` as fit into `columns`, from the first on, which is cut if need be.
pub(crate) fn fit(parts: &[String], columns: usize) -> String {
    const BETWEEN: &str = " · ";
    let mut line = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let between = if line.is_empty() { "" } else { BETWEEN };
        if width(&line) + width(between) + width(part) > columns && !line.is_empty() {
            break;
        }
        line.extend([between, part]);
    }
    start(&line, columns)
}

/// The start of a text, in at most so many columns.
pub(crate) fn start(text: &str, columns: usize) -> String {
    match width(text) <= columns {
        true => text.to_owned(),
        false => text.chars().take(columns.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A path as people write it, in at most so many columns: without its beginning where it is too
/// long.
pub(crate) fn path(path: &Path, home: &Path, columns: usize) -> String {
    end(&ui::short_path(path, home), columns)
}

/// The end of a text, in at most so many columns.
pub(crate) fn end(text: &str, columns: usize) -> String {
    let surplus = width(text).saturating_sub(columns);
    if surplus == 0 {
        return text.to_owned();
    }
    let rest = text.chars().skip(surplus + 1);
    std::iter::once('…').chain(rest).collect()
}

/// A stretch of time in milliseconds, with as much of it as anyone wants to know.
pub(crate) fn millis(millis: f64) -> String {
    match millis {
        ..10.0 => format!("{millis:.1} ms"),
        ..1000.0 => format!("{millis:.0} ms"),
        ..60_000.0 => format!("{:.1} s", millis / 1000.0),
        _ => duration((millis / 1000.0) as u64),
    }
}

/// A bar as long as `part` of `whole`, of at most so many columns; anything at all is seen.
pub(crate) fn bar(part: f64, whole: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if part <= 0.0 || whole <= 0.0 {
        return String::new();
    }
    let eighths = ((part / whole).min(1.0) * columns as f64 * 8.0).round().max(1.0) as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// How many columns a text takes, if no character takes two.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_left_out_from_the_end() {
        let parts = ["one".to_owned(), String::new(), "two".to_owned(), "three".to_owned()];
        assert_eq!(fit(&parts, 80), "one · two · three");
        assert_eq!(fit(&parts, 10), "one · two");
        assert_eq!(fit(&parts, 2), "o…", "the first is always there");
    }

    #[test]
    fn a_path_keeps_its_end() {
        let check = |given: &str, columns, expected: &str| {
            assert_eq!(path(Path::new(given), Path::new("/home/ada"), columns), expected);
        };
        check("/home/ada/work/app", 20, "~/work/app");
        check("/home/ada", 20, "~");
        check("/home/adam/app", 20, "/home/adam/app");
        check("/home/ada/work/a-long-name/app", 12, "…ng-name/app");
        check("/tmp/\u{1b}[2Jx", 20, "/tmp/[2Jx");
    }

    #[test]
    fn times_are_easy_to_read() {
        let read = [0.93, 47.3, 203.0, 1240.0, 192_000.0].map(millis);
        assert_eq!(read, ["0.9 ms", "47 ms", "203 ms", "1.2 s", "3 min"]);
    }

    #[test]
    fn a_bar_shows_even_the_least() {
        assert_eq!(bar(5.0, 10.0, 4), "██");
        assert_eq!(bar(0.001, 10.0, 4), "▏");
        assert_eq!((bar(0.0, 10.0, 4), bar(3.0, 0.0, 4)), (String::new(), String::new()));
    }
}
