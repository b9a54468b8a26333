//! Reads the body of a checkpoint: sections, summary, changed paths.

use std::collections::BTreeSet;

use plimsoll_core::bytes;

use super::SECTIONS;

/// Splits a body into sections with their texts, in file order. Text before the first heading has
/// an empty name and appears only if it is not blank.
pub fn sections(body: &str) -> Vec<(&str, &str)> {
    let mut found = vec![("", 0, 0)];
    let mut at = 0;
    while at < body.len() {
        let rest = &body[at..];
        let length = bytes::find(b'\n', rest.as_bytes()).map_or(rest.len(), |newline| newline + 1);
        let name = heading(&rest[..length]);
        if let (Some(name), Some((_, _, end))) = (name, found.last_mut()) {
            *end = at;
            found.push((name, at + length, body.len()));
        }
        at += length;
    }
    if let [(_, _, end)] = found.as_mut_slice() {
        *end = body.len();
    }
    let text = |(name, start, end): (&'static str, usize, usize)| (name, &body[start..end]);
    let said = |(name, text): &(&str, &str)| !name.is_empty() || !text.trim().is_empty();
    found.into_iter().map(text).filter(said).collect()
}

/// Returns the section that a heading line starts.
fn heading(line: &str) -> Option<&'static str> {
    let name = line.strip_prefix("## ")?.trim_end();
    SECTIONS.into_iter().find(|section| *section == name)
}

/// Strips the pointer to the source record, `@123456`, and trailing blanks from a line.
pub fn strip_pointer(line: &str) -> &str {
    let line = line.trim_end();
    match line.rsplit_once(" @") {
        Some((text, place)) if !place.is_empty() && place.bytes().all(|b| b.is_ascii_digit()) => {
            text.trim_end()
        }
        _ => line,
    }
}

/// Summarizes a checkpoint in one line: `Implementing auth feature - 3 files modified`.
pub fn summary(body: &str) -> String {
    const LONGEST: usize = 80;
    let sections = sections(body);
    let section = |name: &str| {
        let found = sections.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, text)| *text)
    };
    let changes = section("What Changed");
    let said = |text: &str| text.lines().map(strip_markup).find(|line| !line.is_empty());
    let task = said(section("Task")).or_else(|| said(changes)).unwrap_or_default();
    let task: String = match task.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", task[..end].trim_end()),
        None => task,
    };
    match count_files(changes) {
        0 => task,
        1 => format!("{task} - 1 file modified"),
        files => format!("{task} - {files} files modified"),
    }
}

/// Counts the files named by the items `- [file:line] - …`.
fn count_files(changes: &str) -> usize {
    let file = |line: &str| {
        let path = changed_path(line.trim_start().strip_prefix("- ")?)?;
        (!path.trim().is_empty()).then(|| path.to_owned())
    };
    changes.lines().filter_map(file).collect::<BTreeSet<_>>().len()
}

/// Returns the path of an item `[src/a.rs:3-4] - edited`. A colon is part of the path unless line
/// numbers follow it.
pub(crate) fn changed_path(item: &str) -> Option<&str> {
    let item = item.strip_prefix('[')?;
    let (place, _) = item.split_once("] - ").or_else(|| item.split_once(']'))?;
    let is_lines = |lines: &str| {
        lines.starts_with(|first: char| first.is_ascii_digit())
            && lines.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b',' | b'-'))
    };
    let lines = place.rsplit_once(':').filter(|(_, lines)| is_lines(lines));
    Some(lines.map_or(place, |(path, _)| path))
}

/// Strips list and quote markers and control characters from a line.
fn strip_markup(line: &str) -> String {
    let line = strip_pointer(line).trim_start_matches(['-', '*', '>', '#', ' ', '\t']);
    let line: String = line.chars().filter(|c| plimsoll_core::policy::is_plain(*c)).collect();
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_paths_may_have_a_drive_and_brackets() {
        assert_eq!(changed_path("[src/a.rs:3-4] - edited"), Some("src/a.rs"));
        assert_eq!(changed_path("[D:/a.rs] - edited"), Some("D:/a.rs"));
        assert_eq!(changed_path("[app/[id]/page.tsx:3,7-9] - edited"), Some("app/[id]/page.tsx"));
    }

    #[test]
    fn bodies_are_split_into_sections() {
        let body = "said\n## What Changed\n- a\n## Other\n- b\n## Next Steps\n";
        let read = sections(body);
        assert_eq!(
            read,
            [("", "said\n"), ("What Changed", "- a\n## Other\n- b\n"), ("Next Steps", "")]
        );
        assert_eq!(sections("only words"), [("", "only words")]);
        assert_eq!(sections(""), []);
        assert_eq!(sections("## Task"), [("Task", "")]);
    }

    #[test]
    fn pointers_are_stripped() {
        for (line, said) in
            [("- a @12", "- a"), ("- a @", "- a @"), ("- a@1", "- a@1"), ("b @x ", "b @x")]
        {
            assert_eq!(strip_pointer(line), said);
        }
    }

    #[test]
    fn summaries_have_the_task_and_the_file_count() {
        let changed = "## What Changed\n- [a.rs:1] - x\n- [a.rs:9] - y\n- [b.rs:1-3] - z\n";
        let body =
            format!("{changed}## Next Steps\n## Task\n\n> Implementing auth\u{1b} feature @57\n");
        assert_eq!(summary(&body), "Implementing auth feature - 2 files modified");
        assert_eq!(summary("## What Changed\n- [a:b.rs] - x\n"), "[a:b.rs] - x - 1 file modified");
        assert_eq!(summary("## What Changed\nNothing.\n"), "Nothing.");
        assert_eq!(summary(""), "");
        assert_eq!(summary(&format!("## Task\n{}\n", "ä".repeat(90))), "ä".repeat(80) + "…");
    }
}
