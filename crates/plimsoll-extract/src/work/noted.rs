//! What is kept of a text, and where it stands.

use std::ops::Deref;

use plimsoll_core::entry::Place;
use serde::{Deserialize, Serialize};

/// A text with the place of the record that it came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Noted {
    text: String,
    pub(super) place: Place,
}

impl Noted {
    pub(super) fn new(text: impl Into<String>, place: Place) -> Self {
        Self { text: text.into(), place }
    }
}

impl Deref for Noted {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// What ends an item of a body: where its record stands.
pub(super) fn pointer(place: Place) -> String {
    if place == 0 { String::new() } else { [" @", &place.to_string()].concat() }
}
