//! The model's own words in a checkpoint. They complement the extracted facts and never replace
//! them.

use serde::{Deserialize, Serialize};

use super::checkpoint_body::EMPTY_SECTION;
use super::sanitize::sanitize;
use super::sentences::one_line;
use crate::checkpoint::sections;

/// The model's summary of the work: reasons, decisions, next steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSummary {
    why: Vec<String>,
    decisions: Vec<String>,
    steps: Vec<String>,
}

/// Maximum size of the words in a body, in bytes.
pub const MAX_SUMMARY_BYTES: usize = 4_000;

const MOST_ITEMS: usize = 12;
const LONGEST_ITEM: usize = 400;
/// The command that accepts words.
const CREATE: &str = " checkpoint create ";
/// Marks an item as the model's, not extracted.
const MARK: &str = "(model) ";

impl ModelSummary {
    /// Parses words from Markdown: items below `## Why Changed`, `## Key Decisions` and `## Next
    /// Steps`. Text without a heading counts as a reason. Secrets are removed first, and each item
    /// becomes one line so that it cannot start a section.
    pub fn parse(text: &str) -> Self {
        let text = sanitize(text);
        let mut words = Self::default();
        let (mut part, mut is_begun) = (SummaryPart::Why, false);
        for line in text.lines().map(str::trim) {
            let item = item(line);
            match (heading(line), item) {
                (Some(heading), _) => (part, is_begun) = (heading, false),
                (None, _) if line.is_empty() => is_begun = false,
                (None, Some(item)) => words.begin(part, item, &mut is_begun),
                (None, None) if is_begun => words.go_on(part, line),
                (None, None) => words.begin(part, line, &mut is_begun),
            }
        }
        words.shortened()
    }

    /// Returns the words in a command that submits them to plimsoll; `None` for any other command.
    /// So later checkpoints of the session have them too, without asking the model again.
    pub(super) fn from_command(command: &str) -> Option<Self> {
        let (first, text) = command.split_once('\n')?;
        let (_, end) = first.split_once(" --refine <<").filter(|_| first.contains(CREATE))?;
        let end = end.trim().trim_matches(['\'', '"']);
        let lines = text.lines().take_while(|line| *line != end);
        Some(Self::parse(&lines.collect::<Vec<_>>().join("\n")))
    }

    /// Drops the next steps.
    pub(super) fn without_steps(self) -> Self {
        Self { steps: Vec::new(), ..self }
    }

    pub fn is_empty(&self) -> bool {
        self.why.is_empty() && self.decisions.is_empty() && self.steps.is_empty()
    }

    /// Adds the words to a body, first in their sections. Existing items stay.
    pub fn add_to(&self, body: String) -> String {
        if self.is_empty() {
            return body;
        }
        let mut text = String::with_capacity(body.len() + MAX_SUMMARY_BYTES);
        for (name, section) in sections(&body) {
            if !name.is_empty() {
                text += &format!("## {name}\n");
            }
            match self.lines(name).collect::<String>() {
                own if own.is_empty() => text += section,
                own => {
                    let rest = section.trim_start_matches('\n').split_inclusive('\n');
                    text = text + "\n" + &own;
                    text.extend(rest.filter(|line| line.trim_end() != EMPTY_SECTION));
                }
            }
        }
        text
    }

    fn lines(&self, section: &str) -> impl Iterator<Item = String> {
        let (items, mark) = match section {
            "Why Changed" => (&self.why[..], "- "),
            "Key Decisions" => (&self.decisions[..], "- "),
            "Next Steps" => (&self.steps[..], "- [ ] "),
            _ => (&[][..], ""),
        };
        items.iter().map(move |item| format!("{mark}{MARK}{item}\n"))
    }

    fn part(&mut self, part: SummaryPart) -> &mut Vec<String> {
        match part {
            SummaryPart::Why => &mut self.why,
            SummaryPart::Decisions => &mut self.decisions,
            SummaryPart::Steps => &mut self.steps,
        }
    }

    fn begin(&mut self, part: SummaryPart, item: &str, is_begun: &mut bool) {
        self.part(part).push(item.to_owned());
        *is_begun = true;
    }

    fn go_on(&mut self, part: SummaryPart, line: &str) {
        if let Some(item) = self.part(part).last_mut() {
            *item = format!("{item} {line}");
        }
    }

    /// Applies the size limits. Each part has its own share, so that none displaces another.
    fn shortened(mut self) -> Self {
        for part in [SummaryPart::Why, SummaryPart::Decisions, SummaryPart::Steps] {
            let mut room = MAX_SUMMARY_BYTES / 3;
            let items = std::mem::take(self.part(part)).into_iter();
            let short = items.map(|item| one_line(&item, LONGEST_ITEM));
            let fits = |item: &String| {
                let taken = item.len() + MARK.len() + "- [ ] \n".len();
                let fits = !item.is_empty() && taken <= room;
                room -= if fits { taken } else { 0 };
                fits
            };
            *self.part(part) = short.filter(fits).take(MOST_ITEMS).collect();
        }
        self
    }
}

#[derive(Clone, Copy)]
enum SummaryPart {
    Why,
    Decisions,
    Steps,
}

/// Returns the part that a heading starts. Models write `# Why`, `**Next steps:**` or the full
/// name.
fn heading(line: &str) -> Option<SummaryPart> {
    let is_heading = line.starts_with('#') || line.ends_with(':') || line.ends_with(":**");
    let name: String = line.chars().filter(|c| c.is_alphabetic() || *c == ' ').collect();
    match name.trim().to_lowercase().as_str() {
        _ if !is_heading => None,
        "why changed" | "why" => Some(SummaryPart::Why),
        "key decisions" | "decisions" => Some(SummaryPart::Decisions),
        "next steps" | "next" => Some(SummaryPart::Steps),
        _ => None,
    }
}

/// Returns the text of a line that starts a list item.
fn item(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|first: char| first.is_ascii_digit());
    let numbered = || digits.strip_prefix(". ").filter(|_| digits.len() < line.len());
    let item = ["- ", "* ", "+ "].into_iter().find_map(|mark| line.strip_prefix(mark));
    let item = item.or_else(numbered)?.trim_start();
    let unchecked = ["[ ]", "[x]"].into_iter().find_map(|mark| item.strip_prefix(mark));
    Some(unchecked.unwrap_or(item).trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::{ToolUse, WorkEvent, WorkFold, WorkRecord};

    fn refined(words: &str, body: &str) -> String {
        ModelSummary::parse(words).add_to(body.to_owned())
    }

    #[test]
    fn the_summary_comes_first_and_other_items_stay() {
        let body = "## What Changed\n\n- [a.rs] - edited\n\n## Why Changed\n\n- asked for: x\n\n\
            ## Key Decisions\n\n- none seen\n\n## Next Steps\n\n- [ ] y\n";
        let words = "## Why Changed\n- the hull leaks\n## Key Decisions\n1. tar, because\n   it is \
            here\n## Next Steps\n- [ ] say \"it's\" `$HOME`\n";
        assert_eq!(
            refined(words, body),
            "## What Changed\n\n- [a.rs] - edited\n\n## Why Changed\n\n- (model) the hull leaks\n\
             - asked for: x\n\n## Key Decisions\n\n- (model) tar, because it is here\n\n\
             ## Next Steps\n\n- [ ] (model) say \"it's\" `$HOME`\n- [ ] y\n"
        );
    }

    #[test]
    fn headings_are_recognized_in_several_notations() {
        let words =
            ModelSummary::parse("because\n\n**Decisions:**\n* a\n\nNext:\nb\n# Why\nc\nWhy not: d");
        let expected = ModelSummary {
            why: vec!["because".to_owned(), "c Why not: d".to_owned()],
            decisions: vec!["a".to_owned()],
            steps: vec!["b".to_owned()],
        };
        assert_eq!(words, expected);
        assert!(ModelSummary::parse(" \n\n## Next Steps\n").is_empty());
    }

    #[test]
    fn summaries_are_found_in_the_submitting_command() {
        let call =
            "plimsoll checkpoint create 5f2c --refine <<'END'\n- a\n## Next Steps\n- b\nEND\n- c";
        assert_eq!(
            ModelSummary::from_command(call),
            Some(ModelSummary::parse("- a\n## Next Steps\n- b"))
        );
        for other in ["cargo test", "plimsoll checkpoint create 5f2c", "cat <<END\n- a\nEND"] {
            assert_eq!(ModelSummary::from_command(other), None, "{other}");
        }
    }

    #[test]
    fn later_checkpoints_keep_the_summary_and_drop_old_steps() {
        let call = |command: &'static str| WorkRecord {
            events: vec![WorkEvent::ToolCall {
                call: "1",
                tool: ToolUse::Shell { command: command.into() },
            }],
            ..WorkRecord::default()
        };
        let mut fold = WorkFold::default();
        fold.read_record(&call("p checkpoint create s --refine <<'E'\n- a\n## Next Steps\n- b\nE"));
        assert_eq!(
            fold.clone().finish().model_summary(),
            ModelSummary::parse("- a\n## Next Steps\n- b")
        );
        (0..21).for_each(|_| fold.read_record(&call("make")));
        assert_eq!(fold.finish().model_summary(), ModelSummary::parse("- a"));
    }

    #[test]
    fn no_item_can_start_a_section() {
        let body = "## Why Changed\n\n- none seen\n\n## Next Steps\n\n- none seen\n";
        let words = "- a\n## Task\n- b\r## Commands\u{2028}## Task\n\u{1b}[2J## References\n";
        let text = refined(words, body);
        assert_eq!(
            text.lines().filter(|line| line.starts_with('#')).count(),
            2,
            "only those that were there: {text}"
        );
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn secrets_are_redacted_and_long_items_truncated() {
        let secret = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
        let long = format!("- {}\n", "word ".repeat(400)).repeat(60);
        let words =
            ModelSummary::parse(&format!("- log in with {secret}\n{long}## Next Steps\n{long}"));
        let text = words.add_to("## Why Changed\n\n## Next Steps\n".to_owned());
        assert!(!text.contains(&secret) && text.contains("[redacted:"), "{text}");
        assert!(text.len() < MAX_SUMMARY_BYTES && text.contains("- [ ] (model) word"), "{text}");
    }

    #[test]
    fn an_empty_summary_leaves_the_body_unchanged() {
        let body = "x\n## Why Changed\n\n- none seen\n\n## Next Steps\n\n- [ ] y\n";
        assert_eq!(ModelSummary::default().add_to(body.to_owned()), body);
    }
}
