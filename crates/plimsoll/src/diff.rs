//! What changes in a file, line by line.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::ui::{Ui, strip_control};

/// Longer lines are cut: a file may be one line of megabytes.
const LONGEST_LINE: usize = 2_000;

/// A unified diff of two texts. A file that is not there is nothing.
pub(crate) fn unified(ui: &Ui, path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| text.map_or("/dev/null", |_| path).to_owned();
    let mut shown = format!("--- {}\n+++ {}\n", name(before), name(after));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let diff = TextDiff::configure().timeout(Duration::from_secs(2)).diff_lines(before, after);
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        shown += &ui.dim(&hunk.header().to_string());
        shown.push('\n');
        for change in hunk.iter_changes() {
            let line = brief(change.value());
            shown += &match change.tag() {
                ChangeTag::Equal => format!(" {line}"),
                ChangeTag::Delete => ui.red(&format!("-{line}")),
                ChangeTag::Insert => ui.green(&format!("+{line}")),
            };
            shown.push('\n');
            if change.missing_newline() {
                shown += "\\ no newline at the end\n";
            }
        }
    }
    shown
}

/// A line as it may be shown.
fn brief(line: &str) -> String {
    let line = strip_control(&line.replace('\t', "    "));
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
