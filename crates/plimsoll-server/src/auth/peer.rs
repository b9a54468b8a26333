//! Finds out which user is at the other end of a connection.

#[cfg(target_os = "linux")]
mod sock_diag;

use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;

/// The other end of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    remote: SocketAddr,
    local: SocketAddr,
    is_own_user: OnceLock<bool>,
}

impl Peer {
    pub(crate) fn new(remote: SocketAddr, local: SocketAddr) -> Self {
        Self { remote: canonical(remote), local: canonical(local), is_own_user: OnceLock::new() }
    }

    /// Returns whether the peer is a process of our own user on this machine. Unknown counts as no.
    pub(super) fn is_own_user(&self) -> bool {
        let ask = || {
            self.remote.ip().is_loopback()
                && owner(self.remote, self.local) == Some(rustix::process::geteuid().as_raw())
        };
        *self.is_own_user.get_or_init(ask)
    }
}

/// Converts an IPv4-mapped IPv6 address to IPv4.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Returns the user that owns the socket from `from` to `to`; both ends are on this machine.
///
/// The kernel reports a closed socket as root's. Closed sockets are therefore skipped, and the
/// answer root is checked a second time, because the socket may have been closed during the first
/// lookup.
#[cfg(target_os = "linux")]
fn owner(from: SocketAddr, to: SocketAddr) -> Option<u32> {
    let look = || sock_diag::owner(from, to).unwrap_or_else(|()| owner_from_table(from, to));
    match look()? {
        0 => look(),
        user => Some(user),
    }
}

/// Looks the owner up in the kernel's table of all sockets, for kernels without socket diagnostics.
#[cfg(target_os = "linux")]
fn owner_from_table(from: SocketAddr, to: SocketAddr) -> Option<u32> {
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| {
        let table = std::fs::read_to_string(table).ok()?;
        table.lines().find_map(|line| owner_in_line(line, from, to))
    })
}

/// The owner is unknown on other systems.
#[cfg(not(target_os = "linux"))]
fn owner(_from: SocketAddr, _to: SocketAddr) -> Option<u32> {
    None
}

/// Returns the owner of the socket in a line of the kernel's table if that socket goes from `from`
/// to `to`.
fn owner_in_line(line: &str, from: SocketAddr, to: SocketAddr) -> Option<u32> {
    const UID: usize = 7;
    const INODE: usize = 9;
    let fields: Vec<&str> = line.split_ascii_whitespace().take(INODE + 1).collect();
    let address = |at: usize| address(fields.get(at)?);
    let is_held = *fields.get(INODE)? != "0";
    let is_it = is_held && address(1)? == from && address(2)? == to;
    is_it.then(|| fields[UID].parse().ok()).flatten()
}

/// Parses an address of the kernel's table: four-byte words in native byte order, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| {
        let word = u32::from_str_radix(ip.get(at..at + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    let ip: IpAddr = match ip.len() {
        8 => word(0)?.into(),
        32 => {
            let mut bytes = [0; 16];
            for at in 0..4 {
                bytes[at * 4..at * 4 + 4].copy_from_slice(&word(at * 8)?);
            }
            bytes.into()
        }
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?)))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn parses_a_line_of_the_socket_table() {
        let line = "   3: 0100007F:A2C4 0100007F:1FA4 01 00000000:00000000 00:00000000 00000000  1000        0 84302 1 0000000000000000 20 0 0 10 -1";
        let (from, to) = (at("127.0.0.1:41668"), at("127.0.0.1:8100"));
        assert_eq!(owner_in_line(line, from, to), Some(1000));
        assert_eq!(owner_in_line(line, to, from), None);
        let orphan = line.replace(" 84302 ", " 0 ");
        assert_eq!(owner_in_line(&orphan, from, to), None, "nobody holds it");
        let mapped = line
            .replace("0100007F:A2C4", "0000000000000000FFFF00000100007F:A2C4")
            .replace("0100007F:1FA4", "0000000000000000FFFF00000100007F:1FA4");
        assert_eq!(owner_in_line(&mapped, from, to), Some(1000));
        assert_eq!(owner_in_line("  sl  local_address rem_address", from, to), None);
    }

    #[test]
    fn own_connection_is_recognized_until_closed() {
        for own in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(own) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, remote) = listener.accept().unwrap();
            let peer = || Peer::new(remote, stream.local_addr().unwrap());
            assert!(peer().is_own_user(), "{own}");
            let (from, to) = (remote, stream.local_addr().unwrap());
            let us = Some(rustix::process::geteuid().as_raw());
            assert_eq!(owner_from_table(from, to), us, "{own}: the table says the same");
            assert_eq!(sock_diag::owner(from, to), Ok(us), "{own}");
            drop(client);
            assert!(!peer().is_own_user(), "{own}: nobody is there any more");
            assert_eq!(owner_from_table(from, to), None, "{own}");
        }
    }

    #[test]
    fn another_machine_is_never_own_user() {
        assert!(!Peer::new(at("10.1.2.3:5000"), at("10.1.2.4:8100")).is_own_user());
    }
}
