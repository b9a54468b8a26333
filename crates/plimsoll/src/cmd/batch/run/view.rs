//! What is printed of a plan that is carried out, or would be.

use std::io::Write;

use anyhow::Context;
use plimsoll_core::plan::{self, Piece, Plan};
use plimsoll_core::run::{Outcome, Run, RunId};
use plimsoll_core::settings::SessionPer;
use plimsoll_core::text::thousands;
use plimsoll_core::{Millis, Tokens, shell};
use plimsoll_engine::world::now;
use plimsoll_runner::batch;
use plimsoll_runner::runner::{AgentCommand, MAX_ARGUMENT_BYTES};
use serde::Serialize;

use crate::past::counted;
use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// What came of a run, for scripts.
#[derive(Default, Serialize)]
pub(super) struct View {
    run: Option<RunId>,
    outcome: Option<&'static str>,
    why: Option<String>,
    batches: usize,
    tasks: usize,
    done: Vec<String>,
    left: Vec<String>,
    failed: Vec<String>,
    replanned: Vec<String>,
    sessions: u32,
    /// Nothing where nobody could measure it.
    tokens: Option<Tokens>,
    seconds: u64,
    checkpoint: Option<String>,
}

impl View {
    pub(super) fn of(run: &Run) -> Self {
        let ids = |pieces: Vec<&Piece>| pieces.into_iter().map(|piece| piece.id.clone()).collect();
        let spent = run.spent(now() as Millis);
        Self {
            run: Some(run.id.clone()),
            outcome: run.outcome.as_ref().map(|outcome| outcome.label()),
            why: run.outcome.as_ref().map(ToString::to_string),
            batches: run.plan.as_ref().map_or(0, |plan| plan.batches.len()),
            tasks: counts(run).1,
            done: ids(run.done_pieces()),
            left: ids(run.open_pieces()),
            failed: run.failed_jobs().flat_map(|job| job.begun.pieces.clone()).collect(),
            replanned: run.replanned.clone(),
            sessions: spent.sessions,
            tokens: run.held(),
            seconds: spent.seconds,
            checkpoint: run.last_checkpoint().map(str::to_owned),
        }
    }

    /// Where there is nothing to do, and why.
    pub(super) fn nothing(why: String) -> Self {
        Self { outcome: Some("done"), why: Some(why), ..Self::default() }
    }

    /// Prints it, or without JSON why there is nothing more to it.
    pub(super) fn print(&self, ui: &Ui, json: bool) -> anyhow::Result<()> {
        match json {
            true => ui.print_json(self),
            false => ui.print(&format!("{}\n", self.why.as_deref().unwrap_or_default())),
        }
    }
}

/// How far a run is that has ended before its work: what is done, what has failed, how much is left.
pub(super) fn told(run: &Run) -> String {
    const NAMED: usize = 3;
    let (failed, left) = (run.failed_pieces(), run.waiting().len() as u64);
    let mut text = are_done(run);
    if !failed.is_empty() {
        let names: Vec<String> = failed.iter().take(NAMED).map(|id| strip_control(id)).collect();
        text += &format!("; failed: {}", names.join(", "));
    }
    if failed.len() > NAMED {
        text += &format!(" and {} more", failed.len() - NAMED);
    }
    if left > 0 {
        text += &format!("; not begun: {}", counted(left, "task", "tasks"));
    }
    text
}

/// Why it has ended. Where a failure ends it although there is more to do, that is by a limit.
pub(super) fn why(run: &Run, outcome: &Outcome) -> String {
    let most = run.begun.limits.failures.unwrap_or_default();
    let could_go_on = run.waiting().iter().any(|waiting| waiting.failed.is_none());
    match outcome {
        Outcome::Failed { .. } if could_go_on => {
            format!("{outcome}, and the run ends there by its limit of `--max-failures {most}`")
        }
        _ => outcome.to_string(),
    }
}

/// How many tasks of how many are done, in words.
pub(super) fn are_done(run: &Run) -> String {
    let (done, all) = counts(run);
    let are = if all == 1 { "is" } else { "are" };
    format!("{done} of {} {are} done", counted(all as u64, "task", "tasks"))
}

/// How many tasks are done, and how many there are.
pub(super) fn counts(run: &Run) -> (usize, usize) {
    let all = run.plan.as_ref().map_or(0, |plan| plan.pieces().count());
    (all - run.open_pieces().len(), all)
}

/// What would be asked of which session.
#[derive(Serialize)]
pub(super) struct DryRun {
    command: Vec<String>,
    sessions: Vec<Session>,
}

#[derive(Serialize)]
struct Session {
    batch: usize,
    tasks: Vec<String>,
    tokens: Tokens,
    prompt: String,
}

impl DryRun {
    pub(super) fn new(plan: &Plan, agent: &AgentCommand, per: SessionPer) -> Self {
        let mut done: Vec<&Piece> = plan.done.iter().collect();
        let mut sessions = Vec::new();
        for (at, pieces) in plan.batches.iter().enumerate() {
            let all: Vec<&Piece> = pieces.iter().collect();
            let size = if per == SessionPer::Task { 1 } else { all.len().max(1) };
            for pieces in all.chunks(size) {
                sessions.push(Session {
                    batch: at + 1,
                    tasks: pieces.iter().map(|piece| piece.id.clone()).collect(),
                    tokens: plan::load(pieces.iter().copied()),
                    prompt: batch::prompt(pieces, &done),
                });
                done.extend(pieces);
            }
        }
        Self { command: agent.command().to_vec(), sessions }
    }

    /// Complains of a prompt that cannot be given to the agent.
    pub(super) fn check(&self, agent: &AgentCommand) -> anyhow::Result<()> {
        let Some(session) = self.sessions.iter().find(|it| !agent.accepts_prompt(&it.prompt))
        else {
            return Ok(());
        };
        let (length, most) = (thousands(session.prompt.len() as u64), MAX_ARGUMENT_BYTES as u64);
        Err(anyhow::anyhow!(
            "what it asks is {length} bytes long, and no word of a command may be longer than {}",
            thousands(most)
        ))
        .with_context(|| {
            format!("could not give `{}` the tasks of batch {}", agent.name(), session.batch)
        })
        .hint("leave `{prompt}` out of its command: the agent gets the prompt on its stdin then")
    }

    pub(super) fn print(&self, ui: &Ui, json: bool) -> anyhow::Result<()> {
        if json {
            return ui.print_json(self);
        }
        let mut out = ui.out();
        let words: Vec<String> =
            self.command.iter().map(|word| shell::quote(&strip_control(word))).collect();
        writeln!(out, "{}  {}", ui.bold("command"), words.join(" "))?;
        let mut last = 0;
        for (number, session) in self.sessions.iter().enumerate() {
            if session.batch != last && last != 0 {
                writeln!(out, "\n{}", ui.dim("a checkpoint is sealed and verified"))?;
            }
            last = session.batch;
            let tokens = thousands(session.tokens);
            let head = format!("session {}, batch {}", number + 1, session.batch);
            writeln!(out, "\n{}  about {tokens} tokens", ui.bold(&head))?;
            for line in session.prompt.lines() {
                writeln!(out, "{}", format!("  {}", strip_control(line)).trim_end())?;
            }
        }
        out.flush()?;
        Ok(())
    }
}
