//! Looks up one socket by its two ends, through the kernel's socket diagnostics.
//!
//! The time to read the whole socket table grows with the table's size, empty slots included:
//! milliseconds per connection. A lookup of one socket takes microseconds.

use std::net::{IpAddr, SocketAddr};

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// Returns the user that owns the socket from `from` to `to`. `None` if there is no such socket or
/// it is closed; `Err` if the kernel does not answer the query.
pub(super) fn owner(from: SocketAddr, to: SocketAddr) -> Result<Option<u32>, ()> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::DGRAM);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG));
    let socket = socket.map_err(drop)?;
    send(&socket, &encode_request(from, to), SendFlags::empty()).map_err(drop)?;
    let mut answer = [0; 4096];
    let (read, _) = recv(&socket, &mut answer[..], RecvFlags::DONTWAIT).map_err(drop)?;
    decode_answer(&answer[..read], from, to)
}

/// Encodes a `SOCK_DIAG_BY_FAMILY` request for one TCP socket.
fn encode_request(from: SocketAddr, to: SocketAddr) -> Vec<u8> {
    const LEN: u32 = 16 + 8 + 48;
    const REQUEST: u16 = 1;
    const ANY_STATE: u32 = u32::MAX;
    const NO_COOKIE: [u8; 8] = [0xff; 8];
    let mut bytes = Vec::with_capacity(LEN as usize);
    bytes.extend(LEN.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family(from), TCP, 0, 0]);
    bytes.extend(ANY_STATE.to_ne_bytes());
    bytes.extend(encode_ends(from, to));
    bytes.extend([0; 4]);
    bytes.extend(NO_COOKIE);
    bytes
}

const BY_FAMILY: u16 = 20;
const TCP: u8 = 6;

fn family(address: SocketAddr) -> u8 {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    family.as_raw() as u8
}

/// Encodes both ports, then both addresses, in network byte order.
fn encode_ends(from: SocketAddr, to: SocketAddr) -> [u8; 36] {
    let mut bytes = [0; 36];
    bytes[0..2].copy_from_slice(&from.port().to_be_bytes());
    bytes[2..4].copy_from_slice(&to.port().to_be_bytes());
    for (at, ip) in [(4, from.ip()), (20, to.ip())] {
        match ip {
            IpAddr::V4(ip) => bytes[at..at + 4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => bytes[at..at + 16].copy_from_slice(&ip.octets()),
        }
    }
    bytes
}

/// Decodes the answer. The kernel may return a socket that only listens on the same port; that one
/// does not count.
fn decode_answer(answer: &[u8], from: SocketAddr, to: SocketAddr) -> Result<Option<u32>, ()> {
    const HEAD: usize = 16;
    const NO_SUCH_SOCKET: i32 = -2;
    let word = |at: usize| {
        answer.get(at..at + 4).and_then(|bytes| Some(u32::from_ne_bytes(bytes.try_into().ok()?)))
    };
    let kind = answer.get(4..6).and_then(|bytes| Some(u16::from_ne_bytes(bytes.try_into().ok()?)));
    if kind != Some(BY_FAMILY) {
        let gone = word(HEAD).map(u32::cast_signed) == Some(NO_SUCH_SOCKET);
        return if gone { Ok(None) } else { Err(()) };
    }
    let is_it = answer.get(HEAD + 4..HEAD + 40) == Some(&encode_ends(from, to)[..]);
    let (user, inode) = (word(HEAD + 64).ok_or(())?, word(HEAD + 68).ok_or(())?);
    Ok((is_it && inode != 0).then_some(user))
}
