//! Tokens that are known by how they look: a prefix, then so many characters of an alphabet.

use std::ops::Range;

use super::scan::{self, Alphabet};
use super::value;

/// How a kind of token looks around its keyword.
pub(super) struct Shape {
    /// What stands before the keyword; no token has another of these characters before that.
    pub(super) before: Option<Run>,
    pub(super) edge: Edge,
    /// What follows the keyword.
    pub(super) parts: &'static [Part],
    pub(super) proof: Proof,
}

/// So many characters of an alphabet.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) alphabet: Alphabet,
    pub(super) least: usize,
    pub(super) most: usize,
}

/// A part of a token.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// A run, to its end: one that goes on longer is something else.
    Run(Run),
    /// Just this text.
    Text(&'static str),
}

/// Where a token may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// Anywhere: the prefix says enough.
    Any,
    /// Where a word begins.
    Word,
}

/// What else a token must show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// Nothing: the shape is enough.
    Shape,
    /// Characters that no words are made of: the prefix is a common one.
    Random,
}

impl Shape {
    /// The token around a keyword, if it looks so.
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
                let start = run.alphabet.run_before(text, keyword, run.most + 1);
                let start = scan::unescaped(text, start);
                (run.least..=run.most).contains(&keyword.saturating_sub(start)).then_some(start)?
            }
        };
        (self.edge == Edge::Any || scan::at_edge(text, start)).then_some(start)
    }

    fn end(&self, text: &[u8], from: usize) -> Option<usize> {
        let end = self.parts.iter().try_fold(from, |place, part| part.end(text, place))?;
        // A full stop ends the sentence, not the token.
        Some(end - text[from..end].iter().rev().take_while(|byte| **byte == b'.').count())
    }
}

impl Part {
    fn end(self, text: &[u8], from: usize) -> Option<usize> {
        match self {
            Part::Text(wanted) => {
                text[from..].starts_with(wanted.as_bytes()).then_some(from + wanted.len())
            }
            Part::Run(run) => {
                let most = text.len().min(from.saturating_add(run.most).saturating_add(1));
                let end = run.alphabet.run(&text[..most], from);
                (run.least..=run.most).contains(&(end - from)).then_some(end)
            }
        }
    }
}
