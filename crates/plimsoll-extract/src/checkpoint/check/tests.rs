use std::fmt::Write as _;

use plimsoll_core::checkpoint::Occasion;
use proptest::prelude::*;

use super::*;
use crate::checkpoint::{GitState, TranscriptExtent, render};

const KEY: [u8; SealingKey::LEN] = [7; SealingKey::LEN];

fn body() -> String {
    SECTIONS.iter().map(|name| format!("## {name}\n- something\n\n")).collect()
}

fn meta() -> Meta {
    Meta {
        id: "2026-11-15-055814-5f2c81aa".to_owned(),
        created: 1_794_722_294_000,
        occasion: Occasion::Auto,
        project: "/home/ada/app".to_owned(),
        session_id: "5f2c81aa-77b0".to_owned(),
        iteration: 3,
        parent: None,
        verified: true,
        partial: false,
        agent: Some("some-agent".to_owned()),
        model: Some("some-model-4-5".to_owned()),
        used: Some(120_000),
        window: Some(200_000),
        git: Some(GitState { branch: Some("main".to_owned()), head: None, dirty: true }),
        transcript: Some(TranscriptExtent {
            path: "/t.jsonl".to_owned(),
            offset: 9,
            tail_sha256: "0".into(),
        }),
        sha256: None,
        mac: None,
    }
}

fn sealed() -> String {
    SealingKey::new(KEY).seal(meta(), &body()).1
}

fn check_own(text: &str) -> CheckpointCheck {
    check(text, Some(&SealingKey::new(KEY)))
}

/// A file as the first checkpoint tools wrote it.
const SEED: &str = "---
created: 2025-12-20T14:30:22Z
trigger: auto
project: /path/to/project
session_id: abc123
iteration: 3
verified: true
---

## What Changed
- [file:line] - Description of change

## Next Steps
- [ ] Task 1
";

#[test]
fn sealed_checkpoints_are_own() {
    let text = sealed();
    let verdict = check_own(&text);
    assert!(verdict.is_own_and_valid(), "{verdict:?}");
    assert_eq!(
        text.split("mac").next().unwrap(),
        "---
id: \"2026-11-15-055814-5f2c81aa\"
created: 2026-11-15T05:58:14Z
trigger: auto
project: /home/ada/app
session_id: \"5f2c81aa-77b0\"
iteration: 3
parent: null
verified: true
partial: false
agent: some-agent
model: some-model-4-5
used: 120000
window: 200000
git:
  branch: main
  head: null
  dirty: true
transcript:
  path: /t.jsonl
  offset: 9
  tail_sha256: \"0\"
sha256: \"HASH\"
"
        .replace("HASH", &sha256(body().as_bytes()))
    );
}

#[test]
fn the_original_format_is_valid_and_foreign() {
    let verdict = check_own(SEED);
    assert!(verdict.is_valid() && verdict.origin == SealOrigin::Foreign, "{verdict:?}");
    let meta = verdict.meta.unwrap();
    assert_eq!((meta.created, meta.iteration), (1_766_241_022_000, 3));
    let windows = check_own(&format!("\u{feff}{}", SEED.replace('\n', "\r\n")));
    assert!(windows.is_valid() && !windows.is_own_and_valid(), "{windows:?}");
}

#[test]
fn missing_parts_are_reported() {
    for section in REQUIRED_SECTIONS {
        let verdict = check_own(&SEED.replace(&format!("## {section}"), "## Else"));
        assert_eq!(verdict.problems, [CheckpointProblem::MissingSection(section)]);
    }
    let verdict = check_own("---\ncreated: yesterday\n---\n");
    let words: Vec<String> = verdict.problems.iter().map(CheckpointProblem::to_string).collect();
    assert_eq!(
        words,
        [
            "the front matter cannot be read",
            "the section `## What Changed` is missing",
            "the section `## Next Steps` is missing"
        ]
    );
}

#[test]
fn truncation_and_edits_are_distinguished() {
    let text = sealed();
    let edited = check_own(&text.replacen("- something", "- anything!", 1));
    assert_eq!(
        (edited.origin, &*edited.problems),
        (SealOrigin::Own, &[CheckpointProblem::Edited][..])
    );
    let forged = check_own(&text.replacen("iteration: 3", "iteration: 4", 1));
    assert_eq!(
        (forged.origin, &*forged.problems),
        (SealOrigin::Forged, &[CheckpointProblem::Forged][..])
    );
    let other = check(&text, Some(&SealingKey::new([8; SealingKey::LEN])));
    assert_eq!((other.origin, &*other.problems), (SealOrigin::OtherKey, &[][..]));
    assert_eq!(check(&text, None).origin, SealOrigin::OtherKey);
    let unsigned = check_own(&render(&meta(), &body()));
    assert_eq!((unsigned.origin, unsigned.is_valid()), (SealOrigin::Foreign, true));
    let cut = check_own(&text[..text.len() - 20]);
    assert!(cut.problems.contains(&CheckpointProblem::Truncated), "{cut:?}");
}

#[test]
fn a_mac_is_valid_only_for_its_own_file() {
    let text = sealed();
    let mac = text.lines().find(|line| line.starts_with("mac")).unwrap();
    let with = |line: &str| SEED.replace("verified: true\n", &format!("{line}\n"));
    assert_eq!(check_own(&with(mac)).origin, SealOrigin::Forged);
    assert_eq!(check_own(&with(&format!("{mac}\nverified: true"))).origin, SealOrigin::Forged);
    let twice = text.replacen(mac, &format!("{mac}\n{mac}"), 1);
    assert!(!check_own(&twice).is_valid());
    // The mac does not cover lines after it.
    let behind = text.replacen(mac, &format!("{mac}\nextra: 1"), 1);
    assert_eq!(check_own(&behind).origin, SealOrigin::Forged);
}

#[test]
fn no_truncated_file_is_own() {
    let text = sealed();
    for end in 0..text.len() {
        assert!(!check_own(&text[..end]).is_own_and_valid(), "cut at {end}");
    }
}

#[test]
fn no_changed_byte_is_own() {
    let text = sealed();
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let text = String::from_utf8(bytes).unwrap();
        assert!(!check_own(&text).is_own_and_valid(), "changed at {at}: {text}");
    }
}

#[test]
fn hostile_front_matter_is_rejected() {
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for at in 1_u8..20 {
        let (own, last) = (char::from(b'a' + at), char::from(b'a' + at - 1));
        let _ = writeln!(bomb, "{own}: &{own} [*{last},*{last},*{last},*{last},*{last},*{last}]");
    }
    let deep = format!("a: {}1{}\n", "[".repeat(3_000), "]".repeat(3_000));
    let endless = "k: v\n".repeat(100_000);
    let many: String = (0..2_000).map(|key| format!("k{key}: 1\n")).collect();
    for header in [bomb, deep, endless, many, "\0\n".into(), "{".into(), "? - ? -\n".into()] {
        let verdict = check_own(&SEED.replacen("created", &format!("{header}created"), 1));
        assert!(!verdict.is_valid(), "{:.60}", header);
    }
    let huge = SEED.to_owned() + &"x".repeat(2 << 20);
    assert_eq!(check_own(&huge).problems, [CheckpointProblem::TooLarge]);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,20}", ".{0,20}", any::<String>(), "(true|null|~|1e3|0x1|---|- a|a: b|#)"]
}

fn any_meta() -> impl Strategy<Value = Meta> {
    let git = (proptest::option::of(text()), proptest::option::of(text()), any::<bool>());
    let git = git.prop_map(|(branch, head, dirty)| GitState { branch, head, dirty });
    let source = (text(), any::<u64>(), text());
    let source = source.prop_map(|(path, offset, tail_sha256)| TranscriptExtent {
        path,
        offset,
        tail_sha256,
    });
    let texts =
        (text(), text(), text(), proptest::option::of(text()), proptest::option::of(text()));
    let rest =
        (proptest::option::of(git), proptest::option::of(source), any::<(u64, bool, bool)>());
    (texts, rest, 0..4_000_000_000_i64, any::<Option<u64>>()).prop_map(
        |(
            (id, project, session_id, parent, model),
            (git, transcript, (iteration, verified, partial)),
            created,
            used,
        )| Meta {
            id,
            project,
            session_id,
            parent,
            model,
            git,
            transcript,
            iteration,
            verified,
            partial,
            used,
            created: created * 1000,
            ..meta()
        },
    )
}

proptest! {
    #[test]
    fn sealed_checkpoints_read_back(meta in any_meta(), body in any::<String>()) {
        let (sealed, text) = SealingKey::new(KEY).seal(meta, &body);
        let parts = split(&text).unwrap();
        prop_assert_eq!(parts.body, &body);
        prop_assert_eq!(parse(parts.front_matter), Ok(sealed.clone()));
        let verdict = check_own(&text);
        prop_assert_eq!((verdict.origin, verdict.meta), (SealOrigin::Own, Some(sealed)));
    }

    #[test]
    fn no_text_causes_a_panic(text in any::<String>(), header in "[ -~\n]{0,200}") {
        check(&text, None);
        check_own(&format!("---\n{header}\n---\n{text}"));
    }
}

#[test]
fn sealed_headers_are_verified() {
    use crate::checkpoint::SealedHeader;
    let (sealed, key) = (sealed(), SealingKey::new(KEY));
    // The start of the file is enough.
    let beginning = &sealed[..sealed.find("## ").unwrap()];
    let glance = SealedHeader::parse(beginning, &key).unwrap();
    assert_eq!(glance.iteration(), 3);
    assert!(
        glance.has_value("project", "/home/ada/app")
            && glance.has_value("session_id", "5f2c81aa-77b0")
    );
    assert!(!glance.has_value("project", "/home/ada") && !glance.has_value("path", "/t.jsonl"));
    let raised = sealed.replace("iteration: 3\n", "iteration: 900\n");
    assert_ne!(raised, sealed);
    assert!(SealedHeader::parse(&raised, &key).is_none(), "changed");
    assert!(
        SealedHeader::parse(&sealed, &SealingKey::new([8; SealingKey::LEN])).is_none(),
        "of another key"
    );
    assert!(
        SealedHeader::parse(SEED, &key).is_none()
            && SealedHeader::parse(&sealed[..40], &key).is_none()
    );
}
