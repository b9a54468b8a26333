//! Detects pasted text in a prompt: logs, stack traces, code blocks. It is not in the user's own
//! words.

use std::borrow::Cow;
use std::ops::Range;

/// Replaces pasted text.
pub(super) const LEFT_OUT: &str = "[…]";

/// Returns a prompt without its pasted text; empty if nothing else remains.
pub(super) fn own_words(prompt: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = prompt.lines().collect();
    let pasted = pasted(&lines);
    if !pasted.contains(&true) {
        return Cow::Borrowed(prompt);
    }
    let mut own: Vec<&str> = Vec::new();
    for (line, is_pasted) in lines.iter().zip(&pasted) {
        match is_pasted {
            true if own.last() == Some(&LEFT_OUT) => {}
            true => own.push(LEFT_OUT),
            false => own.push(line),
        }
    }
    let is_empty = own.iter().all(|line| *line == LEFT_OUT || line.trim().is_empty());
    Cow::Owned(if is_empty { String::new() } else { own.join("\n") })
}

/// Returns which lines are pasted: code blocks, and in each paragraph everything from the first to
/// the last log line, with the indented lines after it. An indented paragraph after a log is part
/// of it. A paragraph that starts with a banner is pasted as a whole.
fn pasted(lines: &[&str]) -> Vec<bool> {
    let mut pasted = code_blocks(lines);
    let is_log = log_lines(lines);
    let is_indented = |at: usize| lines[at].starts_with([' ', '\t']);
    let mut follows_log = false;
    for paragraph in paragraphs(lines) {
        let first = paragraph.clone().find(|at| is_log[*at]);
        let last = paragraph.clone().rfind(|at| is_log[*at]);
        let (from, to) = match (first, last) {
            _ if is_banner(lines[paragraph.start]) => (paragraph.start, paragraph.end),
            (Some(first), Some(last)) => (first, last + 1),
            _ if follows_log && paragraph.clone().all(is_indented) => {
                (paragraph.start, paragraph.end)
            }
            _ => (paragraph.end, paragraph.end),
        };
        let to = to + (to..paragraph.end).take_while(|at| is_indented(*at)).count();
        pasted[from..to].fill(true);
        follows_log = from < to;
    }
    pasted
}

/// Returns the ranges of lines between blank ones.
fn paragraphs(lines: &[&str]) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for at in (0..lines.len()).filter(|at| !lines[*at].trim().is_empty()) {
        match all.last_mut().filter(|last| last.end == at) {
            Some(last) => last.end += 1,
            None => all.push(at..at + 1),
        }
    }
    all
}

fn code_blocks(lines: &[&str]) -> Vec<bool> {
    let is_fence = |line: &&str| line.trim_start().starts_with("```");
    let is_closed = lines.iter().filter(|line| is_fence(line)).count() % 2 == 0;
    let mut inside = false;
    let block = |line: &&str| {
        let is_fence = is_closed && is_fence(line);
        inside ^= is_fence;
        inside || is_fence
    };
    lines.iter().map(block).collect()
}

/// Returns which lines belong to a log. A line that people might also type counts only next to
/// another.
fn log_lines(lines: &[&str]) -> Vec<bool> {
    let is_compiler_output = lines.iter().any(|line| is_source_location(line.trim_start()));
    let marks_of = |line: &&str| match line.trim_start() {
        line if is_compiler_output && is_source_line(line) => 2,
        line => marks(line),
    };
    let marks: Vec<u32> = lines.iter().map(marks_of).collect();
    let is_log = |at: usize| {
        let is_marked = |neighbour: Option<usize>| neighbour.is_some_and(|it| marks[it] > 0);
        let before = (0..at).rfind(|it| !lines[*it].trim().is_empty());
        let after = (at + 1..lines.len()).find(|it| !lines[*it].trim().is_empty());
        marks[at] > 1 || marks[at] == 1 && (is_marked(before) || is_marked(after))
    };
    (0..lines.len()).map(is_log).collect()
}

/// Returns how much a line looks like a log: 1 if people might type it, 2 or more if they would
/// not.
fn marks(line: &str) -> u32 {
    const PRINTED: &[&str] = &[
        "✘",
        "✖",
        "╵",
        "⏺",
        "⎿",
        "{\"",
        "[{\"",
        "@@ ",
        "diff --git ",
        "error[",
        "error TS",
        "warning[",
        "Traceback (most recent",
        "npm ERR!",
        "npm error",
        "goroutine ",
        "--- FAIL: ",
        "--- PASS: ",
        "=== RUN ",
    ];
    const MAYBE: &[&str] =
        &["$ ", "❯ ", "=== ", "Author: ", "File \"", "panic: ", "thread '", "Caused by: "];
    let starts = |with: &[&str]| with.iter().any(|start| line.starts_with(start));
    let is_printed = starts(PRINTED)
        || is_frame(line)
        || has_clock(line)
        || is_underline(line)
        || is_source_location(line);
    if is_printed {
        return 2;
    }
    let level = u32::from(has_level(line)) * if line.starts_with('[') { 2 } else { 1 };
    let after_level = line.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
    let exception = names_exception(line) || level > 0 && names_exception(after_level);
    let is_verdict = matches!(line.trim_end(), "FAIL" | "PASS" | "FAILED" | "PASSED");
    let others = [
        starts(MAYBE),
        exception,
        has_position(line),
        line.contains('│'),
        is_labelled(line),
        is_verdict,
    ];
    level + others.into_iter().map(u32::from).sum::<u32>()
}

/// Recognizes `=== Step 6: verify the branch ===`.
fn is_banner(line: &str) -> bool {
    let line = line.trim();
    line.len() > 8 && line.starts_with("===") && line.ends_with("===")
}

/// Recognizes `[ERROR] …`, `ERROR …`, `INFO: …`.
fn has_level(line: &str) -> bool {
    const LEVELS: &[&str] =
        &["DEBUG", "ERR", "ERROR", "FAIL", "FATAL", "INFO", "PANIC", "TRACE", "WARN"];
    let bare = line.trim_start_matches('[');
    let end = bare.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(bare.len());
    let follows = bare[end..].chars().next();
    LEVELS.contains(&&bare[..end]) && matches!(follows, Some(' ' | ':' | ']' | '\t'))
}

/// Recognizes a stack frame: `at run (src/a.ts:3:4)`.
fn is_frame(line: &str) -> bool {
    line.strip_prefix("at ").is_some_and(|rest| rest.contains(':') && rest.ends_with([')', '>']))
}

/// Recognizes `TypeError: x is not a function`, `Uncaught ReferenceError: …`.
fn names_exception(line: &str) -> bool {
    let line = line.strip_prefix("Uncaught ").unwrap_or(line);
    let Some((name, _)) = line.split_once(": ") else { return false };
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'));
    is_name && name != "Error" && (name.ends_with("Error") || name.ends_with("Exception"))
}

/// Returns whether a line starts with a time of day that has seconds.
fn has_clock(line: &str) -> bool {
    const NEAR: usize = 24;
    let start = &line.as_bytes()[..line.len().min(NEAR)];
    start.windows(8).any(|part| {
        part.iter().enumerate().all(|(at, byte)| match at {
            2 | 5 => *byte == b':',
            _ => byte.is_ascii_digit(),
        })
    })
}

/// Recognizes `src/a.ts:3:32: …` or `a_test.go:196: …`, as compilers and tests write it.
fn has_position(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    let Some(place) = word.strip_suffix(':') else { return false };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    place.rsplit_once(':').is_some_and(|(file, line)| is_number(line) && file.contains('.'))
}

/// Recognizes `--> src/main.rs:4:5`, as rustc writes it.
fn is_source_location(line: &str) -> bool {
    let place = line.strip_prefix("--> ").map(str::trim_end);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = place.unwrap_or_default().rsplitn(3, ':');
    let has_numbers = parts.by_ref().take(2).filter(|part| is_number(part)).count() == 2;
    has_numbers && parts.next().is_some_and(|file| !file.is_empty())
}

/// Recognizes `4 |     x.push(1);`: a source line with its number, as rustc quotes it. A table row
/// looks the same, so such lines count only in a text with a source location.
fn is_source_line(line: &str) -> bool {
    let code = line.trim_start_matches(|c: char| c.is_ascii_digit());
    code.len() < line.len() && code.trim_start_matches(' ').starts_with('|')
}

/// Recognizes `~~~~^^^`.
fn is_underline(line: &str) -> bool {
    line.len() > 2
        && line.chars().all(|c| matches!(c, '~' | '^' | ' ' | '─' | '━'))
        && line.contains(['~', '^'])
}

/// Recognizes `[ProviderRoutes] …`.
fn is_labelled(line: &str) -> bool {
    let label = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    label.is_some_and(|(label, _)| (2..40).contains(&label.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prompt: &str, expected: &str) {
        assert_eq!(own_words(prompt), expected, "{prompt}");
    }

    #[test]
    fn prompts_stay_as_they_are() {
        for prompt in [
            "Fix the login. Never touch the schema.",
            "[committed] I think we can just drop this",
            "Error handling: use Result everywhere.\nWARNING: never push to main",
            "at 12:30 we ship; see src/a.rs: it is short\n- [ ] first\n- [ ] then",
            "- 18:21 is too late\n1. do this\n2. use that",
            "src/main.rs:10:5 panics on empty input. Fix it and never use unwrap.",
            "DEBUG the failing login test. Never touch the schema.",
            "FAIL fast if the config is missing; never retry.",
            "$ in the regex must be escaped. Always use raw strings.",
            "KeyError: must never be raised by load(); use a default.",
            "Fix the login.\nERROR handling must use Result everywhere.\nNever push to main.",
            "```\nan open fence",
            "1 | build the hull\n2 | never paint it\n--> then launch",
        ] {
            check(prompt, prompt);
        }
    }

    #[test]
    fn a_prompt_that_is_all_log_has_no_words() {
        for prompt in [
            "✘ [ERROR] TS2307: Cannot find module '../a'\n\n    src/app/home.ts:3:32:\n      3 │ import { A }\n        ╵   ~~~~",
            "ERROR ReferenceError: localStorage is not defined\n    at run (file:///a.mjs:1:2)\n    so it must not be used",
            "2026-01-21T10:00:01Z starting\n2026-01-21T10:00:02Z never mind",
            "[Routes] Cursor: should be available\n[Routes] OpenCode: only now",
            "{\"parentUuid\":\"4b89\",\"must\":\"not\"}",
            "--- FAIL: TestResume (0.1s)\n    hooks.go:196: Hook output\n    a_test.go:9: never",
            "--- FAIL: TestResume (0.1s)\n    a_test.go:9: it must not\nFAIL",
            "=== Step 6: verify ===\nERROR: it does not exist!\nAvailable branches:\n  a\n* main",
            "error[E0502]: cannot borrow `x` as mutable\n  --> src/main.rs:4:5\n   |\n3  |     let y = &x;\n4  |     x.push(1);\n   |     ^^^^^^^^^ it must not be borrowed\n12 | }\n   | -",
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: must not be empty",
        ] {
            check(prompt, "");
        }
    }

    #[test]
    fn words_around_a_paste_are_kept() {
        check(
            "I still get this, do not hide it:\n\nTypeError: x is not a function\n  at a (b.js:1:2)\n\nUse the old way.",
            "I still get this, do not hide it:\n\n[…]\n\nUse the old way.",
        );
        check(
            "npm error a\n\nNever touch the schema.\n\nnpm error b\n  c",
            "[…]\n\nNever touch the schema.\n\n[…]",
        );
        check(
            "It fails:\nerror[E0502]: cannot borrow `x` as mutable\n  --> src/main.rs:4:5\n   |\n4  |     x.push(1);\nPlease fix it.",
            "It fails:\n[…]\nPlease fix it.",
        );
        check("Make it so:\n```\nnever = true\n```\nplease", "Make it so:\n[…]\nplease");
    }
}
