//! Tests that install into a settings text and remove plimsoll again.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::*;
use crate::install::Timeout;

const PROGRAM: &str = "/home/me/.local/bin/plimsoll";

const WISH: Wish<'static> =
    Wish { program: PROGRAM, client: None, status_line: true, compact_at: None };

fn install(text: &str) -> String {
    ClaudeCode.install(text, &WISH).unwrap()
}

fn uninstall(text: &str) -> String {
    ClaudeCode.uninstall(text, None).unwrap()
}

fn our_hooks(text: &str) -> Vec<(String, Option<String>)> {
    let hooks = ClaudeCode.inspect(text).unwrap().hooks.into_iter();
    hooks.filter(|hook| hook.is_ours).map(|hook| (hook.event, hook.matcher)).collect()
}

#[test]
fn an_empty_file_gets_all_hooks_and_the_status_line() {
    let client = Some(Version(2, 1, 325));
    let wish = Wish { compact_at: Some(40), program: "/p/plimsoll", client, ..WISH };
    insta::assert_snapshot!(ClaudeCode.install("", &wish).unwrap(), @r#"
    {
      "hooks": {
        "UserPromptSubmit": [
          { "hooks": [{ "type": "command", "command": "/p/plimsoll hook || :", "timeout": 5 }] }
        ],
        "PostToolUse": [
          { "hooks": [{ "type": "command", "command": "/p/plimsoll hook || :", "timeout": 5 }] }
        ],
        "PostToolUseFailure": [
          { "hooks": [{ "type": "command", "command": "/p/plimsoll hook || :", "timeout": 5 }] }
        ],
        "PreToolUse": [
          { "matcher": "Agent|Task|Skill", "hooks": [{ "type": "command", "command": "/p/plimsoll hook || :", "timeout": 5 }] }
        ],
        "PreCompact": [
          { "hooks": [{ "type": "command", "command": "/p/plimsoll hook || :", "timeout": 5 }] }
        ],
        "PostCompact": [
          { "hooks": [{ "type": "command", "command": "/p/plimsoll hook || :", "timeout": 3 }] }
        ],
        "SessionStart": [
          { "hooks": [{ "type": "command", "command": "/p/plimsoll hook || :", "timeout": 3 }] }
        ],
        "Stop": [
          { "hooks": [{ "type": "command", "command": "/p/plimsoll hook || :", "timeout": 3 }] }
        ],
        "SessionEnd": [
          { "hooks": [{ "type": "command", "command": "/p/plimsoll hook || :", "timeout": 3 }] }
        ]
      },
      "statusLine": { "type": "command", "command": "/p/plimsoll statusline" },
      "env": {
        "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "40"
      }
    }
    "#);
}

#[test]
fn every_event_that_is_written_is_one_that_the_client_knows() {
    for (client, events) in [
        (None, 8),
        (Some(Version(2, 1, 40)), 8),
        (Some(Version(2, 1, 75)), 8),
        (Some(Version(2, 1, 76)), 9),
        (Some(Version(9, 0, 0)), 9),
    ] {
        let text = ClaudeCode.install("", &Wish { client, ..WISH }).unwrap();
        assert_eq!(ClaudeCode.inspect(&text).unwrap().unknown_events, [""; 0]);
        let written: Vec<String> = our_hooks(&text).into_iter().map(|(event, _)| event).collect();
        assert_eq!(written, ClaudeCode.events(client), "{client:?}");
        assert_eq!(written.len(), events, "{client:?}");
    }
    assert!(!ClaudeCode.knows(Version(2, 1, 197), "PreModelSwitch"));
    assert!(ClaudeCode.knows(Version(2, 1, 325), "PreModelSwitch"));
    assert!(!ClaudeCode.knows(Version(9, 0, 0), "Nope"));
}

#[test]
fn an_event_that_only_newer_clients_know_stays_until_an_older_client_is_found() {
    let newer = ClaudeCode.install("", &Wish { client: Some(Version(2, 1, 325)), ..WISH }).unwrap();
    assert_eq!(install(&newer), newer, "an unknown client may be the newer one");
    let older = Wish { client: Some(Version(2, 1, 42)), ..WISH };
    let older = ClaudeCode.install(&newer, &older).unwrap();
    assert!(!older.contains("PostCompact"), "{older}");
}

#[test]
fn a_client_that_is_too_old_is_refused() {
    let client = ClaudeCode.version("2.1.39 (Claude Code)\n");
    let refused = ClaudeCode.install("", &Wish { client, ..WISH }).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the client is version 2.1.39, and plimsoll needs 2.1.40 or newer"
    );
    assert_eq!(ClaudeCode.version("3.0.1-beta.2"), Some(Version(3, 0, 1)));
    assert_eq!(ClaudeCode.version("command not found"), None);
}

#[test]
fn hooks_of_release_0_1_0_come_to_the_present_form_and_go_to_the_byte() {
    let now = install(THEIRS);
    let then = now.replace(
        "\"command\": \"/home/me/.local/bin/plimsoll hook || :\"",
        "\"command\": \"/home/me/.local/bin/plimsoll\", \"args\": [\"hook\"]",
    );
    assert_eq!(then.matches("\"args\"").count(), 8);
    assert_eq!(our_hooks(&then).len(), 8);
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(value(&install(&then)), value(&now));
    let installed = Installed { before: THEIRS, after: &then };
    assert_eq!(ClaudeCode.uninstall(&then, Some(&installed)).unwrap(), THEIRS);
}

const THEIRS: &str = "{\n  \"model\": \"opus\"\n}\n";

#[test]
fn hooks_of_ours_that_are_there_already_come_to_the_wished_form() {
    let text = r#"{"hooks": {
        "Notification": [{"hooks": [{"type": "command", "command": "plimsoll hook"}, {"type": "command", "command": "mine"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/old/plimsoll", "args": ["hook"]}]}],
        "PostToolUse": [
            {"hooks": [{"type": "command", "command": "'/my tools/plimsoll' hook --agent claude-code", "timeout": 5000}]},
            {"matcher": "*", "hooks": [{"type": "command", "command": "/home/me/.local/bin/plimsoll hook || :", "timeout": 5}]}
        ]
    }}"#;
    let installed: Value = serde_json::from_str(&install(text)).unwrap();
    let mut ours = our_hooks(&installed.to_string());
    ours.sort();
    let expected = [
        ("PostToolUse", Some("*")),
        ("PostToolUseFailure", None),
        ("PreCompact", None),
        ("PreToolUse", Some("Agent|Task|Skill")),
        ("SessionEnd", None),
        ("SessionStart", None),
        ("Stop", None),
        ("UserPromptSubmit", None),
    ];
    let expected = expected.map(|(event, matcher)| (event.to_owned(), matcher.map(str::to_owned)));
    assert_eq!(ours, expected);
    assert_eq!(
        installed["hooks"]["Notification"],
        json!([{"hooks": [{"type": "command", "command": "mine"}]}])
    );
}

#[test]
fn a_status_line_of_the_user_is_wrapped_and_given_back() {
    let text = r#"{"statusLine": {"type": "command", "command": "echo it's 5", "padding": 0}}"#;
    let installed = install(text);
    let line: Value = serde_json::from_str(&installed).unwrap();
    let wrapped = format!(r"{PROGRAM} statusline --wrap 'echo it'\''s 5'");
    let expected = json!({"type": "command", "command": wrapped, "padding": 0});
    assert_eq!(line["statusLine"], expected);
    let found = ClaudeCode.inspect(&installed).unwrap().status_line.unwrap();
    assert_eq!((found.is_ours, found.wraps.as_deref()), (true, Some("echo it's 5")));
    assert_eq!(uninstall(&installed), text);
    let moved = Wish { program: "/my tools/plimsoll", ..WISH };
    let moved = ClaudeCode.install(&installed, &moved).unwrap();
    let found = ClaudeCode.inspect(&moved).unwrap().status_line.unwrap();
    assert_eq!(found.command, r"'/my tools/plimsoll' statusline --wrap 'echo it'\''s 5'");
    let without = ClaudeCode.install(&moved, &Wish { status_line: false, ..WISH }).unwrap();
    assert!(!ClaudeCode.inspect(&without).unwrap().status_line.unwrap().is_ours);
}

#[test]
fn a_status_line_is_unwrapped_however_it_is_written_or_not_at_all() {
    let text = |command: &str| json!({"statusLine": {"command": command}}).to_string();
    for command in [
        "plimsoll statusline --wrap=date",
        "plimsoll statusline --no-color --wrap date",
        "'/my tools/plimsoll' statusline '--wrap=date' --no-color",
    ] {
        assert_eq!(uninstall(&text(command)), text("date"), "{command}");
    }
    for command in [
        "plimsoll statusline && date",
        "plimsoll statusline --wrap date | cut -c-20",
        "plimsoll statusline --wrap a --wrap b",
        "plimsoll statusline --wrap",
        "plimsoll statusline --wrapper=date",
    ] {
        let refused = ClaudeCode.uninstall(&text(command), None).unwrap_err().to_string();
        let why = "`statusLine.command` is not one that plimsoll can be taken out of";
        assert_eq!(refused, why, "{command}");
    }
}

#[test]
fn the_point_of_compaction_is_taken_back_only_where_it_is_ours() {
    let wish = Wish { compact_at: Some(40), ..WISH };
    let theirs = r#"{"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": 70}}"#;
    for (before, found) in [(theirs, Some("70")), ("{}", None)] {
        let after = ClaudeCode.install(before, &wish).unwrap();
        assert_eq!(ClaudeCode.inspect(&after).unwrap().compact_at.as_deref(), Some("40"));
        let installed = Installed { before, after: &after };
        assert_eq!(ClaudeCode.uninstall(&after, Some(&installed)).unwrap(), before);
        let inspected = ClaudeCode.inspect(before).unwrap();
        assert_eq!(inspected.compact_at.as_deref(), found);
        let changed = after.replace("\"40\"", "\"55\"");
        let less = ClaudeCode.uninstall(&changed, Some(&installed)).unwrap();
        assert_eq!(ClaudeCode.inspect(&less).unwrap().compact_at.as_deref(), Some("55"));
    }
}

#[test]
fn what_users_add_after_the_installation_stays() {
    let before = "{\n  \"model\": \"opus\"\n}\n";
    let after = install(before);
    let changed = after.replace("\"opus\",", "\"opus\",\n  \"theme\": \"dark\",");
    let installed = Installed { before, after: &after };
    let less = ClaudeCode.uninstall(&changed, Some(&installed)).unwrap();
    assert_eq!(less, "{\n  \"model\": \"opus\",\n  \"theme\": \"dark\"\n}\n");
    assert_eq!(uninstall(&changed), less);
}

#[test]
fn the_layout_of_a_text_is_kept_to() {
    let hooks = |text: &str| {
        let wish = Wish { status_line: false, ..WISH };
        let text = ClaudeCode.install(text, &wish).unwrap();
        text.lines().nth(2).unwrap_or(&text).to_owned()
    };
    assert_eq!(hooks("{\n\t\"a\": 1\n}"), "\t\"hooks\": {");
    assert_eq!(hooks("{\r\n    \"a\": 1\r\n}\r\n"), "    \"hooks\": {");
    assert!(hooks("{\"a\": 1}").starts_with("{\"a\": 1, \"hooks\": {\"UserPromptSubmit\": [{"));
    let crlf = install("{\r\n  \"a\": 1\r\n}\r\n");
    assert_eq!(crlf.matches('\n').count(), crlf.matches("\r\n").count());
}

#[track_caller]
fn refused(text: &str, why: &str) {
    assert_eq!(ClaudeCode.install(text, &WISH).unwrap_err().to_string(), why, "{text}");
}

#[test]
fn what_cannot_be_understood_is_refused() {
    refused("{\n  \"a\": 1\n  \"b\": 2\n}", "it is not JSON: expected comma in line 2, column 9");
    refused("{", "it is not JSON: unterminated object in line 1, column 1");
    refused("[]", "the whole of it is not an object");
    refused(r#"{"hooks": []}"#, "`hooks` is not an object");
    refused(r#"{"hooks": {"PreCompact": {}}}"#, "`hooks.PreCompact` is not an array");
    refused(r#"{"hooks": {}, "hooks": {}}"#, "`hooks` is there twice");
    refused(r#"{"hooks": {"Stop": [], "Stop": []}}"#, "`hooks.Stop` is there twice");
    refused(r#"{"statusLine": {}, "statusLine": {}}"#, "`statusLine` is there twice");
    refused(r#"{"env": {}, "env": {}}"#, "`env` is there twice");
    refused(r#"{"statusLine": {"type": "command"}}"#, "`statusLine.command` is not a string");
    refused(r#"{"statusLine": "x"}"#, "`statusLine` is not an object");
}

#[test]
fn all_that_a_doctor_asks_for_is_told() {
    let text = r#"{
        "disableAllHooks": true,
        "env": {"PLIMSOLL": "off", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": 40},
        "env": {"PLIMSOLL": "on"},
        "hooks": {
            "Nope": [{"hooks": [{"type": "command", "command": "a"}]}],
            "Stop": [{"matcher": "x", "hooks": [
                {"type": "command", "command": "b", "args": ["c"], "timeout": 2.5},
                {"type": "command", "command": "/x/plimsoll", "args": ["hook"], "timeout": "5"}
            ]}]
        }, // mine
        "statusLine": {"type": "command", "command": "date"}
    }"#;
    let found = ClaudeCode.inspect(text).unwrap();
    assert!(found.hooks_disabled && found.has_ours());
    assert_eq!(found.switch.as_deref(), Some("on"), "the last one counts");
    assert_eq!((found.twice, found.compact_at), (vec!["env".to_owned()], None));
    assert_eq!(found.unknown_events, ["Nope"]);
    let why = "it is not JSON: comments are not allowed in line 11, column 12";
    assert_eq!(found.ignored.as_deref(), Some(why));
    let line = found.status_line.unwrap();
    assert_eq!((line.command.as_str(), line.is_ours, line.wraps), ("date", false, None));
    let timeouts: Vec<_> = found.hooks.iter().map(|hook| hook.timeout).collect();
    assert_eq!(timeouts, [Timeout::Unset, Timeout::Seconds(2.5), Timeout::Invalid]);
    let ours: Vec<_> = found.hooks.iter().map(|hook| hook.is_ours).collect();
    assert_eq!(ours, [false, false, true]);
    assert_eq!(found.hooks[1].args, Some(vec!["c".to_owned()]));
    assert_eq!(found.hooks[1].matcher.as_deref(), Some("x"));
    let no_command = ClaudeCode.inspect(r#"{"statusLine": {}}"#).unwrap();
    assert_eq!(no_command.ignored.as_deref(), Some("`statusLine` has no `command`"));
    assert_eq!(ClaudeCode.inspect(" \n").unwrap(), Inspection::default());
}

/// A JSON value without blanks.
#[derive(Clone, Debug)]
enum Tree {
    Raw(String),
    Object(Vec<(String, Tree)>),
    Array(Vec<Tree>),
}

impl Tree {
    fn is_empty(&self) -> bool {
        match self {
            Self::Raw(_) => false,
            Self::Object(members) => members.is_empty(),
            Self::Array(elements) => elements.is_empty(),
        }
    }

    /// Prints the value, with the next of `gaps` wherever blanks are allowed.
    fn print(&self, gaps: &mut dyn Iterator<Item = String>, comma: bool) -> String {
        let mut items = Vec::new();
        let brackets = match self {
            Self::Raw(text) => return text.clone(),
            Self::Object(members) => {
                for (key, value) in members {
                    let (before, after) = (gaps.next().unwrap(), gaps.next().unwrap());
                    items.push(format!("{key}{before}:{after}{}", value.print(gaps, comma)));
                }
                ['{', '}']
            }
            Self::Array(elements) => {
                items.extend(elements.iter().map(|element| element.print(gaps, comma)));
                ['[', ']']
            }
        };
        let mut text = String::from(brackets[0]) + &gaps.next().unwrap();
        let last = items.len().saturating_sub(1);
        for (at, item) in items.into_iter().enumerate() {
            text += &item;
            text += &gaps.next().unwrap();
            if at < last || comma {
                text.push(',');
                text += &gaps.next().unwrap();
            }
        }
        text.push(brackets[1]);
        text
    }
}

fn raw(texts: &'static [&'static str]) -> impl Strategy<Value = Tree> {
    select(texts).prop_map(|text| Tree::Raw(text.to_owned()))
}

fn tree() -> impl Strategy<Value = Tree> {
    let scalar =
        raw(&["1", "-2.50e3", "null", "true", r#""""#, r#""a // b, {}""#, r#""ü\u00e4\n""#]);
    scalar.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Tree::Array),
            vec(inner, 0..3).prop_map(|values| {
                let keys = (0..).map(|number| format!("\"k{number}\""));
                Tree::Object(keys.zip(values).collect())
            }),
        ]
    })
}

/// Generates hooks of others, for any number of events.
fn hooks() -> impl Strategy<Value = Tree> {
    let group = raw(&[
        r#"{"hooks": [{"type": "command", "command": "lint", "timeout": "5"}]}"#,
        r#"{ "matcher": "Bash",  "hooks": [] }"#,
        r#"{"matcher":"*","hooks":[{"type":"command","command":"/x/plimsoll","args":["tick"]}]}"#,
        "{}",
        "3",
    ]);
    let groups = vec(group, 0..3).prop_map(Tree::Array).boxed();
    let names = ["Stop", "UserPromptSubmit", "PreToolUse", "SessionEnd", "Nope"];
    let events = names.map(|name| {
        option::of(groups.clone()).prop_map(move |groups| Some((format!("\"{name}\""), groups?)))
    });
    let events: Vec<_> = events.into_iter().map(Strategy::boxed).collect();
    events.prop_map(|events| Tree::Object(events.into_iter().flatten().collect()))
}

/// Generates the text of a settings file, and whether a list that we may fill is empty in it.
fn settings(comments: bool) -> impl Strategy<Value = (String, bool)> {
    let line = raw(&[
        r#"{"type": "command", "command": "echo it's"}"#,
        r#"{ "padding": 0, "command": "~/line.sh --a \"b c\"" }"#,
    ]);
    let env = raw(&["{}", r#"{"A": "b"}"#, r#"{"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE":  70, "B": 1}"#]);
    let ours = (option::of(hooks()), option::of(line), option::of(env));
    let gap = match comments {
        true => select(&["", " ", "\n  ", "\r\n\t", "/* a, } */", " // b: {,\n"][..]),
        false => select(&["", "", " ", "\n", "\n  ", "\r\n\t"][..]),
    };
    let gaps = vec(gap, 1..30);
    let mark = select(&["", "", "\u{feff}"][..]);
    let comma = any::<bool>().prop_map(move |comma| comma && comments);
    (ours, vec(tree(), 0..4), gaps, mark, comma, 0..4_usize).prop_map(
        |((hooks, line, env), others, gaps, mark, comma, at)| {
            let keys = (0..).map(|number| format!("\"other{number}\""));
            let mut members: Vec<(String, Tree)> = keys.zip(others).collect();
            let ours = [("\"hooks\"", hooks), ("\"statusLine\"", line), ("\"env\"", env)];
            for (key, value) in ours.into_iter().filter_map(|(key, value)| Some((key, value?))) {
                members.insert(at.min(members.len()), (key.to_owned(), value));
            }
            let empty =
                members.is_empty() || members.iter().any(|(key, value)| is_bare(key, value));
            let mut gaps =
                gaps.into_iter().map(str::to_owned).collect::<Vec<_>>().into_iter().cycle();
            let text = Tree::Object(members).print(&mut gaps, comma);
            (format!("{mark}{}{text}{}", gaps.next().unwrap(), gaps.next().unwrap()), empty)
        },
    )
}

/// Returns whether a member has an empty list that we might fill.
fn is_bare(key: &str, value: &Tree) -> bool {
    match value {
        Tree::Object(events) if key == "\"hooks\"" => {
            events.is_empty() || events.iter().any(|(_, groups)| groups.is_empty())
        }
        _ => false,
    }
}

fn wish() -> impl Strategy<Value = Wish<'static>> {
    let program = select(&[PROGRAM, "plimsoll", "/my tools/plimsoll"][..]);
    (program, any::<bool>(), option::of(1..=100_u8)).prop_map(
        |(program, status_line, compact_at)| Wish {
            program,
            status_line,
            compact_at,
            client: None,
        },
    )
}

/// Returns the settings without everything that is ours.
fn foreign(text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}');
    let mut value: Value = serde_json::from_str(text).unwrap();
    let events = value.get_mut("hooks").and_then(Value::as_object_mut);
    for (_, groups) in events.into_iter().flatten() {
        let ours = |group: &Value| {
            group["hooks"][0]["command"].as_str().is_some_and(|line| line.ends_with(" hook || :"))
        };
        groups.as_array_mut().unwrap().retain(|group| !ours(group));
    }
    let object = value.as_object_mut().unwrap();
    object.remove("statusLine");
    if let Some(env) = object.get_mut("env") {
        env.as_object_mut().unwrap().remove("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE");
    }
    for key in ["env", "hooks"] {
        let lists = object.get_mut(key).and_then(Value::as_object_mut);
        lists.into_iter().for_each(|lists| lists.retain(|_, list| *list != json!([])));
        if object.get(key) == Some(&json!({})) {
            object.remove(key);
        }
    }
    value
}

proptest! {
    #[test]
    fn the_way_in_and_out_gives_back_every_byte(
        (text, _) in prop_oneof![settings(false), settings(true)],
        wish in wish(),
    ) {
        let after = ClaudeCode.install(&text, &wish).unwrap();
        let installed = Installed { before: &text, after: &after };
        prop_assert_eq!(ClaudeCode.uninstall(&after, Some(&installed)).unwrap(), text);
    }

    #[test]
    fn without_a_record_only_empty_lists_are_lost(
        (text, empty) in prop_oneof![settings(false), settings(true)],
        wish in wish(),
    ) {
        prop_assume!(!empty);
        let after = ClaudeCode.install(&text, &Wish { compact_at: None, ..wish }).unwrap();
        prop_assert_eq!(uninstall(&after), text);
    }

    #[test]
    fn a_second_installation_changes_nothing((text, _) in settings(true), wish in wish()) {
        let once = ClaudeCode.install(&text, &wish).unwrap();
        prop_assert_eq!(ClaudeCode.install(&once, &wish).unwrap(), once.clone());
        prop_assert_eq!(our_hooks(&once).len(), 8);
    }

    #[test]
    fn what_is_not_ours_keeps_its_value((text, _) in settings(false), wish in wish()) {
        let after = ClaudeCode.install(&text, &wish).unwrap();
        prop_assert_eq!(foreign(&after), foreign(&text));
        prop_assert!(ClaudeCode.inspect(&after).unwrap().ignored.is_none());
    }

    #[test]
    fn a_blank_text_comes_back(text in "\u{feff}?[ \n\r\t]{0,5}", wish in wish()) {
        let after = ClaudeCode.install(&text, &wish).unwrap();
        let installed = Installed { before: &text, after: &after };
        prop_assert_eq!(ClaudeCode.uninstall(&after, Some(&installed)).unwrap(), text);
    }

    #[test]
    fn no_text_makes_us_panic(text in r#"[{}\[\]",:/* \na-c\u{feff}]{0,30}"#) {
        let _ = ClaudeCode.install(&text, &WISH).map(|after| uninstall(&after));
        let _ = ClaudeCode.inspect(&text);
    }
}
