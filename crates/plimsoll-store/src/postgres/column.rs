//! Conversion between our types and columns.

use std::path::Path;

use plimsoll_core::Tokens;
use plimsoll_core::event::SessionId;
use tokio_postgres::Row;

use crate::SessionRow;

/// Replaces NUL characters, which PostgreSQL rejects in text.
pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Applies [`without_nul`] to an optional text.
pub(super) fn optional_without_nul(it: Option<&str>) -> Option<String> {
    it.map(without_nul)
}

/// Converts a path to text for display, losing bytes that are not UTF-8. The path is never opened,
/// since it belongs to another machine.
pub(super) fn path_column(path: &Path) -> String {
    without_nul(&path.to_string_lossy())
}

/// Converts a count and caps it at `i64::MAX`. A count from a foreign file may be absurd, and must
/// not prevent other rows from being stored.
pub(super) fn count_column(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Converts a subagent to a column that is part of a key. Empty for the session itself.
pub(super) fn subagent_column(subagent: Option<&SessionId>) -> &str {
    subagent.map_or("", SessionId::as_str)
}

/// Reads a column that [`count_column`] has written.
pub(super) fn get_count(row: &Row, column: &str) -> u64 {
    u64::try_from(row.get::<_, i64>(column)).unwrap_or(0)
}

/// Reads an optional column that [`count_column`] has written.
pub(super) fn get_tokens(row: &Row, column: &str) -> Option<Tokens> {
    row.get::<_, Option<i64>>(column).and_then(|count| u64::try_from(count).ok())
}

/// Reads a session. `None` if its id is invalid.
pub(super) fn session_from_row(row: &Row) -> Option<SessionRow> {
    Some(SessionRow {
        id: SessionId::new(row.get::<_, &str>("session"))?,
        agent: row.get("agent"),
        project: row.get::<_, Option<&str>>("project").map(Into::into),
        transcript: None,
        version: row.get("version"),
        model: row.get("model"),
        started: row.get("started"),
        last_seen: row.get("last_seen"),
    })
}
