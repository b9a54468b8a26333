//! Sentences.

/// Words by which a person says how to work.
const TELLING: &[&str] = &[
    "always", "avoid", "don't", "dont", "do not", "ensure", "instead", "keep", "make sure", "must",
    "never", "no need", "not", "only", "please", "prefer", "remember", "should", "shouldn't", "stop",
    "use", "without",
];

/// The sentences of a prompt that say how to work.
pub(super) fn directives(text: &str) -> Vec<&str> {
    const LONGEST_PROMPT: usize = 6_000;
    if text.len() > LONGEST_PROMPT {
        return Vec::new();
    }
    sentences(text).filter(|sentence| is_directive(sentence)).collect()
}

fn is_directive(sentence: &str) -> bool {
    let words = sentence.split_whitespace().count();
    if !(3..=60).contains(&words) {
        return false;
    }
    let lower = sentence.to_lowercase();
    TELLING.iter().any(|telling| holds_word(&lower, telling))
}

fn holds_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = line.trim();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end = rest
                .char_indices()
                .zip(rest.chars().skip(1))
                .find(|((_, c), next)| matches!(c, '.' | '!' | '?') && next.is_whitespace())
                .map_or(rest.len(), |((at, c), _)| at + c.len_utf8());
            let sentence = &rest[..end];
            rest = rest[end..].trim_start();
            Some(sentence)
        })
    })
}

/// The beginning of a text, at most so many bytes of it.
pub(super) fn cut(text: &str, longest: usize) -> &str {
    let text = text.trim();
    let mut end = longest.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
