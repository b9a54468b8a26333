//! What a part came to, as a section of Markdown: the same on the terminal and on the page.

use serde::Serialize;
use serde_json::Value;

use crate::gates::{Gate, Verdict};
use crate::part::Part;
use crate::plot::Picture;
use crate::table::table;

/// What a part found out: how it is told, drawn and judged.
pub(crate) trait Findings: Serialize {
    /// What was measured.
    const ABOUT: &'static str;

    /// All figures, in tables.
    fn tables(&self) -> String;

    /// A picture, if one says more than the tables.
    fn picture(&self) -> Option<Picture> {
        None
    }

    /// What was promised of it.
    fn gates(&self) -> anyhow::Result<Vec<Gate>>;
}

/// A part that was run.
pub(crate) struct Section {
    pub(crate) part: Part,
    about: &'static str,
    tables: String,
    pub(crate) picture: Option<Picture>,
    pub(crate) gates: Vec<Gate>,
    /// Everything that was found out.
    pub(crate) findings: Value,
}

impl Section {
    pub(crate) fn of<F: Findings>(part: Part, findings: &F) -> anyhow::Result<Self> {
        Ok(Self {
            part,
            about: F::ABOUT,
            tables: findings.tables(),
            picture: findings.picture(),
            gates: findings.gates()?,
            findings: serde_json::to_value(findings)?,
        })
    }

    /// The section in Markdown; `remark` stands below what it is about.
    pub(crate) fn markdown(&self, remark: &str) -> String {
        let promises = promises(&self.gates);
        let parts = [self.about, remark, &self.tables, &promises];
        let parts: Vec<_> = parts.iter().map(|part| part.trim()).collect();
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("## {}\n\n{}\n", self.part.title(), parts.join("\n\n"))
    }
}

fn promises(gates: &[Gate]) -> String {
    let row = |Gate { promise, measured, verdict }: &Gate| {
        [promise.clone(), measured.clone(), verdict.word().to_owned()]
    };
    match gates {
        [] => String::new(),
        gates => table(["promised", "measured", ""], gates.iter().map(row)),
    }
}

/// The rows of a text that tell of promises with this verdict.
pub(crate) fn judged(text: &str, verdict: Verdict) -> Vec<&str> {
    let end = format!("| {} |", verdict.word());
    text.lines().filter(|line| line.ends_with(&end)).collect()
}
