//! The work of a session: what it is about, folded from its transcript record by record.
//!
//! The fold can stop anywhere and go on later; any split gives the same result as one pass. What is
//! kept is bounded: names by their score, texts by their number and length.

mod act;
mod names;
mod ranked;
mod restore;
mod shell;
mod words;

pub use act::{Act, Record, Step, Tool};
pub use restore::restore;

use std::collections::{HashMap, VecDeque};

use names::NameKind;
use ranked::{FileId, Ranked};

/// How much a name counts, by who brought it up.
mod weight {
    pub(super) const ASKED: f32 = 3.0;
    pub(super) const SAID: f32 = 2.0;
    pub(super) const GIVEN: f32 = 2.0;
    pub(super) const BODY: f32 = 0.5;
    pub(super) const RETURNED: f32 = 0.15;
}

/// All that is kept.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// How many texts were taken: the clock by which names age.
    clock: u32,
    pub(crate) ranked: Ranked,
    pub(crate) commands: shell::Commands,
    pub(crate) asked: VecDeque<Asked>,
    pub(crate) directives: Vec<Directive>,
    pub(crate) said: VecDeque<String>,
    pub(crate) plan: Vec<(String, bool)>,
    pub(crate) branch: Option<String>,
    folder: Option<String>,
    calls: HashMap<String, Pending>,
}

/// What the user asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) text: String,
}

/// A sentence in which the user said how to work.
#[derive(Clone, Debug)]
pub(crate) struct Directive {
    pub(crate) text: String,
}

/// A call whose result is still to come.
#[derive(Clone, Debug)]
enum Pending {
    File(FileId),
    Shell(Vec<shell::CommandId>),
}

const MOST_ASKED: usize = 24;
const LONGEST_ASKED: usize = 2_000;
const MOST_SAID: usize = 4;

impl Work {
    /// Takes the next record.
    pub fn take(&mut self, record: &Record<'_>) {
        if self.folder.is_none() {
            self.folder = record.folder.as_deref().map(str::to_owned);
        }
        if let Some(branch) = record.branch.as_deref().filter(|branch| !branch.is_empty()) {
            self.branch = Some(branch.to_owned());
        }
        for act in &record.acts {
            self.act(act);
        }
    }

    fn act(&mut self, act: &Act<'_>) {
        match act {
            Act::Asked(text) => self.asked(text),
            Act::Said(text) => self.said(text),
            Act::Called { call, tool } => self.called(call, tool),
            Act::Returned { call, failed, text, changed } => {
                self.returned(call, *failed, text, changed);
            }
            Act::Compacted => {}
        }
    }

    fn asked(&mut self, text: &str) {
        self.mention(text, weight::ASKED, None);
        for sentence in words::directives(text) {
            let known = self.directives.iter().position(|known| known.text == sentence);
            if let Some(at) = known {
                self.directives.remove(at);
            }
            self.directives.push(Directive { text: sentence.to_owned() });
        }
        if self.directives.len() > 60 {
            self.directives.remove(0);
        }
        if self.asked.len() == MOST_ASKED {
            // The first one tells what it is all about.
            self.asked.remove(1);
        }
        self.asked.push_back(Asked { text: words::cut(text, LONGEST_ASKED).to_owned() });
    }

    fn said(&mut self, text: &str) {
        self.mention(text, weight::SAID, None);
        if self.said.len() == MOST_SAID {
            self.said.pop_front();
        }
        self.said.push_back(words::cut(text, LONGEST_ASKED).to_owned());
    }

    fn called(&mut self, call: &str, tool: &Tool<'_>) {
        let pending = match tool {
            Tool::Edit { path, texts } => {
                let file = self.file(path, weight::GIVEN);
                let body = texts.iter().map(|text| text.as_ref()).collect::<Vec<_>>().join("\n");
                self.mention(&body, weight::BODY, Some(file));
                Some(Pending::File(file))
            }
            Tool::Write { path, text } => {
                let file = self.file(path, weight::GIVEN);
                self.mention(text, weight::BODY, Some(file));
                Some(Pending::File(file))
            }
            Tool::Read { path, .. } => Some(Pending::File(self.file(path, weight::GIVEN))),
            Tool::Shell { command } => Some(Pending::Shell(self.shell(command))),
            Tool::Plan(steps) => {
                self.plan =
                    steps.iter().map(|step| (step.text.clone().into_owned(), step.done)).collect();
                None
            }
            Tool::Other { path, texts, .. } => {
                let text = texts.iter().map(|text| text.as_ref()).collect::<Vec<_>>().join("\n");
                self.mention(&text, weight::GIVEN, None);
                let path = path.as_ref().filter(|path| names::is_file(path));
                path.map(|path| Pending::File(self.file(path, 0.0)))
            }
        };
        if let Some(pending) = pending {
            self.calls.insert(call.to_owned(), pending);
        }
    }

    fn shell(&mut self, command: &str) -> Vec<shell::CommandId> {
        self.mention(command, weight::GIVEN, None);
        for branch in shell::branches(command) {
            self.ranked.add(NameKind::Reference, branch, weight::GIVEN, self.clock);
        }
        self.commands.typed(command, self.clock)
    }

    fn returned(&mut self, call: &str, failed: bool, text: &str, _changed: &[(u32, u32)]) {
        let file = match self.calls.remove(call) {
            Some(Pending::File(file)) => Some(file),
            Some(Pending::Shell(ids)) => {
                self.commands.ended(&ids, failed);
                None
            }
            None => None,
        };
        self.mention(text, weight::RETURNED, file);
    }

    fn file(&mut self, path: &str, weight: f32) -> FileId {
        self.clock += 1;
        let path = self.relative(path).to_owned();
        self.ranked.add_file(&path, weight * 1.5, self.clock)
    }

    /// A path inside the project, as seen from there.
    fn relative<'p>(&self, path: &'p str) -> &'p str {
        let folder = self.folder.as_deref().unwrap_or_default();
        let inside = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        inside.filter(|_| !folder.is_empty()).unwrap_or(path).trim_start_matches("./")
    }

    /// Notes every name in a text, once each.
    fn mention(&mut self, text: &str, weight: f32, of: Option<FileId>) {
        self.clock += 1;
        let clock = self.clock;
        let folder = self.folder.clone().unwrap_or_default();
        let ranked = &mut self.ranked;
        for line in text.lines() {
            let mut files = Vec::new();
            let mut symbols = Vec::new();
            names::scan(line, |kind, name| match kind {
                NameKind::File => {
                    let inside = name.strip_prefix(folder.as_str()).filter(|_| !folder.is_empty());
                    let path = inside.and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
                    let path = path.trim_start_matches("./");
                    let path = path.strip_prefix("a/").or(path.strip_prefix("b/")).unwrap_or(path);
                    files.push(ranked.add_file(path, weight * 1.5, clock));
                }
                NameKind::Symbol => symbols.push(ranked.add(kind, name, weight, clock)),
                NameKind::Reference => {
                    ranked.add(kind, name, weight, clock);
                }
            });
            let near = of.into_iter().chain(files.iter().copied().filter(|_| files.len() <= 3 && line.len() < 600));
            for file in near {
                for symbol in &symbols {
                    ranked.tie(*symbol, file, weight.max(0.1), clock);
                }
            }
        }
    }

    pub(crate) fn clock(&self) -> u32 {
        self.clock
    }
}
