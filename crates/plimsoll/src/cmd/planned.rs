//! What `init` and `uninstall` have in common: a plan is shown, agreed to and carried out.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use plimsoll_agents::Agent;
use plimsoll_agents::install::{Inspection, Scope};
use plimsoll_engine::install::{self, Done, Failed, Plan, Program};
use plimsoll_engine::load;
use plimsoll_engine::paths::is_same;
use plimsoll_engine::world::World;

use crate::diff;
use crate::report::HintExt;
use crate::ui::{Ui, shell_quoted, strip_control};

/// For whom, on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ScopeArg {
    /// You, in every project
    User,
    /// Everybody who works in the project of this folder
    Project,
    /// You, in the project of this folder
    Local,
}

/// What both commands take.
#[derive(clap::Args)]
pub(super) struct Common {
    #[command(flatten)]
    pub(super) agent: super::AgentArg,
    /// For whom
    #[arg(long, value_enum, default_value = "user")]
    pub(super) scope: ScopeArg,
    /// Show what would change and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Ask nothing; needed where there is no terminal
    #[arg(long, short)]
    pub(super) yes: bool,
}

impl From<ScopeArg> for Scope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::User => Self::User,
            ScopeArg::Project => Self::Project,
            ScopeArg::Local => Self::Local,
        }
    }
}

/// Says so if this folder is not the one that clients are started in.
pub(super) fn tell_root(ui: &Ui, scope: Scope, project: &Path) {
    let root = load::repository_above(project).filter(|_| scope != Scope::User);
    if let Some(root) = root {
        ui.warn(&format!(
            "this is a folder of the repository `{}`: a client that is started there does not read \
             the settings of this one; `cd {}` leads there",
            root.display(),
            shell_quoted(root)
        ));
    }
}

/// Refuses a project that is no other place than the user's own.
pub(super) fn check_scope(
    world: &World,
    agent: &'static dyn Agent,
    scope: Scope,
    project: &Path,
) -> anyhow::Result<()> {
    let settings = |scope| install::files(world, agent, scope, project).settings;
    let same = scope != Scope::User && is_same(&settings(scope), &settings(Scope::User));
    match same {
        false => Ok(()),
        true => Err(anyhow::anyhow!("the settings of this folder are those of the user scope"))
            .hint("go to a project, or leave out `--scope`"),
    }
}

/// A file that could not be changed, with what to do about it.
pub(super) fn hinted<T>(result: Result<T, Failed>) -> anyhow::Result<T> {
    result.or_else(|failed| {
        let hint = failed.hint();
        Err(failed.into()).hint(hint)
    })
}

/// Shows what is to change. Tells whether anything is.
pub(super) fn show(ui: &Ui, plan: &Plan) -> anyhow::Result<bool> {
    let mut out = ui.out();
    if let Some(record) = &plan.damaged {
        ui.warn(&format!(
            "`{}` cannot be understood: files are undone by what they say, not to the byte",
            record.display()
        ));
    }
    let mut any = false;
    for change in plan.changes.iter().filter(|change| change.is_visible()) {
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        write!(out, "{}", diff::unified(ui, &shown(&change.path), before, after))?;
        any = true;
    }
    out.flush()?;
    Ok(any)
}

/// Shows that the program is to be copied. Returns whether it is.
pub(super) fn show_copy(ui: &Ui, program: &Program) -> anyhow::Result<bool> {
    let Some(from) = program.copied_from.as_ref().filter(|_| program.needs_copy()) else {
        return Ok(false);
    };
    let (from, to) = (shown(from), shown(&program.path));
    ui.print(&format!(
        "Copy {from}\n  to {to}\n  (hooks call the copy: an upgrade may move or remove the program itself)\n"
    ))?;
    Ok(true)
}

/// Makes the copy of the program that hooks call, where there is to be one.
pub(super) fn copy(program: &Program) -> anyhow::Result<()> {
    program
        .copy()
        .with_context(|| format!("could not copy plimsoll to `{}`", program.path.display()))
        .hint("set PLIMSOLL_DATA_DIR to a folder in which programs may run")
}

/// Carries a plan out. A record that was in the way is named.
pub(super) fn carry_out(world: &World, ui: &Ui, plan: &Plan) -> anyhow::Result<Vec<PathBuf>> {
    let Done { backups, set_aside } = hinted(install::carry_out(world, plan))?;
    if let Some(path) = set_aside {
        ui.warn(&format!("what cannot be understood is `{}` now", path.display()));
    }
    Ok(backups)
}

/// Whether the user wants it. If there is no terminal to ask on, only `--yes` says so.
pub(super) fn is_agreed(ui: &Ui, yes: bool, question: &str, usual: bool) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !ui.is_interactive() {
        return Err(anyhow::anyhow!("nothing was changed: there is no terminal to ask you on"))
            .hint("run the same with `--yes` to agree; `--dry-run` only shows what would change");
    }
    Ok(ui.ask(question, usual)?)
}

/// A path as it may be shown.
pub(super) fn shown(path: &Path) -> String {
    strip_control(&path.to_string_lossy())
}

/// Returns the other scopes that apply to this folder and in which plimsoll is installed.
pub(super) fn elsewhere(
    world: &World,
    agent: &'static dyn Agent,
    scope: Scope,
    project: &Path,
) -> Vec<(Scope, PathBuf, Inspection)> {
    let settings = |scope| install::files(world, agent, scope, project).settings;
    let others = Scope::ALL.into_iter().filter(|other| *other != scope);
    let found = others.filter(|other| !is_same(&settings(*other), &settings(scope)));
    found
        .filter_map(|other| {
            let found = install::inspect(world, agent, other, project).ok()??;
            found.has_ours().then(|| (other, settings(other), found))
        })
        .collect()
}
