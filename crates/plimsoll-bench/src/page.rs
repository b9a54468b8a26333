//! Writes the benchmarks page of the book: one section per part, from its latest run.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::Context as _;
use clap::ValueEnum as _;

use crate::gates::Verdict;
use crate::part::Part;
use crate::plot::Picture;
use crate::section::{self, Section};

const PAGE: &str = "benchmarks.md";
const NOT_YET: &str = "Not measured yet.\n";

/// Writes the sections and pictures of these parts, and leaves all other sections unchanged.
/// `occasion` describes when and where they were measured.
pub(crate) fn write(docs: &Path, sections: &[Section], occasion: &str) -> anyhow::Result<()> {
    let path = docs.join(PAGE);
    let before = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.with_context(|| format!("could not read `{}`", path.display()))?,
    };
    let mut new = Vec::new();
    for section in sections {
        let picture = draw(docs, section)?;
        new.push((section.part, section.markdown(&format!("*{occasion}*\n\n{picture}"))));
    }
    let page = compose(&before, &new);
    fs::write(&path, page).with_context(|| format!("could not write `{}`", path.display()))
}

/// Writes the picture of a section, if it has one, and returns the Markdown that shows it.
fn draw(docs: &Path, section: &Section) -> anyhow::Result<String> {
    let Some(Picture { about, svg }) = &section.picture else { return Ok(String::new()) };
    let name = format!("pictures/bench-{}.svg", section.part.name());
    fs::write(docs.join(&name), svg).with_context(|| format!("could not write `{name}`"))?;
    Ok(format!("![{about}]({name})"))
}

/// Returns the page with the new sections, and the previous text of all others.
fn compose(before: &str, new: &[(Part, String)]) -> String {
    let section = |part: &Part| {
        let new = new.iter().find(|(known, _)| known == part).map(|(_, text)| text.clone());
        let text = new.or_else(|| existing_section(before, *part));
        let text = text.unwrap_or_else(|| format!("## {}\n\n{NOT_YET}", part.title()));
        format!("\n{}\n{}\n", marker(*part), text.trim())
    };
    let sections: String = Part::value_variants().iter().map(section).collect();
    head(&sections) + &sections
}

/// Returns the section of `part` in `page`.
fn existing_section(page: &str, part: Part) -> Option<String> {
    let (_, rest) = page.split_once(&(marker(part) + "\n"))?;
    Some(rest.split("\n<!-- ").next().unwrap_or(rest).to_owned())
}

fn marker(part: Part) -> String {
    format!("<!-- {} -->", part.name())
}

fn head(sections: &str) -> String {
    let [kept, missed, open] = [Verdict::Kept, Verdict::Missed, Verdict::NotJudged]
        .map(|verdict| section::rows_with_verdict(sections, verdict));
    let all = kept.len() + missed.len() + open.len();
    let told = match [missed, open].concat() {
        others if others.is_empty() => format!("Promises kept: all of {all}.\n"),
        others => {
            let rows: String = others.iter().map(|row| format!("{row}\n")).collect();
            let kept = kept.len();
            format!(
                "Promises kept: {kept} of {all}. The others:\n\n| promised | measured | |\n|---|---:|---:|\n{rows}"
            )
        }
    };
    format!(
        "# Benchmarks

<!-- Made by `scripts/bench --page docs`; do not edit. -->

Every table and picture here is what that command measured, each section on the day and the machine that it names. How it is
measured, and what the figures are made of, stands in [What it costs](performance.md). Read ratios rather than times: times do not
travel from machine to machine.

{told}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_was_not_run_stays_as_it_was() {
        let first = compose("", &[(Part::Hook, "## The hook\n\n| x | 1 | kept |\n".to_owned())]);
        let load = "## Load\n\n| y | 2 | MISSED |\n".to_owned();
        let second = compose(&first, &[(Part::Load, load.clone())]);
        assert_eq!(existing_section(&second, Part::Hook), existing_section(&first, Part::Hook));
        assert_eq!(existing_section(&second, Part::Load).as_deref(), Some(load.as_str()));
        assert!(first.contains("Promises kept: all of 1."), "{first}");
        assert!(second.contains("Promises kept: 1 of 2. The others:"), "{second}");
        assert_eq!(compose(&second, &[]), second);
    }

    #[test]
    fn the_page_has_a_section_for_every_part() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(PAGE);
        let page = fs::read_to_string(path).unwrap();
        for part in Part::value_variants() {
            let section = existing_section(&page, *part).unwrap_or_default();
            assert!(section.starts_with(&format!("## {}", part.title())), "{part:?}: {section}");
            assert!(!section.contains(NOT_YET), "scripts/bench --only {} --page docs", part.name());
        }
        assert_eq!(compose(&page, &[]), page, "it is not as the benchmark writes it");
    }
}
