//! Reads a few values from the front matter of the user's own checkpoint, without reading the body.

use super::key::SealingKey;
use super::meta::mac_of;
use super::split;
use super::yaml::scalar;

/// The front matter of a checkpoint sealed with the user's key. The body may have changed since.
#[derive(Clone, Copy, Debug)]
pub struct SealedHeader<'t> {
    vouched: &'t str,
}

impl<'t> SealedHeader<'t> {
    /// Reads the start of a file; `None` if the user's key did not seal it.
    pub fn of(text: &'t str, key: &SealingKey) -> Option<Self> {
        let (mac, vouched) = mac_of(split(text).ok()?.front_matter)?;
        (key.is_named_in(mac) && key.vouches(mac, vouched)).then_some(Self { vouched })
    }

    /// Returns whether the front matter has this value under this name.
    pub fn says(&self, name: &str, value: &str) -> bool {
        self.value(name) == Some(&scalar(value))
    }

    /// Returns the checkpoint's number within the project.
    pub fn iteration(&self) -> u64 {
        self.value("iteration").and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// Returns the value of a name, as written in the file.
    fn value(&self, name: &str) -> Option<&'t str> {
        self.vouched.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}
