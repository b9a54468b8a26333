//! Errors of a team's database.

use std::error::Error;
use std::path::PathBuf;

use tokio_postgres::error::SqlState;

/// An error of a team's database. No message contains the address, because that contains the
/// password.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    /// The address is invalid.
    #[error("the address of the team's database cannot be used: {0}")]
    InvalidAddress(&'static str),
    /// A certificate file cannot be read.
    #[error("could not read the certificates in `{}`", path.display())]
    UnreadableCertificate { path: PathBuf },
    /// No server answers, or the server refuses the connection.
    #[error("could not connect to the team's database: {why}")]
    Unreachable {
        /// The innermost cause, in one line.
        why: String,
    },
    /// The server rejects the user or the password.
    #[error("could not connect to the team's database: {why}")]
    LoginFailed { why: String },
    /// The server has no database of this name.
    #[error("could not connect to the team's database: {why}")]
    NoDatabase { why: String },
    /// The server does not support TLS.
    #[error("could not connect to the team's database: {why}")]
    NoTls { why: String },
    /// The server's certificate is not valid for its name, or its authority is unknown.
    #[error("could not connect to the team's database: {why}")]
    BadCertificate { why: String },
    #[error("could not {0} the team's database: it took too long")]
    TimedOut(&'static str),
    /// The tables have not been created.
    #[error("the team's database has no tables of plimsoll")]
    NoTables,
    /// The tables belong to an older version of plimsoll.
    #[error("the tables of the team's database are those of an older plimsoll")]
    Older,
    /// The tables need a newer version of plimsoll. Writing to them could damage data.
    #[error("the tables of the team's database need a newer plimsoll")]
    Newer,
    /// The role lacks a permission.
    #[error("could not {task} the team's database: the role may not: {why}")]
    PermissionDenied {
        /// The attempted task as an infinitive, as in `ship to`.
        task: &'static str,
        why: String,
    },
    #[error("could not {task} the team's database: {why}")]
    Other { task: &'static str, why: String },
}

impl TeamError {
    /// Classifies a database error that occurred during `task`.
    pub(super) fn from_query(task: &'static str, error: tokio_postgres::Error) -> Self {
        const ABSENT: [SqlState; 2] = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
        let why = innermost_cause(&error);
        match error.code() {
            Some(code) if ABSENT.contains(code) => Self::NoTables,
            Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
                Self::PermissionDenied { task, why }
            }
            _ => Self::Other { task, why },
        }
    }

    pub(super) fn from_connect(error: tokio_postgres::Error) -> Self {
        const LOGIN: [SqlState; 2] =
            [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION];
        let why = innermost_cause(&error);
        match error.code() {
            Some(code) if LOGIN.contains(code) => Self::LoginFailed { why },
            Some(code) if *code == SqlState::INVALID_CATALOG_NAME => Self::NoDatabase { why },
            // Errors of the client libraries have no code.
            None if why == "password missing" => Self::LoginFailed { why },
            None if why == "server does not support TLS" => Self::NoTls { why },
            None if why.contains("certificate") => Self::BadCertificate { why },
            _ => Self::Unreachable { why },
        }
    }

    /// Returns whether the error may be temporary.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut(_) | Self::Other { .. })
    }

    /// Returns advice on how to fix the error.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::InvalidAddress(_) | Self::UnreadableCertificate { .. } => {
                "set `team.database_url` in the file that `plimsoll config path` names"
            }
            Self::LoginFailed { .. } => {
                "check the user and the password in `team.database_url`; in an address `@`, `:` and `/` of a password are written `%40`, `%3A` and `%2F`"
            }
            Self::NoDatabase { .. } => {
                "check its name in `team.database_url`; whoever owns the server makes one with `createdb`, then `plimsoll team init`"
            }
            Self::NoTls { .. } => {
                "turn TLS on in the server, or, on a network of your own, add `?sslmode=disable` to `team.database_url`"
            }
            Self::BadCertificate { .. } => {
                "use the name that the certificate is for, and add `?sslrootcert=/path/to/ca.pem` to `team.database_url` if the authority is your own"
            }
            Self::Unreachable { .. } | Self::TimedOut(_) | Self::Other { .. } => {
                "run `plimsoll team status` when it is back; nothing is lost meanwhile"
            }
            Self::NoTables | Self::Older => {
                "run `plimsoll team init` as the role that owns the tables"
            }
            Self::Newer => "update plimsoll on this machine; nothing is lost meanwhile",
            Self::PermissionDenied { .. } => {
                "ask whoever owns the database for the rights that docs/team.md lists"
            }
        }
    }
}

/// Returns the first line of the innermost cause, which is the most specific.
fn innermost_cause(error: &tokio_postgres::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string().lines().next().unwrap_or_default().to_owned()
}
