//! Writes the restore of a checkpoint for a session that did not do the work itself.

use super::checkpoint_body::EMPTY_SECTION;
use super::requests::is_reply;
use super::restore::{AGAIN, LimitedText, room, share};
use super::{FileStatus, RestoreOrigin};
use crate::checkpoint::{changed_path, sections, strip_pointer};

/// Share of decisions in percent of the budget. Only this restore has it: a session that did the
/// work finds decisions in its summary.
const DECISIONS: usize = 10;

/// Returns the restore of a checkpoint's body in at most `budget` tokens. `moved` describes how the
/// repository has changed since.
///
/// The body lists the most useful items first, so each section is cut at its share.
pub fn restore_checkpoint(
    body: &str,
    origin: &RestoreOrigin<'_>,
    moved: Option<&str>,
    budget: usize,
    fate: &dyn Fn(&str) -> Option<FileStatus>,
) -> String {
    let origin = origin.sentence();
    let total = room(budget, &origin);
    let part = |percent: usize| total * percent / 100;
    let body = Body::read(body);
    let mut text = LimitedText { room: total, out: String::new() };
    let since = moved.map(|moved| format!("- {moved}"));
    text.section("## Since Then", since.into_iter(), total / 4);
    text.section("## Task", body.quotes(), part(2 * share::TASK));
    text.section("## Directives", body.directives(), part(share::DIRECTIVES));
    text.section("## Next Steps", body.listed("Next Steps"), part(2 * share::PLAN));
    text.section("## Active Issues", body.listed("Active Issues"), part(2 * share::ISSUES));
    text.section("## Key Decisions", body.listed("Key Decisions"), part(DECISIONS));
    text.section("## Commands", body.commands(), part(share::COMMANDS));
    let references = body.references(part(share::REFERENCES));
    text.section("## References", references, part(share::REFERENCES) + 20);
    let rest = text.room;
    text.section("## Working Set", body.map(fate), rest);
    text.fenced(&origin)
}

/// Returns the files that a checkpoint's body names, changed ones first.
pub fn files_in_body(body: &str) -> Vec<&str> {
    let body = Body::read(body);
    let changed = body.items("What Changed").filter_map(changed_path);
    let mut files: Vec<&str> = Vec::new();
    let named = body.items("Working Set").filter(|item| !item.starts_with("also: "));
    let named = named.filter(|item| !item.starts_with(AGAIN)).map(path);
    for path in changed.chain(named) {
        if !files.contains(&path) {
            files.push(path);
        }
    }
    files
}

/// Returns the next steps of a checkpoint's body.
pub fn next_steps(body: &str) -> Vec<&str> {
    Body::read(body).items("Next Steps").collect()
}

/// Returns the path at the start of a line of the working set.
pub(super) fn path(line: &str) -> &str {
    let end = [" (", ": "].iter().filter_map(|mark| line.find(mark)).min();
    &line[..end.unwrap_or(line.len())]
}

/// The sections of a body.
struct Body<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Body<'a> {
    fn read(body: &'a str) -> Self {
        Self(sections(body))
    }

    fn lines(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let text = self.0.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| *text);
        let lines = text.lines().map(strip_pointer);
        lines.filter(|line| !line.is_empty() && *line != EMPTY_SECTION)
    }

    /// Returns the items of a list, without their markers.
    fn items(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.lines(name).filter_map(|line| line.strip_prefix("- "))
    }

    fn listed(&self, name: &str) -> impl Iterator<Item = String> {
        self.lines(name).map(str::to_owned)
    }

    /// Returns the user's requests, newest first.
    fn quotes(&self) -> impl Iterator<Item = String> {
        let mut lines: Vec<&str> =
            self.lines("Task").filter(|line| line.starts_with('>')).collect();
        if lines.iter().any(|line| !is_reply(&line[1..])) {
            lines.retain(|line| !is_reply(&line[1..]));
        }
        lines.into_iter().rev().take(4).map(str::to_owned)
    }

    fn directives(&self) -> impl Iterator<Item = String> {
        let lines: Vec<&str> = self.lines("Task").filter(|line| line.starts_with("- ")).collect();
        lines.into_iter().rev().map(str::to_owned)
    }

    fn commands(&self) -> impl Iterator<Item = String> {
        let marked = |item: &str| item.trim_matches('`').replacen("`: ", "  # ", 1);
        self.items("Commands").map(move |item| marked(item.strip_suffix(": ok").unwrap_or(item)))
    }

    /// Returns one line with as many references as fit into `longest` bytes.
    fn references(&self, longest: usize) -> impl Iterator<Item = String> {
        let mut line = String::new();
        for name in self.items("References").flat_map(str::split_whitespace) {
            if line.len() + name.len() < longest {
                line += if line.is_empty() { "" } else { " " };
                line += name;
            }
        }
        Some(line).filter(|line| !line.is_empty()).into_iter()
    }

    fn map(&self, fate: &dyn Fn(&str) -> Option<FileStatus>) -> impl Iterator<Item = String> {
        self.items("Working Set").map(move |line| {
            let mark = fate(path(line)).map_or("", FileStatus::mark);
            let head = line.find(": ").unwrap_or(line.len());
            format!("{}{mark}{}", &line[..head], &line[head..])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::unknown_status;

    const BODY: &str = "\
## What Changed

- [src/a.rs:3-4] - edited @17

## Why Changed

- none seen

## Active Issues

- none seen

## Key Decisions

- we use b because of c

## Next Steps

- [ ] finish d @1234

## Task

> first request
> second request
- Never touch e.

## Commands

- `cargo test --all`: 2 passed @99
- `cargo build`: ok @100

## Working Set

- src/a.rs (3-4): f, g
- src/h.rs @5
- also: loose_name @6

## References

- branch main #12
";

    fn given(budget: usize, fate: &dyn Fn(&str) -> Option<FileStatus>) -> String {
        let origin = RestoreOrigin::Checkpoint { id: "C", other: Some("S"), age: 720_000 };
        restore_checkpoint(BODY, &origin, Some("X"), budget, fate)
    }

    #[test]
    fn restores_name_origin_and_age() {
        let text = given(500, &unknown_status);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("## Resuming from Checkpoint"));
        let origin = lines.next().unwrap();
        assert!(origin.starts_with("From checkpoint C of another session, S, 12 min old"));
        assert!(text.contains("## Since Then\n- X\n"), "inside the fence: {text}");
        for line in [
            "> second request",
            "- Never touch e.",
            "- [ ] finish d",
            "cargo test --all  # 2 passed",
            "cargo build",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}: {text}");
        }
        assert!(!text.contains("none seen"), "{text}");
    }

    #[test]
    fn file_status_follows_the_name() {
        let text = given(500, &|path| (path == "src/a.rs").then_some(FileStatus::Gone));
        assert!(text.contains("src/a.rs (3-4) [gone]: f, g\nsrc/h.rs\n"), "{text}");
    }

    #[test]
    fn the_budget_is_respected() {
        for budget in [60, 100, 150] {
            assert!(given(budget, &unknown_status).len() <= budget * 4);
        }
    }

    #[test]
    fn the_files_of_a_checkpoint_are_named_once() {
        assert_eq!(files_in_body(BODY), ["src/a.rs", "src/h.rs"]);
    }
}
