//! What a session is given back after a compaction.
//!
//! Filled by value within a budget. What client summaries are known to lose comes first in its
//! share: the user's own sentences, commands, references, and files with the symbols in play.

use std::collections::BTreeMap;

use super::names::NameKind;
use super::noted::Place;
use super::score::{Clock, Score};
use super::shell::Command;
use super::table::{FileId, Name};
use super::touched::Touched;
use super::words::one_line;
use super::{Fate, Origin, Work, fence, told};

/// How many characters a token of the budget stands for.
const CHARACTERS: usize = 4;

/// What parts of the budget go to which section, in percent; the working set has the rest.
pub(super) mod share {
    pub(in super::super) const TASK: usize = 4;
    pub(in super::super) const DIRECTIVES: usize = 16;
    pub(in super::super) const PLAN: usize = 4;
    pub(in super::super) const ISSUES: usize = 3;
    pub(in super::super) const COMMANDS: usize = 18;
    pub(in super::super) const REFERENCES: usize = 17;
    /// Of what is then left, names that belong to no file.
    pub(super) const LOOSE: usize = 10;
}

/// The text that a session is given, of at most `budget` tokens; nothing where nothing is known.
///
/// `fate` tells what has become of a file in the meantime.
pub fn restore(work: &Work, budget: usize, fate: &dyn Fn(&str) -> Option<Fate>) -> String {
    let origin = Origin::Transcript.sentence();
    let total = room(budget, &origin);
    let part = |percent: usize| total * percent / 100;
    let mut text = Text { room: total, out: String::new() };
    text.section("## Task", asked(work), part(share::TASK));
    text.section("## Directives", directives(work), part(share::DIRECTIVES));
    text.section("## Next Steps", steps(work), part(share::PLAN));
    text.section("## Active Issues", issues(work), part(share::ISSUES));
    text.section("## Commands", commands(work), part(share::COMMANDS));
    text.section(
        "## References",
        references(work, part(share::REFERENCES)),
        part(share::REFERENCES) + 20,
    );
    let title = "## Working Set";
    let room = text.room.saturating_sub(title.len() + 1);
    text.section(title, map(work, room, fate).into_iter(), room + title.len() + 1);
    text.fenced(&origin)
}

/// How many characters a fenced text of so many tokens has room for.
pub(super) fn room(budget: usize, origin: &str) -> usize {
    (budget * CHARACTERS).saturating_sub(fence::length(origin))
}

/// A text that grows up to a size.
pub(super) struct Text {
    pub(super) room: usize,
    pub(super) out: String,
}

impl Text {
    /// The whole of it as data, if there is anything.
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
        for line in lines.map(told::line) {
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

fn asked(work: &Work) -> impl Iterator<Item = String> {
    work.asked.iter().rev().take(2).map(|text| format!("> {}", one_line(text, 240)))
}

fn directives(work: &Work) -> impl Iterator<Item = String> {
    work.directives.iter().rev().map(|sentence| format!("- {}", one_line(sentence, 320)))
}

fn steps(work: &Work) -> impl Iterator<Item = String> {
    work.plan.open().map(|step| format!("- [ ] {}", one_line(step, 160)))
}

/// Commands that failed and have not worked since, the newest first.
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

/// Commands, the most useful first.
pub(super) fn useful(work: &Work) -> Vec<&Command> {
    let mut all: Vec<&Command> = work.commands.all.iter().collect();
    all.sort_by(|one, other| {
        by_score(&one.score, &other.score, work.clock).then_with(|| one.key.cmp(&other.key))
    });
    all
}

/// Commands as they were typed, the most useful first.
fn commands(work: &Work) -> impl Iterator<Item = String> {
    useful(work).into_iter().map(|command| {
        let typed = one_line(&command.typed, 44);
        let shown = if typed.starts_with(&command.key) { typed } else { command.key.clone() };
        if command.worked == Some(false) { format!("{shown}  # failed") } else { shown }
    })
}

/// References in one line, the most useful first.
fn references(work: &Work, share: usize) -> impl Iterator<Item = String> {
    let mut line =
        work.branch.as_ref().map_or_else(String::new, |branch| format!("branch {}", &**branch));
    for name in sorted(work, NameKind::Reference) {
        if line.len() + name.text.len() < share {
            let gap = if line.is_empty() { "" } else { " " };
            line = line + gap + &name.text;
        }
    }
    Some(line).filter(|line| !line.is_empty()).into_iter()
}

pub(super) fn sorted(work: &Work, kind: NameKind) -> Vec<&Name> {
    let of_kind = work.table.names.iter().filter(|name| name.kind == kind);
    let mut scored: Vec<(f32, &Name)> =
        of_kind.map(|name| (name.score.at(work.clock), name)).collect();
    scored.sort_unstable_by(|(one, this), (other, that)| {
        other.total_cmp(one).then_with(|| this.text.cmp(&that.text))
    });
    scored.into_iter().map(|(_, name)| name).collect()
}

fn by_score(one: &Score, other: &Score, now: Clock) -> std::cmp::Ordering {
    other.at(now).total_cmp(&one.at(now))
}

/// How much more a file's path is worth than one of its symbols.
const PATH: f32 = 2.0;

/// Something to be put into the map: a file, or a symbol of it.
struct Item<'w> {
    value: f32,
    file: FileId,
    symbol: Option<&'w str>,
}

/// Files with the symbols in play: a map, not lists apart; then names that belong to none. At most so
/// many characters.
fn map(work: &Work, room: usize, fate: &dyn Fn(&str) -> Option<Fate>) -> Vec<String> {
    let names = loose_names(work, room * share::LOOSE / 100);
    let files = files(work, room.saturating_sub(names.len() + 1), fate);
    let lines = files.into_iter().flat_map(|(_, lines)| lines);
    lines.chain(Some(names).filter(|names| !names.is_empty())).collect()
}

/// The files of the map, with the lines that each takes.
pub(super) fn files(
    work: &Work,
    room: usize,
    fate: &dyn Fn(&str) -> Option<Fate>,
) -> Vec<(FileId, Vec<String>)> {
    let items = items(work);
    let (order, _) = choose(work, &items, room);
    let marks = marks(work, &order, fate);
    let (order, chosen) = choose(work, &items, room.saturating_sub(marks.len() * Fate::LONGEST));
    order.into_iter().map(|file| (file, lines(work, file, &chosen[&file], &marks))).collect()
}

/// What has become of the files that are to be named. Only of those: each is a look at the disk.
fn marks(
    work: &Work,
    files: &[FileId],
    fate: &dyn Fn(&str) -> Option<Fate>,
) -> BTreeMap<FileId, Fate> {
    let mark = |file: &FileId| Some((*file, fate(&work.table.files[*file as usize].path)?));
    files.iter().filter_map(mark).collect()
}

/// Everything that could stand in the map, the most valuable first.
fn items(work: &Work) -> Vec<Item<'_>> {
    let now = work.clock;
    let files: Vec<f32> = work.table.files.iter().map(|file| file.score.at(now)).collect();
    let paths = files.iter().enumerate();
    let mut items: Vec<Item<'_>> = paths
        .map(|(file, score)| Item { value: score * PATH, file: file as FileId, symbol: None })
        .collect();
    for name in sorted(work, NameKind::Symbol) {
        let worth = |(file, tie): &&(FileId, Score)| files[*file as usize] * (0.2 + tie.at(now));
        let home = name.files.iter().max_by(|one, other| worth(one).total_cmp(&worth(other)));
        if let Some((file, _)) = home {
            let (value, symbol) = (name.score.at(now), Some(name.text.as_str()));
            items.push(Item { value, file: *file, symbol });
        }
    }
    items.sort_by(|one, other| other.value.total_cmp(&one.value));
    items
}

/// Names that belong to no file, the most useful first.
pub(super) fn loose(work: &Work) -> impl Iterator<Item = &Name> {
    sorted(work, NameKind::Symbol).into_iter().filter(|name| name.files.is_empty())
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

/// A line of a map is not longer than this, so that a symbol stands near its file.
const LONG_LINE: usize = 330;

/// Which files and symbols fit, the files in order of their value.
fn choose<'w>(
    work: &Work,
    items: &[Item<'w>],
    mut room: usize,
) -> (Vec<FileId>, BTreeMap<FileId, Vec<&'w str>>) {
    let (mut order, mut chosen) = (Vec::new(), BTreeMap::<FileId, Vec<&str>>::new());
    let mut lengths = BTreeMap::<FileId, usize>::new();
    for item in items {
        let path = &work.table.files[item.file as usize].path;
        let symbol = item.symbol.map_or(0, |symbol| symbol.len() + 2);
        let length = lengths.get(&item.file).copied();
        let wraps = length.is_some_and(|length| length + symbol > LONG_LINE);
        let cost = match length {
            None => head(work, item.file).len() + 1 + symbol,
            Some(_) if wraps => last_two(path).len() + 1 + symbol,
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

/// A file with the lines in play.
pub(super) fn head(work: &Work, file: FileId) -> String {
    let path = &work.table.files[file as usize].path;
    match work.touched.get(&file).and_then(Touched::newest_lines) {
        Some(lines) => format!("{path} ({lines})"),
        None => path.clone(),
    }
}

fn lines(
    work: &Work,
    file: FileId,
    symbols: &[&str],
    marks: &BTreeMap<FileId, Fate>,
) -> Vec<String> {
    let mark = marks.get(&file).map_or("", |fate| fate.mark());
    let mut lines = vec![head(work, file) + mark];
    let mut gap = ": ";
    for symbol in symbols {
        if lines.last().is_some_and(|line| line.len() + symbol.len() + 2 > LONG_LINE) {
            lines.push(last_two(&work.table.files[file as usize].path).to_owned());
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

/// A path's last two parts.
fn last_two(path: &str) -> &str {
    let second = path.rmatch_indices('/').nth(1);
    second.map_or(path, |(at, _)| &path[at + 1..])
}
