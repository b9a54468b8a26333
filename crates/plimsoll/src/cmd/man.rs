//! `plimsoll man`

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Command;

use super::VERSION;
use crate::report::HintExt;
use crate::ui::Ui;

/// Print the manual page of plimsoll or of one of its commands
///
/// In the format that man reads.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll man | man -l -
  plimsoll man config show | man -l -
  plimsoll man --all ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// The command, and its own command if it has any (default: plimsoll itself)
    command: Vec<String>,
    /// Write the pages of all commands into a folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    all: Option<PathBuf>,
}

pub(crate) fn run(ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let mut command = super::command();
    command.build();
    if let Some(folder) = &args.all {
        return fs::create_dir_all(folder)
            .map_err(anyhow::Error::from)
            .and_then(|()| write(&command, folder))
            .with_context(|| format!("could not write manual pages into `{}`", folder.display()))
            .hint("name a folder that you may write to");
    }
    for name in &args.command {
        command = command
            .find_subcommand(name)
            .with_context(|| format!("there is no command `{}`", args.command.join(" ")))
            .hint("`plimsoll --help` lists the commands")?
            .clone();
    }
    ui.print(&String::from_utf8_lossy(&page(&command)?))
}

/// Writes the pages of a command and of all its commands.
fn write(command: &Command, folder: &Path) -> anyhow::Result<()> {
    fs::write(folder.join(format!("{}.1", title(command))), page(command)?)?;
    let is_told = |command: &&Command| command.get_name() != "help" && !command.is_hide_set();
    command.get_subcommands().filter(is_told).try_for_each(|command| write(command, folder))
}

fn page(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    let source = format!("plimsoll {VERSION}");
    clap_mangen::Man::new(command.clone())
        .title(title(command))
        .source(source)
        .render(&mut page)?;
    Ok(page)
}

/// A page is called after the whole command, as `git-log` is.
fn title(command: &Command) -> String {
    command.get_bin_name().unwrap_or("plimsoll").replace(' ', "-")
}
