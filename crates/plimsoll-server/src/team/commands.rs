//! One-time operations on the team database, for the commands.

use std::num::NonZeroU32;
use std::path::Path;

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::settings::{DatabaseUrl, Shared, Team};
use plimsoll_engine::world::{World, now};
use plimsoll_engine::{board, settings};
use plimsoll_store::postgres::{
    ClaimRow, DatabaseInfo, MachineRow, MigrationResult, PrunedRows, TeamError, TeamStore,
    WithOwner,
};
use plimsoll_store::{OutboxStatus, RemoteSession};

use super::connection::{TeamConnection, no_database, open_store};
use super::exchange::remote_holder;

/// State of this machine's team connection.
#[derive(Debug)]
pub struct TeamReport {
    /// Team settings.
    pub team: Team,
    /// Rows waiting to be sent.
    pub waiting: OutboxStatus,
    /// Contents of the database, or the reason why it cannot be read.
    pub database: Result<TeamOverview, TeamError>,
}

/// Contents of the team database.
#[derive(Debug)]
pub struct TeamOverview {
    /// Description of the database.
    pub about: DatabaseInfo,
    /// The team's machines.
    pub machines: Vec<WithOwner<MachineRow>>,
    /// Claims held on other machines.
    pub claims: Vec<ClaimRow>,
}

/// Result of [`sync`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncReport {
    /// Number of rows sent.
    pub rows: usize,
}

/// Creates the tables of the team database, or migrates them.
pub fn init(world: &World, retention_days: Option<NonZeroU32>) -> anyhow::Result<MigrationResult> {
    let url = database_url(world)?;
    block_on(async {
        let (mut there, _) = TeamStore::connect(&url).await?;
        Ok(there.migrate(retention_days, now() as Millis).await?)
    })
}

/// Checks that an address is usable, without connecting.
pub fn check_url(url: &DatabaseUrl) -> Result<(), TeamError> {
    TeamStore::check_address(url.whole())
}

/// Sends all waiting rows and exchanges messages and claims.
pub fn sync(world: &World) -> anyhow::Result<SyncReport> {
    let team = settings::team(world);
    database_url(world)?;
    if team.share.is_empty() {
        return Ok(SyncReport { rows: 0 });
    }
    block_on(async {
        let mut office = TeamConnection::open(world, &team).await?;
        office.announce().await?;
        let mut rows = 0;
        while let Some(sent) = office.ship(world, &team).await? {
            rows += sent;
        }
        if team.shares(Shared::Board) {
            office.exchange_messages(world).await?;
            office.exchange_claims(world, &team).await?;
        }
        Ok(SyncReport { rows })
    })
}

/// Returns sessions on other machines whose ids start with `name`, as recipients of a message.
/// Empty if the board is not shared. An exact match is returned alone.
pub fn sessions_named(world: &World, name: &str) -> anyhow::Result<Vec<SessionId>> {
    const SOME: u32 = 3;
    let team = settings::team(world);
    let url = team.database_url.as_ref().filter(|_| team.shares(Shared::Board));
    let Some(url) = url.filter(|_| SessionId::new(name).is_some()) else { return Ok(Vec::new()) };
    let mut named = block_on(async {
        let (there, _) = TeamStore::open(url.whole()).await?;
        Ok(there.sessions_matching_id(name, SOME).await?)
    })?;
    if named.first().is_some_and(|session| session.as_str() == name) {
        named.truncate(1);
    }
    Ok(named)
}

/// Returns recently active sessions on other machines that `name` addresses as a group: `all`, or a
/// project. Empty if the board is not shared.
pub fn sessions_among(world: &World, name: &str) -> anyhow::Result<Vec<RemoteSession>> {
    let team = settings::team(world);
    let url = team.database_url.as_ref().filter(|_| team.shares(Shared::Board));
    let Some(url) = url else { return Ok(Vec::new()) };
    let store = open_store(world)?;
    let since = now() as Millis - board::LATELY.as_millis() as Millis;
    let mut lately = block_on(async {
        let (there, _) = TeamStore::open(url.whole()).await?;
        Ok(there.remote_sessions_since(store.machine_id(), since).await?)
    })?;
    lately.retain(|session| board::is_among(name, session.project.as_deref()));
    Ok(lately)
}

/// Sends messages for sessions on other machines.
pub fn send_messages(world: &World) -> anyhow::Result<()> {
    let team = settings::team(world);
    block_on(async { TeamConnection::open(world, &team).await?.exchange_messages(world).await })
}

/// Ends the claim on a path that another machine holds, on that machine too. Does nothing if this
/// machine holds the claim or does not share the board.
pub fn end_claim(world: &World, path: &Path) -> anyhow::Result<()> {
    let team = settings::team(world);
    let claims = board::claims(&world.paths)?;
    let held = claims.iter().find(|claim| claim.path == path).and_then(remote_holder);
    let url = team.database_url.as_ref().filter(|_| team.shares(Shared::Board));
    let Some(((holder, host), url)) = held.zip(url) else { return Ok(()) };
    let store = open_store(world)?;
    block_on(async {
        let (there, _) = TeamStore::open(url.whole()).await?;
        Ok(there.end_claim(store.machine_id(), path, holder, host).await?)
    })
}

/// Reads the state of this machine's team connection.
pub fn status(world: &World) -> anyhow::Result<TeamReport> {
    let team = settings::team(world);
    let store = open_store(world)?;
    let there = match &team.database_url {
        None => Err(no_database(world)),
        Some(url) => block_on(async { Ok(read_overview(url.whole(), store.machine_id()).await) })?,
    };
    Ok(TeamReport { team, waiting: store.outbox_status()?, database: there })
}

async fn read_overview(url: &str, machine: &str) -> Result<TeamOverview, TeamError> {
    let (there, about) = TeamStore::open(url).await?;
    let machines = there.machines().await?;
    let claims = there.claims(machine, now() as Millis).await?;
    Ok(TeamOverview { about, machines, claims })
}

/// Deletes rows older than the team's retention period. `None` if the team keeps everything.
pub fn prune(world: &World) -> anyhow::Result<Option<PrunedRows>> {
    let url = database_url(world)?;
    block_on(async {
        let (mut there, about) = TeamStore::open(&url).await?;
        match about.retention_days {
            None => Ok(None),
            Some(_) => Ok(Some(there.prune(about.retention_start(now() as Millis)).await?)),
        }
    })
}

fn database_url(world: &World) -> Result<String, TeamError> {
    let url = settings::team(world).database_url;
    url.map(|url| url.whole().to_owned()).ok_or_else(|| no_database(world))
}

fn block_on<T>(errand: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(errand)
}
