//! `plimsoll team` in a build without the feature `team`: says so.

use plimsoll_engine::world::World;
use plimsoll_server::team::TeamError;

use crate::report::HintExt;
use crate::ui::Ui;

/// Share data with a team: not in this build
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Whatever is asked of the team's database
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<String>,
}

pub(crate) fn run(_: &World, _: &Ui, _: &Args) -> anyhow::Result<()> {
    Err(TeamError.into()).hint(TeamError.hint())
}
