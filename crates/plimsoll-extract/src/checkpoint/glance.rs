//! A short look at a checkpoint of ours: its front matter alone, and only a few lines of that.

use super::key::Key;
use super::meta::mac_of;
use super::split;
use super::yaml::scalar;

/// The front matter of a checkpoint that was sealed with our key. Its body may have changed since.
#[derive(Clone, Copy, Debug)]
pub struct Glance<'t> {
    vouched: &'t str,
}

impl<'t> Glance<'t> {
    /// Looks at the beginning of a file; nothing if it is not ours.
    pub fn of(text: &'t str, key: &Key) -> Option<Self> {
        let (mac, vouched) = mac_of(split(text).ok()?.front_matter)?;
        (key.is_named_in(mac) && key.vouches(mac, vouched)).then_some(Self { vouched })
    }

    /// Whether it says this of itself.
    pub fn says(&self, name: &str, value: &str) -> bool {
        self.value(name) == Some(&scalar(value))
    }

    /// Which checkpoint of the project it is.
    pub fn iteration(&self) -> u64 {
        self.value("iteration").and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// What stands behind a name, as we write it.
    fn value(&self, name: &str) -> Option<&'t str> {
        self.vouched.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}
