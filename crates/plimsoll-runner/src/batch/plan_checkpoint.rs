//! The checkpoint between two batches: state of the plan and work of the session.

use plimsoll_core::plan::Piece;
use plimsoll_extract::checkpoint::{SECTIONS, sections};
use plimsoll_extract::redact::redact;
use plimsoll_extract::work::EMPTY_SECTION;

use super::summary;

/// Maximum number of tasks to list: the last ones done, and the next ones.
const MAX_LISTED: usize = 20;

/// Builds the body of a checkpoint from a session's checkpoint and the done and remaining pieces of
/// the plan. The next steps come from the plan only, because those of the session are just the
/// tasks that it was asked to do.
///
/// `body` is empty if nothing is known about the session.
pub fn plan_checkpoint(body: &str, done: &[&Piece], left: &[&Piece]) -> String {
    let known = sections(body);
    let mut text = String::new();
    for name in SECTIONS {
        let section = known.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| *text);
        let mut lines: Vec<String> = match name {
            "Next Steps" => open_lines(left),
            "Why Changed" => done_lines(done),
            "What Changed" if section.trim().is_empty() => file_lines(done),
            _ => Vec::new(),
        };
        if name != "Next Steps" {
            let own = section.lines().filter(|line| !line.is_empty() && *line != EMPTY_SECTION);
            lines.extend(own.filter(|line| !is_of_plan(name, line)).map(str::to_owned));
        }
        if lines.is_empty() {
            lines.push(EMPTY_SECTION.to_owned());
        }
        text += &format!("## {name}\n\n{}\n\n", lines.join("\n"));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Prefix of lines about finished tasks.
const DONE_PREFIX: &str = "- task ";

/// Whether a line repeats the plan, which is written anew. Requests in the session came from the
/// plan, too.
fn is_of_plan(section: &str, line: &str) -> bool {
    match section {
        "Task" => line.starts_with("> "),
        "Why Changed" => line.starts_with(DONE_PREFIX) || line.starts_with("- asked for: "),
        _ => false,
    }
}

fn done_lines(done: &[&Piece]) -> Vec<String> {
    let last = &done[done.len().saturating_sub(MAX_LISTED)..];
    last.iter()
        .rev()
        .map(|piece| format!("{DONE_PREFIX}{} (done)", redacted_summary(piece)))
        .collect()
}

fn open_lines(left: &[&Piece]) -> Vec<String> {
    let more = left.len().saturating_sub(MAX_LISTED);
    let mut lines: Vec<String> = left
        .iter()
        .take(MAX_LISTED)
        .map(|piece| format!("- [ ] {}", redacted_summary(piece)))
        .collect();
    if more > 0 {
        lines.push(format!("- [ ] {more} more"));
    }
    lines
}

/// Lists the files of finished tasks, for sessions whose changes are unknown.
fn file_lines(done: &[&Piece]) -> Vec<String> {
    let named = |piece: &&Piece| {
        let id = piece.id.clone();
        piece.files.clone().into_iter().map(move |file| (file, id.clone()))
    };
    let files = done.iter().rev().flat_map(named).take(MAX_LISTED * 2);
    files
        .map(|(file, id)| redact(&format!("- [{file}] - a file of task `{id}`")).into_owned())
        .collect()
}

/// Returns a redacted one-line summary of a piece.
fn redacted_summary(piece: &Piece) -> String {
    redact(&summary(piece)).into_owned()
}

#[cfg(test)]
mod tests {
    use plimsoll_extract::checkpoint::REQUIRED_SECTIONS;

    use super::*;

    fn piece(id: &str, description: &str, file: &str) -> Piece {
        let (id, description) = (id.to_owned(), description.to_owned());
        Piece { id, description, files: vec![file.to_owned()], ..Piece::default() }
    }

    fn section<'b>(body: &'b str, name: &str) -> &'b str {
        sections(body).into_iter().find(|(known, _)| *known == name).unwrap().1.trim()
    }

    #[test]
    fn the_body_combines_the_plan_with_the_work_of_the_session() {
        let (keel, sails) =
            (piece("1", "Fix the keel", "keel.rs"), piece("2", "Add sails", "jib.rs"));
        let body = "## What Changed\n\n- [keel.rs:3] - edited @7\n\n## Why Changed\n\n- last said: done @9\n\n\
                    ## Next Steps\n\n- [ ] Do the tasks below @1\n\n## Task\n\n> Do the tasks below @1\n- Never touch the ballast @2\n";
        let told = plan_checkpoint(body, &[&keel], &[&sails]);
        assert_eq!(section(&told, "What Changed"), "- [keel.rs:3] - edited @7");
        assert_eq!(
            section(&told, "Why Changed"),
            "- task `1`: Fix the keel (done)\n- last said: done @9"
        );
        assert_eq!(section(&told, "Next Steps"), "- [ ] `2`: Add sails");
        assert_eq!(section(&told, "Task"), "- Never touch the ballast @2");
    }

    #[test]
    fn without_a_transcript_the_body_comes_from_the_plan() {
        let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let keel = piece("1", &format!("Fix the keel with {token}"), "keel.rs");
        let told = plan_checkpoint("", &[&keel], &[]);
        assert!(!told.contains(token), "{told}");
        assert_eq!(section(&told, "What Changed"), "- [keel.rs] - a file of task `1`");
        assert_eq!(section(&told, "Next Steps"), EMPTY_SECTION);
        assert!(REQUIRED_SECTIONS.iter().all(|name| told.contains(&format!("## {name}\n"))));
    }

    #[test]
    fn a_second_body_replaces_the_plan_of_the_first() {
        let (keel, sails) = (piece("1", "Fix the keel", "a"), piece("2", "Add sails", "b"));
        let once = plan_checkpoint("", &[&keel], &[&sails]);
        let twice = plan_checkpoint(&once, &[&keel, &sails], &[]);
        let expected = "- task `2`: Add sails (done)\n- task `1`: Fix the keel (done)";
        assert_eq!(section(&twice, "Why Changed"), expected);
    }
}
