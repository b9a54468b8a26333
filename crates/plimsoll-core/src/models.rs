//! What is known of the models by name. Data, in one table; users add theirs in the config.

use std::borrow::Cow;

use crate::weight::{CLASSIC, CURRENT, Tokenizer};
use crate::{Tokens, bytes};

/// One row: every model whose name contains `name`.
#[derive(Debug)]
pub struct Model {
    /// The part of the name that tells.
    pub name: &'static str,
    /// Its context window.
    pub window: Tokens,
    /// Whether the client compacts by itself before the service refuses the prompt.
    pub compaction: Compaction,
    /// How its text is counted.
    pub tokenizer: &'static Tokenizer,
}

/// When the client compacts a conversation by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// At a threshold below the window.
    AtThreshold,
    /// Only when the service refuses the prompt as too long, unless the user sets a window.
    OnRefusal,
}

/// The window assumed for a model that nobody knows. It alone counts as a guess.
pub const DEFAULT_WINDOW: Tokens = 200_000;

/// The window of models asked for with a long-context mark.
pub const LONG_WINDOW: Tokens = 1_000_000;

/// Every window size in use, small to large: a prompt larger than one proves the next.
pub const KNOWN_WINDOWS: [Tokens; 2] = [DEFAULT_WINDOW, LONG_WINDOW];

const fn long(name: &'static str) -> Model {
    let compaction = Compaction::AtThreshold;
    Model { name, window: LONG_WINDOW, compaction, tokenizer: &CURRENT }
}

const fn short(name: &'static str, compaction: Compaction) -> Model {
    Model { name, window: DEFAULT_WINDOW, compaction, tokenizer: &CLASSIC }
}

/// The table; the first row that fits wins.
pub const MODELS: &[Model] = &[
    long("opus-4-7"),
    long("opus-4-8"),
    long("opus-5"),
    long("sonnet-5"),
    long("haiku-5"),
    long("fable-5"),
    short("opus-4-6", Compaction::AtThreshold),
    short("sonnet-4-6", Compaction::AtThreshold),
    short("opus-4-5", Compaction::OnRefusal),
    short("sonnet-4-5", Compaction::OnRefusal),
    short("haiku-4-5", Compaction::OnRefusal),
    short("opus-4-1", Compaction::AtThreshold),
    short("opus-4-2025", Compaction::AtThreshold),
    short("sonnet-4-2025", Compaction::AtThreshold),
    short("claude-3", Compaction::AtThreshold),
];

/// The row for `name`.
pub fn known(name: &str) -> Option<&'static Model> {
    // Nearly all names are this and a row's; only those of resellers have to be searched.
    let begins = |rest: &str| MODELS.iter().find(|model| rest.starts_with(model.name));
    let holds = |model: &&Model| bytes::holds(name.as_bytes(), model.name.as_bytes());
    name.strip_prefix("claude-").and_then(begins).or_else(|| MODELS.iter().find(holds))
}

/// The name under which compactions of a model are remembered: with a long context it is another
/// window.
pub fn variant(model: &str, long_context: bool) -> Cow<'_, str> {
    match long_context {
        true => Cow::Owned(format!("{model}{LONG_VARIANT}")),
        false => Cow::Borrowed(model),
    }
}

/// The model that a [`variant`] is of, and whether it is the one with a long context.
pub fn of_variant(variant: &str) -> (&str, bool) {
    match variant.strip_suffix(LONG_VARIANT) {
        Some(model) => (model, true),
        None => (variant, false),
    }
}

const LONG_VARIANT: &str = " (long context)";

/// How text is counted for `name`; a model not in the table is taken for a new one.
pub fn tokenizer(name: &str) -> &'static Tokenizer {
    known(name).map_or(&CURRENT, |model| model.tokenizer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, window: Option<Tokens>, tokenizer_expected: &Tokenizer) {
        assert_eq!(known(name).map(|model| model.window), window, "{name}");
        assert_eq!(tokenizer(name), tokenizer_expected, "{name}");
    }

    #[test]
    fn a_variant_tells_its_model() {
        for long in [true, false] {
            assert_eq!(of_variant(&variant("claude-opus-4-6", long)), ("claude-opus-4-6", long));
        }
    }

    #[test]
    fn models_are_known_by_a_part_of_their_name() {
        check("claude-opus-5-5", Some(1_000_000), &CURRENT);
        check("claude-fable-5-2", Some(1_000_000), &CURRENT);
        check("us.anthropic.claude-opus-4-8-v1:0", Some(1_000_000), &CURRENT);
        check("claude-sonnet-4-5-20250929", Some(200_000), &CLASSIC);
        check("claude-opus-4-20250514", Some(200_000), &CLASSIC);
        check("claude-opus-4-9", None, &CURRENT);
        check("some-other-model", None, &CURRENT);
    }
}
