//! JSON on its way to scripts, and to people who look at it on a terminal.

use std::io::{self, Write};

use plimsoll_core::policy;
use serde::Serialize;

/// Writes `view` as JSON in a line.
pub(crate) fn write_json(out: &mut impl Write, view: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer(Harmless(&mut *out), view)?;
    Ok(writeln!(out)?)
}

/// Lets JSON through, with an escape in the place of every character that moves the cursor or turns
/// the direction of writing. Scripts read the same, and a terminal shows it. Of these characters
/// serde_json itself escapes the oldest only.
pub(crate) struct Harmless<W>(pub(crate) W);

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What comes from serde_json is cut between characters.
        let mut rest = str::from_utf8(bytes).map_err(io::Error::other)?;
        while let Some((at, odd)) = rest.char_indices().find(|(_, it)| is_odd(*it)) {
            write!(self.0, "{}\\u{:04x}", &rest[..at], u32::from(odd))?;
            rest = &rest[at + odd.len_utf8()..];
        }
        self.0.write_all(rest.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Outside of texts JSON has ends of lines, and nothing else of the kind.
fn is_odd(character: char) -> bool {
    character != '\n' && !policy::is_plain(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reads_what_was_written_and_a_terminal_is_left_alone() {
        let text = "a\u{1b}[2J\u{9b}31m\u{202e}b\u{7f}\n\tä – 文 \"\\";
        let mut json = Vec::new();
        serde_json::to_writer_pretty(Harmless(&mut json), &[text]).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert_eq!(json, "[\n  \"a\\u001b[2J\\u009b31m\\u202eb\\u007f\\n\\tä – 文 \\\"\\\\\"\n]");
        assert_eq!(serde_json::from_str::<[String; 1]>(&json).unwrap(), [text]);
    }
}
