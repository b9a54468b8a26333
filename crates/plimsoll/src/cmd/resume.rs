//! `plimsoll resume`

use std::fmt::Write as _;
use std::path::Path;

use plimsoll_agents::{Agent, of_session};
use plimsoll_core::text::duration;
use plimsoll_core::time::utc_second;
use plimsoll_engine::install::has_command;
use plimsoll_engine::resume::{self, Resumable, Since};
use plimsoll_engine::world::World;
use serde::Serialize;

use super::checkpoint::{found, place};
use crate::layout::{COLUMNS, fit};
use crate::ui::{self, Ui, strip_control};

/// Show where the work was left, and how to go on
///
/// The newest checkpoint of this project that you sealed and that no running session made: what it is
/// about, what has changed since, and how to give it to a session.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll resume
  plimsoll resume --json | jq -r .id")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let place = place(world)?;
    let newest = found(resume::newest(world, &place, resume::asking(world).as_ref()))?;
    let seen = newest.as_ref().map(|newest| Seen {
        newest,
        since: newest.since(),
        commands: commands(world, newest),
    });
    match (args.json, seen) {
        (true, seen) => ui.print_json(&seen.as_ref().map(view)),
        (false, Some(seen)) => ui.print(&text(ui, &seen)),
        (false, None) => {
            let project = ui::short_path(&place.project, &world.paths.home);
            ui.print(&format!(
                "There is no checkpoint to go on from in {project}.\n\
                 `plimsoll checkpoint create` makes one of the newest session here;\n\
                 `plimsoll init` has them made before every compaction.\n"
            ))
        }
    }
}

/// A checkpoint with what there is to say of it.
struct Seen<'a> {
    newest: &'a Resumable,
    since: Since,
    commands: Vec<Load>,
}

/// A way to load a checkpoint.
#[derive(Serialize)]
struct Load {
    command: String,
    #[serde(skip)]
    about: &'static str,
}

/// The ways to go on, the best first.
fn commands(world: &World, newest: &Resumable) -> Vec<Load> {
    const RESUME: &str = "resume-work";
    let project = Path::new(&newest.meta.project);
    let has_command = |agent: &&'static dyn Agent| has_command(world, *agent, project, RESUME);
    let in_client = plimsoll_agents::ALL.iter().any(has_command).then(|| Load {
        command: format!("/{RESUME}"),
        about: "in a new session: give it to the model",
    });
    let transcript = newest.meta.transcript.as_ref().map(|source| Path::new(&source.path));
    let is_kept = transcript.is_some_and(Path::is_file);
    let session =
        newest.session().filter(|_| is_kept && newest.other().is_some()).and_then(|session| {
            let command = of_session(&session)?.installer().resume(&session);
            Some(Load { command, about: "take its session up again" })
        });
    let command = format!("plimsoll restore --checkpoint {}", newest.meta.id);
    let text = Load { command, about: "print the text for the model" };
    in_client.into_iter().chain(session).chain([text]).collect()
}

fn text(ui: &Ui, seen: &Seen<'_>) -> String {
    let newest = seen.newest;
    let mut text = ui.bold(&fit(&[strip_control(&newest.summary)], COLUMNS));
    let meta = &newest.meta;
    let word = |is_so: bool, word: &str| if is_so { word.to_owned() } else { String::new() };
    let facts = [
        strip_control(&meta.id),
        format!("{} ago", duration(newest.age() / 1000)),
        meta.occasion.label().to_owned(),
        word(meta.partial, "partial"),
    ];
    let whose = match newest.other() {
        Some(session) => format!("of another session, {}", strip_control(session)),
        None => "of this session".to_owned(),
    };
    for facts in [fit(&facts, COLUMNS - 2), fit(&[whose], COLUMNS - 2)] {
        let _ = write!(text, "\n  {}", ui.dim(&facts));
    }
    text.push('\n');
    section(ui, &mut text, "Next steps", &steps(newest));
    section(ui, &mut text, "Since then", &changes(&seen.since));
    let ways: Vec<String> = seen
        .commands
        .iter()
        .flat_map(|load| [load.command.clone(), format!("  {}", load.about)])
        .collect();
    section(ui, &mut text, "To go on", &ways);
    text
}

fn section(ui: &Ui, text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", ui.bold(title));
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
}

fn steps(newest: &Resumable) -> Vec<String> {
    const MOST: usize = 5;
    let steps = newest.next_steps().into_iter().take(MOST);
    steps.map(|step| fit(&[strip_control(step)], COLUMNS - 2)).collect()
}

fn changes(since: &Since) -> Vec<String> {
    if since.is_nothing() {
        return vec!["nothing that it names has changed".to_owned()];
    }
    let files = |files: &[String], is: &str, are: &str| match files {
        [] => Vec::new(),
        [one] => vec![fit(&[format!("{} {is}", strip_control(one))], COLUMNS - 2)],
        many => {
            let names = strip_control(&many.join(", "));
            vec![fit(&[format!("{} files {are}: {names}", many.len())], COLUMNS - 2)]
        }
    };
    let moved = since.moved.as_ref().map(|moved| fit(&[strip_control(moved)], COLUMNS - 2));
    let changed = files(&since.changed, "was changed", "were changed");
    let gone = files(&since.gone, "is gone", "are gone");
    moved.into_iter().chain(changed).chain(gone).collect()
}

/// These names are a promise to scripts.
#[derive(Serialize)]
struct View<'a> {
    id: &'a str,
    summary: &'a str,
    created: String,
    age_seconds: u64,
    trigger: &'static str,
    partial: bool,
    session_id: &'a str,
    /// Whether the session is another than the one this runs in.
    other_session: bool,
    next_steps: Vec<&'a str>,
    since: SinceView<'a>,
    commands: &'a [Load],
}

#[derive(Serialize)]
struct SinceView<'a> {
    git: Option<&'a str>,
    changed: &'a [String],
    gone: &'a [String],
}

fn view<'a>(seen: &'a Seen<'_>) -> View<'a> {
    let (newest, since) = (seen.newest, &seen.since);
    View {
        id: &newest.meta.id,
        summary: &newest.summary,
        created: utc_second(newest.meta.created),
        age_seconds: newest.age() / 1000,
        trigger: newest.meta.occasion.label(),
        partial: newest.meta.partial,
        session_id: &newest.meta.session_id,
        other_session: newest.other().is_some(),
        next_steps: newest.next_steps(),
        since: SinceView {
            git: since.moved.as_deref(),
            changed: &since.changed,
            gone: &since.gone,
        },
        commands: &seen.commands,
    }
}
