//! Times whole processes, in turn, on a machine that also does other things.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use plimsoll_testbed::generator::SplitMix64;
use serde::Serialize;
use wait4::Wait4 as _;

use crate::stage::Stage;

/// Rounds that are run and forgotten: caches fill, the settings cache is written.
const WARM_UP: usize = 2;

/// A process to time.
#[derive(Clone, Debug)]
pub(crate) struct Competitor {
    pub(crate) name: String,
    pub(crate) argv: Vec<OsString>,
    /// The file it reads on stdin.
    pub(crate) stdin: Option<PathBuf>,
    /// Variables beside those of the stage, or in their place.
    pub(crate) environment: Vec<(&'static str, PathBuf)>,
    /// What is done before each run, outside of the clock.
    pub(crate) before: Vec<Before>,
}

/// What is done before a run.
#[derive(Clone, Debug)]
pub(crate) enum Before {
    /// A file or a folder goes, if it is there.
    Remove(PathBuf),
    /// A text is added to a file. `{}` in it stands for how long the file was, so that no two are the
    /// same.
    Append(PathBuf, &'static str),
}

impl Before {
    fn carry_out(&self) -> io::Result<()> {
        match self {
            Self::Remove(path) if path.is_dir() => fs::remove_dir_all(path),
            Self::Remove(path) if path.exists() => fs::remove_file(path),
            Self::Remove(_) => Ok(()),
            Self::Append(path, text) => {
                let mut file = File::options().append(true).open(path)?;
                let text = text.replace("{}", &file.metadata()?.len().to_string());
                file.write_all(text.as_bytes())
            }
        }
    }
}

/// What one competitor took over all rounds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Timing {
    pub(crate) name: String,
    pub(crate) rounds: usize,
    pub(crate) min_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) cpu_p50_us: f64,
    /// Never below this program's own peak, which a child starts from; see `count::peak_memory`.
    pub(crate) rss_bytes: u64,
}

impl Competitor {
    /// A competitor that reads nothing.
    pub(crate) fn new<A: Into<OsString>>(
        name: impl Into<String>,
        argv: impl IntoIterator<Item = A>,
    ) -> Self {
        let argv = argv.into_iter().map(Into::into).collect();
        let (environment, before) = (Vec::new(), Vec::new());
        Self { name: name.into(), argv, stdin: None, environment, before }
    }

    /// The same with this file on stdin.
    pub(crate) fn reading(self, stdin: PathBuf) -> Self {
        Self { stdin: Some(stdin), ..self }
    }

    /// The command with the stage's environment, its output thrown away. What comes before a run is
    /// done here.
    ///
    /// What is timed has an absolute path, and no folder is changed, so that the standard library can
    /// start it without copying this process; the files are open before the clock starts.
    pub(crate) fn command(&self, stage: &Stage) -> anyhow::Result<Command> {
        for before in &self.before {
            before.carry_out().with_context(|| format!("could not prepare `{}`", self.name))?;
        }
        let (program, arguments) = self.argv.split_first().context("nothing to start")?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(stage.environment());
        command.envs(self.environment.iter().cloned());
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        command.stdin(match &self.stdin {
            Some(path) => File::open(path)?,
            None => nothing.try_clone()?,
        });
        command.stdout(nothing.try_clone()?).stderr(nothing);
        Ok(command)
    }
}

/// Runs every competitor once per round, in a freshly shuffled order.
pub(crate) fn race(
    stage: &Stage,
    competitors: &[Competitor],
    rounds: usize,
) -> anyhow::Result<Vec<Timing>> {
    let mut random = SplitMix64::new(1);
    let mut samples = vec![Vec::with_capacity(rounds); competitors.len()];
    for round in 0..WARM_UP + rounds {
        for index in shuffled(competitors.len(), &mut random) {
            let sample = run(stage, &competitors[index])?;
            if round >= WARM_UP {
                samples[index].push(sample);
            }
        }
    }
    Ok(competitors
        .iter()
        .zip(samples)
        .map(|(who, samples)| Timing::of(&who.name, &samples))
        .collect())
}

/// What a competitor prints and how it ends, not timed.
pub(crate) fn output(stage: &Stage, competitor: &Competitor) -> anyhow::Result<Output> {
    let mut command = competitor.command(stage)?;
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.output().with_context(|| format!("could not run `{}`", competitor.name))
}

#[derive(Clone, Copy)]
struct Sample {
    wall: Duration,
    cpu: Duration,
    rss: u64,
}

fn run(stage: &Stage, competitor: &Competitor) -> anyhow::Result<Sample> {
    let name = &competitor.name;
    let mut command = competitor.command(stage)?;
    let start = Instant::now();
    let child = command.spawn().with_context(|| format!("could not start `{name}`"))?;
    let used = child.wait4().with_context(|| format!("could not wait for `{name}`"))?;
    let wall = start.elapsed();
    ensure!(used.status.success(), "`{name}` failed: {}", used.status);
    Ok(Sample { wall, cpu: used.rusage.utime + used.rusage.stime, rss: used.rusage.maxrss })
}

impl Timing {
    fn of(name: &str, samples: &[Sample]) -> Self {
        let micros = |time: fn(&Sample) -> Duration| {
            let mut all: Vec<_> = samples.iter().map(|s| time(s).as_secs_f64() * 1e6).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let (wall, cpu) = (micros(|sample| sample.wall), micros(|sample| sample.cpu));
        Self {
            name: name.to_owned(),
            rounds: samples.len(),
            min_us: quantile(&wall, 0.0),
            p50_us: quantile(&wall, 0.5),
            p99_us: quantile(&wall, 0.99),
            cpu_p50_us: quantile(&cpu, 0.5),
            rss_bytes: samples.iter().map(|sample| sample.rss).max().unwrap_or(0),
        }
    }
}

/// The value at `share` of sorted `values`.
fn quantile(values: &[f64], share: f64) -> f64 {
    let last = values.len().saturating_sub(1);
    values.get((share * last as f64).round() as usize).copied().unwrap_or(f64::NAN)
}

fn shuffled(count: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut order: Vec<_> = (0..count).collect();
    for index in (1..count).rev() {
        order.swap(index, random.below(index + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let values = [1.0, 2.0, 3.0, 4.0, 100.0];
        assert_eq!([0.0, 0.5, 0.99].map(|share| quantile(&values, share)), [1.0, 3.0, 100.0]);
    }

    #[test]
    fn a_shuffled_order_names_everyone_once() {
        let mut order = shuffled(9, &mut SplitMix64::new(3));
        assert_ne!(order, (0..9).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..9).collect::<Vec<_>>());
    }
}
