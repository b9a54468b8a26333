//! Tokens with a recognizable shape: a prefix, then a number of characters of an alphabet.

use std::ops::Range;

use super::scan::{self, Alphabet};
use super::value;

/// The shape of a kind of token around its keyword.
pub(super) struct TokenShape {
    /// The run before the keyword. It must not be longer than `max`.
    pub(super) before: Option<CharRun>,
    pub(super) edge: TokenStart,
    /// The parts after the keyword.
    pub(super) parts: &'static [TokenPart],
    pub(super) proof: Proof,
}

/// A run of characters of one alphabet, with its length limits.
#[derive(Clone, Copy)]
pub(super) struct CharRun {
    pub(super) alphabet: Alphabet,
    pub(super) min: usize,
    pub(super) max: usize,
}

#[derive(Clone, Copy)]
pub(super) enum TokenPart {
    /// A run, read to its end: a longer run is something else.
    Run(CharRun),
    /// Exactly this text.
    Text(&'static str),
}

/// Where a token may start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenStart {
    /// Anywhere: the prefix is distinctive enough.
    Any,
    /// Only at the start of a word.
    Word,
}

/// A further condition on a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// None: the shape is enough.
    Shape,
    /// The characters must look random, because the prefix is common.
    Random,
}

impl TokenShape {
    /// Returns the token around a keyword, or `None` if the text does not match the shape.
    pub(super) fn find(&self, text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
        let start = self.start(text, hit.start)?;
        let end = self.end(text, hit.end)?;
        let body = &text[hit.end..end];
        let proven = self.proof == Proof::Shape || value::is_random(body, body.len());
        (proven && !value::is_placeholder(&text[start..end])).then_some(start..end)
    }

    fn start(&self, text: &[u8], keyword: usize) -> Option<usize> {
        let start = match self.before {
            None => keyword,
            Some(run) => {
                let start = run.alphabet.run_start(text, keyword, run.max + 1);
                let start = scan::skip_escape_letter(text, start);
                (run.min..=run.max).contains(&keyword.saturating_sub(start)).then_some(start)?
            }
        };
        (self.edge == TokenStart::Any || scan::at_edge(text, start)).then_some(start)
    }

    fn end(&self, text: &[u8], from: usize) -> Option<usize> {
        let end = self.parts.iter().try_fold(from, |place, part| part.end(text, place))?;
        // A full stop at the end belongs to the sentence, not to the token.
        Some(end - text[from..end].iter().rev().take_while(|byte| **byte == b'.').count())
    }
}

impl TokenPart {
    fn end(self, text: &[u8], from: usize) -> Option<usize> {
        match self {
            TokenPart::Text(wanted) => {
                text[from..].starts_with(wanted.as_bytes()).then_some(from + wanted.len())
            }
            TokenPart::Run(run) => {
                let most = text.len().min(from.saturating_add(run.max).saturating_add(1));
                let end = run.alphabet.run_end(&text[..most], from);
                (run.min..=run.max).contains(&(end - from)).then_some(end)
            }
        }
    }
}
