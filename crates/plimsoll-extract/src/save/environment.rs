//! The environments that saves are grouped by.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The environment of a save: `development`, `staging`, or the name of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SaveEnvironment(String);

/// An invalid name for an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidEnvironment(String);

impl SaveEnvironment {
    /// Name of the environment used if none is given.
    pub const DEFAULT: &str = "development";
    const LONGEST: usize = 64;

    /// Validates a name. It starts with a letter or a digit; `-`, `_` and `.` may follow too.
    pub fn new(name: &str) -> Result<Self, InvalidEnvironment> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_fit = begins && name.len() <= Self::LONGEST && name.bytes().all(fits);
        is_fit.then(|| Self(name.to_owned())).ok_or_else(|| InvalidEnvironment::new(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for SaveEnvironment {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl fmt::Display for SaveEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SaveEnvironment {
    type Error = InvalidEnvironment;

    fn try_from(name: String) -> Result<Self, InvalidEnvironment> {
        Self::new(&name)
    }
}

impl From<SaveEnvironment> for String {
    fn from(environment: SaveEnvironment) -> Self {
        environment.0
    }
}

impl InvalidEnvironment {
    fn new(name: &str) -> Self {
        Self(plimsoll_core::policy::brief(name))
    }
}

impl fmt::Display for InvalidEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, most) = (&self.0, SaveEnvironment::LONGEST);
        write!(
            f,
            "`{name}` is no name for an environment: up to {most} letters, digits, `-`, `_` and `.`, \
             the first a letter or a digit"
        )
    }
}

impl std::error::Error for InvalidEnvironment {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_valid() {
        for good in ["development", "a", "7", "api-v2.staging_eu", &"x".repeat(64)] {
            assert_eq!(SaveEnvironment::new(good).unwrap().as_str(), good);
        }
        for bad in ["", " ", "-x", ".git", "a b", "a/b", "a'b", "über", "a\n", &"x".repeat(65)] {
            assert!(SaveEnvironment::new(bad).is_err(), "{bad:?}");
        }
        let error = SaveEnvironment::new("a\u{1b}[0m b").unwrap_err().to_string();
        assert!(error.starts_with("`a[0m b` is no name for an environment: up to 64"), "{error}");
    }
}
