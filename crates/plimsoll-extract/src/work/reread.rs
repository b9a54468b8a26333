//! The restore of a checkpoint: what is given to a session that did not do the work itself.

use super::asked::is_reply;
use super::body::NOTHING;
use super::restore::{AGAIN, Text, room, share};
use super::{Fate, Origin};
use crate::checkpoint::{changed_path, sections, without_pointer};

/// What the model decided, and why, in percent of the budget: a session that did the work itself has
/// that from its summary.
const DECISIONS: usize = 10;

/// The text that a session is given of a checkpoint's body, of at most `budget` tokens. `moved` says
/// how the repository has moved on since.
///
/// The body tells the most useful first, so each section gives as much as fits into its share.
pub fn reread(
    body: &str,
    origin: &Origin<'_>,
    moved: Option<&str>,
    budget: usize,
    fate: &dyn Fn(&str) -> Option<Fate>,
) -> String {
    let origin = origin.sentence();
    let total = room(budget, &origin);
    let part = |percent: usize| total * percent / 100;
    let body = Body::read(body);
    let mut text = Text { room: total, out: String::new() };
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

/// The files that a checkpoint's body names, those that were changed first.
pub fn files(body: &str) -> Vec<&str> {
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

/// What comes next, as a checkpoint's body says.
pub fn next_steps(body: &str) -> Vec<&str> {
    Body::read(body).items("Next Steps").collect()
}

/// The path that a line of the working set begins with.
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
        let lines = text.lines().map(without_pointer);
        lines.filter(|line| !line.is_empty() && *line != NOTHING)
    }

    /// The items of a list, without their marks.
    fn items(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.lines(name).filter_map(|line| line.strip_prefix("- "))
    }

    fn listed(&self, name: &str) -> impl Iterator<Item = String> {
        self.lines(name).map(str::to_owned)
    }

    /// The user's requests, the newest first.
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

    /// As many of the references as fit into a line of that length.
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

    fn map(&self, fate: &dyn Fn(&str) -> Option<Fate>) -> impl Iterator<Item = String> {
        self.items("Working Set").map(move |line| {
            let mark = fate(path(line)).map_or("", Fate::mark);
            let head = line.find(": ").unwrap_or(line.len());
            format!("{}{mark}{}", &line[..head], &line[head..])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::unlooked;

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

    fn given(budget: usize, fate: &dyn Fn(&str) -> Option<Fate>) -> String {
        let origin = Origin::Checkpoint { id: "C", other: Some("S"), age: 720_000 };
        reread(BODY, &origin, Some("X"), budget, fate)
    }

    #[test]
    fn a_checkpoint_is_given_with_its_origin_and_age() {
        let text = given(500, &unlooked);
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
    fn what_has_become_of_a_file_is_said_behind_its_name() {
        let text = given(500, &|path| (path == "src/a.rs").then_some(Fate::Gone));
        assert!(text.contains("src/a.rs (3-4) [gone]: f, g\nsrc/h.rs\n"), "{text}");
    }

    #[test]
    fn the_budget_is_kept() {
        for budget in [60, 100, 150] {
            assert!(given(budget, &unlooked).len() <= budget * 4);
        }
    }

    #[test]
    fn the_files_of_a_checkpoint_are_named_once() {
        assert_eq!(files(BODY), ["src/a.rs", "src/h.rs"]);
    }
}
