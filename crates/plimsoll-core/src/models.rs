//! The table of known models. Users add their own in the config.

use std::borrow::Cow;

use crate::weight::{CLASSIC, CURRENT, Tokenizer};
use crate::{Tokens, bytes};

/// One row: every model whose name contains `name`.
#[derive(Debug)]
pub struct Model {
    pub name: &'static str,
    pub window: Tokens,
    /// The size that a prompt larger than `window` proves; `None` if only one size is known.
    pub larger_window: Option<Tokens>,
    pub tokenizer: &'static Tokenizer,
}

/// The window assumed for an unknown model. Only this value counts as a guess.
pub const DEFAULT_WINDOW: Tokens = 200_000;

/// The window of models requested with a long-context mark.
pub const LONG_WINDOW: Tokens = 1_000_000;

const fn long(name: &'static str) -> Model {
    Model { name, window: LONG_WINDOW, larger_window: None, tokenizer: &CURRENT }
}

const fn short(name: &'static str) -> Model {
    let larger_window = Some(LONG_WINDOW);
    Model { name, window: DEFAULT_WINDOW, larger_window, tokenizer: &CLASSIC }
}

/// The table. The first matching row wins.
pub const MODELS: &[Model] = &[
    long("opus-4-7"),
    long("opus-4-8"),
    long("opus-5"),
    long("sonnet-5"),
    long("haiku-5"),
    long("fable-5"),
    short("opus-4-6"),
    short("sonnet-4-6"),
    short("opus-4-5"),
    short("sonnet-4-5"),
    short("haiku-4-5"),
    short("opus-4-1"),
    short("opus-4-2025"),
    short("sonnet-4-2025"),
    short("claude-3"),
];

/// Returns the row that matches `name`.
pub fn known(name: &str) -> Option<&'static Model> {
    // Nearly all names are `claude-` and a row's name. Only the names of resellers need a search.
    let begins = |rest: &str| MODELS.iter().find(|model| rest.starts_with(model.name));
    let holds = |model: &&Model| bytes::holds(name.as_bytes(), model.name.as_bytes());
    name.strip_prefix("claude-").and_then(begins).or_else(|| MODELS.iter().find(holds))
}

/// Returns the name under which compactions of a model are remembered. With a long context the
/// model has a different window, so it has a name of its own.
pub fn variant(model: &str, long_context: bool) -> Cow<'_, str> {
    match long_context {
        true => Cow::Owned(format!("{model}{LONG_VARIANT}")),
        false => Cow::Borrowed(model),
    }
}

/// Splits a [`variant`] into the model and whether it has a long context.
pub fn of_variant(variant: &str) -> (&str, bool) {
    match variant.strip_suffix(LONG_VARIANT) {
        Some(model) => (model, true),
        None => (variant, false),
    }
}

const LONG_VARIANT: &str = " (long context)";

/// Returns the tokenizer of a model, or `fallback` if the model is not in the table.
pub fn tokenizer(name: Option<&str>, fallback: &'static Tokenizer) -> &'static Tokenizer {
    name.and_then(known).map_or(fallback, |model| model.tokenizer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, window: Option<Tokens>, tokenizer_expected: &Tokenizer) {
        assert_eq!(known(name).map(|model| model.window), window, "{name}");
        assert_eq!(tokenizer(Some(name), &CURRENT), tokenizer_expected, "{name}");
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
