//! The names in a text, noted in a table.

use plimsoll_core::bytes;

use super::names::{self, NameKind};
use super::score::Clock;
use super::table::{FileId, Table};
use super::{fence, path, weight};

/// A text that may name things.
pub(super) struct Mention<'t> {
    pub(super) text: &'t str,
    /// How much each name in it counts.
    pub(super) weight: f32,
    /// The file that the text is of.
    pub(super) of: Option<FileId>,
    pub(super) now: Clock,
}

impl Table {
    /// Notes every name in a text, once each; symbols belong to the file that the text is of, and to
    /// those named beside them. Paths are as seen from `folder`.
    pub(super) fn mention(&mut self, told: &Mention<'_>, folder: Option<&str>) {
        /// A line longer than this is no sentence about a file.
        const LONG_LINE: usize = 600;
        // What we gave to a session is no news when a tool shows it.
        if fence::is_ours(told.text) {
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

/// Whether a line of a diff names its files.
fn heads_diff(line: &str) -> bool {
    ["--- a/", "+++ b/", "diff --git a/"].iter().any(|head| line.starts_with(head))
}

/// A path in a diff without the side that it is of.
fn without_side(path: &str) -> &str {
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}
