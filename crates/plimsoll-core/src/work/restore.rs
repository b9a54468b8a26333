//! What a session is given back.

use std::collections::HashMap;

use super::names::NameKind;
use super::ranked::FileId;
use super::{Work, words};

/// The text that a session is given after a compaction, of at most `budget` tokens.
pub fn restore(work: &Work, budget: usize) -> String {
    let mut text = Text { room: budget * 4, out: String::new() };
    let total = budget * 4;
    text.line("## Resuming from Checkpoint");
    task(work, &mut text, total * 8 / 100);
    directives(work, &mut text, total * 14 / 100);
    plan(work, &mut text, total * 5 / 100);
    commands(work, &mut text, total * 18 / 100);
    references(work, &mut text, total * 10 / 100);
    map(work, &mut text);
    text.out
}

struct Text {
    room: usize,
    out: String,
}

impl Text {
    fn line(&mut self, line: &str) -> bool {
        if line.len() + 1 > self.room {
            return false;
        }
        self.room -= line.len() + 1;
        self.out += line;
        self.out.push('\n');
        true
    }

    fn section(&mut self, title: &str, lines: impl Iterator<Item = String>, share: usize) {
        let mut left = share.min(self.room);
        let mut begun = false;
        for line in lines {
            let cost = line.len() + 1 + if begun { 0 } else { title.len() + 1 };
            if cost > left {
                continue;
            }
            if !begun {
                self.line(title);
                begun = true;
            }
            self.line(&line);
            left -= cost;
        }
    }
}

fn task(work: &Work, text: &mut Text, share: usize) {
    let newest = work.asked.iter().rev().take(2);
    let lines = newest.map(|asked| format!("> {}", one_line(&asked.text, 300)));
    text.section("## Task", lines, share);
}

fn directives(work: &Work, text: &mut Text, share: usize) {
    let lines = work.directives.iter().rev().map(|directive| format!("- {}", one_line(&directive.text, 320)));
    text.section("## Directives", lines, share);
}

fn plan(work: &Work, text: &mut Text, share: usize) {
    let open = work.plan.iter().filter(|(_, done)| !done);
    text.section("## Next Steps", open.map(|(step, _)| format!("- [ ] {}", one_line(step, 160))), share);
}

fn commands(work: &Work, text: &mut Text, share: usize) {
    let now = work.clock();
    let mut all: Vec<_> = work.commands.all.iter().collect();
    let score = |command: &super::shell::Command| {
        command.hot * (-((now - command.at) as f32) / 120.0).exp2() + 0.05 * command.uses as f32
    };
    all.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let lines = all.into_iter().map(|command| {
        let typed = one_line(&command.typed, 70);
        let typed = if typed.contains(&command.key) { typed } else { command.key.clone() };
        match command.worked {
            Some(false) => format!("{typed}   # failed"),
            _ => typed,
        }
    });
    text.section("## Commands", lines, share);
}

fn references(work: &Work, text: &mut Text, share: usize) {
    let now = work.clock();
    let mut all: Vec<_> =
        work.ranked.names.iter().filter(|name| name.kind == NameKind::Reference).collect();
    all.sort_by(|a, b| b.score.now(now).total_cmp(&a.score.now(now)));
    let mut line = work.branch.as_ref().map_or_else(String::new, |branch| format!("branch {branch}"));
    for name in all {
        if line.len() + name.text.len() + 2 + 16 > share.min(text.room) {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += &name.text;
    }
    if !line.is_empty() {
        text.section("## References", std::iter::once(line), share);
    }
}

/// Files with the symbols in play, the most useful first.
fn map(work: &Work, text: &mut Text) {
    let now = work.clock();
    let ranked = &work.ranked;
    let file_score: Vec<f32> = ranked.files.iter().map(|file| file.score.now(now)).collect();
    let mut items: Vec<(f32, FileId, Option<&str>)> = file_score
        .iter()
        .enumerate()
        .map(|(id, score)| (*score * 1.5, id as FileId, None))
        .collect();
    let mut loose = Vec::new();
    for name in ranked.names.iter().filter(|name| name.kind == NameKind::Symbol) {
        let score = name.score.now(now);
        let home = name.files.iter().max_by(|a, b| {
            let value = |(file, tie): &(FileId, super::ranked::Score)| {
                file_score[*file as usize] * (0.2 + tie.now(now))
            };
            value(a).total_cmp(&value(b))
        });
        match home {
            Some((file, _)) => items.push((score, *file, Some(name.text.as_str()))),
            None => loose.push((score, name.text.as_str())),
        }
    }
    items.sort_by(|a, b| b.0.total_cmp(&a.0));
    loose.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut names = String::new();
    let loose_share = text.room / 12;
    for (_, name) in loose {
        if names.len() + name.len() + 1 > loose_share {
            break;
        }
        names = names + name + " ";
    }
    let title = "## Working Set";
    let mut room = text.room.saturating_sub(title.len() + 2 + names.len() + 20);
    let mut order: Vec<FileId> = Vec::new();
    let mut chosen: HashMap<FileId, Vec<&str>> = HashMap::new();
    for (_, file, symbol) in items {
        let path = &ranked.files[file as usize].path;
        let new = !chosen.contains_key(&file);
        let long = chosen.get(&file).is_some_and(|symbols| symbols.len() % 14 == 13);
        let again = if long { last_two(path).len() + 2 } else { 0 };
        let cost = if new { path.len() + 3 } else { again } + symbol.map_or(0, |symbol| symbol.len() + 2);
        if cost > room {
            if room < 12 {
                break;
            }
            continue;
        }
        room -= cost;
        if new {
            order.push(file);
        }
        chosen.entry(file).or_default().extend(symbol);
    }
    text.line(title);
    for file in order {
        let path = &ranked.files[file as usize].path;
        let mut line = path.clone();
        let mut gap = ": ";
        for symbol in &chosen[&file] {
            if line.len() > 330 {
                text.line(&line);
                line = last_two(path).to_owned();
                gap = ": ";
            }
            line = line + gap + symbol;
            gap = ", ";
        }
        text.line(&line);
    }
    if !names.is_empty() {
        text.line(&format!("also: {}", names.trim_end()));
    }
}

fn one_line(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words::cut(&line, longest).to_owned()
}

/// A path's last two parts.
fn last_two(path: &str) -> &str {
    let mut slashes = path.rmatch_indices('/').skip(1);
    slashes.next().map_or(path, |(at, _)| &path[at + 1..])
}
