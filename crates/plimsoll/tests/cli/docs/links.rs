//! Every link of a document leads somewhere. Nothing on other machines is asked for.

use std::fs;
use std::path::{Path, PathBuf};

use super::{docs, files, root};

/// Those at the root, and the pages of the book.
fn documents() -> Vec<PathBuf> {
    let at_root = root().read_dir().unwrap().map(|entry| entry.unwrap().path());
    let at_root = at_root.filter(|path| path.extension().is_some_and(|it| it == "md"));
    at_root.chain(files(&docs(), "md")).collect()
}

/// A document without its blocks of code.
fn prose(document: &Path) -> String {
    let text = fs::read_to_string(document).unwrap();
    let blocks = text.split("\n```").step_by(2);
    // What stands behind a closing fence begins with the end of its line.
    blocks.collect::<Vec<_>>().join("\n")
}

/// Where a document leads to.
fn links(document: &Path) -> Vec<String> {
    const MARKS: [(&str, char); 4] =
        [("](", ')'), ("href=\"", '"'), ("src=\"", '"'), ("srcset=\"", '"')];
    let prose = prose(document);
    // Every second piece is code.
    let words: String = prose.split('`').step_by(2).collect();
    let behind = |(begin, end): (&str, char)| -> Vec<String> {
        let links = words.split(begin).skip(1).filter_map(|rest| rest.split_once(end));
        links.map(|(link, _)| link.to_owned()).collect()
    };
    MARKS.into_iter().flat_map(behind).collect()
}

/// What a link to a heading of a document ends in, here and in the book alike.
fn anchors(document: &Path) -> Vec<String> {
    let is_kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    let headings = prose(document);
    let headings = headings.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        heading.chars().filter(is_kept).map(|it| if it == ' ' { '-' } else { it }).collect()
    };
    headings.map(anchor).collect()
}

/// What is wrong with a link of a document, if anything is.
fn wrong(document: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = document.parent().unwrap().join(path);
    let target = if path.is_empty() { document.to_owned() } else { target };
    let Ok(target) = target.canonicalize() else { return Some("leads nowhere".to_owned()) };
    if document.starts_with(docs()) && !target.starts_with(docs()) {
        return Some("leads out of the book".to_owned());
    }
    let is_known = anchor.is_empty() || anchors(&target).iter().any(|known| known == anchor);
    (!is_known).then(|| format!("there is no such heading: {:?}", anchors(&target)))
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    let mut trouble = Vec::new();
    for document in documents() {
        for link in links(&document) {
            count += 1;
            let wrong = wrong(&document, &link);
            trouble.extend(wrong.map(|wrong| format!("{}: {link}: {wrong}", document.display())));
        }
    }
    assert!(trouble.is_empty(), "{}", trouble.join("\n"));
    assert!(count > 80, "are links still found? {count}");
}

#[test]
fn every_page_is_in_the_book_once() {
    let summary = docs().join("SUMMARY.md");
    let mut listed: Vec<PathBuf> = links(&summary).iter().map(|link| docs().join(link)).collect();
    listed.sort();
    let pages = files(&docs(), "md").into_iter().filter(|page| *page != summary);
    assert_eq!(listed, pages.collect::<Vec<_>>());
}
