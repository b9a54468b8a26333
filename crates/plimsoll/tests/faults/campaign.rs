//! Doing a writer harm again and again, and looking after each time.

use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_testbed::generator::SplitMix64;

use crate::env::{Ran, TestEnv, feed};
use crate::fault::{Call, Fault, Point, is_killed, record};
use crate::invariants;

/// One that writes, and what must be true of what it wrote.
pub(crate) trait Writer {
    /// What it is called in the report.
    const NAME: &'static str;
    /// How many of a thousand faults it gets.
    const SHARE: usize;
    /// How many of them hit one home.
    const STEPS: usize = 8;

    /// The next thing it does.
    fn next(&mut self, env: &TestEnv, random: &mut SplitMix64) -> Call;

    /// Notes what it said: what it acknowledged must be found from then on.
    fn note(&mut self, ran: &Ran, harm: Harm);

    /// Whatever must hold after any fault.
    fn check(&mut self, env: &TestEnv);

    /// Whatever must hold once it has been left in peace.
    fn finish(&mut self, env: &TestEnv);
}

/// Which faults a campaign is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harm {
    /// Processes are killed: alone at a system call, or several at once at any moment.
    Kills,
    /// System calls fail.
    Errors,
}

impl Harm {
    /// How many faults there are over all writers; the environment may ask for others.
    fn all(self) -> usize {
        let (name, default) = match self {
            Self::Kills => ("PLIMSOLL_FAULTS_KILLS", 300),
            Self::Errors => ("PLIMSOLL_FAULTS_ERRORS", 200),
        };
        asked(name).unwrap_or(default) as usize
    }

    fn name(self) -> &'static str {
        match self {
            Self::Kills => "kills",
            Self::Errors => "errors",
        }
    }
}

fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The seed of everything random.
pub(crate) fn seed() -> u64 {
    asked("PLIMSOLL_FAULTS_SEED").unwrap_or(20_261_116)
}

/// What a writer does next: where another version is to work beside this one, either may do it.
fn next<W: Writer>(env: &TestEnv, writer: &mut W, random: &mut SplitMix64) -> Call {
    let call = writer.next(env, random);
    match std::env::var("PLIMSOLL_FAULTS_BESIDE") {
        Ok(other) if random.below(2) == 0 => call.by(&other),
        _ => call,
    }
}

/// A violation ends a campaign when there are so many: more would tell no more.
const ENOUGH: usize = 5;

/// Harms a writer until it has had its share, some times in a home of its own.
pub(crate) fn harm<W: Writer>(harm: Harm, new: impl Fn() -> (TestEnv, W)) {
    let points = all_points(&new);
    assert!(!points.is_empty(), "it writes nothing");
    harmed_by(W::NAME, harm, W::SHARE, |seed, count| round(harm, &points, seed, &new, count));
}

/// Plays rounds, each from a seed of its own, until so many of a thousand faults were counted.
pub(crate) fn harmed_by(name: &str, harm: Harm, share: usize, round: impl Fn(u64, &mut usize)) {
    let share = (harm.all() * share).div_ceil(1000).max(2);
    let (mut count, mut violations) = (0, Vec::new());
    let mut told = Instant::now();
    for seed in seed().. {
        if count >= share || violations.len() >= ENOUGH {
            break;
        }
        if let Err(why) = catch_unwind(AssertUnwindSafe(|| round(seed, &mut count))) {
            violations.push(format!("seed {seed}: {}", sentence(&*why)));
        }
        if told.elapsed() > Duration::from_secs(20) {
            report(&format!("... {name:<12} {:<7} {count} of {share}", harm.name()));
            told = Instant::now();
        }
    }
    report(&format!("{name:<12} {:<7} {count:>7} {:>10}", harm.name(), violations.len()));
    assert!(violations.is_empty(), "{name}: {violations:#?}");
}

fn sentence(why: &(dyn std::any::Any + Send)) -> String {
    let text = why.downcast_ref::<String>().map(String::as_str);
    text.or(why.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}

/// Tells whoever waits for a long run how far it is.
fn report(line: &str) {
    let Some(path) = std::env::var_os("PLIMSOLL_FAULTS_REPORT") else { return };
    let mut file = fs::File::options().append(true).create(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// The points at which each of a writer's first steps changes anything.
fn all_points<W: Writer>(new: &impl Fn() -> (TestEnv, W)) -> Vec<Vec<Point>> {
    let (env, mut writer) = new();
    let mut random = SplitMix64::new(seed());
    let mut all = Vec::new();
    for _ in 0..W::STEPS {
        let (ran, points) = record(&env, writer.next(&env, &mut random));
        writer.note(&ran, Harm::Kills);
        writer.check(&env);
        all.push(points);
    }
    writer.finish(&env);
    all.retain(|points| !points.is_empty());
    all
}

fn round<W: Writer>(
    harm: Harm,
    points: &[Vec<Point>],
    seed: u64,
    new: &impl Fn() -> (TestEnv, W),
    count: &mut usize,
) {
    let mut random = SplitMix64::new(seed);
    let (env, mut writer) = new();
    for _ in 0..W::STEPS {
        let points = &points[random.below(points.len())];
        *count += match harm {
            Harm::Errors => fails(&env, &mut writer, points, &mut random),
            Harm::Kills if random.below(4) == 0 => crowd(&env, &mut writer, &mut random),
            Harm::Kills => killed(&env, &mut writer, points, &mut random),
        };
        writer.check(&env);
        invariants::hold(&env);
    }
    writer.finish(&env);
    invariants::hold(&env);
    invariants::no_litter(&env);
}

/// Kills one process at a system call; one that never makes that call does its work.
fn killed<W: Writer>(
    env: &TestEnv,
    writer: &mut W,
    points: &[Point],
    random: &mut SplitMix64,
) -> usize {
    let fault = Fault::kill(random, points);
    let (ran, is_killed) = fault.befalls(env, next(env, writer, random));
    writer.note(&ran, Harm::Kills);
    usize::from(is_killed)
}

/// Lets a system call of one process fail.
fn fails<W: Writer>(
    env: &TestEnv,
    writer: &mut W,
    points: &[Point],
    random: &mut SplitMix64,
) -> usize {
    let fault = Fault::failing(random, points);
    let call = next(env, writer, random);
    let is_hook = call.command.get_args().next().is_some_and(|first| first == "hook");
    let (ran, has_failed) = fault.befalls(env, call);
    // The binary under test is linked dynamically; this one never began.
    if ran.stderr.contains("while loading shared libraries") {
        return 0;
    }
    assert!(!ran.stderr.contains("panicked"), "{fault:?}: {ran}");
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{fault:?}: {ran}");
    if is_hook {
        invariants::neutral(&ran);
    }
    writer.note(&ran, Harm::Errors);
    usize::from(has_failed)
}

/// Starts some processes at once, and kills each at some moment; late ones do their work.
fn crowd<W: Writer>(env: &TestEnv, writer: &mut W, random: &mut SplitMix64) -> usize {
    let calls: Vec<(Call, u64)> = (0..2 + random.below(3))
        .map(|_| (next(env, writer, random), random.below(15_000) as u64))
        .collect();
    let ran: Vec<Ran> = thread::scope(|scope| {
        let run =
            |(call, micros): (Call, u64)| scope.spawn(move || killed_after(env, call, micros));
        let running: Vec<_> = calls.into_iter().map(run).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    ran.iter().for_each(|ran| writer.note(ran, Harm::Kills));
    ran.iter().filter(|ran| is_killed(ran)).count()
}

fn killed_after(env: &TestEnv, mut call: Call, micros: u64) -> Ran {
    let mut child: Child = feed(call.command.spawn().unwrap(), &call.stdin);
    thread::sleep(Duration::from_micros(micros));
    // One that has ended is killed in vain.
    child.kill().unwrap();
    env.ran(child.wait_with_output().unwrap())
}
