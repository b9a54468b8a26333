//! Decides whether a text is a valid checkpoint, and who made it.

use std::fmt;

use super::key::{SealingKey, sha256};
use super::meta::{Meta, parse, split_mac};
use super::{CheckpointParts, MAX_READ_BYTES, REQUIRED_SECTIONS, SECTIONS, sections, split};

/// The result of checking a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointCheck {
    /// The front matter; `None` if it could not be read.
    pub meta: Option<Meta>,
    /// Origin of the file, according to its mac.
    pub origin: SealOrigin,
    pub problems: Vec<CheckpointProblem>,
}

impl CheckpointCheck {
    /// Returns whether the file has no problems, whatever its origin.
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns whether the user's own key sealed the file and no byte has changed since.
    pub fn is_own_and_valid(&self) -> bool {
        self.is_valid() && self.origin == SealOrigin::Own
    }

    /// Returns the verdict on a file that could not be read.
    pub fn unreadable(problem: CheckpointProblem) -> Self {
        Self { meta: None, origin: SealOrigin::Foreign, problems: vec![problem] }
    }
}

/// Origin of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealOrigin {
    /// Sealed with the user's key.
    Own,
    /// Not sealed.
    Foreign,
    /// Sealed with another key: another user or another machine.
    OtherKey,
    /// The mac claims the user's key, but does not match.
    Forged,
}

impl SealOrigin {
    /// Returns the name used in listings.
    pub fn label(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Foreign => "foreign",
            Self::OtherKey => "other_key",
            Self::Forged => "forged",
        }
    }
}

/// A problem with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointProblem {
    Missing,
    /// A link, a folder, a FIFO or a device.
    NotRegular,
    /// The operating system refused to read the file.
    Unreadable(String),
    TooLarge,
    /// Not UTF-8.
    NotText,
    /// The first line is not a `---` fence.
    NoFrontMatter,
    /// The closing `---` fence is missing.
    UnclosedFrontMatter,
    /// The text between the fences is not valid front matter.
    UnreadableFrontMatter,
    MissingSection(&'static str),
    /// The end of the body is missing.
    Truncated,
    /// The body does not match its hash.
    Edited,
    /// The mac does not match the front matter.
    Forged,
    /// The file name differs from the id in the front matter.
    Renamed,
    /// The checkpoint belongs to another project.
    OtherProject,
}

impl fmt::Display for CheckpointProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "there is no such file",
            Self::NotRegular => "it is not a regular file",
            Self::Unreadable(why) => return write!(f, "it cannot be read: {why}"),
            Self::TooLarge => "it is larger than any checkpoint",
            Self::NotText => "it is not text in UTF-8",
            Self::NoFrontMatter => "the front matter is missing",
            Self::UnclosedFrontMatter => "the front matter has no end",
            Self::UnreadableFrontMatter => "the front matter cannot be read",
            Self::MissingSection(name) => return write!(f, "the section `## {name}` is missing"),
            Self::Truncated => "its end is missing: the hash is that of a longer body",
            Self::Edited => "the body was changed: the hash is that of another",
            Self::Forged => "the mac is wrong: the front matter was changed or made up",
            Self::Renamed => "the file was renamed or copied: its front matter names another id",
            Self::OtherProject => "it was made for another project",
        })
    }
}

/// Checks a file's text with the user's key, if there is one.
pub fn check(text: &str, key: Option<&SealingKey>) -> CheckpointCheck {
    if text.len() > MAX_READ_BYTES {
        return CheckpointCheck::unreadable(CheckpointProblem::TooLarge);
    }
    let CheckpointParts { front_matter, body } = match split(text) {
        Ok(parts) => parts,
        Err(problem) => return CheckpointCheck::unreadable(problem),
    };
    let meta = parse(front_matter);
    let origin = meta.as_ref().map_or(SealOrigin::Foreign, |meta| origin(meta, front_matter, key));
    let mut problems: Vec<CheckpointProblem> = meta.as_ref().err().cloned().into_iter().collect();
    problems.extend(
        missing_sections(body, &REQUIRED_SECTIONS)
            .into_iter()
            .map(CheckpointProblem::MissingSection),
    );
    problems.extend(meta.as_ref().ok().and_then(|meta| body_damage(meta, body)));
    problems.extend((origin == SealOrigin::Forged).then_some(CheckpointProblem::Forged));
    CheckpointCheck { meta: meta.ok(), origin, problems }
}

fn missing_sections(body: &str, names: &[&'static str]) -> Vec<&'static str> {
    let found: Vec<&str> = sections(body).into_iter().map(|(name, _)| name).collect();
    names.iter().copied().filter(|name| !found.contains(name)).collect()
}

/// Compares the body with its hash. A body that ends inside a line or before the last section has
/// been truncated: plimsoll never writes such a body.
fn body_damage(meta: &Meta, body: &str) -> Option<CheckpointProblem> {
    let hash = meta.sha256.as_ref()?;
    if *hash == sha256(body.as_bytes()) {
        return None;
    }
    let ends = body.ends_with('\n') && missing_sections(body, &SECTIONS).is_empty();
    Some(if ends { CheckpointProblem::Edited } else { CheckpointProblem::Truncated })
}

fn origin(meta: &Meta, front_matter: &str, key: Option<&SealingKey>) -> SealOrigin {
    let Some(mac) = &meta.mac else { return SealOrigin::Foreign };
    let Some(key) = key.filter(|key| key.is_key_of(mac)) else { return SealOrigin::OtherKey };
    // Without a hash, the mac would cover no body.
    let vouched = split_mac(front_matter).filter(|(last, _)| last == mac && meta.sha256.is_some());
    match vouched.is_some_and(|(mac, vouched)| key.verifies(mac, vouched)) {
        true => SealOrigin::Own,
        false => SealOrigin::Forged,
    }
}

#[cfg(test)]
mod tests;
