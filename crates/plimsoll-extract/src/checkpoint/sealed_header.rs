//! Reads a few values from the front matter of the user's own checkpoint, without reading the body.

use super::key::SealingKey;
use super::meta::split_mac;
use super::split;
use super::yaml::scalar;

/// The front matter of a checkpoint sealed with the user's key. The body may have changed since.
#[derive(Clone, Copy, Debug)]
pub struct SealedHeader<'t> {
    signed: &'t str,
}

impl<'t> SealedHeader<'t> {
    /// Reads the start of a file; `None` if the user's key did not seal it.
    pub fn parse(text: &'t str, key: &SealingKey) -> Option<Self> {
        let (mac, vouched) = split_mac(split(text).ok()?.front_matter)?;
        (key.is_key_of(mac) && key.verifies(mac, vouched)).then_some(Self { signed: vouched })
    }

    /// Returns whether the front matter has this value under this name.
    pub fn has_value(&self, name: &str, value: &str) -> bool {
        self.value(name) == Some(&scalar(value))
    }

    /// Returns the checkpoint's number within the project.
    pub fn iteration(&self) -> u64 {
        self.value("iteration").and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// Returns the value of a name, as written in the file.
    fn value(&self, name: &str) -> Option<&'t str> {
        self.signed.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}
