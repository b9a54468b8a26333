//! `plimsoll git-hook`, and how git comes to call it.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_engine::install::{self, Program};
use plimsoll_engine::paths;
use plimsoll_engine::world::World;
use plimsoll_engine::{git, log, saves, settings};
use plimsoll_extract::save::templates::{self, Commit};

use super::init;
use super::planned::{self, Common, hinted, shown};
use crate::report::HintExt;
use crate::ui::Ui;

/// Save the commit that was just made
///
/// Git calls this after every commit, not you; `plimsoll init --git` sees to that. It says nothing and
/// never fails; `plimsoll log` shows what went wrong.
#[derive(clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {}

/// Saves the last commit. Whatever fails is logged: a commit is nobody's to spoil.
pub(crate) fn run(world: &World) -> anyhow::Result<()> {
    if !world.is_off()
        && let Err(error) = save(world)
    {
        log::write(&world.paths.log(), &format!("could not save a commit: {error:#}"));
    }
    Ok(())
}

fn save(world: &World) -> anyhow::Result<()> {
    let here = std::env::current_dir()?;
    let project = paths::canonical(&here);
    if !settings::of_project(world, &project).saves_commits() {
        return Ok(());
    }
    let head = git::head(&here)?;
    let environment = saves::environment(world, None).unwrap_or_default();
    let commit =
        Commit { sha: &head.sha, message: &head.subject, branch: &head.branch, files: head.files };
    let save = templates::commit_save(environment, &commit);
    let save = saves::made_here(world, &project, save);
    saves::keep(&world.paths, vec![save], saves::BRIEFLY)?;
    Ok(())
}

/// The name of git's hook.
const HOOK: &str = "post-commit";

/// Lets git call us after every commit in the repository of this folder.
pub(super) fn install(
    world: &World,
    ui: &Ui,
    common: &Common,
    program: &Program,
) -> anyhow::Result<()> {
    let (folder, path) = repository()?;
    let plan = hinted(install::plan_git(world, &init::name(program)?, &folder, &path))?;
    let mut out = ui.out();
    if path.exists() && !install::is_executable(&path) {
        ui.warn(&format!("`{}` is not executable: git passes over it", shown(&path)));
    }
    let changes = planned::show(ui, &plan)?;
    if !planned::show_copy(ui, program)? && !changes {
        writeln!(out, "Nothing to change: {} calls plimsoll", shown(&path))?;
        return Ok(());
    }
    let question = format!("Write this to {}?", shown(&path));
    if common.dry_run || !planned::is_agreed(ui, common.yes, &question, true)? {
        writeln!(out, "Nothing was written.")?;
        return Ok(());
    }
    planned::copy(program)?;
    let backups = planned::carry_out(world, ui, &plan)?;
    writeln!(out, "Wrote   {}", shown(&path))?;
    for backup in backups {
        writeln!(out, "Backup  {}", shown(&backup))?;
    }
    writeln!(out, "Undo    plimsoll uninstall --git")?;
    Ok(out.flush()?)
}

/// Takes us out of git's hook again.
pub(super) fn uninstall(world: &World, ui: &Ui, common: &Common) -> anyhow::Result<()> {
    let (_, path) = repository()?;
    let plan = hinted(install::plan_git_removal(world, &path))?;
    let mut out = ui.out();
    if !planned::show(ui, &plan)? {
        writeln!(out, "Nothing to remove: {} does not call plimsoll", shown(&path))?;
    } else if common.dry_run || !planned::is_agreed(ui, common.yes, "Remove this?", true)? {
        writeln!(out, "Nothing was removed.")?;
        return Ok(());
    }
    planned::carry_out(world, ui, &plan)?;
    Ok(out.flush()?)
}

/// The repository of this folder, and where its hook lies.
fn repository() -> anyhow::Result<(PathBuf, PathBuf)> {
    let here = std::env::current_dir().context("could not find the current folder")?;
    let path = git::hook_file(&here, HOOK)
        .with_context(|| format!("could not find git's hooks of `{}`", here.display()))
        .hint("go to a repository first, or make one with `git init`")?;
    Ok((here, absolute(&path)))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
