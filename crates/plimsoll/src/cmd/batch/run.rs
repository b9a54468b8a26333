//! `plimsoll batch run`

mod shown;
mod view;

use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use plimsoll_core::plan::Plan;
use plimsoll_core::run::{Begun, Limits, Outcome, Pace, Run, Sort};
use plimsoll_core::settings::{BatchSettings, SessionPer};
use plimsoll_core::{Tokens, shell};
use plimsoll_engine::settings;
use plimsoll_engine::world::World;
use plimsoll_runner::batch::Task;
use plimsoll_runner::runner::{
    self, AgentCommand, AgentCommandError, PlanOptions, RunContext, Runner, StderrTarget,
};

use self::shown::Shown;
use self::view::{DryRun, View};
use super::plan;
use crate::cmd::run::{
    at_least_one, check_hooks, find, line, listen, made_executable, seconds, take_up,
};
use crate::report::{self, HintExt};
use crate::ui::Ui;

/// Carry a plan out, session after session
///
/// The tasks are planned as `plimsoll batch plan` shows it. Each batch gets a fresh session of the
/// agent, or each task with `--session task`; a verified checkpoint stands between batches, and the next
/// session is given what it tells. What fails is tried again after a pause. A batch that takes far more
/// than was estimated makes the rest be planned again. When a limit is reached, or the run is
/// interrupted or killed, `--resume` goes on at the very batch; nothing that is done is done again.
///
/// The agent is `batch.command` of the config, else `claude -p`. In any other command `{prompt}` stands
/// for what is asked, as one word; without it the agent reads that on its stdin. It must do the work
/// without asking anybody, and end with exit code 0 when it is done.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll batch run TODO.md --dry-run
  plimsoll batch run TODO.md --agent-command 'claude -p --permission-mode acceptEdits'
  plimsoll batch run tasks.yaml --at-once 3 --max-time 4h
  plimsoll batch run tasks.yaml --agent-command 'my-agent --task {prompt}'
  plimsoll batch run --resume --max-sessions 40")]
pub(crate) struct Args {
    /// The task file
    #[arg(required_unless_present = "resume")]
    file: Option<PathBuf>,
    /// How many tokens a batch may hold, whatever is known
    #[arg(long, value_name = "N", value_parser = super::available, allow_negative_numbers = true)]
    available: Option<Tokens>,
    /// What a fresh session is begun for
    #[arg(long, value_name = "WHAT")]
    session: Option<Per>,
    /// How many sessions run at once; each task has its own then
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>)]
    at_once: Option<NonZeroU32>,
    /// The agent's command; `{prompt}` stands for what is asked
    #[arg(long, value_name = "COMMAND", value_parser = words)]
    agent_command: Option<Words>,
    /// How often a session that fails is tried again
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// End when so many batches, or tasks, have failed for good
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>)]
    max_failures: Option<NonZeroU32>,
    /// End after so many sessions
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>)]
    max_sessions: Option<NonZeroU32>,
    /// End when the windows of all sessions, added up, have held so many tokens
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU64>)]
    max_tokens: Option<NonZeroU64>,
    /// End after this time, such as `90m` or `4h`
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    max_time: Option<u64>,
    /// Show what would be asked of which session, and start none
    #[arg(long, conflicts_with = "resume")]
    dry_run: bool,
    /// Go on with a run: the newest of this folder that is not done, or the one named
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "",
        conflicts_with_all = ["file", "available", "agent_command"])]
    resume: Option<String>,
    /// Print as JSON what came of it, or with `--dry-run` what would be asked
    #[arg(long)]
    json: bool,
}

/// What a fresh session is begun for.
#[derive(Clone, Copy, ValueEnum)]
enum Per {
    /// Every batch
    Batch,
    /// Every task, or every part of one that was split
    Task,
}

/// The words of a command.
#[derive(Clone)]
struct Words(Vec<String>);

/// A command as it is typed.
fn words(line: &str) -> Result<Words, String> {
    let Some(words) = shell::typed_words(line) else {
        return Err(
            "a quote in it is not closed: write it like `'my-agent --task {prompt}'`".into()
        );
    };
    match words.first().is_none_or(String::is_empty) {
        true => {
            Err("it names no program: give a command such as `claude -p`, or leave it out".into())
        }
        false => Ok(Words(words)),
    }
}

pub(super) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    check_at_once(args)?;
    let project = crate::cmd::project(world)?;
    let settings = settings::of_project(world, &project).batch;
    let work = match &args.file {
        Some(file) => {
            let tasks = plan::read(&project, file)?;
            if let Some(told) = plan::nothing_left(&tasks) {
                return View::nothing(told).print(ui, args.json);
            }
            Some(Work::new(world, ui, args, &settings, &project, &tasks)?)
        }
        None => None,
    };
    if let Some(work) = work.as_ref().filter(|_| args.dry_run) {
        return work.asked(pace(args, None, &settings).session).print(ui, args.json);
    }
    let halt = runner::StopFlag::default();
    let shown = Shown::new(ui, &world.paths.home);
    let progress = |progress: runner::RunProgress<'_>| shown.take(progress);
    let stage =
        RunContext { env: world, halt: &halt, progress: &progress, stderr: StderrTarget::File };
    let conductor = match work {
        None => resume(stage, ui, args, &settings)?,
        Some(work) => begin(stage, ui, work, args, &settings, &project)?,
    };
    listen(&halt)?;
    let run = conductor.run();
    let pace = pace(args, Some(&run), &settings);
    warn(ui, &conductor, pace, &settings);
    shown.begin(&run);
    let news = |news: runner::JobNews<'_>| shown.tell(news);
    let ended = conductor.carry_out_plan(&PlanOptions {
        pace,
        pause: runner::default_pause(world),
        news: &news,
    });
    shown.wipe();
    let run = conductor.run();
    let outcome = ended.hint(format!("run `{}` to go on", resume_command(&run)))?;
    if args.json {
        ui.print_json(&View::of(&run))?;
    }
    end(ui, &run, outcome)
}

fn limits(args: &Args) -> Limits {
    Limits {
        sessions: args.max_sessions.map(NonZeroU32::get),
        tokens: args.max_tokens.map(NonZeroU64::get),
        seconds: args.max_time,
        failures: args.max_failures.map(NonZeroU32::get),
    }
}

/// How the plan is carried out: as is said here, as in the run that is gone on with, or as the config
/// says.
fn pace(args: &Args, run: Option<&Run>, settings: &BatchSettings) -> Pace {
    let before = run.and_then(|run| run.begun.pace);
    let number = |setting: u64| u32::try_from(setting).unwrap_or(u32::MAX);
    let at_once = args.at_once.map(NonZeroU32::get).or(before.map(|pace| pace.at_once));
    let retries = args.retries.or(before.map(|pace| pace.retries));
    Pace {
        session: per(args, run, settings),
        at_once: at_once.unwrap_or(number(settings.at_once)),
        retries: retries.unwrap_or(number(settings.retries)),
    }
}

/// What a fresh session is begun for. A run of an earlier release tells that by its jobs alone.
fn per(args: &Args, run: Option<&Run>, settings: &BatchSettings) -> SessionPer {
    let several = args.at_once.is_some_and(|many| many.get() > 1).then_some(Per::Task);
    let said = args.session.or(several).map(|per| match per {
        Per::Batch => SessionPer::Batch,
        Per::Task => SessionPer::Task,
    });
    let before = || run?.begun.pace.map(|pace| pace.session).or_else(|| run?.session_per());
    said.or_else(before).unwrap_or(settings.session)
}

/// Batches run one after the other.
fn check_at_once(args: &Args) -> anyhow::Result<()> {
    match (args.session, args.at_once) {
        (Some(Per::Batch), Some(many)) if many.get() > 1 => {
            let error = anyhow::anyhow!(
                "`--at-once {many}` and `--session batch` contradict each other: batches run one after \
                 the other"
            );
            let hint = "with `--session task` the tasks of a batch run at once";
            report::fail_with(2, Err(error).hint(hint))
        }
        _ => Ok(()),
    }
}

/// Says which settings and limits do nothing in this run.
fn warn(ui: &Ui, conductor: &Runner<'_>, pace: Pace, settings: &BatchSettings) {
    let run = conductor.run();
    let is_in_vain = pace.at_once > 1 && pace.session == SessionPer::Batch;
    if let Some(sentence) = settings.contradiction().filter(|_| is_in_vain) {
        ui.warn(sentence);
    }
    if run.begun.limits.tokens.is_some() && !conductor.can_measure() {
        ui.warn(
            "nobody can count what this agent puts into its windows: the limit of tokens does not end \
             the run; `--max-sessions` and `--max-time` do",
        );
    }
}

/// What is to be done, and by whom.
struct Work {
    agent: AgentCommand,
    plan: Plan,
}

impl Work {
    fn new(
        world: &World,
        ui: &Ui,
        args: &Args,
        settings: &BatchSettings,
        project: &Path,
        tasks: &[Task],
    ) -> anyhow::Result<Self> {
        let agent = agent(world, args, settings)?;
        let file = args.file.as_deref().unwrap_or(Path::new("-"));
        let plan = plan::for_fresh_sessions(world, ui, project, file, tasks, args.available)?;
        for piece in plan.pieces() {
            if let Some(warning) = &piece.warning {
                ui.warn(&format!("task `{}`: {warning}", piece.id));
            }
        }
        let work = Self { agent, plan };
        work.asked(per(args, None, settings)).check(&work.agent)?;
        Ok(work)
    }

    /// What would be asked of which session.
    fn asked(&self, per: SessionPer) -> DryRun {
        DryRun::new(&self.plan, &self.agent, per)
    }
}

/// The agent: as is said here, as the config says, or the one that we know.
fn agent(world: &World, args: &Args, settings: &BatchSettings) -> anyhow::Result<AgentCommand> {
    let launcher = plimsoll_agents::ALL.iter().find_map(|agent| agent.launcher());
    let usual =
        || launcher.into_iter().flat_map(|it| it.headless_command()).map(|word| (*word).to_owned());
    let command: Vec<String> = match &args.agent_command {
        Some(Words(words)) => words.clone(),
        None if settings.command.is_empty() => usual().collect(),
        None => settings.command.clone(),
    };
    let line = line(&command);
    let agent = AgentCommand::for_plan(world, command);
    let hint = match &agent {
        Err(AgentCommandError::NotExecutable(program)) => made_executable(program),
        _ => "run `plimsoll batch run --help` to see what an agent's command may be".to_owned(),
    };
    agent.with_context(|| format!("could not conduct `{line}`")).hint(hint)
}

fn begin<'w>(
    stage: RunContext<'w>,
    ui: &Ui,
    Work { agent, plan }: Work,
    args: &Args,
    settings: &BatchSettings,
    project: &Path,
) -> anyhow::Result<Runner<'w>> {
    check_hooks(stage.env, ui, &agent, project)?;
    let file = args.file.as_deref().and_then(Path::file_name).unwrap_or_default();
    let begun = Begun {
        sort: Sort::Plan,
        project: project.to_string_lossy().into_owned(),
        title: format!("{}, {}", file.to_string_lossy(), plan.extent()),
        command: agent.command().to_vec(),
        limits: limits(args).or(settings.limits()),
        pace: Some(pace(args, None, settings)),
    };
    let conductor = Runner::begin(stage, agent, begun, None)
        .context("could not begin the run")
        .hint("run `plimsoll doctor` to check the data folder")?;
    conductor.set_plan(plan)?;
    Ok(conductor)
}

fn resume<'w>(
    stage: RunContext<'w>,
    ui: &Ui,
    args: &Args,
    settings: &BatchSettings,
) -> anyhow::Result<Runner<'w>> {
    let run = find(stage.env, Sort::Plan, args.resume.as_deref().unwrap_or_default())?;
    if run.plan.is_none() {
        let error = anyhow::anyhow!("it ended before its plan was written down");
        return Err(error)
            .with_context(|| format!("could not resume run `{}`", run.id))
            .hint("begin it again with `plimsoll batch run FILE`");
    }
    take_up(stage, ui, &run, limits(args), Some(pace(args, Some(&run), settings)))
}

fn resume_command(run: &Run) -> String {
    format!("plimsoll batch run --resume {}", run.id.short())
}

/// Ends as the work did.
fn end(ui: &Ui, run: &Run, outcome: Outcome) -> anyhow::Result<()> {
    let resume = resume_command(run);
    let hint = match &outcome {
        Outcome::Done => return Ok(()),
        Outcome::Interrupted { signal } => {
            ui.warn(&format!("interrupted; `{resume}` goes on"));
            return report::exit_with(u8::try_from(128 + signal).unwrap_or(1));
        }
        Outcome::Failed { .. } => {
            let name = run.id.short();
            format!("look at it with `plimsoll batch status {name}`, then run `{resume}`")
        }
        Outcome::Limited { limit } => format!("run `{resume} {}` to go on", limit.raised()),
        Outcome::Broken { .. } => format!("look at what it does, then run `{resume}`"),
    };
    Err(anyhow::anyhow!(view::why(run, &outcome))).context(view::told(run)).hint(hint)
}
