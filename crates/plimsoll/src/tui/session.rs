//! A session as shown in the terminal dashboard.

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
use plimsoll_extract::board::PathClaim;
use plimsoll_store::{CurvePoint, CurvePointRow, LastCheckpoint};

use crate::listing::Shown;
use crate::ui::{short_path, strip_control};
use crate::view::percent;

/// All displayed data of one session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DashboardSession {
    pub(crate) id: SessionId,
    /// Folder in which the session was started.
    pub(crate) folder: PathBuf,
    /// The folder in short form.
    pub(crate) project: String,
    pub(crate) model: String,
    pub(crate) phase: SessionPhase,
    pub(crate) load: WindowFill,
    pub(crate) forecast: Forecast,
    /// Time of the last write to the transcript.
    pub(crate) last_active: Millis,
    pub(crate) checkpoint: Option<LastCheckpoint>,
    pub(crate) compactions: Vec<Millis>,
    /// Usage of the main window over time, oldest first.
    pub(crate) curve: Vec<(Millis, Tokens)>,
    pub(crate) subagents: Vec<DashboardSubagent>,
    /// The session's own claims, and all claims in its project.
    pub(crate) claims: Vec<PathClaim>,
}

/// A running subagent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DashboardSubagent {
    pub(crate) id: SessionId,
    pub(crate) model: String,
    pub(crate) load: WindowFill,
}

/// Usage of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WindowFill {
    pub(crate) used: Tokens,
    pub(crate) window: Tokens,
    /// Tokens at which the client compacts; `None` if it does not.
    pub(crate) trigger: Option<Tokens>,
    /// Tokens at which plimsoll warns.
    pub(crate) warn: Tokens,
    pub(crate) band: Band,
    pub(crate) is_estimated: bool,
}

/// Activity of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SessionPhase {
    Running,
    /// Running, but silent for a while.
    Idle,
    /// The process is gone without having ended the session.
    Died,
    /// Ended, or not known to be running.
    Ended,
}

impl DashboardSession {
    /// Builds a session from its measurements; `points` are its windows over time.
    pub(crate) fn new(
        shown: &Shown,
        points: &[CurvePointRow],
        phase: SessionPhase,
        home: &Path,
    ) -> Self {
        let Shown { found, measured, pace, checkpoint, subagents, .. } = shown;
        let own = || points.iter().filter(|row| row.subagent.is_none());
        let reading = |row: &CurvePointRow| match row.point {
            CurvePoint::Reading { used } => Some((row.time, used)),
            CurvePoint::Compaction { .. } => None,
        };
        let modified = found.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            id: found.owner.session.clone(),
            folder: measured.project.clone(),
            project: short_path(&measured.project, home),
            model: model(measured),
            phase,
            load: WindowFill::of(measured),
            forecast: sessions::forecast(measured, pace.as_ref()),
            last_active: modified.as_millis() as Millis,
            checkpoint: checkpoint.clone(),
            compactions: own().filter(|row| reading(row).is_none()).map(|row| row.time).collect(),
            curve: own().filter_map(reading).collect(),
            subagents: subagents
                .iter()
                .filter_map(|(found, measured)| {
                    let id = found.owner.subagent.clone()?;
                    Some(DashboardSubagent {
                        id,
                        model: model(measured),
                        load: WindowFill::of(measured),
                    })
                })
                .collect(),
            // The caller adds claims from the board, because other sessions' claims count, too.
            claims: Vec::new(),
        }
    }

    /// Whether a claim is the session's own or in its project.
    pub(crate) fn concerns(&self, claim: &PathClaim) -> bool {
        claim.holder == self.id.as_str() || claim.path.starts_with(&self.folder)
    }

    /// Whether the session's id, project or model contains the filter.
    pub(crate) fn matches_filter(&self, filter: &str) -> bool {
        let texts = [self.id.as_str(), &self.project, &self.model];
        let filter = filter.to_lowercase();
        texts.iter().any(|text| text.to_lowercase().contains(&filter))
    }
}

impl WindowFill {
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

    /// Returns the usage in percent.
    pub(crate) fn percent(&self) -> f64 {
        percent(self.used, self.window)
    }

    /// Whether usage has reached the warning threshold.
    pub(crate) fn is_above_warning(&self) -> bool {
        self.used >= self.warn
    }
}

impl SessionPhase {
    /// Returns the phase after a change; `None` if the change does not affect it.
    pub(crate) fn after(change: &Change) -> Option<Self> {
        match change {
            Change::Started | Change::Read(_) => Some(Self::Running),
            Change::Compacted(_) | Change::Asked(_) => None,
            Change::Idle => Some(Self::Idle),
            Change::Ended => Some(Self::Ended),
            Change::Died => Some(Self::Died),
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Died => "died",
            Self::Ended => "over",
        }
    }
}

fn model(measured: &Measured) -> String {
    strip_control(measured.model.as_deref().unwrap_or("no model yet"))
}
