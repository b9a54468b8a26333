//! Writes the restore that a session receives after a compaction.
//!
//! Items are chosen by value within a budget. Facts that client summaries tend to lose have the
//! larger shares: the user's own sentences, commands, references, and files with their symbols.

use std::collections::BTreeMap;

use plimsoll_core::entry::Place;

use super::commands::KnownCommand;
use super::file_state::FileState;
use super::name_table::{FileId, NameEntry, Ties};
use super::names::NameKind;
use super::requests::requests;
use super::score::{Clock, UseScore};
use super::sentences::one_line;
use super::{FileStatus, RestoreOrigin, Work, fence, sanitize};

/// Characters per token of the budget.
const CHARACTERS: usize = 4;

/// Shares of the budget by section, in percent; the working set gets the rest.
pub(super) mod share {
    pub(in super::super) const TASK: usize = 4;
    pub(in super::super) const DIRECTIVES: usize = 16;
    pub(in super::super) const PLAN: usize = 4;
    pub(in super::super) const ISSUES: usize = 3;
    pub(in super::super) const COMMANDS: usize = 18;
    pub(in super::super) const REFERENCES: usize = 17;
    /// Share of the rest for names that belong to no file.
    pub(super) const LOOSE: usize = 10;
}

/// A section before the working set: its title, its share, and the function that returns its lines
/// for a given room.
type Section = (&'static str, usize, fn(&Work, usize) -> Vec<String>);

const SECTIONS: [Section; 6] = [
    ("## Task", share::TASK, asked),
    ("## Directives", share::DIRECTIVES, directives),
    ("## Next Steps", share::PLAN, steps),
    ("## Active Issues", share::ISSUES, |work, _| issues(work).collect()),
    ("## Commands", share::COMMANDS, commands),
    ("## References", share::REFERENCES, references),
];

/// Returns the restore for a session in at most `budget` tokens; empty if nothing is known.
///
/// `fate` returns the current status of a file on disk.
pub fn restore(work: &Work, budget: usize, fate: &dyn Fn(&str) -> Option<FileStatus>) -> String {
    restore_from(&RestoreOrigin::Transcript, work, budget, fate)
}

/// Like [`restore`], but with another origin than the session's own transcript.
pub fn restore_from(
    origin: &RestoreOrigin<'_>,
    work: &Work,
    budget: usize,
    fate: &dyn Fn(&str) -> Option<FileStatus>,
) -> String {
    let origin = origin.sentence();
    let total = room(budget, &origin);
    let mut text = LimitedText { room: total, out: String::new() };
    let mut spare = spare(work, total);
    for (title, percent, lines) in SECTIONS {
        let (before, share) = (text.room, total * percent / 100);
        let room = (share + spare).saturating_sub(title.len() + 1);
        text.section(title, lines(work, room).into_iter(), share + spare);
        spare -= (before - text.room).saturating_sub(share);
    }
    let title = "## Working Set";
    let room = text.room.saturating_sub(title.len() + 1);
    text.section(title, map(work, room, fate).into_iter(), room + title.len() + 1);
    text.fenced(&origin)
}

/// Returns the room left over if every section stays within its share. Sections with more content
/// may use it.
fn spare(work: &Work, total: usize) -> usize {
    let length = |lines: Vec<String>| lines.iter().map(|line| line.len() + 1).sum::<usize>();
    let taken = SECTIONS.iter().map(|(title, percent, lines)| {
        let share = total * percent / 100;
        (length(lines(work, share)) + title.len() + 1).min(share)
    });
    total.saturating_sub(taken.sum::<usize>() + wanted(work))
}

/// Returns the size of the working set with every name in it.
fn wanted(work: &Work) -> usize {
    let files = 0..work.table.files.len() as FileId;
    let symbols = work.table.names.iter().filter(|name| name.kind == NameKind::Symbol);
    files.map(|file| head(work, file).len() + 1).sum::<usize>()
        + symbols.map(|name| name.text.len() + 2).sum::<usize>()
}

/// Returns the characters available for content in a fenced text of `budget` tokens.
pub(super) fn room(budget: usize, origin: &str) -> usize {
    (budget * CHARACTERS).saturating_sub(fence::length(origin))
}

/// Minimum length of a truncated line.
const SHORTEST_CUT: usize = 60;

/// A text that grows up to a size limit.
pub(super) struct LimitedText {
    pub(super) room: usize,
    pub(super) out: String,
}

impl LimitedText {
    /// Returns the whole text inside a fence; empty if there is no content.
    pub(super) fn fenced(self, origin: &str) -> String {
        if self.out.is_empty() { self.out } else { fence::fenced(&self.out, origin) }
    }

    fn line(&mut self, line: &str) {
        if line.len() < self.room {
            self.room -= line.len() + 1;
            self.out += line;
            self.out.push('\n');
        }
    }

    /// Adds a section with as many of `lines` as fit into its share.
    pub(super) fn section(
        &mut self,
        title: &str,
        lines: impl Iterator<Item = String>,
        share: usize,
    ) {
        let mut left = share.min(self.room).saturating_sub(title.len() + 1);
        let mut begun = false;
        for line in lines.map(sanitize::sanitize_line) {
            // Part of the first line is worth more than the next line.
            let is_cut = !begun && line.len() + 1 > left && left > SHORTEST_CUT;
            let line = if is_cut { one_line(&line, left - 1) } else { line };
            if line.len() + 1 > left {
                continue;
            }
            if !std::mem::replace(&mut begun, true) {
                self.line(title);
            }
            left -= line.len() + 1;
            self.line(&line);
        }
    }
}

/// Lists the user's requests, each truncated to the remaining room.
fn asked(work: &Work, mut room: usize) -> Vec<String> {
    const LONGEST: usize = 600;
    const SHORTEST: usize = 60;
    let mut lines = Vec::new();
    for text in requests(work) {
        if room < SHORTEST && !lines.is_empty() {
            break;
        }
        let line = format!("> {}", one_line(text, LONGEST.min(room.saturating_sub(3))));
        room = room.saturating_sub(line.len() + 1);
        lines.push(line);
    }
    lines
}

fn directives(work: &Work, _: usize) -> Vec<String> {
    let newest = work.directives.iter().rev();
    newest.map(|sentence| format!("- {}", one_line(sentence, 320))).collect()
}

fn steps(work: &Work, _: usize) -> Vec<String> {
    work.plan.open().map(|step| format!("- [ ] {}", one_line(step, 160))).collect()
}

/// Returns commands that failed and have not succeeded since, newest first.
pub(super) fn failing(work: &Work) -> impl Iterator<Item = (String, Place)> {
    let open = work.commands.all.iter().rev().filter_map(|command| {
        let complaint = command.complaint.as_ref()?;
        let said = one_line(complaint, 120);
        Some((format!("- `{}`: {said}", one_line(&command.typed, 60)), complaint.place))
    });
    open.take(6)
}

pub(super) fn issues(work: &Work) -> impl Iterator<Item = String> {
    failing(work).map(|(line, _)| line)
}

/// Returns the commands, most useful first.
pub(super) fn useful(work: &Work) -> Vec<&KnownCommand> {
    let mut all: Vec<&KnownCommand> = work.commands.all.iter().collect();
    all.sort_by(|one, other| {
        by_score(&one.score, &other.score, work.clock).then_with(|| one.key.cmp(&other.key))
    });
    all
}

/// Lists commands as typed, most useful first. The first ones are complete; the others are
/// shortened rather than left out.
fn commands(work: &Work, room: usize) -> Vec<String> {
    const WHOLE: usize = 4;
    const LONGEST: usize = 120;
    const SHORT: usize = 44;
    let all = useful(work);
    let cut_at = |nth: usize| if nth < WHOLE { LONGEST } else { SHORT };
    let mut lines: Vec<String> =
        (0..).zip(&all).map(|(nth, command)| typed(command, cut_at(nth))).collect();
    let mut taken: usize = lines.iter().map(|line| line.len() + 1).sum();
    for (line, command) in lines.iter_mut().zip(&all).skip(WHOLE) {
        let whole = typed(command, LONGEST);
        let more = whole.len().saturating_sub(line.len());
        if taken + more <= room {
            taken += more;
            *line = whole;
        }
    }
    lines
}

fn typed(command: &KnownCommand, longest: usize) -> String {
    let typed = one_line(&command.typed, longest);
    let shown = if typed.contains(&command.key) { typed } else { command.key.clone() };
    if command.worked == Some(false) { format!("{shown}  # failed") } else { shown }
}

/// Lists references on one line, most useful first.
fn references(work: &Work, room: usize) -> Vec<String> {
    let mut line =
        work.branch.as_ref().map_or_else(String::new, |branch| format!("branch {}", &**branch));
    for name in sorted(work, NameKind::Reference, |_| true) {
        if line.len() + name.text.len() + 1 < room {
            let gap = if line.is_empty() { "" } else { " " };
            line = line + gap + &name.text;
        }
    }
    Some(line).filter(|line| !line.is_empty()).into_iter().collect()
}

/// Returns the names of a kind that are `wanted`, most useful first.
pub(super) fn sorted(
    work: &Work,
    kind: NameKind,
    wanted: fn(&NameEntry) -> bool,
) -> Vec<&NameEntry> {
    let of_kind = work.table.names.iter().filter(|name| name.kind == kind && wanted(name));
    let mut scored: Vec<(f32, &NameEntry)> =
        of_kind.map(|name| (name.score.at(work.clock), name)).collect();
    scored.sort_unstable_by(|(one, this), (other, that)| {
        other.total_cmp(one).then_with(|| this.text.cmp(&that.text))
    });
    scored.into_iter().map(|(_, name)| name).collect()
}

fn by_score(one: &UseScore, other: &UseScore, now: Clock) -> std::cmp::Ordering {
    other.at(now).total_cmp(&one.at(now))
}

/// Value of a file's path relative to one of its symbols.
const PATH: f32 = 2.0;

/// A candidate for the working set: a file, or a symbol of it.
struct MapItem<'w> {
    value: f32,
    file: FileId,
    symbol: Option<&'w str>,
}

/// Lists files with their symbols, then names that belong to no file, in at most `room` characters.
fn map(work: &Work, room: usize, fate: &dyn Fn(&str) -> Option<FileStatus>) -> Vec<String> {
    let names = loose_names(work, room * share::LOOSE / 100);
    let files = files(work, room.saturating_sub(names.len() + 1), fate);
    let lines = files.into_iter().flat_map(|(_, lines)| lines);
    lines.chain(Some(names).filter(|names| !names.is_empty())).collect()
}

/// Returns the files of the working set with their lines.
pub(super) fn files(
    work: &Work,
    room: usize,
    fate: &dyn Fn(&str) -> Option<FileStatus>,
) -> Vec<(FileId, Vec<String>)> {
    let items = items(work);
    let (mut order, mut chosen) = choose(work, &items, room);
    let marks = marks(work, &order, fate);
    if !marks.is_empty() {
        let room = room.saturating_sub(marks.len() * FileStatus::LONGEST);
        (order, chosen) = choose(work, &items, room);
    }
    order.into_iter().map(|file| (file, lines(work, file, &chosen[&file], &marks))).collect()
}

/// Returns the status of the chosen files only, because each one costs a disk access.
fn marks(
    work: &Work,
    files: &[FileId],
    fate: &dyn Fn(&str) -> Option<FileStatus>,
) -> BTreeMap<FileId, FileStatus> {
    let mark = |file: &FileId| Some((*file, fate(&work.table.files[*file as usize].path)?));
    files.iter().filter_map(mark).collect()
}

/// Returns all candidates for the working set, most valuable first.
fn items(work: &Work) -> Vec<MapItem<'_>> {
    let now = work.clock;
    let files: Vec<f32> = work.table.files.iter().map(|file| file.score.at(now)).collect();
    let paths = files.iter().enumerate();
    let mut items: Vec<MapItem<'_>> = paths
        .map(|(file, score)| MapItem { value: score * PATH, file: file as FileId, symbol: None })
        .collect();
    for name in work.table.names.iter().filter(|name| name.kind == NameKind::Symbol) {
        let worth = |(file, tie): &&(FileId, f32)| files[*file as usize] * (0.2 + tie);
        let home =
            name.ties.iter().flatten().max_by(|one, other| worth(one).total_cmp(&worth(other)));
        if let Some((file, _)) = home {
            let (value, symbol) = (name.score.at(now), Some(name.text.as_str()));
            items.push(MapItem { value, file: *file, symbol });
        }
    }
    // At equal value, files come first, then symbols by name.
    items.sort_unstable_by(|one, other| {
        let by_value = other.value.total_cmp(&one.value);
        by_value.then_with(|| (one.symbol, one.file).cmp(&(other.symbol, other.file)))
    });
    items
}

/// Returns names that belong to no file, most useful first.
pub(super) fn loose(work: &Work) -> impl Iterator<Item = &NameEntry> {
    sorted(work, NameKind::Symbol, |name| name.ties == Ties::default()).into_iter()
}

fn loose_names(work: &Work, share: usize) -> String {
    let mut line = String::new();
    for name in loose(work) {
        if line.len() + name.text.len() + 8 > share {
            break;
        }
        line += if line.is_empty() { "also: " } else { " " };
        line += &name.text;
    }
    line
}

/// Prefix of a line that continues the file of the line above.
pub(super) const AGAIN: &str = "…/";

/// Maximum line length, so that a symbol is near its file.
const LONG_LINE: usize = 330;

/// Selects the files and symbols that fit, the files in order of value.
fn choose<'w>(
    work: &Work,
    items: &[MapItem<'w>],
    mut room: usize,
) -> (Vec<FileId>, BTreeMap<FileId, Vec<&'w str>>) {
    let (mut order, mut chosen) = (Vec::new(), BTreeMap::<FileId, Vec<&str>>::new());
    let mut lengths = BTreeMap::<FileId, usize>::new();
    for item in items {
        let path = &work.table.files[item.file as usize].path;
        let symbol = item.symbol.map_or(0, |symbol| symbol.len() + 2);
        let length = lengths.get(&item.file).copied();
        let wraps = length.is_some_and(|length| length + symbol > LONG_LINE);
        // This cheap check rejects most items that do not fit.
        if length.is_none() && path.len() + 1 + symbol > room {
            continue;
        }
        let cost = match length {
            None => head(work, item.file).len() + 1 + symbol,
            Some(_) if wraps => again(path).len() + 1 + symbol,
            Some(_) => symbol,
        };
        if cost > room {
            continue;
        }
        room -= cost;
        if length.is_none() {
            order.push(item.file);
        }
        let length = if length.is_none() || wraps { cost } else { length.unwrap_or(0) + cost };
        lengths.insert(item.file, length);
        chosen.entry(item.file).or_default().extend(item.symbol);
    }
    (order, chosen)
}

/// Returns a file's path with the lines last changed or read.
pub(super) fn head(work: &Work, file: FileId) -> String {
    let path = &work.table.files[file as usize].path;
    match work.touched.get(&file).and_then(FileState::newest_lines) {
        Some(lines) => [path, " (", &lines, ")"].concat(),
        None => path.to_string(),
    }
}

fn lines(
    work: &Work,
    file: FileId,
    symbols: &[&str],
    marks: &BTreeMap<FileId, FileStatus>,
) -> Vec<String> {
    let mark = marks.get(&file).map_or("", |fate| fate.mark());
    let mut lines = vec![head(work, file) + mark];
    let mut gap = ": ";
    for symbol in symbols {
        if lines.last().is_some_and(|line| line.len() + symbol.len() + 2 > LONG_LINE) {
            lines.push(again(&work.table.files[file as usize].path));
            gap = ": ";
        }
        if let Some(line) = lines.last_mut() {
            *line += gap;
            *line += symbol;
        }
        gap = ", ";
    }
    lines
}

/// Returns the start of a file's continuation line: the last two parts of its path after a marker.
fn again(path: &str) -> String {
    let second = path.rmatch_indices('/').nth(1);
    format!("{AGAIN}{}", second.map_or(path, |(at, _)| &path[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::{ToolUse, WorkEvent, WorkFold, WorkRecord, unknown_status};

    fn work(acts: Vec<WorkEvent<'_>>) -> Work {
        let mut fold = WorkFold::default();
        fold.read_record(&WorkRecord { events: acts, ..WorkRecord::default() });
        fold.finish()
    }

    fn asked(texts: &[&'static str]) -> Work {
        work(texts.iter().map(|text| WorkEvent::UserPrompt((*text).into())).collect())
    }

    fn typed(lines: &[&'static str]) -> Work {
        let tool = |line: &&'static str| ToolUse::Shell { command: (*line).into() };
        work(lines.iter().map(|line| WorkEvent::ToolCall { call: "1", tool: tool(line) }).collect())
    }

    fn given(work: &Work, budget: usize) -> String {
        restore(work, budget, &unknown_status)
    }

    #[test]
    fn the_task_omits_replies() {
        let text =
            given(&asked(&["move the hull into its own crate", "yes", "ok go on", "1"]), 500);
        assert!(text.contains("## Task\n> move the hull into its own crate\n"), "{text}");
        assert!(!text.contains("go on"), "{text}");
        assert!(given(&asked(&["yes", "do it"]), 500).contains("> do it\n> yes\n"));
    }

    #[test]
    fn the_first_request_outlives_any_number_of_replies() {
        let replies = ["yes", "no"].into_iter().cycle().take(100);
        let texts: Vec<&str> = ["the first of all requests", "the second of all requests"]
            .into_iter()
            .chain(replies)
            .collect();
        let text = given(&asked(&texts), 500);
        assert!(text.contains("> the second of all requests\n> the first of all"), "{text}");
    }

    #[test]
    fn requests_use_spare_room() {
        const LONG: &str = "paint the load line on both sides of the hull where everybody sees it, \
            and then some more of it so that it is long enough to be cut somewhere in between, which \
            it must not be as long as there is room for the whole of it and of nothing else at all.";
        assert!(given(&asked(&[LONG]), 1_000).contains(LONG));
        let tight = given(&asked(&[LONG]), 100);
        assert!(tight.contains("> paint the load line") && !tight.contains(LONG), "{tight}");
    }

    #[test]
    fn commands_are_listed_as_typed() {
        const LINES: [&str; 2] = [
            "docker compose -f deploy/docker-compose.production.yml up -d --build",
            "CI=1 npx jest run --runInBand",
        ];
        let text = given(&typed(&LINES), 1_000);
        assert!(LINES.iter().all(|line| text.contains(&format!("{line}\n"))), "{text}");
    }

    #[test]
    fn a_second_line_of_a_file_is_marked() {
        let symbols: Vec<String> = (0..60).map(|number| format!("some_symbol_{number}")).collect();
        let (path, text) = ("deep/src/cli/x.go".into(), symbols.join("\n").into());
        let tool = ToolUse::Write { path, text };
        let text = given(&work(vec![WorkEvent::ToolCall { call: "1", tool }]), 1_000);
        assert!(text.contains("\ndeep/src/cli/x.go: some_symbol"), "{text}");
        assert!(text.contains("\n…/cli/x.go: some_symbol"), "{text}");
    }
}
