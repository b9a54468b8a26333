//! Deletion of old rows.

use plimsoll_core::Millis;

use super::{DatabaseInfo, TeamError, TeamStore};

const DAY: Millis = 24 * 60 * 60 * 1000;

/// The number of deleted rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrunedRows {
    /// Sessions, each with its readings and compactions.
    pub sessions: u64,
    pub checkpoints: u64,
    pub saves: u64,
}

impl DatabaseInfo {
    /// Returns the time before which rows are deleted.
    pub fn retention_start(&self, now: Millis) -> Millis {
        self.retention_days.map_or(Millis::MIN, |days| now - Millis::from(days) * DAY)
    }
}

impl TeamStore {
    /// Deletes all rows older than `since`.
    pub async fn prune(&mut self, since: Millis) -> Result<PrunedRows, TeamError> {
        let failed = |error| TeamError::from_query("take what is too old out of", error);
        let transaction = self.client.transaction().await.map_err(failed)?;
        for table in ["readings", "compactions"] {
            let sql = format!(
                "DELETE FROM plimsoll.{table} USING plimsoll.sessions
                 WHERE sessions.session = {table}.session AND sessions.last_seen < $1"
            );
            transaction.execute(&sql, &[&since]).await.map_err(failed)?;
        }
        let sql = "DELETE FROM plimsoll.sessions WHERE last_seen < $1";
        let sessions = transaction.execute(sql, &[&since]).await.map_err(failed)?;
        let sql = "DELETE FROM plimsoll.checkpoints WHERE created < $1";
        let checkpoints = transaction.execute(sql, &[&since]).await.map_err(failed)?;
        let sql = "DELETE FROM plimsoll.saves WHERE created < $1";
        let saves = transaction.execute(sql, &[&since]).await.map_err(failed)?;
        for sql in [
            "DELETE FROM plimsoll.messages WHERE expires < $1",
            "DELETE FROM plimsoll.claims WHERE until < $1",
        ] {
            transaction.execute(sql, &[&since]).await.map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
        Ok(PrunedRows { sessions, checkpoints, saves })
    }
}
