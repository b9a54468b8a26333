//! Lines that need not be read to their end.

use plimsoll_core::bytes;
use plimsoll_core::reading::Scope;

use super::transcript::{Line, Walk};
use crate::json::Members;

/// A line, as far as it had to be read.
#[expect(clippy::large_enum_variant, reason = "taken apart right away")]
pub(super) enum Skim<'a> {
    /// To its end.
    Read(Line<'a>),
    /// Only to where it says that this call ended: well, and nothing else is told with it.
    Ended(&'a str),
}

impl<'a> Skim<'a> {
    /// Reads a line of `scope`, unless it is something that the client added by itself.
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

/// The call that a message is the result of, where it is written as the client does.
fn call<'a>(message: &Members<'a>) -> Option<&'a str> {
    let call = message.rest().strip_prefix(br#"{"role":"user","content":[{"tool_use_id":""#)?;
    std::str::from_utf8(&call[..bytes::find(b'"', call)?]).ok()
}

/// Whether a result ended well, and nothing else is told with it: by the keys that stand in its line.
/// A key never stands inside a string, where quotes are escaped.
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
