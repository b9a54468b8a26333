//! Fills a session's save from its checkpoint.

use super::NewSave;
use crate::checkpoint::{sections, strip_pointer, summary};
use crate::work;

/// Maximum items per section, and maximum files.
const MOST_ITEMS: usize = 8;
const MOST_FILES: usize = 20;

/// Extracts the content of a save from a checkpoint's body.
pub fn from_checkpoint(body: &str) -> NewSave {
    let some = |names: &[&str]| Some(items(body, names)).filter(|text| !text.is_empty());
    NewSave {
        task: summary(body),
        context: some(&["Task", "What Changed", "Key Decisions"]),
        blockers: some(&["Active Issues"]),
        next_steps: some(&["Next Steps"]),
        key_artifacts: work::files_in_body(body)
            .into_iter()
            .take(MOST_FILES)
            .map(str::to_owned)
            .collect(),
        ..NewSave::default()
    }
}

/// Returns the first items of some sections, without their record pointers.
fn items(body: &str, names: &[&str]) -> String {
    let sections = sections(body);
    let of = |name: &&str| {
        let text = sections.iter().find(|(known, _)| known == name).map_or("", |(_, text)| *text);
        let lines = text.lines().map(strip_pointer).map(str::trim);
        lines
            .filter(|line| has_content(line))
            .take(MOST_ITEMS)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    names.iter().flat_map(of).collect::<Vec<_>>().join("\n")
}

fn has_content(line: &str) -> bool {
    !line.is_empty() && line != work::EMPTY_SECTION
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "\
## What Changed

- [src/a.rs:3-4] - edited @17

## Active Issues

- none seen

## Next Steps

- [ ] finish d @1234

## Task

> Mend the hull @5
";

    #[test]
    fn saves_are_filled_from_checkpoints() {
        let save = from_checkpoint(BODY);
        assert_eq!(save.task, "Mend the hull - 1 file modified");
        assert_eq!(save.context.as_deref(), Some("> Mend the hull\n- [src/a.rs:3-4] - edited"));
        assert_eq!(save.blockers, None);
        assert_eq!(save.next_steps.as_deref(), Some("- [ ] finish d"));
        assert_eq!(save.key_artifacts, ["src/a.rs"]);
    }
}
