//! Text from models and users: command lines, a reviewer's answers, and refinements of a
//! checkpoint.

use plimsoll_core::review::Answer;
use plimsoll_core::shell;
use plimsoll_extract::checkpoint::{SECTIONS, sections};
use plimsoll_extract::work::{self, ModelSummary, Work};

pub(crate) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let line = format!("{} {}", shell::quote(&text), shell::quote("end"));
    let words: Vec<String> = shell::words(&line).into_iter().map(|word| word.text).collect();
    assert_eq!(words, [&*text, "end"], "a quoted word is one word");
    for command in shell::commands(&text) {
        assert!(command.words.iter().all(|word| !word.contains('\0') || text.contains('\0')));
    }
    let _ = Answer::parse(&text).checkpoints.means("5f2c81aa", true);
    check_refinement(&ModelSummary::parse(&text));
}

/// Checks that the words of a model add no new or repeated section to a body.
fn check_refinement(words: &ModelSummary) {
    let body = work::render_body(&Work::default());
    let refined = words.add_to(body);
    let names: Vec<&str> = sections(&refined).into_iter().map(|(name, _)| name).collect();
    let mut once = names.clone();
    once.dedup();
    assert!(names.len() == once.len() && names.iter().all(|name| SECTIONS.contains(name)));
}
