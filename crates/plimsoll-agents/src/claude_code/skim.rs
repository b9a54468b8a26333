//! Reads records only as far as needed.

use plimsoll_core::bytes;
use plimsoll_core::reading::Scope;

use super::transcript::{Line, Walk};
use crate::json::Members;

/// A record, or the part of it that was needed.
#[expect(clippy::large_enum_variant, reason = "taken apart right away")]
pub(super) enum Skim<'a> {
    /// The record was read to its end.
    Read(Line<'a>),
    /// The record only says that this call succeeded, so the rest was skipped.
    Ended(&'a str),
}

impl<'a> Skim<'a> {
    /// Reads a record of `scope`; `None` for attachments. If `has_only_to_end` returns true for the
    /// call of a result, skips the rest of that record.
    pub(super) fn read(
        bytes: &'a [u8],
        scope: Scope,
        has_only_to_end: &dyn Fn(&str) -> bool,
    ) -> Option<Self> {
        let mut walk = Walk::new(bytes, Some(scope))?;
        while let Some(key) = walk.key() {
            match key {
                b"attachment" => return None,
                b"message" if walk.line.kind == "user" => {
                    let call = call(&walk.members).filter(|call| has_only_to_end(call));
                    if let Some(call) = call.filter(|_| tells_no_more(bytes)) {
                        return Some(Self::Ended(call));
                    }
                }
                _ => {}
            }
            walk.take(key)?;
        }
        walk.end().map(Self::Read)
    }
}

/// Returns the call whose result a message is, if it has the client's usual format.
fn call<'a>(message: &Members<'a>) -> Option<&'a str> {
    let call = message.rest().strip_prefix(br#"{"role":"user","content":[{"tool_use_id":""#)?;
    std::str::from_utf8(&call[..bytes::find(b'"', call)?]).ok()
}

/// Returns whether a result succeeded and is the only content of its record. Searches for keys in
/// the raw bytes: they cannot occur inside a string, where quotes are escaped.
fn tells_no_more(line: &[u8]) -> bool {
    const CALL: &[u8] = br#""tool_use_id":"#;
    bytes::position(CALL, line) == bytes::last(CALL, line)
        && line.ends_with(b"}")
        && !bytes::contains(br#""is_error":true"#, line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_skimmed_if_nothing_else_is_told_with_it() {
        let line = |more: &str, side: bool| {
            format!(
                r#"{{"parentUuid":"p","isSidechain":{side},"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_1","type":"tool_result","content":"\"tool_use_id\":\"x\""}}{more}]}},"uuid":"u"}}"#
            )
        };
        let is_skimmed = |line: &str, wanted: &str| {
            let skim = Skim::read(line.as_bytes(), Scope::Main, &|call| call == wanted);
            matches!(skim, Some(Skim::Ended("toolu_1")))
        };
        let one = line("", false);
        assert!(is_skimmed(&one, "toolu_1") && !is_skimmed(&one, "toolu_2"));
        assert!(!is_skimmed(&line("", true), "toolu_1"), "of a subagent");
        let two = line(r#",{"tool_use_id":"toolu_2"}"#, false);
        assert!(!is_skimmed(&two, "toolu_1"), "of two calls");
        assert!(!is_skimmed(&line(r#",{"is_error":true}"#, false), "toolu_1"), "failed");
        assert!(!is_skimmed(&one[..one.len() - 1], "toolu_1"), "torn");
    }
}
