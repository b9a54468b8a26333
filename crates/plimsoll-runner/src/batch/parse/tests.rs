use super::*;

#[track_caller]
fn tasks(name: &str, text: &str) -> Vec<Task> {
    parse(text, Format::of(name, text), &|file| file.starts_with("src/")).unwrap()
}

#[track_caller]
fn problem(name: &str, text: &str) -> String {
    parse(text, Format::of(name, text), &|_| false).unwrap_err().to_string()
}

const YAML: &str = "\
# What is left for the release.
tasks:
  - Fix the reader
  - id: parser
    description: Refactor the parser
    files: [src/parser.rs, src/lexer.rs]
    estimated_files: 4
    after: 1
    subtasks:
      - Move the lexer out
      - description: Rename it
        tokens: 900
        whole: true
        after: parser.1
  - description: Update the docs
    done: true
    after: [parser, 1]
";

#[test]
fn tasks_are_read_from_yaml() {
    let tasks = tasks("tasks.yaml", YAML);
    assert_eq!(tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["1", "parser", "3"]);
    let [fix, parser, docs] = &tasks[..] else { panic!("{tasks:?}") };
    assert_eq!((fix.description.as_str(), fix.line), ("Fix the reader", Some(3)));
    assert_eq!(parser.files, ["src/parser.rs", "src/lexer.rs"]);
    assert_eq!((parser.estimated_files, &parser.after[..]), (Some(4), &["1".to_owned()][..]));
    let [move_out, rename] = &parser.subtasks[..] else { panic!("{parser:?}") };
    assert_eq!((move_out.id.as_str(), rename.id.as_str()), ("parser.1", "parser.2"));
    assert_eq!((rename.tokens, rename.whole, rename.line), (Some(900), true, Some(11)));
    assert!(docs.done && docs.after == ["parser", "1"]);
}

#[test]
fn a_task_is_done_if_all_subtasks_are() {
    let list =
        "- [ ] Fix it\n  - [x] keel\n  - [x] mast\n- [ ] Add it\n  - [x] jib\n  - [ ] boom\n";
    assert_eq!(tasks("t.md", list).iter().map(|it| it.done).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_file_counts_once_however_it_is_written() {
    let read = tasks("t.yaml", "- {description: Fix it, files: [a.txt, ./a.txt, ./b.txt]}\n");
    assert_eq!(read[0].files, ["a.txt", "b.txt"]);
}

#[test]
fn json_is_read_however_it_is_written() {
    let spread = "{\n\t\"tasks\": [\n\t\t\"Fix it\",\n\t\t{\"id\": \"b\",\n\t\t \"description\": \
                  \"caf\\u00e9 \\ud83d\\ude00 \\\"x\\\"\", \"after\": [\"1\"]}\n\t]\n}\n";
    let tight = r#"[{"id":"a","description":"Fix: it","estimated_files":5,"files":["a b.rs"]}]"#;
    let tasks = [tasks("t.json", spread), tasks("t.json", tight)].concat();
    let told: Vec<_> =
        tasks.iter().map(|task| (task.id.as_str(), task.description.as_str())).collect();
    assert_eq!(told, [("1", "Fix it"), ("b", "café 😀 \"x\""), ("a", "Fix: it")]);
    assert_eq!((tasks[2].estimated_files, tasks[2].files[0].as_str()), (Some(5), "a b.rs"));
}

const CHECK_LIST: &str = "\
# Release

Some words, and `- [ ] this` is none.

- [ ] Fix the reader in `src/read.rs` and `elsewhere.rs`
  It loses the last line.
  after: 2.10
- [x] Write the notes
1. [ ] Refactor the parser
   id: parser
   files:
     - src/parser.rs
     - src/lexer.rs
   tokens: 9000
   - [ ] Move the lexer out
   - [X] Rename it
     - a remark
```
- [ ] not this one
```
* [ ] Add a test
";

#[test]
fn tasks_are_read_from_a_check_list() {
    let tasks = tasks("TODO.md", CHECK_LIST);
    let [reader, notes, parser, test] = &tasks[..] else { panic!("{tasks:#?}") };
    assert_eq!(
        reader.description,
        "Fix the reader in `src/read.rs` and `elsewhere.rs`\nIt loses the last line."
    );
    assert_eq!((&reader.files[..], reader.line), (&["src/read.rs".to_owned()][..], Some(5)));
    assert_eq!(reader.after, ["2.10"], "a name is no number");
    assert!(notes.done && !reader.done);
    assert_eq!(parser.files, ["src/parser.rs", "src/lexer.rs"]);
    assert_eq!((parser.id.as_str(), parser.tokens), ("parser", Some(9000)));
    assert_eq!(parser.subtasks[0].id, "parser.1");
    assert!(parser.subtasks[1].done);
    assert_eq!((test.id.as_str(), test.description.as_str()), ("4", "Add a test"));
}

#[test]
fn the_format_is_detected_by_extension_then_content() {
    assert_eq!(Format::of("-", CHECK_LIST), Format::Markdown);
    assert_eq!(Format::of("-", YAML), Format::Data);
    assert_eq!(Format::of("-", "[{\"description\": \"x\"}]"), Format::Data);
    assert_eq!(Format::of("list.yml", "- [ ] x"), Format::Data);
    assert_eq!(Format::of("TODO.MD", ""), Format::Markdown);
}

#[test]
fn errors_name_the_line() {
    let all = [
        problem("t.yaml", "tasks:\n  - description: x\n    tokens: -5\n"),
        problem("t.yaml", "tasks:\n  - descripton: x\n"),
        problem("t.yaml", "- description: [x\n"),
        problem("t.yaml", "- description: x\n  after: 2.10\n"),
        problem("t.yaml", "just words"),
        problem("t.json", "{\"tasks\": [{\"description\": \"x\", \"estimated_files\": \"many\"}]}"),
        problem("t.md", "- [ ] x\n  tokens: -1\n"),
        problem("t.md", "# nothing\n- [ x\n"),
        problem("t.yaml", ""),
        problem("t.yaml", "- description: x\n  files: a.rs\n  files: b.rs\n"),
        problem("t.md", "- [ ] x\n  tokens: 1\n  tokens: 2\n"),
        problem("t.yaml", "- description: x\n  tokens: 18446744073709551615\n"),
        problem("t.yaml", "- description: x\n  estimated_files: 1000000001\n"),
    ];
    let expected = [
        "line 3: invalid value: integer `-5`, expected a whole number from 0 to 1,000,000,000",
        "line 2: unknown field `descripton`, expected one of id, description, files, \
         estimated_files, tokens, whole, done, after, subtasks",
        "line 1: expected string scalar",
        "line 2: a name with a point in it, such as \"2.1\", must stand in quotes here",
        "invalid type: string \"just words\", expected a list of tasks, or `tasks:` with one",
        "line 1: invalid type: string \"many\", expected a whole number from 0 to 1,000,000,000",
        "line 2: invalid value: integer `-1`, expected a whole number from 0 to 1,000,000,000",
        "there is no task in it",
        "there is no task in it",
        "line 3: `files` is there twice",
        "line 3: `tokens` is there twice",
        "line 2: invalid value: integer `18446744073709551615`, expected a whole number from 0 to \
         1,000,000,000",
        "line 2: invalid value: integer `1000000001`, expected a whole number from 0 to 1,000,000,000",
    ];
    assert_eq!(all, expected);
}

#[test]
fn a_byte_order_mark_is_ignored() {
    for (name, text) in [
        ("a.md", "- [ ] One\n- [ ] Two\n"),
        ("-", "- [ ] One\n- [ ] Two\n"),
        ("a.yaml", "- One\n- Two\n"),
    ] {
        let marked = format!("\u{feff}{text}");
        assert_eq!(tasks(name, &marked), tasks(name, text), "{name}");
        assert_eq!(tasks(name, &marked).len(), 2, "{name}");
    }
}
