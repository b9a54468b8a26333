//! Records the names in a text in a table.

use plimsoll_core::bytes;

use super::name_table::{FileId, NameTable};
use super::names::{self, NameKind};
use super::score::Clock;
use super::{fence, path, weight};

/// A text that may contain names.
pub(super) struct Mention<'t> {
    pub(super) text: &'t str,
    /// Weight of each name in the text.
    pub(super) weight: f32,
    /// The file that the text belongs to.
    pub(super) of: Option<FileId>,
    pub(super) now: Clock,
}

impl NameTable {
    /// Records every name in a text. Symbols belong to the text's own file and to files named on
    /// the same line. Paths are relative to `folder`.
    pub(super) fn mention(&mut self, told: &Mention<'_>, folder: Option<&str>) {
        /// A longer line is not a sentence about a file.
        const LONG_LINE: usize = 600;
        // A tool that shows plimsoll's own text adds nothing new.
        if fence::is_own_text(told.text) {
            return;
        }
        let (weight, now) = (told.weight, told.now);
        let (mut files, mut symbols) = (Vec::new(), Vec::new());
        for line in bytes::lines(told.text) {
            files.clear();
            symbols.clear();
            let is_diff = heads_diff(line);
            names::scan(line, |kind, name| match kind {
                NameKind::File => {
                    let path = if is_diff { without_side(name) } else { name };
                    files.push(self.file(path::shown(folder, path), weight * weight::FILE, now));
                }
                NameKind::Symbol => symbols.push(self.name(kind, name, weight, now)),
                NameKind::Reference => {
                    self.name(kind, name, weight, now);
                }
            });
            if files.len() > 3 || line.len() > LONG_LINE {
                files.clear();
            }
            files.extend(told.of);
            for (file, symbol) in
                files.iter().flat_map(|file| symbols.iter().map(move |symbol| (file, symbol)))
            {
                self.tie(*symbol, *file, weight.max(weight::LEAST_TIE));
            }
        }
    }
}

/// Returns whether a line of a diff names its files.
fn heads_diff(line: &str) -> bool {
    ["--- a/", "+++ b/", "diff --git a/"].iter().any(|head| line.starts_with(head))
}

/// Strips `a/` or `b/` from a path in a diff.
fn without_side(path: &str) -> &str {
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}
