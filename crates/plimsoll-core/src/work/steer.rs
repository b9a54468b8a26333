//! What the client's own summary of a conversation should keep.

use super::Work;
use super::asked::requests;
use super::restore::issues;
use super::words::one_line;

/// Instructions for the summariser: what must survive verbatim. At most so many characters; nothing
/// where there is nothing to keep.
pub fn steer(work: &Work, longest: usize) -> String {
    let mut text = String::new();
    let mut section = |title: &str, lines: Vec<String>| {
        let mut begun = false;
        for line in lines {
            let title = if begun { String::new() } else { format!("{title}\n") };
            if text.len() + title.len() + line.len() < longest {
                text = format!("{text}{title}{line}\n");
                begun = true;
            }
        }
    };
    section("Keep in the summary, word for word, what the user asked for:", asked(work));
    section("How the user wants to have it, word for word:", directives(work));
    section("What is still broken:", issues(work).collect());
    section("The files that were changed, by their paths:", changed(work));
    text
}

fn asked(work: &Work) -> Vec<String> {
    requests(work).into_iter().map(|text| format!("- {}", one_line(text, 600))).collect()
}

fn directives(work: &Work) -> Vec<String> {
    work.directives.iter().rev().take(20).map(|text| format!("- {}", one_line(text, 300))).collect()
}

fn changed(work: &Work) -> Vec<String> {
    work.changes().into_iter().take(40).map(|(path, _)| format!("- {path}")).collect()
}
