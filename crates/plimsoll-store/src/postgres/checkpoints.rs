//! Queries for the checkpoints of all machines.

use plimsoll_core::event::SessionId;
use tokio_postgres::Row;

use super::column::{get_count, get_tokens};
use super::{TeamError, TeamStore, WithOwner};
use crate::CheckpointRow;

impl TeamStore {
    /// Returns at most `limit` checkpoints of a session, newest first, without their bodies.
    pub async fn checkpoints_of(
        &self,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<CheckpointRow>, TeamError> {
        let sql =
            "SELECT session, checkpoint, path, project, created, occasion, iteration, partial,
                 used_tokens, window_tokens, summary, '' AS body
             FROM plimsoll.checkpoints WHERE session = $1
             ORDER BY created DESC, iteration DESC LIMIT $2";
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 2] =
            [&session.as_str(), &i64::from(limit)];
        let rows = self.query_all("list the checkpoints of", sql, &params).await?;
        Ok(rows.iter().map(checkpoint).collect())
    }

    /// Returns the checkpoint with this id. If several sessions have one, returns the newest.
    pub async fn checkpoint(
        &self,
        id: &str,
    ) -> Result<Option<WithOwner<CheckpointRow>>, TeamError> {
        let sql = "SELECT checkpoints.*, person, host FROM plimsoll.checkpoints
             LEFT JOIN plimsoll.machines USING (machine)
             WHERE checkpoint = $1 ORDER BY created DESC LIMIT 1";
        let row = self.query_one("read from", sql, &[&id]).await?;
        Ok(row.map(|row| WithOwner::from_row(&row, checkpoint(&row))))
    }
}

fn checkpoint(row: &Row) -> CheckpointRow {
    CheckpointRow {
        id: row.get("checkpoint"),
        path: row.get::<_, &str>("path").into(),
        project: row.get::<_, &str>("project").into(),
        session: row.get("session"),
        created: row.get("created"),
        occasion: row.get("occasion"),
        iteration: get_count(row, "iteration"),
        partial: row.get("partial"),
        used: get_tokens(row, "used_tokens"),
        window: get_tokens(row, "window_tokens"),
        summary: row.get("summary"),
        body: row.get("body"),
    }
}
