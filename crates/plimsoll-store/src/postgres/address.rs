//! The address of a team's database and the encryption of the connection.
//!
//! Over a network the connection is encrypted and the server's certificate must be valid for its
//! name. Anything less would let others on the way read the data. `sslmode=disable` turns both off.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::TeamError;

/// A parsed address.
pub(super) struct Address {
    pub(super) config: Config,
    is_encrypted: bool,
    /// A file with further root certificates, in addition to those of the system.
    root_certificates: Option<PathBuf>,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, TeamError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut root, mut rest) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value.to_owned()),
                Some(("sslrootcert", value)) => root = Some(PathBuf::from(percent_decode(value))),
                _ => rest.push(pair),
            }
        }
        // The parser's error may quote a part of the password, so it is not passed on.
        let mut config: Config = format!("{base}?{}", rest.join("&")).parse().map_err(|_| {
            TeamError::InvalidAddress("it is not of the form `postgres://user@host/name`")
        })?;
        let is_encrypted = match mode.as_deref() {
            Some("disable") => false,
            Some("require" | "verify-ca" | "verify-full") => true,
            Some(_) => {
                return Err(TeamError::InvalidAddress(
                    "`sslmode` is `require` (the certificate is always verified) or `disable`",
                ));
            }
            None => !config.get_hosts().iter().all(is_local),
        };
        config.ssl_mode(if is_encrypted { SslMode::Require } else { SslMode::Disable });
        config.connect_timeout(super::CONNECT_TIMEOUT).application_name("plimsoll");
        Ok(Self { config, is_encrypted, root_certificates: root })
    }

    /// Returns the TLS connector. `None` if the connection is not encrypted.
    pub(super) fn tls(&self) -> Result<Option<MakeRustlsConnect>, TeamError> {
        if !self.is_encrypted {
            return Ok(None);
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(path) = &self.root_certificates {
            roots.add_parsable_certificates(read_certificates(path)?);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| TeamError::InvalidAddress("no version of TLS can be used"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Some(MakeRustlsConnect::new(config)))
    }
}

/// Returns whether a host is this machine.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
    }
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TeamError> {
    let unusable = || TeamError::UnreadableCertificate { path: path.to_owned() };
    let bytes = std::fs::read(path).map_err(|_| unusable())?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_reader_iter(Cursor::new(bytes)).collect();
    found.ok().filter(|found| !found.is_empty()).ok_or_else(unusable)
}

/// Decodes the percent escapes (such as `%2F`) in a query value.
fn percent_decode(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, is_encrypted: bool) {
        assert_eq!(Address::parse(url).unwrap().is_encrypted, is_encrypted, "{url}");
    }

    #[test]
    fn encrypts_network_connections_by_default() {
        check("postgres://ann@db.example.com/plimsoll", true);
        check("postgres://ann@10.0.0.7/plimsoll", true);
        check("postgres://ann@db/plimsoll?sslmode=verify-full", true);
        check("postgres://ann@db/plimsoll?sslmode=disable", false);
        check("postgres://ann@localhost/plimsoll", false);
        check("postgres://ann@localhost/plimsoll?sslmode=require", true);
        check("postgres:///plimsoll?host=/run/postgresql", false);
    }

    #[test]
    fn errors_do_not_repeat_the_address() {
        for url in ["postgres://a:hunter2@db/x?sslmode=prefer", "postgres://a:hunter2@db:port/x"] {
            let Err(error) = Address::parse(url) else { panic!("{url}") };
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[test]
    fn decodes_percent_escapes_in_paths() {
        assert_eq!(percent_decode("%2Fetc%2Fca.pem"), "/etc/ca.pem");
        assert_eq!(percent_decode("/etc/100%"), "/etc/100%");
    }
}
