//! Times whole processes in alternation, to cope with other load on the machine.

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

use crate::bench_env::BenchEnv;

/// Rounds that are not counted: they fill the caches and write the settings cache.
const WARM_UP: usize = 2;

#[derive(Clone, Debug)]
pub(crate) struct Competitor {
    pub(crate) name: String,
    pub(crate) argv: Vec<OsString>,
    /// File that the process reads on stdin.
    pub(crate) stdin: Option<PathBuf>,
    /// Variables in addition to those of the stage, overriding them.
    pub(crate) environment: Vec<(&'static str, PathBuf)>,
    /// Steps before each run that are not timed.
    pub(crate) preparations: Vec<Preparation>,
}

/// A step before a run.
#[derive(Clone, Debug)]
pub(crate) enum Preparation {
    /// Removes a file or folder, if it exists.
    Remove(PathBuf),
    /// Appends a text to a file. `{}` in the text is replaced by the file's length, so that no two
    /// appends are equal.
    Append(PathBuf, &'static str),
}

impl Preparation {
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

/// Timings of one competitor over all rounds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Timing {
    pub(crate) name: String,
    pub(crate) rounds: usize,
    pub(crate) min_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) cpu_p50_us: f64,
    /// Never below this program's own peak, which a child inherits; see `count::peak_memory`.
    pub(crate) rss_bytes: u64,
}

impl Competitor {
    /// Creates a competitor with an empty stdin.
    pub(crate) fn new<A: Into<OsString>>(
        name: impl Into<String>,
        argv: impl IntoIterator<Item = A>,
    ) -> Self {
        let argv = argv.into_iter().map(Into::into).collect();
        let (environment, preparations) = (Vec::new(), Vec::new());
        Self { name: name.into(), argv, stdin: None, environment, preparations }
    }

    /// Sets the file on stdin.
    pub(crate) fn with_stdin(self, stdin: PathBuf) -> Self {
        Self { stdin: Some(stdin), ..self }
    }

    /// Builds the command with the stage's environment and discarded output, after carrying out the
    /// steps before the run.
    ///
    /// The program has an absolute path and the working directory stays unchanged, so that the
    /// standard library can start it without forking this process. All files are opened before the
    /// clock starts.
    pub(crate) fn command(&self, stage: &BenchEnv) -> anyhow::Result<Command> {
        for before in &self.preparations {
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
    stage: &BenchEnv,
    competitors: &[Competitor],
    rounds: usize,
) -> anyhow::Result<Vec<Timing>> {
    let mut random = SplitMix64::new(1);
    let mut samples = vec![Vec::with_capacity(rounds); competitors.len()];
    for round in 0..WARM_UP + rounds {
        for index in shuffled(competitors.len(), &mut random) {
            let sample = run_timed(stage, &competitors[index])?;
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

/// Runs a competitor untimed and returns its output and exit status.
pub(crate) fn run_untimed(stage: &BenchEnv, competitor: &Competitor) -> anyhow::Result<Output> {
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

fn run_timed(stage: &BenchEnv, competitor: &Competitor) -> anyhow::Result<Sample> {
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

/// Returns the value at quantile `share` of the sorted `values`.
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
    fn a_shuffled_order_contains_every_index_once() {
        let mut order = shuffled(9, &mut SplitMix64::new(3));
        assert_ne!(order, (0..9).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..9).collect::<Vec<_>>());
    }
}
