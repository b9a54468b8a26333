//! Byte searches that skip CPU feature detection.
//!
//! The usual `memchr` functions select the widest vector instructions at run time. On a virtual
//! machine that detection costs tens of microseconds, a sixth of a whole hook call. The
//! instructions that every CPU of the architecture has are fast enough.

#[cfg(target_arch = "aarch64")]
use memchr::arch::aarch64::neon::{memchr::One, packedpair::Finder};
#[cfg(target_arch = "x86_64")]
use memchr::arch::x86_64::sse2::{memchr::One, packedpair::Finder};

/// From this many bytes, wider vectors make up for the cost of detection.
const FAR: usize = 16 << 10;

/// Returns the index of the first `byte` in `haystack`.
#[inline]
pub fn find(byte: u8, haystack: &[u8]) -> Option<usize> {
    #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
    if let Some(finder) = One::new(byte) {
        return finder.find(haystack);
    }
    memchr::arch::all::memchr::One::new(byte).find(haystack)
}

/// Like [`find`], but faster if the byte is usually among the first 24: it needs less setup.
#[inline]
pub fn find_near(byte: u8, haystack: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHEST: u64 = ONES << 7;
    let mut rest = haystack;
    for nth in 0..3 {
        let Some((few, behind)) = rest.split_first_chunk::<8>() else { break };
        // Bytes equal to `byte` become 0, and subtracting 1 from a 0 sets its highest bit.
        let differ = u64::from_le_bytes(*few) ^ (ONES * u64::from(byte));
        let same = differ.wrapping_sub(ONES) & !differ & HIGHEST;
        if same != 0 {
            return Some(nth * 8 + same.trailing_zeros() as usize / 8);
        }
        rest = behind;
    }
    Some(haystack.len() - rest.len() + find(byte, rest)?)
}

/// Like [`find`], but for haystacks that may be many megabytes.
#[inline]
pub fn find_far(byte: u8, haystack: &[u8]) -> Option<usize> {
    if haystack.len() < FAR { find(byte, haystack) } else { memchr::memchr(byte, haystack) }
}

/// Returns the index of the last `byte` in `haystack`.
#[inline]
pub fn rfind(byte: u8, haystack: &[u8]) -> Option<usize> {
    #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
    if let Some(finder) = One::new(byte) {
        return finder.rfind(haystack);
    }
    memchr::arch::all::memchr::One::new(byte).rfind(haystack)
}

/// Returns the index of the first `needle` in `haystack`.
pub fn position(needle: &[u8], haystack: &[u8]) -> Option<usize> {
    if haystack.len() < FAR {
        near(needle, haystack)
    } else {
        memchr::memmem::find(haystack, needle)
    }
}

fn near(needle: &[u8], haystack: &[u8]) -> Option<usize> {
    #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
    if let Some(finder) = Finder::new(needle).filter(|it| haystack.len() >= it.min_haystack_len()) {
        return finder.find(haystack, needle);
    }
    memchr::memmem::find(haystack, needle)
}

/// Returns whether `name` contains `part`. Needs no setup, so it is fast if both have only a few
/// bytes.
pub fn holds(name: &[u8], part: &[u8]) -> bool {
    let Some(first) = part.first() else { return true };
    let begins = |(at, byte): (usize, &u8)| byte == first && name[at..].starts_with(part);
    name.iter().enumerate().any(begins)
}

/// Returns whether `haystack` contains `needle`, without feature detection even for large
/// haystacks. Use this if a process searches only once.
pub fn contains_once(needle: &[u8], haystack: &[u8]) -> bool {
    near(needle, haystack).is_some()
}

/// Returns whether `haystack` contains `needle`.
pub fn contains(needle: &[u8], haystack: &[u8]) -> bool {
    position(needle, haystack).is_some()
}

/// Returns the index of the last `needle` in `haystack`. If matches overlap, only the first of them
/// counts.
pub fn last(needle: &[u8], haystack: &[u8]) -> Option<usize> {
    // Searching from the end is many times slower.
    if haystack.len() >= FAR {
        return memchr::memmem::find_iter(haystack, needle).last();
    }
    let mut found = None;
    let mut from = 0;
    while let Some(at) = haystack.get(from..).and_then(|rest| position(needle, rest)) {
        found = Some(from + at);
        from += at + needle.len().max(1);
    }
    found
}

/// Splits a text into lines, like `str::lines`.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = find(b'\n', rest.as_bytes());
        let line = &rest[..end.unwrap_or(rest.len())];
        rest = end.map_or("", |end| &rest[end + 1..]);
        Some(if end.is_some() { line.strip_suffix('\r').unwrap_or(line) } else { line })
    })
}

/// Hashes bytes with FNV-1a, which is stable across processes and platforms.
#[inline]
pub fn fnv1a<'b>(bytes: impl IntoIterator<Item = &'b u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns a checksum that changes with any damage to one stretch of eight bytes. Reads eight bytes at a time,
/// so that a hook can afford it.
pub fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(bytes.len() as u64, |sum, word| {
        (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_changes_with_every_byte() {
        let whole: Vec<u8> = (0..100).collect();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            assert_ne!(checksum(&damaged), checksum(&whole), "byte {at}");
            assert_ne!(checksum(&whole[..at]), checksum(&whole), "cut at {at}");
        }
    }

    #[test]
    fn both_ends_are_found() {
        assert_eq!((find(b'a', b"banana"), rfind(b'a', b"banana")), (Some(1), Some(5)));
        assert_eq!((find(b'x', b"banana"), rfind(b'x', b"")), (None, None));
        assert!(contains(b"nan", b"banana") && !contains(b"nab", b"banana"));
        assert_eq!((last(b"an", b"banana"), last(b"nab", b"banana")), (Some(3), None));
    }

    #[test]
    fn a_needle_is_found_in_haystacks_of_any_size() {
        for size in [0, 1, 15, 16, 40, 63, 64, 100, FAR - 1, FAR, 3 * FAR] {
            let mut haystack = vec![b'-'; size];
            for needle in [&b"needle"[..], b"ab", b"a needle that is longer than two vectors are"] {
                assert_eq!((position(needle, &haystack), last(needle, &haystack)), (None, None));
                assert!(!contains_once(needle, &haystack));
                let room = size.checked_sub(needle.len());
                for at in [Some(0), room.map(|room| room / 2), room].into_iter().flatten() {
                    let Some(place) = haystack.get_mut(at..at + needle.len()) else { continue };
                    place.copy_from_slice(needle);
                    let found = (position(needle, &haystack), last(needle, &haystack));
                    assert_eq!(found, (Some(at), Some(at)), "{size}");
                    assert!(contains_once(needle, &haystack));
                    haystack.fill(b'-');
                }
            }
        }
    }

    #[test]
    fn what_is_near_is_found_wherever_it_is() {
        for length in 0..60 {
            let mut haystack = vec![b'!'; length];
            assert_eq!(find_near(b'"', &haystack), None);
            for at in (0..length).rev() {
                haystack[at] = b'"';
                assert_eq!(find_near(b'"', &haystack), Some(at));
                haystack[at] = [b'"', b'#'][at % 2];
            }
        }
    }

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "\n", "a", "a\nb", "a\r\nb\r", "\n\na\n", "é\r\r\n\r\n"] {
            assert!(lines(text).eq(text.lines()), "{text:?}");
        }
    }

    #[test]
    fn a_number_is_the_same_everywhere() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
