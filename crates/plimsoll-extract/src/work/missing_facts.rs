//! Finds facts that are in neither the client's summary nor the restore.

use super::commands::KnownCommand;
use super::names::NameKind;
use super::restore::{LimitedText, head, room, sorted};
use super::{LEAST, RestoreOrigin, Work};

/// Lists facts of the work that no text in `told` contains, most useful first, in at most `budget`
/// tokens. Empty if nothing is missing.
pub fn missing_facts(work: &Work, told: &[&str], budget: usize) -> String {
    let is_new = |name: &str| !told.iter().any(|text| text.contains(name));
    let origin = RestoreOrigin::Transcript.sentence();
    let total = room(budget, &origin);
    let mut text = LimitedText { room: total, out: String::new() };
    text.section("## Commands", commands(work, &is_new), total / 3);
    text.section("## References", names(work, NameKind::Reference, &is_new), total / 4);
    text.section("## Files", files(work, &is_new), total / 2);
    let rest = text.room;
    text.section("## Names", names(work, NameKind::Symbol, &is_new), rest);
    text.fenced(&origin)
}

fn commands<'w>(
    work: &'w Work,
    is_new: &'w dyn Fn(&str) -> bool,
) -> impl Iterator<Item = String> + 'w {
    let mut all: Vec<&KnownCommand> =
        work.commands.all.iter().filter(|command| is_new(&command.key)).collect();
    all.sort_by(|one, other| other.score.at(work.clock).total_cmp(&one.score.at(work.clock)));
    all.into_iter().map(|command| command.typed.lines().next().unwrap_or_default().to_owned())
}

fn names<'w>(
    work: &'w Work,
    kind: NameKind,
    is_new: &'w dyn Fn(&str) -> bool,
) -> impl Iterator<Item = String> + 'w {
    let names = sorted(work, kind, |_| true).into_iter();
    names
        .take_while(|name| name.score.at(work.clock) >= LEAST)
        .filter(move |name| is_new(&name.text))
        .map(|name| name.text.to_string())
}

/// Compares files by base name, because a text may leave out the folders.
fn files<'w>(
    work: &'w Work,
    is_new: &'w dyn Fn(&str) -> bool,
) -> impl Iterator<Item = String> + 'w {
    let base = |path: &'w str| path.rsplit('/').next().unwrap_or(path);
    let mut all: Vec<usize> = (0..work.table.files.len()).collect();
    let value = |file: usize| work.table.files[file].score.at(work.clock);
    all.retain(|file| value(*file) >= LEAST && is_new(base(&work.table.files[*file].path)));
    all.sort_by(|one, other| value(*other).total_cmp(&value(*one)));
    all.into_iter().map(|file| head(work, file as u32))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::work::{ToolUse, WorkEvent, WorkFold, WorkRecord};

    fn work() -> Work {
        let call = |call, tool| WorkEvent::ToolCall { call, tool };
        let path = Cow::Borrowed("src/hull.rs");
        let acts = vec![
            call("1", ToolUse::Read { path, from: Some(3), lines: Some(4) }),
            call("2", ToolUse::Shell { command: "cargo nextest run -p hull".into() }),
            WorkEvent::UserPrompt("See #4711 about load_line().".into()),
        ];
        let mut fold = WorkFold::default();
        fold.read_record(&WorkRecord { events: acts, ..WorkRecord::default() });
        fold.finish()
    }

    #[test]
    fn missing_facts_are_listed() {
        let text = missing_facts(&work(), &["nothing of it"], 300);
        for name in ["cargo nextest run -p hull", "#4711", "src/hull.rs (3-6)", "load_line"] {
            assert!(text.contains(name), "{name}: {text}");
        }
    }

    #[test]
    fn known_facts_are_not_listed() {
        let told = ["hull.rs, load_line and #4711", "cargo nextest run is how"];
        assert_eq!(missing_facts(&work(), &told, 300), "");
    }
}
