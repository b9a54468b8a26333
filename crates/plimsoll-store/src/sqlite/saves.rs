//! Storing and listing of saves.

use std::collections::BTreeSet;

use plimsoll_extract::save::{NewSave, Save, SaveEnvironment, SaveKind};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Store;
use super::column::ColumnValue;
use super::search::lowercase_words;
use crate::{SaveFilter, SaveKinds, StoreError};

impl Store {
    /// Returns at most `limit` saves, newest first.
    pub fn newest_saves(
        &self,
        filter: &SaveFilter<'_>,
        limit: u32,
    ) -> Result<Vec<Save>, StoreError> {
        let condition = filter_condition(filter);
        let sql = format!(
            "SELECT * FROM saves WHERE {condition} ORDER BY created DESC, number DESC LIMIT ?3"
        );
        let environment = filter.environment.map(SaveEnvironment::as_str);
        self.query_all(&sql, params![environment, filter.project, limit], save_from_row)
            .map_err(self.error_during("list the saves of"))
    }

    /// Returns at most `limit` saves to restore, newest first. Falls back to all kinds if no save
    /// has the requested kinds.
    pub fn saves_to_restore(
        &self,
        filter: &SaveFilter<'_>,
        limit: u32,
    ) -> Result<Vec<Save>, StoreError> {
        let newest = self.newest_saves(filter, limit)?;
        match newest.is_empty() {
            true => self.newest_saves(&SaveFilter { kinds: SaveKinds::All, ..*filter }, limit),
            false => Ok(newest),
        }
    }

    pub fn save(&self, id: &str) -> Result<Option<Save>, StoreError> {
        let sql = "SELECT * FROM saves WHERE id = ?1";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut sql| sql.query_row(params![id], save_from_row).optional())
            .map_err(self.error_during("read from"))
    }

    /// Returns the save of a commit in an environment. `commit` is the hash or its beginning.
    pub fn save_of_commit(
        &self,
        environment: &SaveEnvironment,
        commit: &str,
    ) -> Result<Option<Save>, StoreError> {
        let number = find_commit_save(&self.connection, environment, commit);
        let number = number.map_err(self.error_during("read from"))?;
        let sql = "SELECT * FROM saves WHERE number = ?1";
        let one = |number: i64| self.query_all(sql, params![number], save_from_row);
        let saves = number.map(one).transpose().map_err(self.error_during("read from"))?;
        Ok(saves.unwrap_or_default().pop())
    }

    /// Returns the saves of a session, oldest first.
    pub fn saves_of_session(&self, session: &str) -> Result<Vec<Save>, StoreError> {
        let sql = "SELECT * FROM saves WHERE session = ?1 ORDER BY created, number";
        self.query_all(sql, params![session], save_from_row)
            .map_err(self.error_during("list the saves of"))
    }

    /// Returns the ids of the checkpoints that saves refer to.
    pub fn saved_checkpoints(&self) -> Result<BTreeSet<String>, StoreError> {
        let sql = "SELECT DISTINCT \"checkpoint\" FROM saves WHERE \"checkpoint\" IS NOT NULL";
        let found = self
            .query_all(sql, [], |row| row.get(0))
            .map_err(self.error_during("list the saves of"))?;
        Ok(found.into_iter().collect())
    }

    /// Returns the environments that have saves, and the number of saves of each.
    pub fn environments(&self) -> Result<Vec<(SaveEnvironment, u64)>, StoreError> {
        let sql = "SELECT environment, count(*) FROM saves GROUP BY environment";
        let pair = |row: &Row<'_>| {
            let ColumnValue(count) = row.get(1)?;
            Ok((environment(row)?, count))
        };
        self.query_all(sql, [], pair).map_err(self.error_during("list the environments of"))
    }
}

/// Returns the SQL condition for a filter. `?1` is the environment, `?2` the project. The condition
/// on `kind` must be worded as in the partial indexes, or SQLite does not use them.
pub(super) fn filter_condition(filter: &SaveFilter<'_>) -> String {
    let environment = if filter.environment.is_some() { "environment = ?1" } else { "?1 IS NULL" };
    let project = if filter.project.is_some() { "project = ?2" } else { "?2 IS NULL" };
    let kinds = match filter.kinds {
        SaveKinds::All => "",
        SaveKinds::Restorable => " AND kind IN ('manual', 'auto')",
    };
    format!("{environment} AND {project}{kinds}")
}

/// Inserts a save, or completes the known save of the same commit in the same environment. Returns
/// the number of new or changed rows.
pub(super) fn insert(
    connection: &Connection,
    machine: &str,
    save: &Save,
) -> rusqlite::Result<usize> {
    let what = &save.what;
    let commit = what.commit.as_deref().filter(|_| what.kind == SaveKind::Commit);
    let of_commit = |sha| find_commit_save(connection, &what.environment, sha);
    if let Some(number) = commit.map(of_commit).transpose()?.flatten() {
        return complete_commit_save(connection, number, what);
    }
    let sql = "INSERT INTO saves (id, machine, created, environment, kind, session, \"checkpoint\",
             \"commit\", task, context, blockers, next_steps, tags, key_artifacts,
             filed, project)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
         ON CONFLICT (id) DO NOTHING";
    let rows = connection.prepare_cached(sql)?.execute(params![
        save.id,
        machine,
        save.created,
        what.environment.as_str(),
        what.kind.label(),
        what.session,
        what.checkpoint,
        what.commit,
        what.task,
        what.context,
        what.blockers,
        what.next_steps,
        what.tags.join("\n"),
        what.key_artifacts.join("\n"),
        environment_word(&what.environment),
        what.project,
    ])?;
    Ok(rows)
}

/// Encodes an environment as one word for the search index. Queries also check the `environment`
/// column.
pub(super) fn environment_word(environment: &SaveEnvironment) -> String {
    let hex = environment.as_str().bytes().map(|byte| format!("{byte:02x}"));
    std::iter::once("in".to_owned()).chain(hex).collect()
}

/// Stores the words of these saves for spelling correction.
pub(super) fn store_spellings(connection: &Connection, saves: &[Save]) -> rusqlite::Result<()> {
    const LENGTHS: std::ops::RangeInclusive<usize> = 4..=30;
    let sql = "INSERT INTO save_spellings (length, word) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let mut insert = connection.prepare_cached(sql)?;
    let words: BTreeSet<String> = saves.iter().flat_map(|save| words_of_save(&save.what)).collect();
    for word in words {
        let length = word.chars().count();
        if LENGTHS.contains(&length) && word.chars().all(char::is_alphabetic) {
            insert.execute(params![ColumnValue(length as u64), word])?;
        }
    }
    Ok(())
}

fn words_of_save(what: &NewSave) -> impl Iterator<Item = String> {
    let some = [&what.context, &what.blockers, &what.next_steps];
    let lists = what.tags.iter().chain(&what.key_artifacts);
    std::iter::once(&what.task)
        .chain(some.into_iter().flatten())
        .chain(lists)
        .flat_map(|text| lowercase_words(text))
}

/// Finds the save of a commit in an environment. Either hash may be a prefix of the other.
fn find_commit_save(
    connection: &Connection,
    environment: &SaveEnvironment,
    sha: &str,
) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT number FROM saves
         WHERE substr(\"commit\", 1, 7) = substr(?1, 1, 7) AND \"commit\" IS NOT NULL
             AND kind = 'commit' AND environment = ?2 AND length(?1) >= 7
             AND substr(\"commit\", 1, min(length(\"commit\"), length(?1)))
                 = substr(?1, 1, min(length(\"commit\"), length(?1)))
         ORDER BY number LIMIT 1";
    let wanted = params![sha, environment.as_str()];
    connection.prepare_cached(sql)?.query_row(wanted, |row| row.get(0)).optional()
}

/// Adds new facts to the save of a commit: a longer hash, the session, the checkpoint.
fn complete_commit_save(
    connection: &Connection,
    number: i64,
    what: &NewSave,
) -> rusqlite::Result<usize> {
    let sql = "UPDATE saves SET session = coalesce(session, ?2), project = coalesce(project, ?5),
             \"checkpoint\" = coalesce(\"checkpoint\", ?3),
             \"commit\" = CASE WHEN length(?4) > length(\"commit\") THEN ?4 ELSE \"commit\" END
         WHERE number = ?1 AND (session IS NULL AND ?2 IS NOT NULL
             OR \"checkpoint\" IS NULL AND ?3 IS NOT NULL OR length(?4) > length(\"commit\"))";
    let NewSave { session, checkpoint, commit, project, .. } = what;
    connection.prepare_cached(sql)?.execute(params![number, session, checkpoint, commit, project])
}

pub(super) fn save_from_row(row: &Row<'_>) -> rusqlite::Result<Save> {
    let list = |column: &str| -> rusqlite::Result<Vec<String>> {
        let text: String = row.get(column)?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    let what = NewSave {
        environment: environment(row)?,
        kind: SaveKind::from_label(row.get_ref("kind")?.as_str()?).unwrap_or_default(),
        task: row.get("task")?,
        context: row.get("context")?,
        blockers: row.get("blockers")?,
        next_steps: row.get("next_steps")?,
        tags: list("tags")?,
        key_artifacts: list("key_artifacts")?,
        project: row.get("project")?,
        session: row.get("session")?,
        checkpoint: row.get("checkpoint")?,
        commit: row.get("commit")?,
    };
    Ok(Save { id: row.get("id")?, created: row.get("created")?, what })
}

fn environment(row: &Row<'_>) -> rusqlite::Result<SaveEnvironment> {
    let name: String = row.get("environment")?;
    SaveEnvironment::new(&name)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}
