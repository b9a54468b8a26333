//! A session as the terminal dashboard knows it.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use plimsoll_core::event::SessionId;
use plimsoll_core::forecast::Forecast;
use plimsoll_core::policy::Levels;
use plimsoll_core::reading::{Band, ReadingSource};
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::load::Measured;
use plimsoll_engine::sessions;
use plimsoll_engine::watch::Change;
use plimsoll_extract::board::Claim;
use plimsoll_store::{LastCheckpoint, Point, PointRow};

use crate::listing::Shown;
use crate::ui::{plain, short_path};
use crate::view::percent;

/// One session, with all there is to show of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The folder it was started in.
    pub(crate) folder: PathBuf,
    /// The same as people write it.
    pub(crate) project: String,
    pub(crate) model: String,
    pub(crate) phase: Phase,
    pub(crate) load: Load,
    pub(crate) forecast: Forecast,
    /// When its transcript was last written to.
    pub(crate) last_word: Millis,
    pub(crate) checkpoint: Option<LastCheckpoint>,
    pub(crate) compactions: Vec<Millis>,
    /// Its own window over time, oldest first.
    pub(crate) curve: Vec<(Millis, Tokens)>,
    pub(crate) subagents: Vec<Subagent>,
    /// What it works on, or others work on in its project.
    pub(crate) claims: Vec<Claim>,
}

/// A subagent that runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subagent {
    pub(crate) id: SessionId,
    pub(crate) model: String,
    pub(crate) load: Load,
}

/// How full a window is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Load {
    pub(crate) used: Tokens,
    pub(crate) window: Tokens,
    /// Where the client compacts, if it does.
    pub(crate) trigger: Option<Tokens>,
    /// Where we warn.
    pub(crate) warn: Tokens,
    pub(crate) band: Band,
    pub(crate) is_estimated: bool,
}

/// What a session is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// It works.
    Running,
    /// It runs, and has written nothing for a while.
    Idle,
    /// Its process is gone, and nobody has said that it is over.
    Died,
    /// It is over, or nobody knows that it runs.
    Over,
}

impl Session {
    /// What is to be shown of a session, whose windows over time are `points`.
    pub(crate) fn new(shown: &Shown, points: &[PointRow], phase: Phase, home: &Path) -> Self {
        let Shown { found, measured, pace, checkpoint, subagents, .. } = shown;
        let own = || points.iter().filter(|row| row.subagent.is_none());
        let reading = |row: &PointRow| match row.point {
            Point::Reading { used } => Some((row.time, used)),
            Point::Compaction { .. } => None,
        };
        let modified = found.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            id: found.owner.session.clone(),
            folder: measured.project.clone(),
            project: short_path(&measured.project, home),
            model: model(measured),
            phase,
            load: Load::of(measured),
            forecast: sessions::forecast(measured, pace.as_ref()),
            last_word: modified.as_millis() as Millis,
            checkpoint: checkpoint.clone(),
            compactions: own().filter(|row| reading(row).is_none()).map(|row| row.time).collect(),
            curve: own().filter_map(reading).collect(),
            subagents: subagents
                .iter()
                .filter_map(|(found, measured)| {
                    let id = found.owner.subagent.clone()?;
                    Some(Subagent { id, model: model(measured), load: Load::of(measured) })
                })
                .collect(),
            // Others claim paths of its project, too: who reads the board fills them in.
            claims: Vec::new(),
        }
    }

    /// Whether a claim is its own, or lies in its project.
    pub(crate) fn concerns(&self, claim: &Claim) -> bool {
        claim.holder == self.id.as_str() || claim.path.starts_with(&self.folder)
    }

    /// Whether what the user typed is in its name, its project or its model.
    pub(crate) fn fits(&self, filter: &str) -> bool {
        let texts = [self.id.as_str(), &self.project, &self.model];
        let filter = filter.to_lowercase();
        texts.iter().any(|text| text.to_lowercase().contains(&filter))
    }
}

impl Load {
    fn of(Measured { reading, window, trigger, levels, lines, .. }: &Measured) -> Self {
        let Levels { warn, .. } = *levels;
        Self {
            used: reading.used,
            window: window.tokens,
            trigger: trigger.within(window.tokens),
            warn,
            band: Band::between(reading.used, window.tokens, lines),
            is_estimated: reading.source == ReadingSource::Estimated,
        }
    }

    /// The share in percent.
    pub(crate) fn percent(&self) -> f64 {
        percent(self.used, self.window)
    }

    /// Whether we warn of it.
    pub(crate) fn is_heavy(&self) -> bool {
        self.used >= self.warn
    }
}

impl Phase {
    /// What a change makes of a session; nothing if it says nothing of that.
    pub(crate) fn after(change: &Change) -> Option<Self> {
        match change {
            Change::Started | Change::Read(_) => Some(Self::Running),
            Change::Compacted(_) | Change::Asked(_) => None,
            Change::Idle => Some(Self::Idle),
            Change::Ended => Some(Self::Over),
            Change::Died => Some(Self::Died),
        }
    }

    /// A word for it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Died => "died",
            Self::Over => "over",
        }
    }
}

fn model(measured: &Measured) -> String {
    plain(measured.model.as_deref().unwrap_or("no model yet"))
}
