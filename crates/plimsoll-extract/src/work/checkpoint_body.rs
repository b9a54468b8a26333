//! Writes the body of a checkpoint: the state of the work, for people and for the next session.
//!
//! Every item ends with the place of its source record, `@123456`: the record's first byte in the
//! transcript, counted from 1. `tail -c +123456 FILE | head -1` shows the record.

use plimsoll_core::bytes;
use plimsoll_core::entry::Place;

use super::commands::KnownCommand;
use super::name_table::FileId;
use super::names::NameKind;
use super::restore::{failing, files, loose, sorted, useful};
use super::sentences::one_line;
use super::sourced_text::{SourcedText, pointer};
use super::{LEAST, Work, sanitize, unknown_status};
use crate::checkpoint::{self, SECTIONS};

/// Text of a section without content.
pub const EMPTY_SECTION: &str = "- none seen";

/// Maximum bytes per section, in section order. Their sum fits into a checkpoint.
pub(super) const ROOM: [usize; SECTIONS.len()] =
    [9_500, 4_000, 3_500, 4_000, 3_500, 9_000, 3_500, 7_500, 2_500];

/// The lines of a section, produced lazily so that none is made without room for it.
type Lines<'w> = Box<dyn Iterator<Item = String> + 'w>;

/// Returns a checkpoint's body with all sections in order.
pub fn render_body(work: &Work) -> String {
    let sections: [Lines<'_>; SECTIONS.len()] = [
        Box::new(changed(work)),
        Box::new(why(work)),
        Box::new(active(work)),
        Box::new(decisions(work)),
        Box::new(steps(work).into_iter()),
        Box::new(task(work)),
        Box::new(commands(work)),
        Box::new(working_set(work)),
        Box::new(references(work)),
    ];
    let mut text = String::new();
    for ((title, lines), room) in SECTIONS.into_iter().zip(sections).zip(ROOM) {
        let mut lines = fitting(lines.map(sanitize::sanitize_line), room);
        if lines.is_empty() {
            lines.push(EMPTY_SECTION.to_owned());
        }
        text += &format!("## {title}\n\n{}\n\n", lines.join("\n"));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Notes in a body that the transcript could not be read.
pub fn note_unreadable_transcript(body: &str, transcript: &str) -> String {
    let title = "## Active Issues\n\n";
    let why = format!("{title}- the transcript could not be read: {}", one_line(transcript, 400));
    body.replacen(&format!("{title}{EMPTY_SECTION}"), &why, 1)
}

/// Returns a fingerprint of a body that changes only when something happened that deserves a new
/// checkpoint.
pub fn fingerprint(body: &str) -> u64 {
    const TELLING: [&str; 4] = ["What Changed", "Active Issues", "Next Steps", "Task"];
    let sections = checkpoint::sections(body);
    let telling = sections.into_iter().filter(|(name, _)| TELLING.contains(name));
    bytes::fnv1a(telling.map(|(_, text)| text).collect::<String>().as_bytes())
}

/// Returns the first lines, as many as fit into `room`.
fn fitting(lines: impl Iterator<Item = String>, mut room: usize) -> Vec<String> {
    let fits = |line: &String| {
        room = room.saturating_sub(line.len() + 1);
        room > 0
    };
    lines.take_while(fits).collect()
}

/// Returns the last lines, as many as fit into `room`.
fn newest(lines: impl DoubleEndedIterator<Item = String>, room: usize) -> Vec<String> {
    let mut lines = fitting(lines.rev(), room);
    lines.reverse();
    lines
}

fn item(text: &str, place: Place) -> String {
    line(&["- ", text], place)
}

/// Joins the parts of a line. A body has hundreds of lines, and `format!` would take longer than
/// everything else.
fn line(parts: &[&str], place: Place) -> String {
    const POINTER: usize = 16;
    let length = parts.iter().map(|part| part.len()).sum::<usize>();
    let mut line = String::with_capacity(length + POINTER);
    parts.iter().for_each(|part| line.push_str(part));
    line.push_str(&pointer(place));
    line
}

fn noted(text: &SourcedText, longest: usize) -> String {
    item(&one_line(text, longest), text.place)
}

/// Lists the changed files as `[file:line] - …`, newest first.
fn changed(work: &Work) -> impl Iterator<Item = String> {
    work.changes().into_iter().map(|(path, touched)| {
        let lines = touched.all_lines();
        let gap = if lines.is_empty() { "" } else { ":" };
        line(&["- [", path, gap, &lines, "] - ", &touched.what()], touched.place)
    })
}

/// Lists the last request, the model's last messages and the results of subagents.
fn why(work: &Work) -> impl Iterator<Item = String> {
    fn told(what: &str, text: &SourcedText, longest: usize) -> String {
        line(&["- ", what, ": ", &one_line(text, longest)], text.place)
    }
    let asked = work.asked.back().map(|text| told("asked for", text, 400));
    let mut said = work.said.iter().rev();
    let last = said.next().map(|text| told("last said", text, 600));
    let before = said.map(|text| told("said before", text, 200));
    let delegated = work.delegated.iter().rev();
    let found = delegated.map(|(task, text)| told(&format!("subagent `{task}` said"), text, 300));
    asked.into_iter().chain(last).chain(before).chain(found)
}

fn active(work: &Work) -> impl Iterator<Item = String> {
    let failing = failing(work).map(|(line, place)| line + &pointer(place));
    let markers = work.markers.iter().rev().map(|(file, text)| {
        let path = &work.table.files[*file as usize].path;
        line(&["- [", path, "] ", text], text.place)
    });
    failing.chain(markers)
}

fn decisions(work: &Work) -> impl Iterator<Item = String> {
    work.decisions.iter().rev().map(|text| noted(text, 300))
}

fn steps(work: &Work) -> Vec<String> {
    let step = |text: &SourcedText| line(&["- [ ] ", &one_line(text, 200)], text.place);
    let open: Vec<String> = work.plan.open().map(step).collect();
    let asked = || work.asked.back().map(step);
    if open.is_empty() { asked().into_iter().collect() } else { open }
}

/// Lists the user's requests and instructions.
fn task(work: &Work) -> impl Iterator<Item = String> {
    const ASKED: usize = 4_800;
    const DIRECTIVES: usize = 4_000;
    let asked = work.asked.iter();
    let mut asked = asked.map(|text| line(&["> ", &one_line(text, 600)], text.place));
    let first = asked.next();
    let directives = work.directives.iter().map(|text| noted(text, 400));
    let rest = newest(asked, ASKED - 700).into_iter().chain(newest(directives, DIRECTIVES));
    first.into_iter().chain(rest)
}

/// Lists commands with their last result.
pub(super) fn commands(work: &Work) -> impl Iterator<Item = String> {
    let told = |command: &KnownCommand| {
        let end = match (&command.tally, command.worked) {
            (Some(tally), _) => format!(": {tally}"),
            (None, Some(true)) => ": ok".to_owned(),
            (None, Some(false)) => ": failed".to_owned(),
            (None, None) => String::new(),
        };
        let typed = one_line(&command.typed, 100).replace('`', "'");
        line(&["- `", &typed, "`", &end], command.place)
    };
    useful(work).into_iter().take(40).map(told)
}

pub(super) fn working_set(work: &Work) -> impl Iterator<Item = String> {
    const FILES: usize = 6_000;
    const LOOSE: usize = 20;
    // A file that only appeared in a listing is of no use to the reader.
    let is_used = |file: FileId| work.table.files[file as usize].score.at(work.clock) >= LEAST;
    let files =
        files(work, FILES, &unknown_status).into_iter().filter(move |(file, _)| is_used(*file));
    let lines = files.flat_map(|(file, lines)| {
        let place = work.table.files[file as usize].place;
        lines.into_iter().map(move |line| item(&line, place))
    });
    let also = loose(work).take(LOOSE);
    lines.chain(also.map(|name| line(&["- also: ", &name.text], name.place)))
}

fn references(work: &Work) -> impl Iterator<Item = String> {
    let branch = work.branch.as_ref();
    let branch = branch.map(|branch| line(&["- branch ", branch], branch.place));
    let names = sorted(work, NameKind::Reference, |_| true).into_iter();
    branch.into_iter().chain(names.map(|name| item(&name.text, name.place)))
}
