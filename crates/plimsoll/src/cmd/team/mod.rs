//! `plimsoll team`

mod status;

use std::num::NonZeroU32;

use clap::Subcommand;
use plimsoll_engine::settings;
use plimsoll_engine::world::World;
use plimsoll_server::team::{self, TeamError};

use crate::ingest;
use crate::past::counted;
use crate::report::HintExt;
use crate::ui::Ui;

/// Share readings, checkpoints, saves and the board with a team, in a PostgreSQL database
///
/// Set `team.database_url` in your own config, or PLIMSOLL_DATABASE_URL. Then `plimsoll serve` and
/// `plimsoll watch` send what `team.share` and `team.projects` allow, readings alone if nothing is said,
/// and the dashboard shows everybody's. No hook ever waits for it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  PLIMSOLL_DATABASE_URL=postgres://owner@db/plimsoll plimsoll team init --retention-days 90
  plimsoll team status
  plimsoll team sync")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(InitArgs),
    Status(status::Args),
    Sync(SyncArgs),
    Prune(PruneArgs),
}

/// Make the tables of the team's database, or bring them up to date
///
/// For whoever owns the database: it needs the right to make a schema called `plimsoll`. Whoever runs an
/// older version goes on working.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  PLIMSOLL_DATABASE_URL=postgres://owner@db/plimsoll plimsoll team init --retention-days 90")]
struct InitArgs {
    /// For how many days things are kept there, from now on; for ever if it was never said
    #[arg(long, value_name = "DAYS")]
    retention_days: Option<NonZeroU32>,
}

/// Send whatever waits, and fetch messages, now
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  plimsoll team sync")]
struct SyncArgs {}

/// Take what is older than the team wants out of its database
///
/// How long that is was said with `plimsoll team init --retention-days`. It needs the right to delete.
#[derive(clap::Args)]
#[command(after_help = "\
Example, in a crontab of whoever owns the database:
  0 4 * * * PLIMSOLL_DATABASE_URL=postgres://owner@db/plimsoll plimsoll team prune")]
struct PruneArgs {}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Init(args) => init(world, ui, args),
        Command::Status(args) => status::run(world, ui, args),
        Command::Sync(_) => sync(world, ui),
        Command::Prune(_) => prune(world, ui),
    }
}

fn init(world: &World, ui: &Ui, args: &InitArgs) -> anyhow::Result<()> {
    let migrated = hinted(team::init(world, args.retention_days))?;
    let database = shown(world);
    ui.print(&match migrated.from == migrated.to {
        true => format!("The tables in {database} are up to date (version {}).\n", migrated.to),
        false => format!("The tables in {database} have version {} now.\n", migrated.to),
    })
}

fn sync(world: &World, ui: &Ui) -> anyhow::Result<()> {
    ingest::everything(world, ui)?;
    let synced = hinted(team::sync(world))?;
    let rows = counted(synced.rows as u64, "row", "rows");
    ui.print(&format!("{rows} went to {}.\n", shown(world)))
}

fn prune(world: &World, ui: &Ui) -> anyhow::Result<()> {
    let pruned = hinted(team::prune(world))?;
    ui.print(&match pruned {
        None => "Everything is kept: nobody has said for how long.\n".to_owned(),
        Some(gone) => format!(
            "Too old, and gone: {}, {} and {}.\n",
            counted(gone.sessions, "session", "sessions"),
            counted(gone.checkpoints, "checkpoint", "checkpoints"),
            counted(gone.saves, "save", "saves")
        ),
    })
}

/// The team's database, as it may be shown.
fn shown(world: &World) -> String {
    settings::team(world).database_url.map_or_else(String::new, |url| url.shown().to_owned())
}

/// What the database says, with what to do about it.
fn hinted<T>(result: anyhow::Result<T>) -> anyhow::Result<T> {
    result.or_else(|error| {
        let hint =
            error.downcast_ref::<TeamError>().map_or("run `plimsoll doctor`", |it| it.hint());
        Err(error).hint(hint)
    })
}
