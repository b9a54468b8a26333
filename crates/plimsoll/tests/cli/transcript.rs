//! Transcripts whose reading is known to the token, and captured ones.

use std::path::Path;

use plimsoll_core::models;
use plimsoll_core::time::utc;
use plimsoll_core::weight::{Answer, CURRENT};
use plimsoll_engine::world::now;

/// A model with a window of 200,000 tokens that the client does not compact before the service
/// refuses: its lines lie exactly where they are configured.
pub(crate) const MODEL: &str = "claude-opus-4-5";
/// The same window, but the client compacts at 167,000: the highest line lies at 152,000.
pub(crate) const COMPACTING: &str = "claude-opus-4-6";

/// A transcript that the real client has written.
pub(crate) fn captured(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../plimsoll-agents/fixtures/claude-code/transcripts");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The same transcript, as if all of it had just been written.
pub(crate) fn just_written(text: &str) -> String {
    written_at(text, &utc(now() as i64))
}

/// The same transcript, with this time in every line.
pub(crate) fn written_at(text: &str, time: &str) -> String {
    const FIELD: &str = r#""timestamp":""#;
    let mut parts = text.split(FIELD);
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| {
        format!("{text}{FIELD}{time}{}", &part[part.find('"').unwrap()..])
    })
}

/// A prompt and its answer, after which the reading is exactly `used`.
pub(crate) fn reading(model: &str, used: u64, cwd: &Path, side: bool) -> String {
    // What a call costs on top of what the service counted.
    let call = (models::tokenizer(Some(model), &CURRENT).call(Answer::Counted) + 500) / 1000;
    let prompt = user(1, 0, cwd, side, r#""go on""#, "");
    prompt + &answer(2, 1, model, used - call, cwd, side)
}

/// An answer for which the service counted `counted` tokens, its own among them.
pub(crate) fn answer(
    id: u8,
    parent: u8,
    model: &str,
    counted: u64,
    cwd: &Path,
    side: bool,
) -> String {
    let (output, created) = (40, 400);
    let read = counted - output - created - 3;
    format!(
        r#"{{"parentUuid":{},"isSidechain":{side},"message":{{"id":"msg_{id}","type":"message","role":"assistant","model":"{model}","content":[{{"type":"text","text":"Done."}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":3,"cache_creation_input_tokens":{created},"cache_read_input_tokens":{read},"output_tokens":{output},"service_tier":"standard"}}}},"requestId":"req_{id}","type":"assistant","uuid":{},"timestamp":"{}",{}}}
"#,
        uuid(parent),
        uuid(id),
        time(id),
        tail(cwd)
    )
}

/// A prompt or a tool's result. `more` is added to the record.
pub(crate) fn user(
    id: u8,
    parent: u8,
    cwd: &Path,
    side: bool,
    content: &str,
    more: &str,
) -> String {
    format!(
        r#"{{"parentUuid":{},"isSidechain":{side},"type":"user","message":{{"role":"user","content":{content}}},"uuid":{},"timestamp":"{}"{more},{}}}
"#,
        uuid(parent),
        uuid(id),
        time(id),
        tail(cwd)
    )
}

/// Prompts without an answer, `bytes` long in all.
pub(crate) fn unanswered(bytes: usize, cwd: &Path) -> String {
    let empty = user(1, 0, cwd, false, r#""""#, "");
    user(1, 0, cwd, false, &format!("{:?}", "x".repeat(bytes - empty.len())), "")
}

/// When the record called `id` was written.
pub(crate) fn time(id: u8) -> String {
    format!("2026-11-15T06:23:{id:02}.444Z")
}

fn uuid(id: u8) -> String {
    match id {
        0 => "null".to_owned(),
        id => format!(r#""00000000-0000-4000-8000-{id:012}""#),
    }
}

fn tail(cwd: &Path) -> String {
    format!(
        r#""userType":"external","cwd":{:?},"sessionId":"s","version":"2.1.325","gitBranch":"main""#,
        cwd.to_str().unwrap()
    )
}
