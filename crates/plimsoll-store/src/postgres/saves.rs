//! Queries for the saves of all machines.

use plimsoll_core::event::SessionId;
use plimsoll_extract::save::{NewSave, Save, SaveEnvironment, SaveKind};
use tokio_postgres::Row;

use super::{TeamError, TeamStore, WithOwner};
use crate::{SaveFilter, SaveKinds};

impl TeamStore {
    /// Returns at most `limit` saves, newest first.
    pub async fn newest_saves(
        &self,
        filter: &SaveFilter<'_>,
        limit: u32,
    ) -> Result<Vec<WithOwner<Save>>, TeamError> {
        let sql = format!(
            "SELECT saves.*, person, host FROM plimsoll.saves
             LEFT JOIN plimsoll.machines USING (machine)
             WHERE {} ORDER BY created DESC, id DESC LIMIT $2",
            filter_condition(filter)
        );
        let environment = filter.environment.map(SaveEnvironment::as_str);
        let rows =
            self.query_all("list the saves of", &sql, &[&environment, &i64::from(limit)]).await?;
        Ok(rows.iter().map(theirs).collect())
    }

    /// Returns at most `limit` saves that contain all typed words, or longer words that begin with
    /// them, best first. `None` if nothing typed is a word.
    pub async fn search_saves(
        &self,
        typed: &str,
        filter: &SaveFilter<'_>,
        limit: u32,
    ) -> Result<Option<Vec<WithOwner<Save>>>, TeamError> {
        let Some(query) = text_query(typed) else { return Ok(None) };
        // Only the newest 1000 matches are ranked, so that a common word costs no more than a rare
        // one.
        let sql = format!(
            "SELECT found.*, person, host FROM (
                 SELECT * FROM plimsoll.saves
                 WHERE {} AND words @@ to_tsquery('simple', $3)
                 ORDER BY created DESC LIMIT 1000
             ) AS found LEFT JOIN plimsoll.machines USING (machine)
             ORDER BY ts_rank(words, to_tsquery('simple', $3)) DESC, created DESC LIMIT $2",
            filter_condition(filter)
        );
        let environment = filter.environment.map(SaveEnvironment::as_str);
        let rows = self
            .query_all("search", &sql, &[&environment, &i64::from(limit), &query.as_str()])
            .await?;
        Ok(Some(rows.iter().map(theirs).collect()))
    }

    /// Returns the saves of a session, oldest first.
    pub async fn saves_of_session(&self, session: &SessionId) -> Result<Vec<Save>, TeamError> {
        let sql = "SELECT * FROM plimsoll.saves WHERE session = $1 ORDER BY created, id";
        let rows = self.query_all("list the saves of", sql, &[&session.as_str()]).await?;
        Ok(rows.iter().map(save).collect())
    }

    /// Returns the environments that have saves. The query jumps from one environment to the next
    /// in the index, because there are few environments and many saves.
    pub async fn environments(&self) -> Result<Vec<SaveEnvironment>, TeamError> {
        let sql = "WITH RECURSIVE names AS (
                 (SELECT environment FROM plimsoll.saves ORDER BY environment LIMIT 1)
                 UNION ALL
                 SELECT (SELECT saves.environment FROM plimsoll.saves
                     WHERE saves.environment > names.environment
                     ORDER BY saves.environment LIMIT 1)
                 FROM names WHERE names.environment IS NOT NULL
             ) SELECT environment FROM names WHERE environment IS NOT NULL";
        let rows = self.query_all("list the environments of", sql, &[]).await?;
        Ok(rows
            .iter()
            .filter_map(|row| SaveEnvironment::new(row.get("environment")).ok())
            .collect())
    }
}

/// Returns the SQL condition for a filter. `$1` is the environment.
fn filter_condition(filter: &SaveFilter<'_>) -> &'static str {
    match (filter.environment.is_some(), filter.kinds) {
        (true, SaveKinds::All) => "environment = $1",
        (true, SaveKinds::Restorable) => "environment = $1 AND kind IN ('manual', 'auto')",
        (false, SaveKinds::All) => "$1::text IS NULL",
        (false, SaveKinds::Restorable) => "$1::text IS NULL AND kind IN ('manual', 'auto')",
    }
}

/// Builds a full-text query that requires all words. Operators in the typed text have no effect.
/// `None` if nothing typed is a word.
fn text_query(typed: &str) -> Option<String> {
    let words = typed.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(|word| format!("'{word}':*")).collect();
    (!words.is_empty()).then(|| words.join(" & "))
}

fn theirs(row: &Row) -> WithOwner<Save> {
    WithOwner::from_row(row, save(row))
}

fn save(row: &Row) -> Save {
    let list = |column: &str| -> Vec<String> {
        row.get::<_, &str>(column).lines().map(str::to_owned).collect()
    };
    let what = NewSave {
        environment: SaveEnvironment::new(row.get("environment")).unwrap_or_default(),
        kind: SaveKind::from_label(row.get("kind")).unwrap_or_default(),
        task: row.get("task"),
        context: row.get("context"),
        blockers: row.get("blockers"),
        next_steps: row.get("next_steps"),
        tags: list("tags"),
        key_artifacts: list("key_artifacts"),
        project: row.get("project"),
        session: row.get("session"),
        checkpoint: row.get("checkpoint"),
        commit: row.get("commit_hash"),
    };
    Save { id: row.get("id"), created: row.get("created"), what }
}
