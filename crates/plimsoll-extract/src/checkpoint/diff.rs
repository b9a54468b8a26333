//! What the work did between two checkpoints.

use super::{SECTIONS, sections, without_pointer};

/// What changed in a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionDiff {
    /// The section's name; empty for what stands before the first.
    pub section: &'static str,
    /// The lines that only the later one has.
    pub added: Vec<String>,
    /// The lines that only the earlier one has.
    pub removed: Vec<String>,
}

/// The sections in which two bodies differ. A section is a list: an item that only moved is no
/// difference, nor is one that only points to another record.
pub fn diff(before: &str, after: &str) -> Vec<SectionDiff> {
    let (before, after) = (sections(before), sections(after));
    let compare = |section: &'static str| {
        let (old, new) = (lines(&before, section), lines(&after, section));
        SectionDiff { section, added: beyond(&new, &old), removed: beyond(&old, &new) }
    };
    let differs = |diff: &SectionDiff| !diff.added.is_empty() || !diff.removed.is_empty();
    std::iter::once("").chain(SECTIONS).map(compare).filter(differs).collect()
}

/// The lines of a section that say anything.
fn lines<'a>(sections: &[(&str, &'a str)], name: &str) -> Vec<&'a str> {
    let texts = sections.iter().filter(|(known, _)| *known == name).map(|(_, text)| *text);
    texts.flat_map(str::lines).map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

/// The `lines` that are not among `others`; one that stands there twice needs two of them.
fn beyond(lines: &[&str], others: &[&str]) -> Vec<String> {
    let mut counts = std::collections::HashMap::new();
    others.iter().for_each(|line| *counts.entry(without_pointer(line)).or_insert(0_usize) += 1);
    let is_new = |line: &&&str| match counts.get_mut(without_pointer(line)) {
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
