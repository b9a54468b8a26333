//! `plimsoll score`

mod text;

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_engine::jsonl::JsonLines;
use plimsoll_engine::score;
use plimsoll_engine::sessions;
use plimsoll_engine::world::World;
use plimsoll_extract::work::{Fact, FactKind, Judgement, RecallCounts};
use serde::Serialize;

use crate::report::HintExt;
use crate::ui::Ui;

/// Show what your compactions lost, and what plimsoll would have kept
///
/// For each compaction: the names that the agent used afterwards before anything showed them again
/// (files, symbols, commands, references), and whether the client's summary held them, the restore of
/// plimsoll, both, or neither. Read from finished transcripts, without any model.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll score                  all sessions on this machine
  plimsoll score SESSION.jsonl
  plimsoll score --json | jq .total")]
pub(crate) struct Args {
    /// A transcript, or a folder of them (default: all on this machine)
    #[arg(value_name = "FILE|DIR")]
    path: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let transcripts = match &args.path {
        None => sessions::find(world)?.into_iter().map(|found| found.path).collect(),
        Some(path) => transcripts(path)?,
    };
    let compactions = judge(ui, &transcripts, args.path.as_deref())?;
    if args.json {
        return ui.print_json(&ScoreView::of(&compactions));
    }
    let mut out = ui.out();
    text::print(ui, &mut out, &compactions)?;
    Ok(out.flush()?)
}

fn transcripts(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let found = path.canonicalize().and_then(|path| match path.is_dir() {
        true => score::find(&path),
        false => Ok(vec![path]),
    });
    let found = found.with_context(|| could_not_read(path)).hint(HINT)?;
    let none = || format!("there is no transcript (`*.jsonl`) in `{}`", path.display());
    if found.is_empty() { Err(anyhow::anyhow!(none())).hint(HINT) } else { Ok(found) }
}

fn could_not_read(path: &Path) -> String {
    format!("could not read `{}`", path.display())
}

const HINT: &str = "give a transcript or a folder; `plimsoll status --all --json` names them";

/// A compaction of a session.
struct Compaction {
    session: String,
    transcript: PathBuf,
    judgement: Judgement,
}

impl Compaction {
    fn tally(&self) -> RecallCounts {
        RecallCounts::of(&self.judgement.facts)
    }

    /// What neither the summary nor the restore held.
    fn lost(&self) -> impl Iterator<Item = &Fact> {
        self.judgement.facts.iter().filter(|fact| !fact.in_summary && !fact.in_restore)
    }
}

/// Judges all compactions, the newest first. A transcript that cannot be read is left out, unless it is
/// the one that was asked for.
fn judge(
    ui: &Ui,
    transcripts: &[PathBuf],
    asked: Option<&Path>,
) -> anyhow::Result<Vec<Compaction>> {
    let (mut compactions, mut unreadable) = (Vec::new(), 0);
    for (done, path) in transcripts.iter().enumerate() {
        ui.progress("reading transcripts", done, transcripts.len());
        match score::judge(path) {
            Ok(judged) => {
                let judged = judged.into_iter();
                compactions.extend(judged.map(|judgement| compaction(path, judgement)));
            }
            Err(error) if asked.is_some_and(Path::is_file) => {
                return Err(error).context(could_not_read(path)).hint(HINT);
            }
            Err(_) => unreadable += 1,
        }
    }
    ui.progress("reading transcripts", transcripts.len(), transcripts.len());
    if unreadable > 0 {
        ui.warn(&format!("{unreadable} of {} transcripts could not be read", transcripts.len()));
    }
    compactions.sort_by_key(|compaction| std::cmp::Reverse(compaction.judgement.time));
    Ok(compactions)
}

fn compaction(path: &Path, judgement: Judgement) -> Compaction {
    let agent = JsonLines::open(path).ok().flatten().map(|file| sessions::agent_of(&file));
    let owner = agent.and_then(|agent| agent.transcript().owner(path));
    let owner = owner.map(|owner| owner.session.to_string());
    let name = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let session = owner.unwrap_or_else(name);
    Compaction { session, transcript: path.to_owned(), judgement }
}

/// The facts that both sides can be judged by: those of compactions whose summary is there.
fn comparable(compactions: &[Compaction]) -> Vec<&Fact> {
    let with_summary = compactions.iter().filter(|compaction| compaction.judgement.has_summary);
    with_summary.flat_map(|compaction| &compaction.judgement.facts).collect()
}

fn of_kind(facts: &[&Fact], kind: FactKind) -> RecallCounts {
    RecallCounts::of(facts.iter().copied().filter(|fact| fact.kind == kind))
}

fn sessions(compactions: &[Compaction]) -> usize {
    compactions.iter().map(|compaction| &compaction.transcript).collect::<HashSet<_>>().len()
}

/// These names are a promise to scripts.
#[derive(Serialize)]
struct ScoreView<'a> {
    sessions: usize,
    without_summary: usize,
    total: TallyView,
    files: TallyView,
    symbols: TallyView,
    commands: TallyView,
    references: TallyView,
    compactions: Vec<CompactionView<'a>>,
}

#[derive(Serialize)]
struct CompactionView<'a> {
    session: &'a str,
    transcript: &'a Path,
    time: Option<Millis>,
    has_summary: bool,
    #[serde(flatten)]
    tally: TallyView,
    facts: Vec<FactView<'a>>,
}

#[derive(Serialize)]
struct FactView<'a> {
    kind: &'static str,
    name: &'a str,
    in_summary: bool,
    in_restore: bool,
}

#[derive(Serialize)]
struct TallyView {
    needed: u64,
    summary: u64,
    restore: u64,
    together: u64,
    neither: u64,
}

impl From<RecallCounts> for TallyView {
    fn from(RecallCounts { needed, summary, restore, either: together }: RecallCounts) -> Self {
        Self { needed, summary, restore, together, neither: needed - together }
    }
}

impl<'a> ScoreView<'a> {
    fn of(compactions: &'a [Compaction]) -> Self {
        let facts = comparable(compactions);
        let kind = |kind| of_kind(&facts, kind).into();
        let is_bare = |compaction: &&Compaction| !compaction.judgement.has_summary;
        Self {
            sessions: sessions(compactions),
            without_summary: compactions.iter().filter(is_bare).count(),
            total: RecallCounts::of(facts.iter().copied()).into(),
            files: kind(FactKind::File),
            symbols: kind(FactKind::Symbol),
            commands: kind(FactKind::Command),
            references: kind(FactKind::Reference),
            compactions: compactions.iter().map(compaction_view).collect(),
        }
    }
}

fn compaction_view(compaction: &Compaction) -> CompactionView<'_> {
    let judgement = &compaction.judgement;
    CompactionView {
        session: &compaction.session,
        transcript: &compaction.transcript,
        time: judgement.time,
        has_summary: judgement.has_summary,
        tally: compaction.tally().into(),
        facts: judgement.facts.iter().map(fact_view).collect(),
    }
}

fn fact_view(fact: &Fact) -> FactView<'_> {
    let kind = match fact.kind {
        FactKind::File => "file",
        FactKind::Symbol => "symbol",
        FactKind::Command => "command",
        FactKind::Reference => "reference",
    };
    let Fact { name, in_summary, in_restore, .. } = fact;
    FactView { kind, name, in_summary: *in_summary, in_restore: *in_restore }
}
