use super::*;

fn returned(text: &str) -> Vec<String> {
    let (call, changes) = ("1", Vec::new());
    let said = ToolOutput::new(text.as_bytes(), String::from_utf8_lossy);
    let act = WorkEvent::ToolResult { call, failed: false, said, changes, step: None };
    let mut fold = WorkFold::default();
    fold.read_record(&WorkRecord { events: vec![act], ..WorkRecord::default() });
    let work = fold.finish();
    let files = work.table.files.iter().map(|file| file.path.to_string());
    files.chain(work.table.names.iter().map(|name| name.text.to_string())).collect()
}

#[test]
fn diff_prefixes_are_stripped_only_in_diffs() {
    let diff = "diff --git a/src/x.rs b/src/x.rs\n--- a/src/x.rs\n+++ b/src/x.rs\n+see b/y.rs";
    assert_eq!(returned(diff), ["src/x.rs", "b/y.rs"]);
    assert_eq!(returned("a/src/x.rs:3: unused\nb/y.rs"), ["a/src/x.rs", "b/y.rs"]);
}

#[test]
fn restored_text_is_not_a_source_of_names() {
    let given = fence::fenced("src/hull.rs: readHull", "From afar.");
    assert_eq!(returned(&format!("$ cat it\n{given}")), [""; 0]);
    assert_eq!(returned("src/hull.rs: readHull"), ["src/hull.rs", "readHull"]);
}

/// A session, initially in `/app`. Each call succeeds unless stated otherwise.
struct Session {
    fold: WorkFold,
    calls: usize,
    folder: &'static str,
    failed: bool,
}

impl Default for Session {
    fn default() -> Self {
        Self { fold: WorkFold::default(), calls: 0, folder: "/app", failed: false }
    }
}

impl Session {
    fn call(&mut self, tool: ToolUse<'_>, said: &str, original: Option<&str>) -> &mut Self {
        self.calls += 1;
        let call = &self.calls.to_string();
        let change = original.map(|text| FileChange {
            path: None,
            change: None,
            lines: Vec::new(),
            original: Some(ToolOutput::new(text.as_bytes(), String::from_utf8_lossy)),
        });
        let said = ToolOutput::new(said.as_bytes(), String::from_utf8_lossy);
        let changes = change.into_iter().collect();
        for act in [
            WorkEvent::ToolCall { call, tool },
            WorkEvent::ToolResult { call, failed: self.failed, said, changes, step: None },
        ] {
            let folder = Some(self.folder.into());
            self.fold.read_record(&WorkRecord {
                folder,
                events: vec![act],
                ..WorkRecord::default()
            });
        }
        self
    }

    fn edit(&mut self, path: &str, old: &str, new: &str) -> &mut Self {
        let (old, new) = (vec![old.into()], vec![new.into()]);
        self.call(ToolUse::Edit { path: path.into(), old, new }, "", Some("as it was"))
    }

    fn write(&mut self, path: &str, text: &str) -> &mut Self {
        self.call(ToolUse::Write { path: path.into(), text: text.into() }, "", Some("as it was"))
    }

    fn shell(&mut self, command: &str, said: &str) -> &mut Self {
        self.call(ToolUse::Shell { command: command.into() }, said, None)
    }

    fn failing_shell(&mut self, command: &str, said: &str) -> &mut Self {
        self.failed = true;
        self.shell(command, said);
        self.failed = false;
        self
    }

    /// Makes the client report that the agent is in this folder.
    fn moves_to(&mut self, folder: &'static str) -> &mut Self {
        self.folder = folder;
        self
    }

    #[track_caller]
    fn check(&self, expected: &[&str]) {
        let work = self.fold.clone().finish();
        let mut changed: Vec<&str> = work.changes().into_iter().map(|(path, _)| path).collect();
        changed.sort_unstable();
        assert_eq!(changed, expected);
        let restored = restore(&work, 2_000, &unknown_status);
        for path in expected {
            let is_named =
                restored.lines().any(|line| line.split([' ', ':']).next() == Some(*path));
            assert!(is_named, "{path}: {restored}");
        }
    }
}

#[test]
fn files_with_the_same_name_are_distinguished() {
    let listed = "./packages/web/package.json\n./package.json";
    let mut session = Session::default();
    session.shell("find . -name package.json", listed).edit("/app/package.json", "1", "2");
    session.check(&["package.json"]);
    session.edit("/app/packages/web/package.json", "1", "2");
    session.check(&["package.json", "packages/web/package.json"]);

    let mut session = Session::default();
    session.edit("/app/docs/README.md", "1", "2").edit("/app/README.md", "1", "2");
    session.edit("/app/crates/a/src/lib.rs", "1", "2").edit("/app/src/lib.rs", "1", "2");
    session.check(&["README.md", "crates/a/src/lib.rs", "docs/README.md", "src/lib.rs"]);
}

#[test]
fn text_that_shows_a_path_renames_no_file() {
    for shown in [
        "--- a/run.sh\n+++ b/run.sh",
        "a/run.sh | 2 +-",
        "/home/runner/work/app/app/run.sh:3: oops",
        "    74→./run.sh",
        "../app/run.sh ../../run.sh",
        "node_modules/acorn/run.sh",
        "/run.sh",
        "/app/.worktrees/fix/run.sh",
    ] {
        let mut session = Session::default();
        session.shell("cat log", shown).edit("/app/run.sh", "1", "2").shell("cat log", shown);
        session.check(&["run.sh"]);
    }
}

#[test]
fn a_worktree_has_files_of_its_own() {
    let mut session = Session::default();
    session.edit("/app/.worktrees/fix/src/a.rs", "1", "2").edit("/app-fix/src/a.rs", "1", "2");
    session.check(&[".worktrees/fix/src/a.rs", "/app-fix/src/a.rs"]);
}

#[test]
fn edits_that_were_undone_are_not_listed() {
    for undo in ["git checkout -- a.rs", "git checkout a.rs", "git restore .", "git reset --hard"] {
        let mut session = Session::default();
        session.edit("/app/a.rs", "1", "2").shell(undo, "").check(&[]);
        session.edit("/app/a.rs", "1", "2").check(&["a.rs"]);
    }
    let mut session = Session::default();
    session.edit("/app/a.rs", "1", "2").edit("/app/a.rs", "2", "1").check(&[]);
    session.edit("/app/b.rs", "1", "2").write("/app/b.rs", "as it was").check(&[]);
    session.write("/app/b.rs", "another text").check(&["b.rs"]);
}

#[test]
fn git_in_another_repository_undoes_nothing_here() {
    let mut session = Session::default();
    session.edit("/app/a.rs", "1", "2").edit("/tmp/other/b.rs", "1", "2");
    session.shell("cd /tmp/other && git reset --hard && git stash", "").check(&["a.rs"]);
}

#[test]
fn a_shell_that_moved_without_a_report_changes_only_files_that_a_tool_has_named() {
    let mut session = Session::default();
    session.edit("/app/src/a.rs", "1", "2").shell("git commit -am one", "");
    session.shell("cd src && cargo build", "");
    session.shell("sed -i s/1/2/ b.rs", "").check(&["src/a.rs"]);
    session.shell("git checkout -- a.rs && echo > /app/c.rs", "").check(&["c.rs", "src/a.rs"]);
    session.shell("mv a.rs d.rs", "").check(&["c.rs", "src/d.rs"]);
}

#[test]
fn a_shell_whose_moves_are_reported_changes_files_where_it_is() {
    let mut session = Session::default();
    session.shell("cd src && cargo build", "").moves_to("/app/src");
    session.shell("echo > b.rs", "").check(&["src/b.rs"]);
    session.shell("cd /tmp && ls", "").shell("echo > c.rs", "");
    session.check(&["src/b.rs", "src/c.rs"]);
}

#[test]
fn a_failed_line_changed_no_file_that_it_could_not_write() {
    let mut session = Session::default();
    let said = "bash: line 1: lib/a.rs: No such file or directory\nFAIL";
    session.failing_shell("echo > lib/a.rs; echo > b.rs; cargo test", said).check(&["b.rs"]);
}

#[test]
fn copied_and_moved_files_have_the_names_they_got() {
    let mut session = Session::default();
    session.shell("cp a.md b.yaml \"$OUT/\"", "").check(&[]);
    session.shell("cp a.md b.yaml out/", "").check(&["out/a.md", "out/b.yaml"]);

    let mut session = Session::default();
    session.edit("/app/a.rs", "1", "2").edit("/app/b.rs", "1", "2");
    session.shell("git mv a.rs b.rs lib/", "").check(&["lib/a.rs", "lib/b.rs"]);
    session.shell("git mv lib core", "").check(&["core/a.rs", "core/b.rs"]);
    session.edit("/app/c.rs", "1", "2").shell("mv c.rs core", "");
    session.check(&["core/a.rs", "core/b.rs", "core/c.rs"]);
    session.shell("mv core/a.rs /tmp/", "").check(&["core/b.rs", "core/c.rs"]);
}

#[test]
fn a_file_moved_to_an_unclear_place_is_not_listed_by_its_old_name() {
    let mut session = Session::default();
    session.edit("/app/install.sh", "1", "2").shell("mv install.sh install", "").check(&[]);
}

#[test]
fn git_in_the_project_leaves_its_worktrees_alone() {
    for undo in ["git checkout .", "git stash", "git reset --hard origin/main"] {
        let mut session = Session::default();
        session.edit("/app/.worktrees/fix/a.rs", "1", "2").edit("/app/a.rs", "1", "2");
        session.shell(undo, "").check(&[".worktrees/fix/a.rs"]);
    }
}

#[test]
fn a_stash_that_is_popped_with_a_conflict_brings_the_edits_back() {
    let mut session = Session::default();
    session.edit("/app/a.rs", "1", "2").edit("/app/b.rs", "1", "2").shell("git stash", "");
    let said = "CONFLICT (content): Merge conflict in b.rs\nThe stash entry is kept";
    session.failing_shell("git stash pop", said).check(&["a.rs", "b.rs"]);
    session.shell("git add a.rs b.rs && git stash drop", "").check(&["a.rs", "b.rs"]);
}

#[test]
fn files_created_and_removed_are_not_listed() {
    let mut session = Session::default();
    session.shell("echo > probe_test.go; go test; rm probe_test.go", "").check(&[]);
    session.shell("echo > probe_test.go; go test; rm probe_test.go", "").check(&[]);
    session.shell("cp /tmp/x.go a.go", "").shell("rm a.go", "").check(&[]);
    session.shell("rm -f .git/index.lock", "").check(&[]);
    session.shell("rm old.go", "").check(&["old.go"]);
}

#[test]
fn staged_changes_survive_a_checkout() {
    let mut session = Session::default();
    session.edit("/app/a.rs", "1", "2").shell("git add a.rs", "");
    session.shell("git checkout a.rs", "").shell("git stash --keep-index", "").check(&["a.rs"]);
    session.shell("git checkout HEAD -- a.rs", "").check(&[]);
}

#[test]
fn a_command_that_may_not_have_run_undoes_nothing() {
    let mut session = Session::default();
    session.edit("/app/a.rs", "1", "2").shell("cargo test || git checkout a.rs", "");
    session.check(&["a.rs"]);
}

#[test]
fn a_stash_hides_edits_until_it_is_popped() {
    let mut session = Session::default();
    session.edit("/app/a.rs", "1", "2").edit("/app/b.rs", "1", "2");
    session.shell("git stash push -- a.rs", "").check(&["b.rs"]);
    session.shell("git stash", "").check(&[]);
    session.shell("git stash pop", "").check(&["b.rs"]);
    session.shell("git stash pop", "").check(&["a.rs", "b.rs"]);
    session.shell("git stash && git stash drop", "").check(&[]);

    let mut session = Session::default();
    session.edit("/app/a.rs", "1", "2").shell("git stash", "");
    session.edit("/app/b.rs", "1", "2").shell("git stash", "");
    session.shell("git stash apply && git stash drop && git stash pop", "");
    session.check(&["a.rs", "b.rs"]);
}

#[test]
fn committed_edits_stay_when_later_ones_are_undone() {
    let mut session = Session::default();
    session.edit("/app/a.rs", "1", "2").edit("/app/b.rs", "1", "2");
    session.shell("git add a.rs && git commit -m fix", "").shell("git checkout .", "");
    session.check(&["a.rs"]);
    session.edit("/app/b.rs", "1", "2").shell("git commit -am more", "");
    session.shell("git reset --hard HEAD~1", "").check(&["a.rs"]);
}

#[test]
fn a_pasted_log_is_not_in_the_users_words() {
    let mut fold = WorkFold::default();
    let prompts = [
        "Fix it, but do not hide it.\n\nERROR TypeError: it must not be null",
        "✘ [ERROR] never mind",
    ];
    let acts = prompts.map(|prompt| WorkEvent::UserPrompt(prompt.into())).to_vec();
    fold.read_record(&WorkRecord { events: acts, ..WorkRecord::default() });
    let work = fold.finish();
    let asked: Vec<&str> = work.asked.iter().map(|text| &**text).collect();
    let directives: Vec<&str> = work.directives.iter().map(|text| &**text).collect();
    assert_eq!(asked, ["Fix it, but do not hide it.\n\n[…]"]);
    assert_eq!(directives, ["Fix it, but do not hide it."]);
}
