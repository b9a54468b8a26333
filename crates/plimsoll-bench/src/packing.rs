//! Compares the number of batches in plans with a lower bound, for random task sets and for sets
//! made from this repository's files, folders and commits.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use plimsoll_core::Tokens;
use plimsoll_core::weight::{Answer, CURRENT, ClassCounter, Weight};
use plimsoll_runner::batch::{self, Estimator, PlanningTerms, Task};
use serde::Serialize;

use crate::gates::{Gate, at_most};
use crate::section::PartResults;
use crate::table::{table, with_title};

#[derive(Debug, Serialize)]
pub(crate) struct PackingResults {
    rows: Vec<PackingRow>,
}

/// Totals over task sets of one kind.
#[derive(Debug, Default, Serialize)]
struct PackingRow {
    name: String,
    /// Tasks per set, or tokens available per batch.
    scale: String,
    sets: usize,
    tasks: usize,
    pieces: usize,
    batches: usize,
    bound: usize,
    /// Longest time to plan one set.
    slowest_ms: f64,
}

impl PackingRow {
    fn random(size: TaskSize, order: TaskOrder, count: usize) -> Self {
        let name = format!("{}, {}", size.label(), order.label());
        Self { name, scale: format!("{count} tasks"), ..Self::default() }
    }

    /// Returns how far the plans exceed the bound, in percent.
    fn over_percent(&self) -> f64 {
        (self.batches as f64 / self.bound.max(1) as f64 - 1.0) * 100.0
    }

    fn add(&mut self, tasks: &[Task], terms: &PlanningTerms) -> anyhow::Result<()> {
        let start = Instant::now();
        let planned = batch::plan(tasks, terms).context("a set could not be planned")?;
        let took = start.elapsed().as_secs_f64() * 1e3;
        self.sets += 1;
        self.tasks += tasks.len();
        self.pieces += planned.plan.pieces().count();
        self.batches += planned.plan.batches.len();
        self.bound += planned.bound;
        self.slowest_ms = self.slowest_ms.max(took);
        Ok(())
    }
}

/// Tokens that each batch of a random set may contain.
const AVAILABLE: Tokens = 100_000;

/// Tasks in the large sets.
const LARGE_SET: usize = 10_000;

/// Plans all task sets.
pub(crate) fn plan_all() -> anyhow::Result<PackingResults> {
    let mut chance = XorShift(0x9e37_79b9_7f4a_7c15);
    let mut rows = Vec::new();
    for order in TaskOrder::ALL {
        for size in TaskSize::ALL {
            for (count, sets) in [(30, 40), (100, 20), (1_000, 4)] {
                let mut row = PackingRow::random(size, order, count);
                for _ in 0..sets {
                    row.add(&random_tasks(&mut chance, count, size, order), &terms(AVAILABLE))?;
                }
                rows.push(row);
            }
        }
        let mut row = PackingRow::random(TaskSize::Formula, order, LARGE_SET);
        row.add(
            &random_tasks(&mut chance, LARGE_SET, TaskSize::Formula, order),
            &terms(AVAILABLE),
        )?;
        rows.push(row);
    }
    rows.extend(repository_rows()?);
    Ok(PackingResults { rows })
}

fn terms(available: Tokens) -> PlanningTerms {
    PlanningTerms { available, ..PlanningTerms::default() }
}

/// Sizes of the tasks in a set.
#[derive(Clone, Copy)]
enum TaskSize {
    /// Estimated by the formula, for one to twelve files.
    Formula,
    /// From one token to the whole batch.
    Any,
    /// From a fifth to seven tenths of a batch, the hardest to pack.
    Awkward,
}

impl TaskSize {
    const ALL: [Self; 3] = [Self::Formula, Self::Any, Self::Awkward];

    fn label(self) -> &'static str {
        match self {
            Self::Formula => "by the formula",
            Self::Any => "of any size",
            Self::Awkward => "of awkward sizes",
        }
    }
}

/// Dependencies between the tasks of a set.
#[derive(Clone, Copy)]
enum TaskOrder {
    Free,
    /// A third of the tasks depend on one other.
    Loose,
    /// Each task depends on up to three others.
    Dense,
    /// Six layers; each task depends on up to three tasks of the previous layer.
    Layers,
    /// Twenty chains.
    Chains,
}

impl TaskOrder {
    const ALL: [Self; 5] = [Self::Free, Self::Loose, Self::Dense, Self::Layers, Self::Chains];

    fn label(self) -> &'static str {
        match self {
            Self::Free => "independent",
            Self::Loose => "a third after another",
            Self::Dense => "after up to three",
            Self::Layers => "in six layers",
            Self::Chains => "in twenty chains",
        }
    }

    fn dependencies(self, chance: &mut XorShift, at: usize, count: usize) -> Vec<usize> {
        let layer = count.div_ceil(6);
        match self {
            Self::Loose if at > 0 && chance.below(3) == 0 => vec![chance.below(at)],
            Self::Dense if at > 0 => (0..chance.below(4)).map(|_| chance.below(at)).collect(),
            Self::Layers if at >= layer => {
                let first = (at / layer - 1) * layer;
                (0..3).map(|_| first + chance.below(layer)).collect()
            }
            Self::Chains if at >= 20 => vec![at - 20],
            _ => Vec::new(),
        }
    }
}

fn random_tasks(
    chance: &mut XorShift,
    count: usize,
    size: TaskSize,
    order: TaskOrder,
) -> Vec<Task> {
    const WORDS: [&str; 5] = ["Refactor", "Implement", "Add", "Fix", "Look at"];
    (0..count)
        .map(|at| {
            let word = WORDS[chance.below(WORDS.len())];
            let room = AVAILABLE as usize;
            let tokens = match size {
                TaskSize::Formula => None,
                TaskSize::Any => Some(1 + chance.below(room)),
                TaskSize::Awkward => Some(room / 5 + chance.below(room / 2)),
            };
            Task {
                id: at.to_string(),
                description: format!("{word} part {at} of the work, as it was said"),
                estimated_files: Some(1 + chance.below(12) as u64),
                tokens: tokens.map(|tokens| tokens as Tokens),
                after: order.dependencies(chance, at, count).iter().map(usize::to_string).collect(),
                ..Task::default()
            }
        })
        .collect()
}

/// A deterministic pseudo-random generator (xorshift).
struct XorShift(u64);

impl XorShift {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Plans the sets made from this repository, at several batch sizes.
fn repository_rows() -> anyhow::Result<Vec<PackingRow>> {
    let repository = Repository::read()?;
    let sets = [
        ("a task for each file", repository.by_file()),
        ("a task for each folder, split", repository.by_folder()),
        ("a task for each commit, independent", repository.by_commit(false)),
        (
            "a task for each commit, after those before it of the same files",
            repository.by_commit(true),
        ),
    ];
    let mut rows = Vec::new();
    for (name, tasks) in &sets {
        for available in [50_000, 100_000, 150_000] {
            let (name, scale) = ((*name).to_owned(), format!("{available} available"));
            let mut row = PackingRow { name, scale, ..PackingRow::default() };
            let estimator =
                Estimator { file_tokens: repository.weights.clone(), ..Estimator::default() };
            row.add(tasks, &PlanningTerms { available, estimator, ..PlanningTerms::default() })?;
            rows.push(row);
        }
    }
    Ok(rows)
}

/// A repository's file sizes in tokens, and its commits, oldest first.
struct Repository {
    weights: HashMap<String, Tokens>,
    commits: Vec<(String, Vec<String>)>,
}

impl Repository {
    fn read() -> anyhow::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let files = git(&root, &["ls-files"])?;
        let weight = |file: &str| Some((file.to_owned(), weight(&root.join(file))?));
        let log =
            git(&root, &["log", "--reverse", "--no-merges", "--name-only", "--format=%x00%s"])?;
        let commit = |text: &str| {
            let mut lines = text.lines().filter(|line| !line.is_empty()).map(str::to_owned);
            Some((lines.next()?, lines.collect()))
        };
        Ok(Self {
            weights: files.lines().filter_map(weight).collect(),
            commits: log.split('\0').filter_map(commit).collect(),
        })
    }

    fn by_file(&self) -> Vec<Task> {
        let mut files: Vec<&String> = self.weights.keys().collect();
        files.sort_unstable();
        let task = |file: &String| task(file, format!("Update {file}"), vec![file.clone()]);
        files.into_iter().map(task).collect()
    }

    fn by_folder(&self) -> Vec<Task> {
        let mut folders: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
        for file in self.weights.keys() {
            let folder = Path::new(file).parent().unwrap_or(Path::new(""));
            folders.entry(folder.to_owned()).or_default().push(file.clone());
        }
        let task = |(folder, mut files): (PathBuf, Vec<String>)| {
            files.sort_unstable();
            task(&format!("{}/", folder.display()), "Refactor the folder".to_owned(), files)
        };
        folders.into_iter().map(task).collect()
    }

    fn by_commit(&self, in_order: bool) -> Vec<Task> {
        let mut last: HashMap<&str, usize> = HashMap::new();
        let mut tasks = Vec::new();
        for (at, (subject, files)) in self.commits.iter().enumerate() {
            let mut after: Vec<usize> =
                files.iter().filter_map(|file| last.insert(file, at)).collect();
            after.sort_unstable();
            after.dedup();
            let after = after.iter().filter(|_| in_order).map(usize::to_string).collect();
            tasks.push(Task { after, ..task(&at.to_string(), subject.clone(), files.clone()) });
        }
        tasks
    }
}

fn task(id: &str, description: String, files: Vec<String>) -> Task {
    Task { id: id.to_owned(), description, files, ..Task::default() }
}

/// Returns a file's size in tokens. `None` if it is not a text file.
fn weight(path: &Path) -> Option<Tokens> {
    let bytes = fs::read(path).ok().filter(|bytes| !bytes.contains(&0))?;
    let mut counter = ClassCounter::default();
    counter.add(&bytes);
    let weight = Weight { tool_text: counter.classes(), tool_results: 1, ..Weight::default() };
    Some(CURRENT.added(&weight, Answer::Counted).div_ceil(1_000))
}

fn git(folder: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "core.quotePath=false"]).args(arguments);
    let output = command.output().context("could not run git")?;
    ensure!(output.status.success(), "{command:?}: {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl PartResults for PackingResults {
    const ABOUT: &'static str = "By how many percent plans have more batches than the bound says there must be: random task sets, and \
        sets made of this repository's files, folders and commits.";

    fn tables(&self) -> String {
        let random = ["over % of", "30 tasks", "100 tasks", "1000 tasks", "10000 tasks"];
        let real = ["over % of", "50000 available", "100000 available", "150000 available"];
        with_title("Random task sets", &by_scale(random, &self.rows))
            + &with_title("Of this repository", &by_scale(real, &self.rows))
    }

    fn gates(&self) -> anyhow::Result<Vec<Gate>> {
        let worst = self.rows.iter().map(PackingRow::over_percent).fold(0.0, f64::max);
        let slowest = self.rows.iter().map(|row| row.slowest_ms).fold(0.0, f64::max);
        Ok(vec![
            at_most("batches over the bound, in percent, any row", worst, 10.0),
            at_most(&format!("planning up to {LARGE_SET} tasks, in seconds,"), slowest / 1e3, 1.0),
        ])
    }
}

/// Formats how far plans exceed the bound: one row per kind of task set, one column per scale.
fn by_scale<const N: usize>(head: [&str; N], rows: &[PackingRow]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| head.contains(&row.scale.as_str())) {
        if !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    let cell = |name: &str, scale: &str| {
        let row = rows.iter().find(|row| row.name == name && row.scale == scale);
        row.map_or(String::new(), |row| format!("{:.1}", row.over_percent()))
    };
    let row = |name| {
        head.map(|scale| if scale == head[0] { String::from(name) } else { cell(name, scale) })
    };
    table(head, names.into_iter().map(row))
}
