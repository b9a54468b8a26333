//! Conversion between our types and columns.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use plimsoll_core::event::SessionId;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Result, Row};

/// Wraps a value to convert it to or from a column.
pub(super) struct ColumnValue<T>(pub(super) T);

/// Reads a column that is never NULL.
pub(super) fn get<T>(row: &Row<'_>, column: &str) -> Result<T>
where
    ColumnValue<T>: FromSql,
{
    row.get(column).map(|ColumnValue(value)| value)
}

/// Reads a column that may be NULL.
pub(super) fn get_optional<T>(row: &Row<'_>, column: &str) -> Result<Option<T>>
where
    ColumnValue<T>: FromSql,
{
    row.get::<_, Option<ColumnValue<T>>>(column).map(|kept| kept.map(|ColumnValue(value)| value))
}

/// The value of `subagent` for the session itself.
const NO_SUBAGENT: &str = "";

/// Converts a subagent to a column that is part of a key. NULL cannot be used there, because two
/// NULLs count as different.
pub(super) fn subagent_column(subagent: Option<&SessionId>) -> &str {
    subagent.map_or(NO_SUBAGENT, SessionId::as_str)
}

/// Reads a column that [`subagent_column`] has written.
pub(super) fn get_subagent(row: &Row<'_>) -> Result<Option<SessionId>> {
    match row.get_ref("subagent")?.as_str()? {
        NO_SUBAGENT => Ok(None),
        _ => get(row, "subagent").map(Some),
    }
}

impl ToSql for ColumnValue<&SessionId> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.0.as_str().into())
    }
}

impl FromSql for ColumnValue<SessionId> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        SessionId::new(value.as_str()?).map(ColumnValue).ok_or(FromSqlError::InvalidType)
    }
}

/// Caps a count at `i64::MAX`. A count from a foreign file may be absurd, and must not prevent
/// other rows from being stored.
impl ToSql for ColumnValue<u64> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(i64::try_from(self.0).unwrap_or(i64::MAX).into())
    }
}

impl FromSql for ColumnValue<u64> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let count = value.as_i64()?;
        u64::try_from(count).map(ColumnValue).map_err(|_| FromSqlError::OutOfRange(count))
    }
}

impl ToSql for ColumnValue<&Path> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        let bytes = self.0.as_os_str().as_bytes();
        Ok(self.0.to_str().map_or_else(|| bytes.into(), ToSqlOutput::from))
    }
}

impl FromSql for ColumnValue<PathBuf> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Ok(Self(OsStr::from_bytes(bytes).into()))
            }
            _ => Err(FromSqlError::InvalidType),
        }
    }
}
