//! Reads the size of an image from the first bytes of its file.

use plimsoll_core::Tokens;
use plimsoll_core::weight::{IMAGE_TOKENS, image_tokens};

/// The number of base64 bytes to decode: the size is near the start.
const HEAD: usize = 65_536;

/// Returns the tokens of a base64-encoded image.
pub(crate) fn tokens(base64: &[u8]) -> Tokens {
    let head = decode(&base64[..base64.len().min(HEAD)]);
    match size(&head) {
        Some((width, height)) if width > 0 && height > 0 => image_tokens(width, height),
        _ => IMAGE_TOKENS,
    }
}

fn decode(base64: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(base64.len() / 4 * 3);
    for group in base64.chunks_exact(4) {
        let mut bits = 0_u32;
        for byte in group {
            bits = bits << 6 | u32::from(sextet(*byte));
        }
        decoded.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    decoded
}

fn sextet(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => 0,
    }
}

fn size(file: &[u8]) -> Option<(u64, u64)> {
    if file.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some((big_endian(file.get(16..20)?), big_endian(file.get(20..24)?)))
    } else if file.starts_with(b"\xff\xd8") {
        jpeg(file)
    } else if file.starts_with(b"GIF8") {
        Some((little_endian(file.get(6..8)?), little_endian(file.get(8..10)?)))
    } else if file.starts_with(b"RIFF") && file.get(8..16)? == b"WEBPVP8X" {
        Some((1 + little_endian(file.get(24..27)?), 1 + little_endian(file.get(27..30)?)))
    } else {
        None
    }
}

/// Skips segments until one contains the frame's size.
fn jpeg(file: &[u8]) -> Option<(u64, u64)> {
    let mut at = 2;
    loop {
        match *file.get(at..at + 2)? {
            [0xff, 0xc0..=0xc2] => {
                let height = big_endian(file.get(at + 5..at + 7)?);
                return Some((big_endian(file.get(at + 7..at + 9)?), height));
            }
            [0xff, 0xff] => at += 1,
            [0xff, 0x01 | 0xd0..=0xd8] => at += 2,
            [0xff, _] => at += 2 + big_endian(file.get(at + 2..at + 4)?) as usize,
            _ => at += 1,
        }
    }
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_the_head_of_a_file() {
        // A PNG header of 300 × 250.
        assert_eq!(tokens(b"iVBORw0KGgoAAAANSUhEUgAAASwAAAD6CAYAAAAA"), 100);
        let mut jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08".to_vec();
        jpeg.extend([0, 250, 1, 44, 3]);
        assert_eq!(size(&jpeg), Some((300, 250)));
        assert_eq!(size(b"GIF89a\x2c\x01\xfa\x00"), Some((300, 250)));
    }

    #[test]
    fn what_cannot_be_read_counts_as_a_usual_picture() {
        assert_eq!(tokens(b""), IMAGE_TOKENS);
        assert_eq!(tokens(b"!!!!????"), IMAGE_TOKENS);
        assert_eq!(tokens("/9j/".repeat(1000).as_bytes()), IMAGE_TOKENS);
    }
}
