//! Finds hook runs in Claude Code's transcripts.
//!
//! Observed with clients 2.1.325 and 2.1.197 (headless), for SessionStart, UserPromptSubmit,
//! PreToolUse, PostToolUse and Stop:
//!
//! * A hook that exits with 0 and prints nothing leaves **no record**. The one exception is Stop in
//!   the newer client, whose `stop_hook_summary` lists every hook with its duration.
//! * A hook that prints leaves an attachment `hook_success` with command and duration. On
//!   UserPromptSubmit this is true for plain text only: JSON and stderr leave nothing.
//! * A failure (any exit code but 0 and 2) leaves `hook_non_blocking_error` with both.
//! * A timeout leaves `hook_cancelled` with both. For PostToolUse it has neither command nor
//!   duration, so it cannot be attributed to a hook.
//! * A refusal (exit code 2, or a decision to block) leaves no duration: only `hook_blocking_error`
//!   with the command, or for PreToolUse only the tool's result.
//! * SessionEnd leaves nothing, because the transcript is closed.
//! * Older clients (observed: 2.1.42, 2.1.59) wrote a `progress` record of type `hook_progress` for
//!   each run, silent or not, without a duration.
//!
//! Several records may describe one run: a Stop hook that prints has an attachment and an item in
//! the summary. They agree in `toolUseID`, event and command.

use plimsoll_core::bytes;
use plimsoll_core::entry::EntryId;
use plimsoll_core::hook_run::{Command, HookRun, Outcome};

use crate::json::{Json, Members};

pub(super) fn hook_runs(line: &[u8]) -> Vec<HookRun> {
    // All such records have a key that begins with `hook`. Only one record in a thousand does.
    if !bytes::contains(b"\"hook", line) {
        return Vec::new();
    }
    let Some(members) = Members::of(line) else { return Vec::new() };
    let (mut kind, mut subtype, mut call, mut infos) = ("", "", None, None);
    let (mut attachment, mut data) = (None, None);
    for (key, value) in members {
        match key {
            b"type" => kind = value.plain().unwrap_or_default(),
            b"subtype" => subtype = value.plain().unwrap_or_default(),
            b"toolUseID" => call = value.escaped().map(EntryId::new),
            b"hookInfos" => infos = Some(value),
            b"attachment" => attachment = Some(value),
            b"data" => data = Some(value),
            _ => {}
        }
    }
    match (kind, subtype) {
        ("attachment", _) => attachment.and_then(|told| of(told, None)).into_iter().collect(),
        ("progress", _) => data.and_then(|told| of(told, call)).into_iter().collect(),
        ("system", "stop_hook_summary") => summed_up(infos, call),
        _ => Vec::new(),
    }
}

/// Reads the run in an attachment, or in the data of a progress record about `call`.
fn of(told: Json<'_>, call: Option<EntryId>) -> Option<HookRun> {
    let outcome = match told.get("type")?.plain()? {
        "hook_success" | "hook_progress" => Outcome::Done,
        "hook_non_blocking_error" => Outcome::Failed,
        "hook_blocking_error" => Outcome::Refused,
        "hook_cancelled" => Outcome::Stopped,
        _ => return None,
    };
    let refused = || told.get("blockingError")?.get("command");
    Some(HookRun {
        call: call.or_else(|| told.get("toolUseID")?.escaped().map(EntryId::new))?,
        event: told.get("hookEvent")?.plain()?.to_owned(),
        command: Command::new(&told.get("command").or_else(refused)?.text()?),
        millis: told.get("durationMs").and_then(Json::number),
        outcome,
    })
}

fn summed_up(infos: Option<Json<'_>>, call: Option<EntryId>) -> Vec<HookRun> {
    let run = |info: Json<'_>| {
        Some(HookRun {
            call: call?,
            event: "Stop".to_owned(),
            command: Command::new(&info.get("command")?.text()?),
            millis: info.get("durationMs").and_then(Json::number),
            outcome: Outcome::Done,
        })
    };
    infos.into_iter().flat_map(Json::elements).filter_map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(event: &str, command: &str, millis: Option<u64>, outcome: Outcome) -> HookRun {
        let (event, command) = (event.to_owned(), Command::new(command));
        HookRun { call: EntryId::new(b"call-1"), event, command, millis, outcome }
    }

    #[track_caller]
    fn check(line: &str, expected: &[HookRun]) {
        assert_eq!(hook_runs(line.as_bytes()), expected);
    }

    #[test]
    fn each_record_tells_of_its_runs() {
        check(
            r#"{"attachment":{"type":"hook_success","hookName":"PostToolUse:Bash","toolUseID":"call-1","hookEvent":"PostToolUse","content":"","stdout":"{}","stderr":"","exitCode":0,"command":"sh \"a b.sh\"","durationMs":38},"type":"attachment","uuid":"6197b1ea-38fd-4828-b824-bf0f5402d391"}"#,
            &[run("PostToolUse", "sh \"a b.sh\"", Some(38), Outcome::Done)],
        );
        check(
            r#"{"attachment":{"type":"hook_cancelled","hookName":"Stop","toolUseID":"call-1","hookEvent":"Stop","command":"sh slow.sh","durationMs":312,"timedOut":true,"timeoutMs":300},"type":"attachment"}"#,
            &[run("Stop", "sh slow.sh", Some(312), Outcome::Stopped)],
        );
        check(
            r#"{"attachment":{"type":"hook_blocking_error","hookName":"SessionStart:startup","toolUseID":"call-1","hookEvent":"SessionStart","blockingError":{"blockingError":"because","command":"sh block.sh"}},"type":"attachment"}"#,
            &[run("SessionStart", "sh block.sh", None, Outcome::Refused)],
        );
        check(
            r#"{"type":"system","subtype":"stop_hook_summary","hookCount":2,"hookInfos":[{"command":"sh a.sh","durationMs":18},{"command":"sh b.sh"}],"hookErrors":[],"toolUseID":"call-1"}"#,
            &[
                run("Stop", "sh a.sh", Some(18), Outcome::Done),
                run("Stop", "sh b.sh", None, Outcome::Done),
            ],
        );
        check(
            r#"{"type":"progress","data":{"type":"hook_progress","hookEvent":"SessionStart","hookName":"SessionStart:clear","command":"entire hooks session-start"},"parentToolUseID":"x","toolUseID":"call-1"}"#,
            &[run("SessionStart", "entire hooks session-start", None, Outcome::Done)],
        );
    }

    #[test]
    fn other_lines_tell_of_none() {
        for line in [
            r#"{"attachment":{"type":"hook_cancelled","hookEvent":"PostToolUse","toolUseID":"call-1"},"type":"attachment"}"#,
            r#"{"attachment":{"type":"hook_additional_context","hookEvent":"Stop","toolUseID":"call-1"},"type":"attachment"}"#,
            r#"{"type":"user","message":{"content":"\"hook_success\""},"toolUseID":"call-1"}"#,
            r#"{"attachment":{"type":"hook_succ"#,
            "",
        ] {
            check(line, &[]);
        }
    }
}
