//! `plimsoll man`

use anyhow::Context;

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
  plimsoll man > ~/.local/share/man/man1/plimsoll.1")]
pub(crate) struct Args {
    /// The command, and its own command if it has any (default: plimsoll itself)
    command: Vec<String>,
}

pub(crate) fn run(ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let mut command = super::command();
    command.build();
    for name in &args.command {
        command = command
            .find_subcommand(name)
            .with_context(|| format!("there is no command `{}`", args.command.join(" ")))
            .hint("`plimsoll --help` lists the commands")?
            .clone();
    }
    // A page is called after the whole command, as `git-log` is.
    let name = command.get_bin_name().unwrap_or("plimsoll").replace(' ', "-");
    let mut page = Vec::new();
    let source = concat!("plimsoll ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).title(name).source(source).render(&mut page)?;
    ui.print(&String::from_utf8_lossy(&page))
}
