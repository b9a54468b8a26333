//! The body of a checkpoint: the state of the work, for people and for the next session.

use super::restore::{commands, issues, references};
use super::words::one_line;
use super::{Change, Work, unlooked};
use crate::bytes;
use crate::checkpoint::SECTIONS;

/// What stands in a section about which nothing is known.
pub(super) const NOTHING: &str = "- none seen";

/// A checkpoint's body, all sections in their order.
pub fn body(work: &Work) -> String {
    let commands = commands(work).into_iter().take(30).map(|line| format!("- `{line}`"));
    let sections: [Vec<String>; SECTIONS.len()] = [
        changed(work),
        why(work),
        active(work),
        decisions(work),
        steps(work),
        task(work),
        commands.collect(),
        working_set(work),
        references(work, 2_000).map(|line| format!("- {line}")).collect(),
    ];
    let mut text = String::new();
    for (title, lines) in SECTIONS.into_iter().zip(sections) {
        let lines = if lines.is_empty() { vec![NOTHING.to_owned()] } else { lines };
        text += &format!("## {title}\n\n{}\n\n", lines.join("\n"));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

impl Work {
    /// What the work comes to, as a number: the same as long as nothing has happened that a checkpoint
    /// would be made for.
    pub fn mark(&self) -> u64 {
        let telling = [changed(self), active(self), steps(self), task(self)];
        bytes::fnv1a(telling.concat().join("\n").as_bytes())
    }
}

/// `[file:line] - …`, the newest first.
fn changed(work: &Work) -> Vec<String> {
    let files = work.changes().into_iter().take(60);
    files
        .map(|(path, touched)| {
            let place =
                touched.newest_lines().map_or_else(String::new, |lines| format!(":{lines}"));
            let what = if touched.change == Some(Change::Written) { "written" } else { "edited" };
            format!("- [{path}{place}] - {what}")
        })
        .collect()
}

fn why(work: &Work) -> Vec<String> {
    let newest = work.asked.back().map(|text| format!("- asked for: {}", one_line(text, 400)));
    let said = work.said.back().map(|text| format!("- last said: {}", one_line(text, 400)));
    newest.into_iter().chain(said).collect()
}

fn active(work: &Work) -> Vec<String> {
    let markers = work
        .markers
        .iter()
        .rev()
        .map(|(file, text)| format!("- [{}] {text}", work.table.files[*file as usize].path));
    issues(work).chain(markers).collect()
}

fn decisions(work: &Work) -> Vec<String> {
    work.decisions.iter().rev().take(12).map(|text| format!("- {}", one_line(text, 300))).collect()
}

fn steps(work: &Work) -> Vec<String> {
    let open: Vec<String> = work
        .plan
        .iter()
        .filter(|(_, done)| !done)
        .map(|(step, _)| format!("- [ ] {}", one_line(step, 200)))
        .collect();
    let asked = || work.asked.back().map(|text| format!("- [ ] {}", one_line(text, 200)));
    if open.is_empty() { asked().into_iter().collect() } else { open }
}

/// The user's own words, and how they want to have it.
fn task(work: &Work) -> Vec<String> {
    let asked = work.asked.iter().map(|text| format!("> {}", one_line(text, 600)));
    let directives = work.directives.iter().map(|text| format!("- {text}"));
    asked.chain(directives).collect()
}

fn working_set(work: &Work) -> Vec<String> {
    let delegated = work.delegated.iter().map(|(task, said)| format!("- subagent: {task}: {said}"));
    super::restore::map(work, 8_000, &unlooked)
        .into_iter()
        .map(|line| format!("- {line}"))
        .chain(delegated)
        .collect()
}
