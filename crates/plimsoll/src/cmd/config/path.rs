//! `plimsoll config path`

use std::path::PathBuf;

use plimsoll_engine::settings;
use plimsoll_engine::world::World;
use serde::Serialize;

use crate::ui::{self, Ui};

/// Print where the config files and the data are
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  $EDITOR \"$(plimsoll config path --json | jq -r .user_config.path)\"")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct PathsView {
    user_config: PathView,
    project_config: PathView,
    data: PathView,
}

#[derive(Serialize)]
struct PathView {
    path: PathBuf,
    exists: bool,
}

impl PathView {
    fn new(path: PathBuf) -> Self {
        Self { exists: path.exists(), path }
    }
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let project = crate::cmd::project(world)?;
    let [(user, _), (own, _)] = settings::config_paths(world, &project);
    let view = PathsView {
        user_config: PathView::new(user),
        project_config: PathView::new(own),
        data: PathView::new(world.paths.data.clone()),
    };
    if args.json {
        return ui.print_json(&view);
    }
    let line = |name: &str, view: &PathView| {
        let missing = if view.exists { "" } else { "  (missing)" };
        format!(
            "{name:<14}  {}{}\n",
            ui::strip_control(&view.path.to_string_lossy()),
            ui.dim(missing)
        )
    };
    let lines = [
        line("user config", &view.user_config),
        line("project config", &view.project_config),
        line("data", &view.data),
    ];
    ui.print(&lines.concat())
}
