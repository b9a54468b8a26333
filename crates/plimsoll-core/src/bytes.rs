//! Searching bytes without asking the processor what it can do.
//!
//! The usual functions of `memchr` pick the widest vectors at run time; asking costs a virtual
//! machine tens of microseconds, a sixth of a whole hook call. What every processor of the
//! architecture has is fast enough.

#[cfg(target_arch = "aarch64")]
use memchr::arch::aarch64::neon::memchr::One;
#[cfg(target_arch = "x86_64")]
use memchr::arch::x86_64::sse2::memchr::One;

/// The place of the first `byte` in `haystack`.
#[inline]
pub fn find(byte: u8, haystack: &[u8]) -> Option<usize> {
    #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
    if let Some(finder) = One::new(byte) {
        return finder.find(haystack);
    }
    memchr::arch::all::memchr::One::new(byte).find(haystack)
}

/// The same where many megabytes are to be searched. Not for the hook path: see above.
#[inline]
pub fn find_far(byte: u8, haystack: &[u8]) -> Option<usize> {
    memchr::memchr(byte, haystack)
}

/// The place of the last `byte` in `haystack`.
#[inline]
pub fn rfind(byte: u8, haystack: &[u8]) -> Option<usize> {
    #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
    if let Some(finder) = One::new(byte) {
        return finder.rfind(haystack);
    }
    memchr::arch::all::memchr::One::new(byte).rfind(haystack)
}

/// The place of the first `needle` in `haystack`. Not for the hook path: see above.
pub fn position(needle: &[u8], haystack: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}

/// Whether `needle` stands anywhere in `haystack`. Not for the hook path: see above.
pub fn contains(needle: &[u8], haystack: &[u8]) -> bool {
    position(needle, haystack).is_some()
}

/// The place of the last `needle` in `haystack`. Not for the hook path: see above.
pub fn last(needle: &[u8], haystack: &[u8]) -> Option<usize> {
    // Searching from the end is many times slower.
    memchr::memmem::find_iter(haystack, needle).last()
}

/// The lines of a text, as `str::lines` gives them.
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

/// A number for some bytes, the same at every time and place: FNV-1a.
#[inline]
pub fn fnv1a<'b>(bytes: impl IntoIterator<Item = &'b u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_found() {
        assert_eq!((find(b'a', b"banana"), rfind(b'a', b"banana")), (Some(1), Some(5)));
        assert_eq!((find(b'x', b"banana"), rfind(b'x', b"")), (None, None));
        assert!(contains(b"nan", b"banana") && !contains(b"nab", b"banana"));
        assert_eq!((last(b"an", b"banana"), last(b"nab", b"banana")), (Some(3), None));
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
