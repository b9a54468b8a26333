//! The documents: what they name is there, where they lead to is there, and what they retell of the
//! binary is what it says itself.

mod links;
mod named;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) use reference::commands;

/// Set to anything, it makes the tests write what they would compare: pictures and pages of reference.
const UPDATE: &str = "PLIMSOLL_UPDATE_PICTURES";

/// Compares a text with the file of that name in `docs`, which is made of it.
#[track_caller]
pub(crate) fn is_told(name: &str, text: &str, by: &str) {
    let path = docs().join(name);
    if std::env::var_os(UPDATE).is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        known == text,
        "docs/{name} is stale: {by}; run the tests once with {UPDATE}=1, look at it and commit it"
    );
}

/// A page of the documentation.
pub(crate) fn page(name: &str) -> String {
    fs::read_to_string(docs().join(name)).unwrap()
}

fn docs() -> PathBuf {
    root().join("docs")
}

/// Where the repository lies.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every file with that ending in a folder and below it.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|it| it == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}
