//! A text with the place of its source record.

use std::ops::Deref;

use plimsoll_core::entry::Place;
use serde::{Deserialize, Serialize};

/// A text with the place of its source record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SourcedText {
    text: String,
    pub(super) place: Place,
}

impl SourcedText {
    pub(super) fn new(text: impl Into<String>, place: Place) -> Self {
        Self { text: text.into(), place }
    }
}

impl Deref for SourcedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Returns the suffix of a body's item that points to its record; empty if the place is unknown.
pub(super) fn pointer(place: Place) -> String {
    if place == 0 { String::new() } else { [" @", &place.to_string()].concat() }
}
