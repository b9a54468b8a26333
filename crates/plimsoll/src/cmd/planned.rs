//! What `init` and `uninstall` have in common: a plan is shown, agreed to and carried out.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use plimsoll_agents::Adapter;
use plimsoll_agents::install::{Inspection, Scope};
use plimsoll_engine::install::{self, Failed, Plan};
use plimsoll_engine::world::World;

use crate::diff;
use crate::report::HintExt;
use crate::ui::{Ui, plain};

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

impl From<ScopeArg> for Scope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::User => Self::User,
            ScopeArg::Project => Self::Project,
            ScopeArg::Local => Self::Local,
        }
    }
}

/// The project of this folder.
pub(super) fn project() -> anyhow::Result<PathBuf> {
    std::env::current_dir()
        .context("could not find out which folder this is")
        .hint("go to a folder that exists, for example `cd`")
}

/// Refuses a project that is no other place than the user's own.
pub(super) fn check_scope(
    world: &World,
    adapter: &dyn Adapter,
    scope: Scope,
    project: &Path,
) -> anyhow::Result<()> {
    let settings = |scope| install::files(world, adapter, scope, project).settings;
    let same = scope != Scope::User && is_same(&settings(scope), &settings(Scope::User));
    match same {
        false => Ok(()),
        true => Err(anyhow::anyhow!("the settings of this folder are those of the user scope"))
            .hint("go to a project, or leave out `--scope`"),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
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
    let mut any = false;
    for change in plan.changes.iter().filter(|change| change.is_visible()) {
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        write!(out, "{}", diff::unified(ui, &shown(&change.path), before, after))?;
        any = true;
    }
    out.flush()?;
    Ok(any)
}

/// Whether the user wants it; one who cannot be asked has said so by calling us.
pub(super) fn is_agreed(ui: &Ui, yes: bool, question: &str) -> anyhow::Result<bool> {
    Ok(yes || !ui.is_interactive() || ui.ask(question, true)?)
}

/// A path as it may be shown.
pub(super) fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy())
}

/// Where else in reach of this folder we are installed.
pub(super) fn elsewhere(
    world: &World,
    adapter: &dyn Adapter,
    scope: Scope,
    project: &Path,
) -> Vec<(Scope, PathBuf, Inspection)> {
    let settings = |scope| install::files(world, adapter, scope, project).settings;
    let others = Scope::ALL.into_iter().filter(|other| *other != scope);
    let found = others.filter(|other| !is_same(&settings(*other), &settings(scope)));
    found
        .filter_map(|other| {
            let found = install::inspect(world, adapter, other, project).ok()??;
            found.has_ours().then(|| (other, settings(other), found))
        })
        .collect()
}
