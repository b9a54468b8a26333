//! Whether a text is a checkpoint, and whose.

use std::fmt;

use super::key::{Key, sha256};
use super::meta::{Meta, mac_of, parse};
use super::{LARGEST_READ, Parts, REQUIRED, SECTIONS, sections, split};

/// What a look at a file came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What the front matter says, if it can be read.
    pub meta: Option<Meta>,
    /// Who made the file, by its mac.
    pub origin: Origin,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

impl Verdict {
    /// There is nothing wrong with it, whoever made it.
    pub fn is_fine(&self) -> bool {
        self.problems.is_empty()
    }

    /// We made it, and not a byte has changed since.
    pub fn is_sealed(&self) -> bool {
        self.is_fine() && self.origin == Origin::Own
    }

    /// The verdict on something that cannot even be looked at.
    pub fn unreadable(problem: Problem) -> Self {
        Self { meta: None, origin: Origin::Foreign, problems: vec![problem] }
    }
}

/// Who made a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// We did, with the key at hand.
    Own,
    /// Somebody who does not seal.
    Foreign,
    /// Somebody with another key: another user or another machine.
    OtherKey,
    /// Somebody who wants it to look like ours, or who changed ours.
    Forged,
}

impl Origin {
    /// What it is called in listings.
    pub fn label(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Foreign => "foreign",
            Self::OtherKey => "other_key",
            Self::Forged => "forged",
        }
    }
}

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is no such file.
    Missing,
    /// A link, a folder, a FIFO, a device.
    NotRegular,
    /// The system does not let us read it.
    Unreadable(String),
    /// It is larger than any checkpoint.
    TooLarge,
    /// It is no text.
    NotText,
    /// It does not begin with a fence.
    NoFrontMatter,
    /// The second fence is missing.
    EndlessFrontMatter,
    /// What stands between the fences is no front matter.
    UnreadableFrontMatter,
    /// A section is missing.
    MissingSection(&'static str),
    /// The end of the body is missing.
    Cut,
    /// The body is not the one that was sealed.
    Edited,
    /// The mac does not vouch for the front matter.
    Forged,
    /// The file bears another name than its front matter.
    Renamed,
    /// It was made for another project.
    Elsewhere,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "there is no such file",
            Self::NotRegular => "it is not a regular file",
            Self::Unreadable(why) => return write!(f, "it cannot be read: {why}"),
            Self::TooLarge => "it is larger than any checkpoint",
            Self::NotText => "it is not text in UTF-8",
            Self::NoFrontMatter => "the front matter is missing",
            Self::EndlessFrontMatter => "the front matter has no end",
            Self::UnreadableFrontMatter => "the front matter cannot be read",
            Self::MissingSection(name) => return write!(f, "the section `## {name}` is missing"),
            Self::Cut => "its end is missing: the hash is that of a longer body",
            Self::Edited => "the body was changed: the hash is that of another",
            Self::Forged => "the mac is wrong: the front matter was changed or made up",
            Self::Renamed => "the file was renamed or copied: its front matter names another id",
            Self::Elsewhere => "it was made for another project",
        })
    }
}

/// Looks at a file's text with the user's key, if there is one.
pub fn check(text: &str, key: Option<&Key>) -> Verdict {
    if text.len() > LARGEST_READ {
        return Verdict::unreadable(Problem::TooLarge);
    }
    let Parts { front_matter, body } = match split(text) {
        Ok(parts) => parts,
        Err(problem) => return Verdict::unreadable(problem),
    };
    let meta = parse(front_matter);
    let origin = meta.as_ref().map_or(Origin::Foreign, |meta| origin(meta, front_matter, key));
    let mut problems: Vec<Problem> = meta.as_ref().err().cloned().into_iter().collect();
    problems.extend(missing(body, &REQUIRED).into_iter().map(Problem::MissingSection));
    problems.extend(meta.as_ref().ok().and_then(|meta| damage(meta, body)));
    problems.extend((origin == Origin::Forged).then_some(Problem::Forged));
    Verdict { meta: meta.ok(), origin, problems }
}

fn missing(body: &str, names: &[&'static str]) -> Vec<&'static str> {
    let found: Vec<&str> = sections(body).into_iter().map(|(name, _)| name).collect();
    names.iter().copied().filter(|name| !found.contains(name)).collect()
}

/// What the hash says of the body. Nothing that we write ends within a line or before the last
/// section.
fn damage(meta: &Meta, body: &str) -> Option<Problem> {
    let hash = meta.sha256.as_ref()?;
    if *hash == sha256(body.as_bytes()) {
        return None;
    }
    let ends = body.ends_with('\n') && missing(body, &SECTIONS).is_empty();
    Some(if ends { Problem::Edited } else { Problem::Cut })
}

fn origin(meta: &Meta, front_matter: &str, key: Option<&Key>) -> Origin {
    let Some(mac) = &meta.mac else { return Origin::Foreign };
    let Some(key) = key.filter(|key| key.is_named_in(mac)) else { return Origin::OtherKey };
    // Without a hash the mac would vouch for no body at all.
    let vouched = mac_of(front_matter).filter(|(last, _)| last == mac && meta.sha256.is_some());
    match vouched.is_some_and(|(mac, vouched)| key.vouches(mac, vouched)) {
        true => Origin::Own,
        false => Origin::Forged,
    }
}

#[cfg(test)]
mod tests;
