//! Formats the results of a part as a Markdown section, for both the terminal and the page.

use serde::Serialize;
use serde_json::Value;

use crate::gates::{Gate, Verdict};
use crate::part::Part;
use crate::plot::Picture;
use crate::table::table;

/// Results of a part, with their tables, picture and gates.
pub(crate) trait PartResults: Serialize {
    /// Describes the measurement.
    const ABOUT: &'static str;

    /// Formats all figures as tables.
    fn tables(&self) -> String;

    /// Draws a picture, if one adds to the tables.
    fn picture(&self) -> Option<Picture> {
        None
    }

    /// Checks the promises against the figures.
    fn gates(&self) -> anyhow::Result<Vec<Gate>>;
}

/// A finished part.
pub(crate) struct Section {
    pub(crate) part: Part,
    about: &'static str,
    tables: String,
    pub(crate) picture: Option<Picture>,
    pub(crate) gates: Vec<Gate>,
    /// All figures, as JSON.
    pub(crate) figures: Value,
}

impl Section {
    pub(crate) fn of<F: PartResults>(part: Part, findings: &F) -> anyhow::Result<Self> {
        Ok(Self {
            part,
            about: F::ABOUT,
            tables: findings.tables(),
            picture: findings.picture(),
            gates: findings.gates()?,
            figures: serde_json::to_value(findings)?,
        })
    }

    /// Formats the section as Markdown, with `remark` below the description.
    pub(crate) fn markdown(&self, remark: &str) -> String {
        let promises = gate_table(&self.gates);
        let parts = [self.about, remark, &self.tables, &promises];
        let parts: Vec<_> = parts.iter().map(|part| part.trim()).collect();
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("## {}\n\n{}\n", self.part.title(), parts.join("\n\n"))
    }
}

fn gate_table(gates: &[Gate]) -> String {
    let row = |Gate { promise, measured, verdict }: &Gate| {
        [promise.clone(), measured.clone(), verdict.label().to_owned()]
    };
    match gates {
        [] => String::new(),
        gates => table(["promised", "measured", ""], gates.iter().map(row)),
    }
}

/// Returns the table rows of `text` with this verdict.
pub(crate) fn rows_with_verdict(text: &str, verdict: Verdict) -> Vec<&str> {
    let end = format!("| {} |", verdict.label());
    text.lines().filter(|line| line.ends_with(&end)).collect()
}
