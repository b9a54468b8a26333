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

/// The place of the last `byte` in `haystack`.
#[inline]
pub fn rfind(byte: u8, haystack: &[u8]) -> Option<usize> {
    #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
    if let Some(finder) = One::new(byte) {
        return finder.rfind(haystack);
    }
    memchr::arch::all::memchr::One::new(byte).rfind(haystack)
}

/// Whether `needle` stands anywhere in `haystack`. Not for the hook path: see above.
pub fn contains(needle: &[u8], haystack: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_found() {
        assert_eq!((find(b'a', b"banana"), rfind(b'a', b"banana")), (Some(1), Some(5)));
        assert_eq!((find(b'x', b"banana"), rfind(b'x', b"")), (None, None));
        assert!(contains(b"nan", b"banana") && !contains(b"nab", b"banana"));
    }
}
