//! Follows one transcript: reads the appended records, and arrives at the same reading as a look
//! from the end.
//!
//! Only records that may move the anchor (a response, a compaction, a rewind) require another look
//! from the end, which is as short as a hook's. So the memory per window is small, whatever the
//! size of the transcript.

use std::io;
use std::rc::Rc;

use plimsoll_agents::Agent;
use plimsoll_core::Millis;
use plimsoll_core::entry::{Boundary, Entry, Kind};
use plimsoll_core::reading::{Fold, Reading};
use plimsoll_core::session::SessionState;
use plimsoll_core::window::Window;

use super::notice::Standing;
use crate::activity::Activity;
use crate::jsonl::JsonLines;
use crate::load::{Ground, Load};
use crate::settings::InForce;
use crate::tail::Start;

/// A window whose transcript is followed.
pub(super) struct Follow {
    ground: Ground,
    /// Records folded since the anchor; `None` if there was never a token count.
    fold: Option<Fold>,
    /// The last token count is too far back to be searched again.
    is_far: bool,
    activity: Activity,
    /// What the hooks recorded about the last checkpoint.
    kept: Kept,
    pub(super) standing: Standing,
}

/// Facts about a window from earlier looks.
#[derive(Default)]
pub(super) struct Before {
    ground: Option<Ground>,
    activity: Activity,
}

/// Result of reading appended records.
#[derive(Default)]
pub(super) struct Appended {
    pub(super) compactions: Vec<Boundary>,
    /// Whether the window has to be looked at again from the end.
    pub(super) is_lost: bool,
}

/// Settings and hook state of a window.
pub(super) struct Known {
    pub(super) in_force: Rc<InForce>,
    pub(super) state: SessionState,
}

/// What the hooks recorded about a session's last checkpoint.
struct Kept {
    /// Time of sealing, in milliseconds since the epoch.
    sealed: Option<u64>,
    /// A hook handled the crossing of the checkpoint threshold, with no compaction since.
    is_seen_to: bool,
}

impl Kept {
    fn of(state: &SessionState) -> Self {
        let sealed = state.sealed.as_ref().map(|seal| seal.at);
        Self { sealed, is_seen_to: state.crossed.is_some() }
    }

    /// Reports whether the checkpoint was sealed after the threshold was crossed.
    fn is_since(&self, crossed: Option<Millis>) -> bool {
        let is_later = |sealed: u64| crossed.is_some_and(|crossed| sealed as Millis >= crossed);
        self.sealed.is_some_and(|sealed| self.is_seen_to || is_later(sealed))
    }
}

impl Follow {
    /// Reads a window from the end of its transcript. `known` returns settings and hook state.
    pub(super) fn look(
        agent: &'static dyn Agent,
        transcript: &JsonLines,
        before: Before,
        known: impl FnOnce(&Ground) -> Known,
    ) -> io::Result<Self> {
        let Before { ground, mut activity } = before;
        let ground = ground.map_or_else(|| Ground::of(agent, transcript), Ok)?;
        let Known { in_force, state } = known(&ground);
        let load = Load::look(agent, transcript, ground.scope, &in_force, &state)?;
        let fold = load.fold(transcript)?;
        let checkpoint = load.checkpoint(transcript, &in_force);
        activity.read_on(agent, transcript, ground.scope, checkpoint)?;
        let kept = Kept::of(&state);
        let standing = Standing {
            reading: read(fold.as_ref(), &activity, load.window),
            window: load.window,
            trigger: load.trigger,
            checkpoint,
            counts: activity.counts,
            sealed: kept.sealed,
            is_kept: kept.is_since(activity.crossed),
            advises: in_force.settings.enabled,
            model: load.model(),
            project: ground.project.clone(),
            started: ground.started,
        };
        let is_far = load.tail.start == Start::OutOfSight;
        Ok(Self { ground, fold, is_far, activity, kept, standing })
    }

    /// Keeps the facts that outlast a new look. The beginning of the transcript may be incomplete
    /// until there is a token count.
    pub(super) fn into_before(self) -> Before {
        let Self { ground, fold, activity, .. } = self;
        Before { ground: fold.is_some().then_some(ground), activity }
    }

    /// Reads the records appended since `offset`.
    pub(super) fn read_on(
        &mut self,
        agent: &'static dyn Agent,
        transcript: &JsonLines,
        offset: u64,
    ) -> io::Result<Appended> {
        let mut appended = Appended { is_lost: self.fold.is_none(), ..Appended::default() };
        let mut lines = transcript.forward(offset);
        while let Some(line) = lines.next()? {
            let Some(entry) = agent.transcript().entry(line.bytes, self.ground.scope) else {
                continue;
            };
            if let Kind::Boundary(boundary) = entry.kind {
                appended.compactions.push(boundary);
            }
            appended.is_lost |= self.is_lost_by(&entry);
            if let Some(fold) = self.fold.as_mut().filter(|_| !appended.is_lost) {
                fold.push(&entry, &agent.transcript().weigh(line.bytes));
            }
        }
        self.activity.read_on(agent, transcript, self.ground.scope, self.standing.checkpoint)?;
        self.standing.reading = read(self.fold.as_ref(), &self.activity, self.standing.window);
        self.standing.counts = self.activity.counts;
        self.standing.is_kept = self.kept.is_since(self.activity.crossed);
        Ok(appended)
    }

    /// Reports whether an entry may move the anchor.
    fn is_lost_by(&self, entry: &Entry<'_>) -> bool {
        match &self.fold {
            Some(fold) if !self.is_far => !fold.goes_on_with(entry),
            _ => matches!(entry.kind, Kind::Response(_) | Kind::Boundary(_)),
        }
    }
}

/// Returns the reading of a followed window; estimated from its activity if there was never a token
/// count.
fn read(fold: Option<&Fold>, activity: &Activity, window: Window) -> Reading {
    let estimate = || activity.counts.reading(activity.bytes(), window.tokens);
    fold.and_then(Fold::reading).unwrap_or_else(estimate)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::Path;

    use plimsoll_agents::claude_code::ClaudeCode;
    use plimsoll_core::settings::{ClientSettings, Settings};
    use plimsoll_testbed::generator::{self, GeneratorOptions, Layout};

    use super::*;

    const FIXTURES: &str = "../plimsoll-agents/fixtures/claude-code/transcripts";

    fn known(_: &Ground) -> Known {
        let (settings, client) = (Settings::default(), ClientSettings::default());
        let (learned, complaints) = (Vec::new(), Vec::new());
        let in_force = InForce { settings, client, learned, complaints };
        Known { in_force: Rc::new(in_force), state: SessionState::default() }
    }

    /// Grows a file by some lines at a time, and compares the followed reading with a look from the
    /// end after each step. Returns the number of looks from the end and of steps.
    fn grow(bytes: &[u8], lines: usize) -> (usize, usize) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let (mut follow, mut read_to): (Option<Follow>, _) = (None, 0);
        let (mut looks, mut steps) = (0, 0);
        let all: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for step in all.chunks(lines) {
            file.write_all(&step.concat()).unwrap();
            let grown = JsonLines::open(file.path()).unwrap().unwrap().in_whole_lines().unwrap();
            let appended =
                follow.as_mut().map(|follow| follow.read_on(&ClaudeCode, &grown, read_to).unwrap());
            read_to = grown.len();
            let look = || Follow::look(&ClaudeCode, &grown, Before::default(), known).unwrap();
            if appended.is_none_or(|appended| appended.is_lost) {
                follow = Some(look());
                looks += 1;
            }
            steps += 1;
            let read = follow.as_ref().map(|follow| &follow.standing);
            assert_eq!(read, Some(&look().standing), "after {read_to} bytes");
        }
        (looks, steps)
    }

    fn fixtures(folder: &Path, found: &mut Vec<Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => fixtures(&path, found),
                false if path.extension().is_some_and(|extension| extension == "jsonl") => {
                    found.push(fs::read(path).unwrap());
                }
                false => {}
            }
        }
    }

    #[test]
    fn a_captured_transcript_that_is_followed_reads_as_from_its_end_at_every_line() {
        let mut found = Vec::new();
        fixtures(Path::new(FIXTURES), &mut found);
        assert!(found.len() > 20);
        for (bytes, lines) in found.iter().flat_map(|bytes| [(bytes, 1), (bytes, 3)]) {
            grow(bytes, lines);
        }
    }

    #[test]
    fn a_generated_one_does_too_and_mostly_without_another_look() {
        for layout in [Layout::Separate, Layout::Inline] {
            let mut bytes = Vec::new();
            let options =
                GeneratorOptions { size: 1_500_000, layout, ..GeneratorOptions::default() };
            generator::write(&mut bytes, &options).unwrap();
            let (looks, steps) = grow(&bytes, 1);
            assert!(looks * 2 < steps, "{looks} looks in {steps} steps");
        }
    }

    #[test]
    fn a_compaction_is_noticed_where_it_is_appended() {
        let path = Path::new(FIXTURES).join("compact-auto-headless.jsonl");
        let bytes = fs::read(path).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        file.write_all(&bytes[..first]).unwrap();
        let open = || JsonLines::open(file.path()).unwrap().unwrap();
        let mut follow = Follow::look(&ClaudeCode, &open(), Before::default(), known).unwrap();
        (&mut file.as_file()).write_all(&bytes[first..]).unwrap();
        let appended = follow.read_on(&ClaudeCode, &open(), first as u64).unwrap();
        assert!(matches!(&appended.compactions[..], [only] if only.automatic));
        assert!(appended.is_lost);
    }
}
