//! Computes the weight that a transcript record adds to the window.

use plimsoll_core::weight::{ClassCounter, Classes, Weight};

use super::transcript::Line;
use crate::image;
use crate::json::{Json, decode};

/// Attachments that the model never sees.
pub(super) const UNSEEN: [&str; 7] = [
    "command_permissions",
    "hook_success",
    "hook_system_message",
    "hook_non_blocking_error",
    "hook_cancelled",
    "hook_error_during_execution",
    "prompt_snapshot",
];

/// Members of an attachment that are bookkeeping, not text.
const BOOKKEEPING: [&[u8]; 5] = [b"type", b"toolUseID", b"hookName", b"hookEvent", b"filename"];

/// Characters of a signature per character of thinking, in tenths.
const SIGNATURE_TENTHS: u64 = 26;

/// The kind of text, which decides its rate.
#[derive(Clone, Copy)]
enum Side {
    Tool,
    Said,
    /// A summary is in a user record, but the model wrote it.
    Model,
}

pub(super) fn weigh(bytes: &[u8]) -> Weight {
    let mut weight = Weight::default();
    let Some(line) = Line::read(bytes, None) else { return weight };
    let content = || line.message.as_ref().and_then(|message| message.get("content"));
    match line.kind {
        "assistant" => content().into_iter().for_each(|content| answer(&mut weight, content)),
        "user" => {
            let side = if line.summary { Side::Model } else { Side::Said };
            content().into_iter().for_each(|content| said(&mut weight, side, content));
        }
        "attachment" => attachment(&mut weight, &line),
        _ => {}
    }
    weight
}

fn answer(weight: &mut Weight, content: Json<'_>) {
    for block in content.elements() {
        let field = |key| block.get(key);
        match kind(block) {
            "text" => weight.model_text += text(field("text")),
            "thinking" => {
                let thinking = field("thinking").map_or(0, characters);
                let signature = field("signature").map_or(0, characters) * 10 / SIGNATURE_TENTHS;
                weight.thinking_chars += if thinking > 0 { thinking } else { signature };
            }
            "redacted_thinking" => {
                weight.thinking_chars +=
                    field("data").map_or(0, characters) * 10 / SIGNATURE_TENTHS;
            }
            "tool_use" => {
                weight.model_text += text(field("name"));
                weight.model_text += field("input").map(written).unwrap_or_default();
                weight.loads_tools |= field("name").and_then(Json::plain) == Some("ToolSearch");
            }
            _ => {}
        }
    }
}

fn said(weight: &mut Weight, side: Side, content: Json<'_>) {
    if content.escaped().is_some() {
        add(weight, side, text(Some(content)));
    }
    for block in content.elements() {
        let data = || block.get("source")?.get("data")?.escaped();
        match kind(block) {
            "text" => add(weight, side, text(block.get("text"))),
            // Results are not nested: inside a result, a `tool_result` block is text.
            "tool_result" if !matches!(side, Side::Tool) => {
                weight.tool_results += 1;
                if let Some(result) = block.get("content") {
                    said(weight, Side::Tool, result);
                }
            }
            "image" => {
                // Limit the tokens: a few bytes cannot be an image of the size they claim.
                let most = 2 * block.raw().len() as u64;
                weight.image_tokens += image::tokens(data().unwrap_or_default()).min(most);
            }
            "document" => weight.document_chars += data().map_or(0, |data| data.len() as u64),
            "tool_reference" => weight.loads_tools = true,
            _ => add(weight, side, written(block)),
        }
    }
}

fn add(weight: &mut Weight, side: Side, classes: Classes) {
    match side {
        Side::Tool => weight.tool_text += classes,
        Side::Said => weight.said_text += classes,
        Side::Model => weight.model_text += classes,
    }
}

/// Weighs an attachment as the client rendered it, if recorded, or else by all its strings.
fn attachment(weight: &mut Weight, line: &Line<'_>) {
    let Some(attachment) = line.attachment else { return };
    if UNSEEN.contains(&kind(attachment)) {
        return;
    }
    weight.attachments += 1;
    let mut counter = ClassCounter::default();
    line.rendered.unwrap_or(attachment).strings(|key, inside| {
        if !BOOKKEEPING.contains(&key) {
            // Each string is on a line of its own.
            decode(inside, |piece| counter.add(piece));
            counter.add(b"\n");
        }
    });
    weight.said_text += counter.classes();
}

fn kind<'a>(block: Json<'a>) -> &'a str {
    block.get("type").and_then(Json::plain).unwrap_or_default()
}

/// Counts the decoded text of a string.
fn text(value: Option<Json<'_>>) -> Classes {
    let mut counter = ClassCounter::default();
    if let Some(inside) = value.and_then(Json::escaped) {
        decode(inside, |piece| counter.add(piece));
    }
    counter.classes()
}

/// Counts a value as written, without decoding.
fn written(value: Json<'_>) -> Classes {
    let mut counter = ClassCounter::default();
    counter.add(value.raw());
    counter.classes()
}

fn characters(value: Json<'_>) -> u64 {
    let mut count = 0;
    let continues = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    decode(value.escaped().unwrap_or_default(), |piece| {
        count += (piece.len() - piece.iter().filter(continues).count()) as u64;
    });
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(letters: u64) -> Classes {
        Classes { runs: u64::from(letters > 0), letters, ..Classes::default() }
    }

    #[test]
    fn each_side_of_the_conversation_counts_for_itself() {
        let user = weigh(br#"{"type":"user","message":{"content":[{"type":"text","text":"abc"},{"type":"tool_result","content":[{"type":"text","text":"defg"}]},{"type":"tool_result","content":"h"}]}}"#);
        assert_eq!(user.said_text, letters(3));
        assert_eq!(user.tool_text, Classes { runs: 2, letters: 5, ..Classes::default() });
        assert_eq!(user.tool_results, 2);
        let model = weigh(br#"{"type":"assistant","message":{"content":[{"type":"text","text":"abc"},{"type":"thinking","thinking":"d\u00e9f"},{"type":"tool_use","name":"ToolSearch","input":{}}]}}"#);
        assert_eq!((model.model_text.letters, model.model_text.punctuation), (13, 2));
        assert_eq!((model.thinking_chars, model.loads_tools), (3, true));
    }

    #[test]
    fn an_attachment_counts_as_it_was_rendered() {
        let rendered = weigh(br#"{"type":"attachment","attachment":{"type":"date","date":"long"},"rendered":[{"content":"ab"}]}"#);
        assert_eq!((rendered.attachments, rendered.said_text.letters), (1, 2));
        let plain = weigh(br#"{"type":"attachment","attachment":{"type":"file","filename":"x","content":{"a":["abc","d"]}}}"#);
        assert_eq!((plain.attachments, plain.said_text.letters), (1, 4));
        for kind in UNSEEN {
            let line = format!(
                r#"{{"type":"attachment","attachment":{{"type":"{kind}","content":"abc"}}}}"#
            );
            assert_eq!(weigh(line.as_bytes()), Weight::default(), "{kind}");
        }
    }

    #[test]
    fn no_depth_of_nesting_is_too_deep() {
        let deep = |open: &str, close: &str| {
            let (open, close) = (open.repeat(200_000), close.repeat(200_000));
            let attachment = format!(r#"{{"type":"file","content":{open}"ab"{close}}}"#);
            let result = format!(r#"[{{"type":"tool_result","content":{open}"ab"{close}}}]"#);
            let line = format!(r#"{{"type":"attachment","attachment":{attachment}}}"#);
            assert_eq!(weigh(line.as_bytes()).said_text.letters, 2);
            let line = format!(r#"{{"type":"user","message":{{"content":{result}}}}}"#);
            assert_eq!(weigh(line.as_bytes()).tool_results, 1);
        };
        deep("[", "]");
        deep(r#"[{"type":"tool_result","content":"#, "}]");
    }

    #[test]
    fn other_lines_weigh_nothing() {
        for line in
            [&br#"{"type":"api-request-blob","message":{"content":"abc"}}"#[..], b"", b"{", b"\xff"]
        {
            assert_eq!(weigh(line), Weight::default());
        }
    }
}
