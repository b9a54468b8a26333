//! Why a team's database could not do what it was asked to.

use std::error::Error;
use std::path::PathBuf;

use tokio_postgres::error::SqlState;

/// Why a team's database could not do what it was asked to. No message holds its address.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    /// The address makes no sense.
    #[error("the address of the team's database cannot be used: {0}")]
    Address(&'static str),
    /// A certificate cannot be read.
    #[error("could not read the certificates in `{}`", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
    },
    /// Nobody is there, or whoever is does not let us in.
    #[error("could not connect to the team's database: {why}")]
    Unreachable {
        /// What it says, in a line.
        why: String,
    },
    /// Whoever is there does not know us.
    #[error("could not connect to the team's database: {why}")]
    Login {
        /// What it says, in a line.
        why: String,
    },
    /// The server has no database of that name.
    #[error("could not connect to the team's database: {why}")]
    NoDatabase {
        /// What it says, in a line.
        why: String,
    },
    /// The server does not encrypt.
    #[error("could not connect to the team's database: {why}")]
    NoTls {
        /// What it says, in a line.
        why: String,
    },
    /// The server's certificate is not good for its name, or nobody vouches for it.
    #[error("could not connect to the team's database: {why}")]
    BadCertificate {
        /// What it says, in a line.
        why: String,
    },
    /// It has taken too long.
    #[error("could not {0} the team's database: it took too long")]
    Slow(&'static str),
    /// Nobody has made the tables.
    #[error("the team's database has no tables of plimsoll")]
    NoTables,
    /// The tables are older than we are.
    #[error("the tables of the team's database are those of an older plimsoll")]
    Older,
    /// The tables are such that we would do harm.
    #[error("the tables of the team's database need a newer plimsoll")]
    Newer,
    /// The role may not do it.
    #[error("could not {task} the team's database: the role may not: {why}")]
    Refused {
        /// What was tried, as in `ship to`.
        task: &'static str,
        /// What it says, in a line.
        why: String,
    },
    /// Anything else.
    #[error("could not {task} the team's database: {why}")]
    Other {
        /// What was tried, as in `ship to`.
        task: &'static str,
        /// What it says, in a line.
        why: String,
    },
}

impl TeamError {
    /// What `error` means to someone who tried to do `task`.
    pub(super) fn of(task: &'static str, error: tokio_postgres::Error) -> Self {
        const ABSENT: [SqlState; 2] = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
        let why = told(&error);
        match error.code() {
            Some(code) if ABSENT.contains(code) => Self::NoTables,
            Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => Self::Refused { task, why },
            _ => Self::Other { task, why },
        }
    }

    pub(super) fn unreachable(error: tokio_postgres::Error) -> Self {
        const LOGIN: [SqlState; 2] =
            [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION];
        let why = told(&error);
        match error.code() {
            Some(code) if LOGIN.contains(code) => Self::Login { why },
            Some(code) if *code == SqlState::INVALID_CATALOG_NAME => Self::NoDatabase { why },
            // What the libraries on our side say has no code.
            None if why == "password missing" => Self::Login { why },
            None if why == "server does not support TLS" => Self::NoTls { why },
            None if why.contains("certificate") => Self::BadCertificate { why },
            _ => Self::Unreachable { why },
        }
    }

    /// Whether it may be over by itself.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Slow(_) | Self::Other { .. })
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Address(_) | Self::Certificate { .. } => {
                "set `team.database_url` in the file that `plimsoll config path` names"
            }
            Self::Login { .. } => {
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
            Self::Unreachable { .. } | Self::Slow(_) | Self::Other { .. } => {
                "run `plimsoll team status` when it is back; nothing is lost meanwhile"
            }
            Self::NoTables | Self::Older => {
                "run `plimsoll team init` as the role that owns the tables"
            }
            Self::Newer => "update plimsoll on this machine; nothing is lost meanwhile",
            Self::Refused { .. } => {
                "ask whoever owns the database for the rights that docs/team.md lists"
            }
        }
    }
}

/// What an error says, in a line: the innermost cause, which names it best.
fn told(error: &tokio_postgres::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string().lines().next().unwrap_or_default().to_owned()
}
