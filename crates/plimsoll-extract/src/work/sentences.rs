//! Finds sentences with instructions and with decisions.

use plimsoll_core::bytes;

/// Words that indicate an instruction on how to work.
static TELLING: WordList = WordList::new(&[
    "always",
    "avoid",
    "do not",
    "don't",
    "dont",
    "ensure",
    "instead",
    "keep",
    "make sure",
    "must",
    "never",
    "no need",
    "not",
    "only",
    "please",
    "prefer",
    "remember",
    "should",
    "shouldn't",
    "stop",
    "use",
    "without",
]);

/// Words that indicate a decision or its reason.
static DECIDING: WordList = WordList::new(&[
    "because",
    "chose",
    "decided",
    "decision",
    "going with",
    "i'll use",
    "instead of",
    "let's use",
    "opted",
    "rather than",
    "root cause",
    "so that",
    "the fix",
    "trade-off",
    "we'll use",
]);

/// Returns the sentences of a prompt that say how to work.
pub(super) fn directives(prompt: &str) -> impl Iterator<Item = &str> {
    sentences(prompt).filter(|sentence| tells(sentence, &TELLING, 3))
}

/// Returns the sentences of a model's text that state a decision, skipping code. A sentence that
/// ends in a colon includes the next line.
pub(super) fn decisions(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (at, line) in lines(text) {
        let trimmed = line.trim();
        in_code ^= trimmed.starts_with("```");
        let is_code =
            in_code || ["//", "|", "#", "```"].iter().any(|mark| trimmed.starts_with(mark));
        if is_code {
            continue;
        }
        for sentence in Sentences(trimmed).filter(|sentence| tells(sentence, &DECIDING, 5)) {
            let goes_on = sentence.ends_with(':') && trimmed.ends_with(sentence);
            let next = goes_on.then(|| with_next(text, at, sentence)).flatten();
            found.push(next.unwrap_or(sentence).trim_start_matches(['-', '*', ' ']));
        }
    }
    found
}

/// Returns the lines of a text with their start positions.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        at += line.len();
        (at - line.len(), line)
    })
}

/// Extends a sentence at the end of the line at `at` by the next line that is not blank.
fn with_next<'t>(text: &'t str, at: usize, sentence: &str) -> Option<&'t str> {
    let start = at + text[at..].find(sentence)?;
    let rest = &text[start + sentence.len()..];
    let (next, line) = lines(rest).find(|(_, line)| !line.trim().is_empty())?;
    Some(text[start..start + sentence.len() + next + line.len()].trim_end())
}

fn tells(sentence: &str, words: &WordList, shortest: usize) -> bool {
    const LONGEST: usize = 60;
    let holds = match sentence.contains('’') {
        true => holds_one(&sentence.replace('’', "'"), words),
        false => holds_one(sentence, words),
    };
    holds && (shortest..=LONGEST).contains(&sentence.split_whitespace().count())
}

/// Returns whether a text contains one of these words as a whole word, ignoring ASCII case.
fn holds_one(text: &str, words: &WordList) -> bool {
    let mut before = b' ';
    text.as_bytes().array_windows().enumerate().any(|(at, [first, second])| {
        let begins = !std::mem::replace(&mut before, *first).is_ascii_alphanumeric();
        begins
            && words.may_begin(*first, *second)
            && words.all.iter().any(|word| stands(text, at, word))
    })
}

/// Words to search for, with an index of their first two letters: few words of a text match it.
struct WordList {
    all: &'static [&'static str],
    /// For each first letter, a bit per second letter. Letter case and other characters share bits.
    begin: [u32; 32],
}

impl WordList {
    const fn new(all: &'static [&'static str]) -> Self {
        let mut begin = [0; 32];
        let mut at = 0;
        while at < all.len() {
            let word = all[at].as_bytes();
            begin[(word[0] & 31) as usize] |= 1 << (word[1] & 31);
            at += 1;
        }
        Self { all, begin }
    }

    #[inline]
    fn may_begin(&self, first: u8, second: u8) -> bool {
        self.begin[usize::from(first & 31)] & 1 << (second & 31) != 0
    }
}

/// Returns whether this word is here, as a whole word.
fn stands(text: &str, at: usize, word: &str) -> bool {
    let is_apart = |neighbour: Option<char>| !neighbour.is_some_and(char::is_alphanumeric);
    let end = at + word.len();
    // The match is ASCII, so both its ends are character boundaries.
    let begun = text.as_bytes().get(at..end);
    begun.is_some_and(|begun| begun.eq_ignore_ascii_case(word.as_bytes()))
        && is_apart(text[..at].chars().next_back())
        && is_apart(text[end..].chars().next())
}

/// Returns the sentences of a text, line by line.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    bytes::lines(text).flat_map(|line| Sentences(line.trim()))
}

struct Sentences<'a>(&'a str);

impl<'a> Iterator for Sentences<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.0.is_empty() {
            return None;
        }
        let ends = |(at, byte): (usize, &u8)| {
            let follows = || self.0[at + 1..].chars().next();
            let is_end =
                matches!(byte, b'.' | b'!' | b'?') && follows().is_some_and(char::is_whitespace);
            is_end.then_some(at + 1)
        };
        let end = self.0.as_bytes().iter().enumerate().find_map(ends).unwrap_or(self.0.len());
        let (sentence, rest) = self.0.split_at(end);
        self.0 = rest.trim_start();
        Some(sentence)
    }
}

/// Returns at most `longest` bytes from the start of a text.
pub(super) fn cut(text: &str, longest: usize) -> &str {
    let text = text.trim();
    let end = (0..=longest.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// Joins a text into one line of at most `longest` bytes.
pub(super) fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::with_capacity(text.len().min(longest));
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
        // Text beyond the cut need not be read.
        if line.len() > longest {
            break;
        }
    }
    match line.len() <= longest {
        true => line,
        false => format!("{}…", cut(&line, longest.saturating_sub(3))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_a_stop_before_a_blank() {
        let found: Vec<&str> = sentences("Use v1.2 of it. Never x!\n\n- why? y").collect();
        assert_eq!(found, ["Use v1.2 of it.", "Never x!", "- why?", "y"]);
    }

    #[test]
    fn only_instructions_are_found() {
        let found: Vec<&str> =
            directives("Fix the login. Don’t touch the schema. It is a nice day today.").collect();
        assert_eq!(found, ["Don’t touch the schema."]);
        let odd = "It is née, ñuse, ’use’ and ©use; use—it, éuse, 用use.";
        assert!(directives(odd).eq([odd]));
        assert!(directives("Réuse it née éuse ñot, thus useé ónly éé.").next().is_none());
    }

    #[test]
    fn decisions_are_whole_sentences_and_no_code() {
        let text = "I looked.\n- We go with B because:\n\n  - it is small\n```\n// x instead of y, so that z\n```\n";
        assert_eq!(decisions(text), ["We go with B because:\n\n  - it is small"]);
        assert_eq!(decisions("Ending here, and only because:"), ["Ending here, and only because:"]);
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(cut(" äöü ", 3), "ä");
        assert_eq!(one_line("a\n b  c", 10), "a b c");
        assert_eq!(one_line("abcdefghijkl", 8), "abcde…");
    }
}
