//! What a search finds, for people.

use std::fmt::Write as _;
use std::path::Path;

use plimsoll_core::Millis;
use plimsoll_core::text::duration;
use plimsoll_engine::world::{World, now};
use plimsoll_store::LinePiece;

use super::hit::{Hit, What};
use crate::layout::{self, COLUMNS, fit};
use crate::ui::{Ui, strip_control};

pub(super) fn text(ui: &Ui, world: &World, hit: &Hit) -> String {
    let age = u64::try_from(now() as Millis - hit.what.created()).unwrap_or(0) / 1000;
    let folder = |project: &Path| layout::path(project, &world.paths.home, 40);
    let (name, project, by, about) = match &hit.what {
        What::Checkpoint(row) => {
            let name = format!("checkpoint {}", ui.bold(&strip_control(&row.id)));
            (name, Some(folder(&row.project)), row.occasion.as_str(), row.summary.as_str())
        }
        What::Save(save) => {
            let name = format!("save in {}", ui.bold(save.what.environment.as_str()));
            let project = save.what.project.as_deref().map(|project| folder(Path::new(project)));
            (name, project, save.what.kind.label(), save.what.task.as_str())
        }
    };
    let facts: Vec<String> = [Some(format!("{} ago", duration(age))), project, Some(by.to_owned())]
        .into_iter()
        .flatten()
        .collect();
    let about = about.lines().next().unwrap_or_default();
    let mut text = format!("{name}\n");
    let _ = writeln!(text, "  {}", ui.dim(&fit(&facts, COLUMNS - 2)));
    let _ = writeln!(text, "  {}", fit(&[strip_control(about)], COLUMNS - 2));
    let _ = writeln!(text, "  {}", snippet(ui, hit));
    text
}

/// The line that fits, with its section before it: what fits is marked and always in view.
fn snippet(ui: &Ui, hit: &Hit) -> String {
    const BEFORE: usize = 24;
    let title = strip_control(&hit.section);
    let room = COLUMNS - 2 - layout::width(&title) - "  ……".len();
    let letters = letters(&hit.line);
    let first = letters.iter().position(|(_, fits)| *fits).unwrap_or(0);
    let begin = if letters.len() > room { first.saturating_sub(BEFORE) } else { 0 };
    let end = letters.len().min(begin + room);
    let mut line = format!("{}  ", ui.dim(&title));
    line += if begin > 0 { "…" } else { "" };
    for run in letters[begin..end].chunk_by(|(_, one), (_, other)| one == other) {
        let text: String = run.iter().map(|(letter, _)| letter).collect();
        line += &if run[0].1 { ui.yellow(&text) } else { text };
    }
    line + if end < letters.len() { "…" } else { "" }
}

/// The letters of a line, each with whether it fits, without the marks of lists.
pub(super) fn letters(line: &[LinePiece]) -> Vec<(char, bool)> {
    let letters = line.iter().flat_map(|piece| {
        let text = strip_control(&piece.text.replace('\t', " "));
        text.chars().map(|letter| (letter, piece.is_match)).collect::<Vec<_>>()
    });
    letters.skip_while(|(letter, fits)| !fits && matches!(letter, '-' | '>' | ' ')).collect()
}
