//! The prompt for a session that carries out pieces of a plan.

use std::collections::BTreeSet;

use plimsoll_core::plan::Piece;

/// Beginning of every prompt.
const INTRODUCTION: &str = "You carry out a part of a larger plan; other sessions carry out the rest. \
    Do the tasks below and nothing else.";

/// End of every prompt.
const CLOSING: &str = "When they are done, end with one sentence for each that says what came of it. \
    If one of them cannot be done, say why, and do the others.";

/// Note on a piece that is a part of a task.
const OTHER_PARTS_NOTE: &str =
    "Those of its parts that are not listed here are done by other sessions.";

/// Note on the parent tasks of the pieces.
const PARENT_TASKS_NOTE: &str = "This is for you to know what the tasks above are for. \
    Of what follows do only what they ask for.";

/// Maximum number of finished tasks to list; the newest are the most useful.
const MAX_DONE: usize = 30;
/// Maximum length of each, in characters.
const MAX_DONE_CHARS: usize = 120;

/// Builds the prompt for `pieces`. `done` lists the work of earlier sessions, oldest first.
pub fn prompt(pieces: &[&Piece], done: &[&Piece]) -> String {
    let mut text = format!("{INTRODUCTION}\n\n## Tasks\n\n");
    for (place, piece) in pieces.iter().enumerate() {
        text += &describe_piece(place + 1, piece);
    }
    text += &describe_parent_tasks(pieces);
    if !done.is_empty() {
        text += "\n## Done already\n\n";
        let left_out = done.len().saturating_sub(MAX_DONE);
        if left_out > 0 {
            text += &format!("- {left_out} more\n");
        }
        text.extend(done[left_out..].iter().map(|piece| format!("- {}\n", summary(piece))));
    }
    text += &format!("\n{CLOSING}");
    text
}

/// Returns a one-line summary of a piece: its name and the start of its description.
pub fn summary(piece: &Piece) -> String {
    let first = piece.description.lines().next().unwrap_or_default();
    let mut short: String = first.chars().take(MAX_DONE_CHARS).collect();
    if short.len() < piece.description.trim_end().len() {
        short.push('…');
    }
    format!("`{}`: {short}", piece.id)
}

fn describe_piece(number: usize, piece: &Piece) -> String {
    let description = piece.description.trim().replace('\n', "\n   ");
    let mut text = format!("{number}. `{}`: {description}\n", piece.id);
    text += &describe_files("   ", &piece.files);
    if let Some(task) = &piece.of {
        text += &format!("   This is a part of task `{task}`. {OTHER_PARTS_NOTE}\n");
    }
    text
}

fn describe_files(indent: &str, files: &[String]) -> String {
    let names: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("{indent}Files: {}\n", names.join(", ")),
    }
}

/// Lists the parent tasks of pieces, each once and the outermost first.
fn describe_parent_tasks(pieces: &[&Piece]) -> String {
    let mut text = String::new();
    let mut known = BTreeSet::new();
    for piece in pieces {
        for whole in piece.above.iter().filter(|whole| known.insert(&whole.id)) {
            let description = whole.description.trim().replace('\n', "\n  ");
            text +=
                &format!("- `{}`: {description}\n{}", whole.id, describe_files("  ", &whole.files));
        }
    }
    if text.is_empty() {
        text
    } else {
        format!("\n## What they are parts of\n\n{PARENT_TASKS_NOTE}\n\n{text}")
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_core::plan::Above;

    use super::*;

    fn piece(id: &str, description: &str, files: &[&str], of: Option<&str>) -> Piece {
        Piece {
            id: id.to_owned(),
            description: description.to_owned(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            of: of.map(str::to_owned),
            ..Piece::default()
        }
    }

    #[test]
    fn the_prompt_lists_the_tasks_and_the_finished_work_only() {
        let masts =
            piece("masts.1", "Refactor the masts", &["src/fore.rs", "src/main.rs"], Some("masts"));
        let sails = piece("sails", "Add sails\n- a jib\n- a spanker", &[], None);
        let done = piece("keel", "Fix the keel", &[], None);
        let expected = "\
You carry out a part of a larger plan; other sessions carry out the rest. Do the tasks below and nothing else.

## Tasks

1. `masts.1`: Refactor the masts
   Files: `src/fore.rs`, `src/main.rs`
   This is a part of task `masts`. Those of its parts that are not listed here are done by other sessions.
2. `sails`: Add sails
   - a jib
   - a spanker

## Done already

- `keel`: Fix the keel

When they are done, end with one sentence for each that says what came of it. If one of them cannot be done, say why, and do the others.";
        assert_eq!(prompt(&[&masts, &sails], &[&done]), expected);
    }

    #[test]
    fn parent_tasks_are_described_once() {
        let above = |id: &str, words: &str, files: &[&str]| Above {
            id: id.to_owned(),
            description: words.to_owned(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
        };
        let hull = above("hull", "Careen the hull\nNever use tar.", &["src/hull.rs"]);
        let ribs = above("ribs", "Mend the ribs", &[]);
        let part = |id: &str, above: &[&Above]| Piece {
            above: above.iter().copied().cloned().collect(),
            ..piece(id, "Caulk it", &[], above.last().map(|above| above.id.as_str()))
        };
        let text = prompt(&[&part("keel", &[&hull]), &part("rib", &[&hull, &ribs])], &[]);
        let expected = "
1. `keel`: Caulk it
   This is a part of task `hull`. Those of its parts that are not listed here are done by other sessions.
2. `rib`: Caulk it
   This is a part of task `ribs`. Those of its parts that are not listed here are done by other sessions.

## What they are parts of

This is for you to know what the tasks above are for. Of what follows do only what they ask for.

- `hull`: Careen the hull
  Never use tar.
  Files: `src/hull.rs`
- `ribs`: Mend the ribs
";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn a_long_plan_does_not_make_the_prompt_long() {
        let done: Vec<Piece> =
            (0..500).map(|id| piece(&id.to_string(), &"very ".repeat(200), &[], None)).collect();
        let text = prompt(&[&done[0]], &done.iter().collect::<Vec<_>>());
        assert!(text.contains("- 470 more\n") && text.contains("- `499`: very "));
        assert!(text.len() < 6_500, "{}", text.len());
    }
}
