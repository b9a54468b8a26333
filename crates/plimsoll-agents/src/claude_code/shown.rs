//! Extracts the text that a transcript record showed to the model.

use std::borrow::Cow;

use plimsoll_core::reading::Scope;
use plimsoll_extract::work::ModelInput;

use super::transcript::Line;
use super::weigh::UNSEEN;
use crate::json::Json;

pub(super) fn shown(bytes: &[u8], scope: Scope) -> Option<ModelInput<'_>> {
    let line = Line::read(bytes, Some(scope))?;
    match line.kind {
        "system" if line.is_boundary() => {
            Some(ModelInput::Compacted { kept_from: line.kept_from() })
        }
        "user" if line.summary => Some(ModelInput::Summary(said(&line).join("\n").into())),
        "user" => Some(ModelInput::Texts(said(&line))),
        "attachment" => Some(ModelInput::Texts(attached(&line))),
        _ => None,
    }
}

/// Returns the user's words and the results of tools.
fn said<'a>(line: &Line<'a>) -> Vec<Cow<'a, str>> {
    let mut texts = Vec::new();
    if let Some(content) = line.message.as_ref().and_then(|message| message.get("content")) {
        add(content, &mut texts);
        for result in content.elements().filter_map(|block| block.get("content")) {
            add(result, &mut texts);
        }
    }
    texts
}

/// Adds a text, or the texts of a list of blocks.
fn add<'a>(content: Json<'a>, texts: &mut Vec<Cow<'a, str>>) {
    let blocks = content.elements().filter_map(|block| block.get("text"));
    texts.extend(blocks.chain([content]).filter_map(Json::escaped).map(Json::decoded));
}

fn attached<'a>(line: &Line<'a>) -> Vec<Cow<'a, str>> {
    let mut texts = Vec::new();
    let is_seen = |attachment: &Json<'_>| {
        !attachment.get("type").and_then(Json::plain).is_some_and(|kind| UNSEEN.contains(&kind))
    };
    if let Some(attachment) = line.attachment.filter(is_seen) {
        attachment.strings(|_, inside| texts.push(Json::decoded(inside)));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        match shown(line.as_bytes(), Scope::Main) {
            Some(ModelInput::Texts(texts)) => texts.into_iter().map(Cow::into_owned).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn words_and_results_are_shown() {
        let prompt = r#"{"type":"user","message":{"content":"fix it"}}"#;
        assert_eq!(texts(prompt), ["fix it"]);
        let results = r#"{"type":"user","message":{"content":[{"type":"text","text":"look"},
            {"type":"tool_result","content":"one\ntwo"},
            {"type":"tool_result","content":[{"type":"text","text":"three"}]}]}}"#;
        assert_eq!(texts(results), ["look", "one\ntwo", "three"]);
    }

    #[test]
    fn attachments_are_shown_if_the_model_sees_them() {
        let of = |kind: &str| {
            format!(r#"{{"type":"attachment","attachment":{{"type":"{kind}","text":"a.rs"}}}}"#)
        };
        assert_eq!(texts(&of("file")), ["file", "a.rs"]);
        assert_eq!(texts(&of("hook_success")), [""; 0]);
    }

    #[test]
    fn a_compaction_tells_what_it_keeps() {
        let id = plimsoll_core::entry::EntryId::new(b"8571cd06");
        let line = br#"{"type":"system","subtype":"compact_boundary","compactMetadata":
            {"trigger":"auto","preservedSegment":{"headUuid":"8571cd06"}}}"#;
        assert_eq!(shown(line, Scope::Main), Some(ModelInput::Compacted { kept_from: Some(id) }));
        let line = br#"{"type":"user","isCompactSummary":true,"message":{"content":"so far"}}"#;
        assert_eq!(shown(line, Scope::Main), Some(ModelInput::Summary("so far".into())));
    }
}
