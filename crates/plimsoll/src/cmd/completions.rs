//! `plimsoll completions`

use clap_complete::{Shell, generate};

use crate::ui::Ui;

/// Print a script that completes plimsoll's arguments in your shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  bash  plimsoll completions bash > ~/.local/share/bash-completion/completions/plimsoll
  zsh   plimsoll completions zsh > ~/.zfunc/_plimsoll        (with ~/.zfunc in $fpath)
  fish  plimsoll completions fish > ~/.config/fish/completions/plimsoll.fish")]
pub(crate) struct Args {
    /// The shell that is to read it
    shell: Shell,
}

pub(crate) fn run(ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut super::command(), "plimsoll", &mut script);
    ui.print(&String::from_utf8_lossy(&script))
}
