//! What a part came to, as a section of Markdown: the same on the terminal and on the page.

mod tables;

use anyhow::Context as _;

use crate::figures::Figures;
use crate::gates::{self, Gate};
use crate::part::Part;

/// What was measured, all figures, and which promises were kept.
pub(crate) struct Section {
    pub(crate) part: Part,
    tables: String,
    promises: String,
}

impl Section {
    /// The section of a part that was run.
    pub(crate) fn of(part: Part, figures: &Figures) -> anyhow::Result<Self> {
        let tables = tables::of(part, figures).context("a part that was not run")?;
        Ok(Self { part, tables, promises: promises(&gates::of(part, figures)?) })
    }

    /// The section in Markdown; `remark` stands below what it is about.
    pub(crate) fn markdown(&self, remark: &str) -> String {
        let (title, about) = (self.part.title(), self.part.about());
        let parts = [about, remark, &self.tables, &self.promises];
        let parts: Vec<_> = parts.iter().map(|part| part.trim()).collect();
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("## {title}\n\n{}\n", parts.join("\n\n"))
    }
}

fn promises(gates: &[Gate]) -> String {
    let row = |Gate { promise, measured, kept }: &Gate| {
        let kept = if *kept { KEPT } else { MISSED };
        [promise.clone(), measured.clone(), kept.to_owned()]
    };
    match gates {
        [] => String::new(),
        gates => tables::table(["promised", "measured", ""], gates.iter().map(row)),
    }
}

/// How a row of promises says that one was kept, and that it was not.
const KEPT: &str = "kept";
const MISSED: &str = "MISSED";

/// How many promises a text tells of, and those of them that were missed.
pub(crate) fn judged(text: &str) -> (usize, Vec<&str>) {
    let ends_in = |line: &&str, word: &str| line.ends_with(&format!("| {word} |"));
    let missed: Vec<_> = text.lines().filter(|line| ends_in(line, MISSED)).collect();
    let kept = text.lines().filter(|line| ends_in(line, KEPT)).count();
    (kept + missed.len(), missed)
}
