//! Distinguishes the user's requests from mere replies.

use super::Work;
use super::sourced_text::SourcedText;

/// A shorter prompt is a reply.
const SHORTEST: usize = 10;

/// Words that do not describe a task.
const REPLIES: &[&str] = &[
    "a", "again", "ahead", "all", "and", "both", "continue", "cool", "correct", "do", "done",
    "exactly", "fine", "first", "for", "go", "good", "great", "i", "is", "it", "just", "keep",
    "let's", "lgtm", "looks", "me", "next", "nice", "no", "now", "ok", "okay", "on", "one",
    "option", "perfect", "please", "proceed", "right", "second", "so", "sounds", "step", "sure",
    "thank", "thanks", "that", "that's", "the", "them", "then", "third", "this", "to", "try",
    "works", "yeah", "yep", "yes", "you",
];

/// Returns whether a prompt only agrees with an earlier one: `yes`, `ok go on`, `1`.
pub(super) fn is_reply(prompt: &str) -> bool {
    let is_filler = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        word.chars().count() <= 2 || REPLIES.binary_search(&word.as_str()).is_ok()
    };
    prompt.trim().len() < SHORTEST || prompt.split_whitespace().all(is_filler)
}

/// Strips list markers and an unclosed opening quote from a sentence.
pub(super) fn bare(sentence: &str) -> &str {
    const MARKS: [&str; 4] = ["- ", "* ", "• ", "> "];
    let mut text = sentence.trim_start();
    while let Some(rest) = MARKS.iter().find_map(|mark| text.strip_prefix(mark)) {
        text = rest.trim_start();
    }
    let is_stray = text.starts_with('"') && text.matches('"').count() % 2 == 1;
    if is_stray { text[1..].trim_start() } else { text }
}

/// Returns the requests that best describe the current task: the last two, then the first. Replies
/// count only if there is nothing else.
pub(super) fn requests(work: &Work) -> Vec<&SourcedText> {
    let told = ends(work.asked.iter().filter(|text| !is_reply(text)));
    if told.is_empty() { ends(work.asked.iter()) } else { told }
}

/// Returns the last item, the second to last, and the first.
fn ends<'w>(mut all: impl DoubleEndedIterator<Item = &'w SourcedText>) -> Vec<&'w SourcedText> {
    let last: Vec<&SourcedText> = all.by_ref().rev().take(2).collect();
    last.into_iter().chain(all.next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_sorted() {
        assert!(REPLIES.is_sorted());
    }

    #[test]
    fn list_markers_and_stray_quotes_are_stripped() {
        assert_eq!(bare("- - If it leaks, never sail"), "If it leaks, never sail");
        assert_eq!(bare("\" but I don't see it"), "but I don't see it");
        assert_eq!(bare("\"Hull\" must stay"), "\"Hull\" must stay");
        assert_eq!(bare("- --json must stay"), "--json must stay");
    }

    #[test]
    fn replies_are_not_requests() {
        for reply in ["yes", "ok go on", "1", "do it", "Yes, please continue.", "option 2 then", ""]
        {
            assert!(is_reply(reply), "{reply}");
        }
        for request in ["fix the tests", "rename it to Hull", "add a --json flag please"] {
            assert!(!is_reply(request), "{request}");
        }
    }
}
