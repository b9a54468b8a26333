//! The store that a team shares, in a PostgreSQL database. It is async because each query waits for
//! a network.
//!
//! Each machine works on its own store and sends the rows that it may share (`ship`). Queries here
//! cover the rows of all machines. One connection carries any number of queries at once. Names are
//! qualified and the SQL is plain, so that connection poolers and other engines with the same
//! protocol work too.

mod address;
mod board;
mod checkpoints;
mod column;
mod error;
mod migrations;
mod retention;
mod saves;
mod sessions;
mod ship;

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Row};

use self::address::Address;
pub use self::board::{ClaimRow, TeamMessage};
pub use self::error::TeamError;
pub use self::migrations::MigrationResult;
pub use self::retention::PrunedRows;
pub use self::sessions::{MachineRow, WithOwner};
pub use self::ship::SendingMachine;

/// Timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for one query or shipment.
const QUERY_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct TeamStore {
    client: Client,
}

/// Metadata of a team's database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseInfo {
    /// The unique id of the database.
    pub id: String,
    /// The number of migrations applied.
    pub version: i32,
    /// How long rows are kept. `None` if they are kept forever.
    pub retention_days: Option<u32>,
}

/// Signals notifications from other machines. Several notifications between two waits count as one,
/// and their payload is ignored.
pub type Notifications = Arc<Notify>;

impl TeamStore {
    /// Connects to the database at `url`. Fails if its tables are missing or belong to an
    /// incompatible version.
    pub async fn open(url: &str) -> Result<(Self, DatabaseInfo), TeamError> {
        let (store, _) = Self::connect(url).await?;
        let about = store.database_info().await?;
        Ok((store, about))
    }

    /// Connects without checking the tables. The second value signals notifications after a call to
    /// [`Self::listen`].
    pub async fn connect(url: &str) -> Result<(Self, Notifications), TeamError> {
        let address = Address::parse(url)?;
        let connected = timeout(CONNECT_TIMEOUT, connect(&address)).await;
        let (client, bell) = connected.map_err(|_| TeamError::TimedOut("connect to"))??;
        Ok((Self { client }, bell))
    }

    /// Checks the syntax of an address without connecting.
    pub fn check_address(url: &str) -> Result<(), TeamError> {
        Address::parse(url).map(drop)
    }

    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    async fn query_all(
        &self,
        task: &'static str,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, TeamError> {
        let answered = timeout(QUERY_TIMEOUT, self.client.query(sql, params)).await;
        let answered = answered.map_err(|_| TeamError::TimedOut(task))?;
        answered.map_err(|error| TeamError::from_query(task, error))
    }

    async fn query_one(
        &self,
        task: &'static str,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, TeamError> {
        Ok(self.query_all(task, sql, params).await?.into_iter().next())
    }
}

async fn connect(address: &Address) -> Result<(Client, Notifications), TeamError> {
    let unreachable = TeamError::from_connect;
    match address.tls()? {
        None => {
            let (client, connection) = address.config.connect(NoTls).await.map_err(unreachable)?;
            Ok((client, spawn_connection(connection)))
        }
        Some(tls) => {
            let (client, connection) = address.config.connect(tls).await.map_err(unreachable)?;
            Ok((client, spawn_connection(connection)))
        }
    }
}

/// Spawns a task that drives the connection until it closes.
fn spawn_connection<S, T>(mut connection: Connection<S, T>) -> Notifications
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let bell = Notifications::default();
    let rung = bell.clone();
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    tokio::spawn(async move {
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notification(_) = message {
                rung.notify_one();
            }
        }
    });
    bell
}
