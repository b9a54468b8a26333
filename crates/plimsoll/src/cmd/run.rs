//! `plimsoll run`

mod shown;

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;
use std::str::FromStr;

use anyhow::Context;
use plimsoll_core::run::{
    Begun, JobBegun, Limits, Outcome, Pace, Run, Sort, Standing, What, how_ended,
};
use plimsoll_core::shell;
use plimsoll_engine::world::World;
use plimsoll_engine::{doctor, run_journal, settings};
use plimsoll_runner::runner::{
    self, AgentCommand, AgentCommandError, JobEnd, ResumeError, RunContext, Runner, StderrTarget,
    StopFlag,
};
use plimsoll_runner::runs::status;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use self::shown::Shown;
use crate::report::{self, HintExt};
use crate::ui::{Ui, strip_control};

/// Carry one long task out, over as many sessions as it takes
///
/// The agent is started as given. When its window is nearly full, our hook seals a checkpoint and ends
/// it, and a fresh session goes on from there, until an agent ends by itself: what it prints, and its
/// exit code, are those of the run. Sessions in a row that do nothing new end it, and so do the limits;
/// what is not said here comes from the config. A run that was interrupted or killed goes on with
/// `--resume`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll run -- claude -p 'Port the parser to the new grammar' --permission-mode acceptEdits
  plimsoll run --max-sessions 8 --max-time 4h -- claude -p < task.md
  plimsoll run --resume")]
pub(crate) struct Args {
    /// End after so many sessions
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>)]
    max_sessions: Option<NonZeroU32>,
    /// End when the windows of all sessions, added up, have held so many tokens
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU64>)]
    max_tokens: Option<NonZeroU64>,
    /// End after this time, such as `90m` or `4h`
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    max_time: Option<u64>,
    /// Go on with a run: the newest of this folder that is not done, or the one named
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with = "command")]
    resume: Option<String>,
    /// The agent's command
    #[arg(last = true, value_name = "AGENT", required_unless_present = "resume")]
    command: Vec<String>,
}

pub(crate) fn run(world: &World, ui: &Ui, args: Args) -> anyhow::Result<()> {
    let halt = StopFlag::default();
    let shown = Shown::new(ui);
    let progress = |progress: runner::RunProgress<'_>| shown.take(progress);
    let stage =
        RunContext { env: world, halt: &halt, progress: &progress, stderr: StderrTarget::Inherit };
    let limits = limits(&args);
    let conductor = match &args.resume {
        Some(name) => take_up(stage, ui, &find(world, Sort::Task, name)?, limits, None)?,
        None => begin(stage, ui, args.command, limits)?,
    };
    listen(&halt)?;
    shown.begin(&conductor.run(), has_hooks(world, &conductor));
    let ended = carry_out(world, &conductor);
    shown.wipe();
    end(ui, &conductor, ended, &shown)
}

/// Without our hooks no session of an agent that we know can be stopped, or given anything: where they
/// are switched off that is an error, where they are broken it is said.
pub(super) fn check_hooks(
    world: &World,
    ui: &Ui,
    agent: &AgentCommand,
    project: &Path,
) -> anyhow::Result<()> {
    let Some(agent) = agent.agent() else { return Ok(()) };
    if world.is_off() {
        return Err(anyhow::anyhow!("a run needs hooks, and `PLIMSOLL` switches them off"))
            .hint("run it with `env -u PLIMSOLL plimsoll …`");
    }
    for finding in doctor::broken_hooks(world, agent, project) {
        let mend = finding.mend.map(|mend| format!("; run `{mend}`")).unwrap_or_default();
        let so = "sessions may run until their windows are full, and be given nothing";
        ui.warn(&format!("hooks: {} ({so}){mend}", finding.text));
    }
    Ok(())
}

/// Returns whether plimsoll's hooks are installed, so that a session can be given its checkpoint.
fn has_hooks(world: &World, conductor: &Runner<'_>) -> bool {
    let is_broken = |agent| !doctor::broken_hooks(world, agent, conductor.project()).is_empty();
    conductor.agent().is_some_and(|agent| !is_broken(agent))
}

/// Listens to what ends a run: the signals that a user, or a system that goes down, sends. Until then
/// they end this process, which may wait for what is piped in.
pub(super) fn listen(halt: &StopFlag) -> anyhow::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let flag = flag::register_usize(signal, halt.flag(), signal as usize);
        flag.context("could not listen to signals")?;
    }
    Ok(())
}

fn limits(args: &Args) -> Limits {
    Limits {
        sessions: args.max_sessions.map(NonZeroU32::get),
        tokens: args.max_tokens.map(NonZeroU64::get),
        seconds: args.max_time,
        failures: None,
    }
}

/// Begins a run of a command.
fn begin<'w>(
    stage: RunContext<'w>,
    ui: &Ui,
    command: Vec<String>,
    limits: Limits,
) -> anyhow::Result<Runner<'w>> {
    let line = line(&command);
    let agent = AgentCommand::for_task(stage.env, command.clone());
    let hint = match &agent {
        Err(AgentCommandError::Unknown) => batched(&line),
        Err(AgentCommandError::NotExecutable(program)) => made_executable(program),
        _ => "give a command such as `plimsoll run -- claude -p 'Mend the hull'`".to_owned(),
    };
    let agent = agent.with_context(|| format!("could not conduct `{line}`")).hint(hint)?;
    let project = super::project(stage.env)?;
    check_hooks(stage.env, ui, &agent, &project)?;
    let limits = limits.or(settings::of_project(stage.env, &project).run.limits());
    let project = project.to_string_lossy().into_owned();
    let begun = Begun { sort: Sort::Task, project, title: line, command, limits, pace: None };
    let mut input = piped();
    let input = input.as_mut().map(|input| input as &mut dyn Read);
    Runner::begin(stage, agent, begun, input)
        .context("could not begin the run")
        .hint("run `plimsoll doctor` to check the data folder")
}

/// How a file becomes a program.
pub(super) fn made_executable(program: &str) -> String {
    format!("run `chmod +x {}`", shell::quote(&strip_control(program)))
}

/// How an agent that nobody knows is given work.
fn batched(line: &str) -> String {
    let command = shell::quote(line);
    let tasks = "echo '- [ ] Mend the hull' >> tasks.md";
    format!(
        "any agent that reads its task on stdin can carry out a plan: \
         `{tasks} && plimsoll batch run tasks.md --agent-command {command}`"
    )
}

/// What the user pipes in, if anything. A pipe that somebody left open, and nobody writes to, is none.
fn piped() -> Option<io::Stdin> {
    const PATIENCE: Timespec = Timespec { tv_sec: 3, tv_nsec: 0 };
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return None;
    }
    let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
    let is_there = poll(&mut asked, Some(&PATIENCE)).is_ok_and(|ready| ready > 0);
    is_there.then_some(stdin)
}

/// Takes up a run.
pub(super) fn take_up<'w>(
    stage: RunContext<'w>,
    ui: &Ui,
    run: &Run,
    limits: Limits,
    pace: Option<Pace>,
) -> anyhow::Result<Runner<'w>> {
    if let Ok(agent) = runner::agent_of(stage.env, run) {
        check_hooks(stage.env, ui, &agent, Path::new(&run.begun.project))?;
    }
    let taken_up = Runner::resume(stage, run, limits, pace);
    let hint = match &taken_up {
        Err(ResumeError::Unfit(AgentCommandError::NotExecutable(program))) => {
            made_executable(program)
        }
        Err(ResumeError::Busy(Some(by))) => format!("run `kill {}` to end that", by.pid),
        _ => "run `plimsoll batch status` to see all of them".to_owned(),
    };
    taken_up.with_context(|| format!("could not resume run `{}`", run.id)).hint(hint)
}

/// The run of that sort and name, or whose name ends so; where none is named, the newest of this folder
/// that is not done, one that nobody conducts before others.
pub(super) fn find(world: &World, sort: Sort, name: &str) -> anyhow::Result<Run> {
    let project = super::project(world)?;
    let is_open = |run: &Run| {
        let here = Path::new(&run.begun.project) == project;
        here && run.outcome.as_ref().is_none_or(Outcome::is_resumable)
    };
    let is_left = |run: &Run| is_open(run) && status(run) != Standing::Running;
    let newest = |fits: &dyn Fn(&Run) -> bool| {
        run_journal::newest(&world.paths, fits).context("could not look for runs")
    };
    let is_named = |run: &Run| run.id.as_str().ends_with(name);
    let is_ours = |run: &Run| run.begun.sort == sort;
    let found = match name {
        "" => newest(&|run| is_ours(run) && is_left(run))?
            .map_or_else(|| newest(&|run| is_ours(run) && is_open(run)), |run| Ok(Some(run)))?,
        _ => newest(&|run| is_ours(run) && is_named(run))?,
    };
    if let Some(run) = found {
        return Ok(run);
    }
    let other = if name.is_empty() { newest(&is_left)? } else { newest(&is_named)? };
    not_found(sort, name, &project, other.as_ref())
}

/// Each of the two commands goes on with its own runs alone: where the one that is meant is `other`'s,
/// that is said.
fn not_found(sort: Sort, name: &str, project: &Path, other: Option<&Run>) -> anyhow::Result<Run> {
    let command = |sort| match sort {
        Sort::Task => "plimsoll run",
        Sort::Plan => "plimsoll batch run",
    };
    let error = match (name, other) {
        ("", _) => anyhow::anyhow!("no run of `{}` is left to go on with", project.display()),
        (_, Some(run)) => anyhow::anyhow!("run `{name}` is one of `{}`", command(run.begun.sort)),
        (_, None) => anyhow::anyhow!("no run `{name}`"),
    };
    let hint = match (other, sort) {
        (Some(run), _) => match run.resume() {
            Some(resume) => format!("run `{resume}` to go on with it"),
            None => format!("it is done: run `plimsoll batch status {}` to see it", run.id),
        },
        (None, Sort::Task) => "begin one with `plimsoll run -- claude -p …`".to_owned(),
        (None, Sort::Plan) => "begin one with `plimsoll batch run TODO.md`".to_owned(),
    };
    Err(error).hint(hint)
}

/// The one job of the run.
fn carry_out(world: &World, conductor: &Runner<'_>) -> anyhow::Result<JobEnd> {
    let title = conductor.run().begun.title;
    let begun = JobBegun { job: 1, title, batch: None, pieces: Vec::new(), tokens: None };
    let end = conductor.carry_out_task(begun, runner::default_pause(world))?;
    conductor.record(What::Ended(match &end {
        JobEnd::Done { .. } => Outcome::Done,
        JobEnd::Failed { code, .. } => Outcome::Failed { code: *code },
        JobEnd::Paused(outcome) => outcome.clone(),
    }))?;
    Ok(end)
}

/// Ends as the work did.
fn end(
    ui: &Ui,
    conductor: &Runner<'_>,
    ended: anyhow::Result<JobEnd>,
    shown: &Shown<'_>,
) -> anyhow::Result<()> {
    let run = conductor.run();
    let resume = format!("plimsoll run --resume {}", run.id.short());
    match ended.hint(format!("run `{resume}` to go on"))? {
        JobEnd::Done { out, .. } => {
            shown.done(&run);
            print(ui, conductor, &out)
        }
        JobEnd::Failed { code, out } => {
            print(ui, conductor, &out)?;
            ui.warn(&format!("the agent {}; `{resume}` goes on", how_ended(code)));
            report::exit_with(u8::try_from(code).unwrap_or(1))
        }
        JobEnd::Paused(Outcome::Interrupted { signal }) => {
            ui.warn(&format!("interrupted; `{resume}` goes on"));
            report::exit_with(u8::try_from(128 + signal).unwrap_or(1))
        }
        JobEnd::Paused(outcome) => {
            let sessions = match run.legs().count() {
                1 => "1 session".to_owned(),
                sessions => format!("{sessions} sessions"),
            };
            let hint = match &outcome {
                Outcome::Limited { limit } => {
                    format!("raise the limit: `{resume} {}`", limit.raised())
                }
                _ => format!("look at what it does, then run `{resume}`"),
            };
            Err(anyhow::anyhow!("{outcome}"))
                .with_context(|| format!("the task is not done after {sessions}"))
                .hint(hint)
        }
    }
}

/// Prints what the last session printed, unless it has been passed on while it came.
fn print(ui: &Ui, conductor: &Runner<'_>, out: &Path) -> anyhow::Result<()> {
    if conductor.streams_progress() {
        return Ok(());
    }
    let mut file = File::open(out).context("could not read what the agent printed")?;
    let mut out = ui.out();
    io::copy(&mut file, &mut out)?;
    Ok(out.flush()?)
}

/// A command as it was typed, in a line.
pub(super) fn line(command: &[String]) -> String {
    let in_a_line = |word: &String| strip_control(&word.lines().collect::<Vec<_>>().join(" "));
    let words = command.iter().map(|word| shell::quote(&in_a_line(word)));
    words.collect::<Vec<_>>().join(" ")
}

/// A number that is not 0.
pub(super) fn at_least_one<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "give a whole number of at least 1".to_owned())
}

/// A duration such as `90m`, in seconds.
pub(super) fn seconds(text: &str) -> Result<u64, String> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.parse() == Ok(0_u64) {
        return Err("it must be above 0: write it like `90m` or `4h`".to_owned());
    }
    let unit = match unit.trim() {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        "" if !number.is_empty() => {
            return Err(format!(
                "a unit is missing: write `{number}m` for minutes, `{number}h` for hours"
            ));
        }
        _ => return Err("give a number and a unit: `45s`, `90m`, `4h`, `1d`".to_owned()),
    };
    let number = number.parse::<u64>().ok();
    let seconds = number.and_then(|number| number.checked_mul(unit));
    seconds.ok_or("give a number and a unit: `45s`, `90m`, `4h`, `1d`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(seconds("90m"), Ok(5400));
        assert_eq!(seconds("4h"), Ok(14_400));
        for bad in ["", "4", "h", "0s", "-1h", "4 weeks"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
