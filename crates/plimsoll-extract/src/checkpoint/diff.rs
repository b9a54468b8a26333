//! Compares two checkpoints: what the work did between them.

use super::{SECTIONS, sections, strip_pointer};

/// The changes in one section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionDiff {
    /// Name of the section; empty for the text before the first.
    pub section: &'static str,
    /// Lines that only the later checkpoint has.
    pub added: Vec<String>,
    /// Lines that only the earlier checkpoint has.
    pub removed: Vec<String>,
}

/// Returns the sections in which two bodies differ. Sections are lists: the order of items and
/// their record pointers do not count.
pub fn diff(before: &str, after: &str) -> Vec<SectionDiff> {
    let (before, after) = (sections(before), sections(after));
    let compare = |section: &'static str| {
        let (old, new) = (lines(&before, section), lines(&after, section));
        SectionDiff { section, added: lines_not_in(&new, &old), removed: lines_not_in(&old, &new) }
    };
    let differs = |diff: &SectionDiff| !diff.added.is_empty() || !diff.removed.is_empty();
    std::iter::once("").chain(SECTIONS).map(compare).filter(differs).collect()
}

/// Returns the non-blank lines of a section.
fn lines<'a>(sections: &[(&str, &'a str)], name: &str) -> Vec<&'a str> {
    let texts = sections.iter().filter(|(known, _)| *known == name).map(|(_, text)| *text);
    texts.flat_map(str::lines).map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

/// Returns the `lines` that are not in `others`, counting repeated lines.
fn lines_not_in(lines: &[&str], others: &[&str]) -> Vec<String> {
    let mut counts = std::collections::HashMap::new();
    others.iter().for_each(|line| *counts.entry(strip_pointer(line)).or_insert(0_usize) += 1);
    let is_new = |line: &&&str| match counts.get_mut(strip_pointer(line)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    lines.iter().filter(is_new).map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_section_by_section() {
        let before = "## What Changed\n- a @1\n- b\n- b\n## Next Steps\n- [ ] c\n";
        let after =
            "## What Changed\n- b @9\n- d\n- a @2\n\n## Next Steps\n- [ ] c  \n## Task\n- c\n";
        let section = |section, added: &[&str], removed: &[&str]| SectionDiff {
            section,
            added: added.iter().map(|line| (*line).to_owned()).collect(),
            removed: removed.iter().map(|line| (*line).to_owned()).collect(),
        };
        let expected =
            [section("What Changed", &["- d"], &["- b"]), section("Task", &["- c"], &[])];
        assert_eq!(diff(before, after), expected);
        assert_eq!(diff(before, before), []);
    }
}
