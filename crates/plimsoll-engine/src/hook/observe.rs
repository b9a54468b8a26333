//! What a decision depends on: the session's state, the reading, settings and mail.

use std::cell::OnceCell;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

use anyhow::Context;
use plimsoll_core::Tokens;
use plimsoll_core::event::EventKind;
use plimsoll_core::policy::{self, Call, LastSession, Outlook, Situation, WindowSituation};
use plimsoll_core::reading::{Reading, Scope};
use plimsoll_core::session::{SessionState, label};
use plimsoll_core::settings::RestoreMode;

use super::Hook;
use super::mail::Mail;
use crate::install::has_command;
use crate::jsonl::JsonLines;
use crate::load::{self, Load};
use crate::paths;
use crate::resume::Resumable;
use crate::settings::{self, InForce};
use crate::spool::{self, Locked, SpoolLine};
use crate::world::now;

/// The user's command that saves the session.
pub(super) const SAVE: &str = "ss";

/// What a call has found out, with the spool locked until its answer is there.
pub(super) struct Observed {
    /// The project as the session names it.
    pub(super) project: PathBuf,
    /// The process ends with the call: nobody need take these apart.
    pub(super) in_force: ManuallyDrop<InForce>,
    pub(super) state: ManuallyDrop<SessionState>,
    /// `None` if the spool cannot be locked: then only a refusal is safe.
    pub(super) locked: Option<Locked>,
    pub(super) window: Option<ObservedWindow>,
    pub(super) mail: Mail,
    /// The checkpoint of the project's last session, and how that session ended.
    pub(super) last_session: Option<(Resumable, LastSession)>,
    last_label: Option<String>,
    compaction: Option<Option<u64>>,
    now: u64,
}

/// A window whose load was looked at.
pub(super) struct ObservedWindow {
    pub(super) transcript: JsonLines,
    pub(super) load: Load,
    pub(super) reading: Option<Reading>,
    can_save: bool,
    session_start: Option<u64>,
    growth: OnceCell<Tokens>,
}

/// Observes what a decision about an event depends on; `None` if nothing can be due.
pub(super) fn observe(hook: &Hook<'_>) -> anyhow::Result<Option<Observed>> {
    match &hook.event.kind {
        EventKind::Prompted
        | EventKind::ToolFinished
        | EventKind::ToolFailed
        | EventKind::Stopped
        | EventKind::Loading(_) => observe_window(hook),
        EventKind::Compacting { .. }
        | EventKind::Started
        | EventKind::Resumed
        | EventKind::Compacted
        | EventKind::Summarised(_)
        | EventKind::Cleared
        | EventKind::Ended
        | EventKind::Other => observe_lifecycle(hook),
    }
}

/// Observes an event that depends on how full the window is.
fn observe_window(hook: &Hook<'_>) -> anyhow::Result<Option<Observed>> {
    let Hook { world, agent, event, .. } = *hook;
    let opened = hook.open_transcript().context("could not open the transcript")?;
    let transcript = match (opened, &event.usage) {
        (Some(transcript), _) => transcript,
        (None, Some(_)) => JsonLines::empty()?,
        (None, None) => return observe_unseen(hook),
    };
    let project = load::project(world, agent, Some(&transcript), &event.cwd);
    let in_force = ManuallyDrop::new(settings::load(world, agent, &project));
    // What cannot be read cannot be locked either, so nothing is said; a refusal needs no memory.
    let state = ManuallyDrop::new(spool::state(&hook.spool()).unwrap_or_default());
    let scope = if hook.is_main() { Scope::Main } else { Scope::Subagent };
    let reported = event.usage.as_ref();
    let load = Load::look_with(agent, &transcript, scope, &in_force, &state, reported)
        .context("could not read the transcript")?;
    let mut call = hook.call(now());
    if state.since.is_none() && call.may_seal() {
        call.session_start = load.started(&transcript);
    }
    let has_mail = hook.has_mail();
    let is_compacted = hook.was_compacted(&load, &in_force, &state);
    if !has_mail && !is_compacted && nothing_due(&load, &in_force, &call, &state) {
        return Ok(None);
    }
    let (session_start, now) = (call.session_start, call.now);
    let growth = OnceCell::new();
    let (can_save, reading) = (false, None);
    let window = ObservedWindow { transcript, load, reading, can_save, session_start, growth };
    let observed = Observed { now, ..Observed::new(project, in_force, state) };
    observe_closely(hook, Observed { window: Some(window), ..observed }, has_mail).map(Some)
}

fn nothing_due(load: &Load, in_force: &InForce, call: &Call<'_>, state: &SessionState) -> bool {
    let tail = &load.tail;
    let Some(newest) = tail.newest.as_ref().filter(|_| tail.is_counted()) else { return false };
    policy::nothing_due(&load.outlook(in_force), call, state, newest.tokens, tail.bytes_since)
}

/// Something may be due: now it is worth reading closely, with the spool locked. Kept apart: most calls are
/// over before.
#[inline(never)]
fn observe_closely(
    hook: &Hook<'_>,
    mut observed: Observed,
    has_mail: bool,
) -> anyhow::Result<Observed> {
    if let Some(window) = &mut observed.window {
        let reading = window.load.reading(&window.transcript);
        window.reading = reading.context("could not read the transcript")?;
        window.can_save = has_command(hook.world, hook.agent, &observed.project, SAVE);
    }
    let spool = hook.spool();
    let locked = Locked::open(&spool).context("could not lock the spool");
    observed.locked = locked.unwrap_or_else(|error| {
        hook.log(&error);
        None
    });
    if observed.locked.is_some() {
        // Another call may have spoken since.
        let state = spool::state(&spool).context("could not read the spool")?;
        observed.state = ManuallyDrop::new(state);
    }
    if let Some(ObservedWindow { load, .. }) = &observed.window
        && hook.was_compacted(load, &observed.in_force, &observed.state)
    {
        observed.compaction = Some(load.tail.compaction());
    }
    // The restore after a compaction comes first; mail waits for the next call.
    if has_mail && observed.locked.is_some() && observed.compaction.is_none() {
        observed.mail = hook.take_mail(&observed.in_force, &observed.state);
    }
    Ok(observed)
}

/// Observes an event of a session without a transcript: not yet before the first response, and never if the
/// client keeps none.
fn observe_unseen(hook: &Hook<'_>) -> anyhow::Result<Option<Observed>> {
    if hook.event.kind != EventKind::ToolFinished || !hook.is_main() {
        return Ok(None);
    }
    let last = spool::last(&hook.spool()).context("could not read the spool")?;
    let is_marked = |last: &SpoolLine| !matches!(&*last.what, label::STARTED | label::WINDOW);
    if last.as_ref().is_some_and(is_marked) {
        return Ok(None);
    }
    observe_lifecycle(hook)
}

/// Observes an event at which a session or its window begins or ends. Kept apart: there are hundreds of
/// other calls for each of these, and they would pay for its pages.
#[inline(never)]
fn observe_lifecycle(hook: &Hook<'_>) -> anyhow::Result<Option<Observed>> {
    let kind = &hook.event.kind;
    let concerns_subagents =
        matches!(kind, EventKind::Compacting { .. } | EventKind::Compacted | EventKind::Cleared);
    if *kind == EventKind::Other || !hook.is_main() && !concerns_subagents {
        return Ok(None);
    }
    let project = hook.project();
    let in_force = ManuallyDrop::new(settings::load(hook.world, hook.agent, &project));
    let (locked, last) = hook.lock_spool()?;
    let (last_label, state) = last.map(|last| (last.what, last.state)).unzip();
    let state = ManuallyDrop::new(state.unwrap_or_default());
    let mut observed = Observed { locked, last_label, ..Observed::new(project, in_force, state) };
    if *kind == EventKind::Started && observed.may_continue(hook) {
        observed.last_session = hook.last_session(&observed.project);
    }
    Ok(Some(observed))
}

impl Observed {
    fn new(
        project: PathBuf,
        in_force: ManuallyDrop<InForce>,
        state: ManuallyDrop<SessionState>,
    ) -> Self {
        Self {
            project,
            in_force,
            state,
            locked: None,
            window: None,
            mail: Mail::default(),
            last_session: None,
            last_label: None,
            compaction: None,
            now: now(),
        }
    }

    /// Returns whether a session that starts may be given the work of the last one: only then is that one
    /// looked for.
    fn may_continue(&self, hook: &Hook<'_>) -> bool {
        let settings = &self.in_force.settings;
        settings.restore == RestoreMode::Auto
            && !settings.is_silent()
            && self.state.given.is_none()
            && !hook.is_headless()
            && !hook.is_run()
    }

    /// Returns whether the decision depends on how full the window is.
    pub(super) fn is_measured(&self) -> bool {
        self.window.is_some() && self.compaction.is_none()
    }

    /// Returns where an unreported compaction stands in the transcript.
    pub(super) fn compaction(&self) -> Option<u64> {
        self.compaction.flatten()
    }

    /// Returns when the call was made, in milliseconds since the epoch.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// Returns the project by its true name.
    pub(super) fn canonical_project(&self) -> PathBuf {
        paths::canonical(&self.project)
    }

    /// Returns the session's median growth per call.
    pub(super) fn growth(&self) -> Tokens {
        let growth = |window: &ObservedWindow| {
            *window.growth.get_or_init(|| window.load.growth(&window.transcript))
        };
        self.window.as_ref().map_or(0, growth)
    }

    /// Returns what the decision depends on.
    pub(super) fn situation<'a>(
        &'a self,
        hook: &'a Hook<'_>,
        growth: &'a dyn Fn() -> Tokens,
    ) -> Situation<'a> {
        let event = hook.event;
        Situation {
            event: &event.kind,
            subagent: event.subagent.as_ref().map(|subagent| subagent.kind.as_str()),
            accepts: hook.agent.hooks().accepts(&event.kind),
            settings: &self.in_force.settings,
            state: &self.state,
            last_label: self.last_label.as_deref(),
            window: self.window.as_ref().map(|window| self.window_situation(hook, window, growth)),
            mail: self.mail.summary(),
            compaction: self.compaction,
            is_run: hook.is_run(),
            is_headless: hook.is_headless(),
            last_session: self.last_session.as_ref().map(|(_, session)| *session),
            now: self.now,
        }
    }

    fn window_situation<'a>(
        &'a self,
        hook: &'a Hook<'_>,
        window: &'a ObservedWindow,
        growth: &'a dyn Fn() -> Tokens,
    ) -> WindowSituation<'a> {
        let outlook = Outlook { can_save: window.can_save, ..window.load.outlook(&self.in_force) };
        let call = Call { session_start: window.session_start, ..hook.call(self.now) };
        WindowSituation { outlook, call, reading: window.reading.as_ref(), growth }
    }

    /// Returns the line that records a decision.
    pub(super) fn line(&self, what: &str, state: SessionState) -> SpoolLine {
        let window = self.window.as_ref().filter(|_| self.compaction.is_none());
        let reading = window.and_then(|window| window.reading.as_ref());
        SpoolLine {
            used: reading.map_or(0, |reading| reading.used),
            window: window.map_or(0, |window| window.load.window.tokens),
            ..SpoolLine::unmeasured(what, state)
        }
    }
}

impl Hook<'_> {
    fn call(&self, now: u64) -> Call<'_> {
        let subagent = self.event.subagent.as_ref().map(|subagent| subagent.kind.as_str());
        let at_breakpoint = self.event.breakpoint.is_some();
        Call { kind: &self.event.kind, subagent, at_breakpoint, session_start: None, now }
    }

    /// Returns whether the conversation was compacted since the last call, for agents that do not say so.
    fn was_compacted(&self, load: &Load, in_force: &InForce, state: &SessionState) -> bool {
        if self.agent.profile().reports_compactions || !self.is_main() {
            return false;
        }
        let counted = load.tail.newest.as_ref().filter(|_| load.tail.is_counted());
        let counted = counted.map(|newest| newest.tokens);
        policy::was_compacted(&load.outlook(in_force), load.tail.compaction(), counted, state)
    }

    /// Returns the session's project by its true name.
    pub(super) fn project(&self) -> PathBuf {
        // A transcript that cannot be read names no folder.
        let transcript = self.open_transcript().ok().flatten();
        let cwd = &self.event.cwd;
        paths::canonical(&load::project(self.world, self.agent, transcript.as_ref(), cwd))
    }

    /// Locks the spool, and reads its last line. A checkpoint or a restore around a compaction, and a
    /// checkpoint at the end, must not depend on what is remembered.
    fn lock_spool(&self) -> anyhow::Result<(Option<Locked>, Option<SpoolLine>)> {
        use EventKind::{Compacted, Compacting, Ended};
        let path = self.spool();
        let locked = Locked::open(&path).context("could not lock the spool");
        let last = spool::last(&path).context("could not read the spool");
        match self.event.kind {
            Compacting { .. } | Compacted | Ended => {
                Ok((locked.ok().flatten(), last.ok().flatten()))
            }
            _ => Ok((locked?, last?)),
        }
    }
}
