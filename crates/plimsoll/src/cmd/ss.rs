//! `plimsoll ss`

use anyhow::Context;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_engine::load;
use plimsoll_engine::resume;
use plimsoll_engine::saves;
use plimsoll_engine::world::World;
use plimsoll_extract::save::{NewSave, Save};

use super::checkpoint::create;
use super::rs::{environment, view};
use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// Save the state of this session under a name, to be restored with `rs`
///
/// In an agent's session what is not said is taken from its transcript: a checkpoint is sealed, and the
/// save points to it. Secrets are taken out first. The environment is the one named, else what
/// PLIMSOLL_ENV or CONTEXTS_ENV says, else `development`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll ss                                   in a session: all of it from the transcript
  plimsoll ss release --next-steps 'tag v0.4.0'
  plimsoll ss staging --task 'Mend the login' --blockers 'no access' --tag auth --tag urgent")]
pub(crate) struct Args {
    /// What to file it under
    #[arg(value_name = "ENV")]
    environment: Option<String>,
    /// What is being done
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    task: Option<String>,
    /// What one must know to go on
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    context: Option<String>,
    /// What is in the way
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    blockers: Option<String>,
    /// What comes next
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    next_steps: Option<String>,
    /// A word to find it by; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A file or a name that matters; may be given several times
    #[arg(long = "artifact", value_name = "NAME")]
    artifacts: Vec<String>,
    /// The session to take it from, where it is not the one this runs in
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let save = told(world, ui, args)?;
    let kept = saves::keep(&world.paths, vec![save], saves::PATIENTLY);
    let data = crate::ui::shell_quoted(&world.paths.data);
    let kept = kept
        .context("could not write the save down")
        .hint(format!("run `ls -ld {data}` to see whether it can be written"))?;
    kept.first().map_or(Ok(()), |save| tell(ui, args, save))
}

/// What is to be saved: what was said, and the rest from the session.
fn told(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<NewSave> {
    let said = said(world, args)?;
    let session = args.session.clone().or_else(|| Some(resume::asking(world)?.to_string()));
    let says_task = !said.task.trim().is_empty();
    let Some(session) = session else {
        return Some(said)
            .filter(|_| says_task)
            .context("there is nothing to save: no task was named, and no session runs here")
            .hint("name it, for example `plimsoll ss --task 'Mend the login'`");
    };
    let found = create::named(world, &session);
    // What was said is saved, whatever became of the session's transcript.
    let found = match (found, args.session.is_none() && says_task) {
        (Err(_), true) => return Ok(said),
        (found, _) => found?,
    };
    let id = &found.owner.session;
    let told = saves::of_session(world, found.agent, id, &found.path, said, Occasion::Manual)
        .context("could not save the session")
        .hint("name the task: `plimsoll ss --task TEXT` outside a session saves what is said")?;
    told.sealed.warnings.iter().for_each(|warning| ui.warn(warning));
    Ok(told.save)
}

fn said(world: &World, args: &Args) -> anyhow::Result<NewSave> {
    // In a folder that is gone one can still save.
    let project = load::project_here(world).ok();
    Ok(NewSave {
        environment: environment(world, args.environment.as_deref())?,
        task: args.task.clone().unwrap_or_default(),
        context: args.context.clone(),
        blockers: args.blockers.clone(),
        next_steps: args.next_steps.clone(),
        tags: args.tags.clone(),
        key_artifacts: args.artifacts.clone(),
        project: project.map(|folder| folder.to_string_lossy().into_owned()),
        ..NewSave::default()
    })
}

fn tell(ui: &Ui, args: &Args, save: &Save) -> anyhow::Result<()> {
    if args.json {
        return ui.print_json(&view(save));
    }
    let environment = &save.what.environment;
    let task = strip_control(save.what.task.lines().next().unwrap_or_default());
    ui.print(&format!(
        "Saved `{task}` in {environment}.\nRestore it with `plimsoll rs {environment}`, or /rs {environment} in a new session.\n"
    ))
}
