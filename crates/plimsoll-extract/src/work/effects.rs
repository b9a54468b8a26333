//! Derives what a command line does to files, as far as that can be read from it.

use std::borrow::Cow;

use plimsoll_core::shell::Command;
use serde::{Deserialize, Serialize};

use super::names;
use super::path::{absolute, is_absolute, is_in_worktree, resolve};
use super::record::ChangeKind;

/// An effect of a command line on files. Paths are relative to the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Effect {
    /// Changes a file.
    Change(FileRewrite),
    /// Removes everything below a folder.
    RemoveFolder(String),
    /// Renames a file or a folder, or moves it into a folder: the missing extension of `to` leaves
    /// both possible.
    Move { from: String, to: String },
    /// `git add`
    Stage(Vec<String>),
    /// `git commit` in a repository, of all changes or only of staged ones.
    Commit { repository: String, all: bool, amends: bool },
    /// `git checkout -- PATH`, `git restore PATH`
    Restore { paths: Vec<String>, source: RestoreSource },
    /// `git reset --hard`, `back` commits before the newest.
    Reset { repository: String, back: u32 },
    /// `git clean -f`
    Clean { repository: String },
    /// `git stash`
    Stash { paths: Vec<String>, untracked: bool, keeps_staged: bool },
    /// `git stash pop` and `apply`, of the `nth` stash from the newest.
    Unstash { nth: usize, drops: bool },
    /// `git stash drop`
    DropStash { nth: usize },
    /// `git stash clear`
    ClearStashes,
}

/// Source of a file that git restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum RestoreSource {
    /// The index, which falls back to the last commit.
    Index,
    /// The last commit.
    Head,
    /// Another commit.
    Other,
}

/// A change of a file by a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileRewrite {
    pub(super) path: String,
    pub(super) change: ChangeKind,
    /// The path before a move.
    pub(super) from: Option<String>,
}

const MOST: usize = 24;

/// The effects of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Effects {
    pub(super) all: Vec<Effect>,
    /// Number of effects of commands before the last one. These happened even if the line failed.
    pub(super) before_last: usize,
    /// The folder that the shell is in afterwards, if the line changed it.
    pub(super) ends_in: Option<String>,
}

/// Returns the effects of a line run in `folder`. Words that a shell would expand are skipped.
pub(super) fn effects(
    commands: &[Command],
    project: Option<&str>,
    folder: Option<&str>,
) -> Effects {
    let mut place = ShellFolders::new(project, folder);
    let (mut all, mut before_last) = (Vec::new(), 0);
    run(commands, &mut place, &mut |effects| {
        before_last = all.len();
        all.extend(effects);
    });
    all.truncate(MOST);
    before_last = before_last.min(all.len());
    Effects { all, before_last, ends_in: place.into_entered() }
}

/// Follows the commands of a line from folder to folder, and passes the effects of each to `take`.
/// Skips commands after `||`, because they may not have run.
fn run(commands: &[Command], place: &mut ShellFolders<'_>, take: &mut dyn FnMut(Vec<Effect>)) {
    // One for each subshell: a change of folder ends with it.
    let mut places = vec![place.clone()];
    for command in commands.iter().filter(|command| !command.is_alternative) {
        let innermost = places.last().unwrap_or(place).clone();
        places.resize(command.depth + 1, innermost);
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let Some(place) = places.last_mut() else { continue };
        match without_prefix(&words) {
            ["bash" | "sh", "-c", line] => {
                run(&plimsoll_core::shell::commands(line), &mut place.clone(), take);
            }
            words if place.moves(words) => take(Vec::new()),
            words => take(of_command(command, words, place)),
        }
    }
    if let Some(outermost) = places.into_iter().next() {
        *place = outermost;
    }
}

/// Strips variable assignments and `sudo` from the start of a command.
fn without_prefix<'w, 's>(mut words: &'w [&'s str]) -> &'w [&'s str] {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let sets = |word: &str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    while let [first, rest @ ..] = words
        && (sets(first) || *first == "sudo")
    {
        words = rest;
    }
    words
}

fn of_command(command: &Command, words: &[&str], place: &ShellFolders<'_>) -> Vec<Effect> {
    if let Some(effect) = shown_back(command, words, place) {
        return vec![effect];
    }
    let outputs =
        command.outputs.iter().map(|file| (file.as_str().into(), ChangeKind::Written, None));
    let changes = outputs.chain(changes(words)).filter(|(path, ..)| is_plain(path));
    let mut found: Vec<Effect> =
        changes.filter_map(|change| Some(Effect::Change(place.rewrite(change)?))).collect();
    match words {
        ["git", "mv", rest @ ..] | ["mv", rest @ ..] => found.extend(moved_somewhere(rest, place)),
        ["rm", rest @ ..] => found.extend(removed_folders(rest, place)),
        ["git", rest @ ..] => found.extend(git(rest, place)),
        _ => {}
    }
    found
}

/// The folders of a shell while it runs a line.
#[derive(Clone)]
struct ShellFolders<'p> {
    project: Option<&'p str>,
    folder: ShellLocation,
    /// The folder before the last `cd`.
    previous: ShellLocation,
    /// The folders that `popd` returns to.
    pushed: Vec<ShellLocation>,
}

#[derive(Clone, PartialEq, Eq)]
enum ShellLocation {
    Known(String),
    /// Only the shell knows the folder.
    Unknown,
    /// The session never named its folder.
    Unsaid,
}

impl<'p> ShellFolders<'p> {
    fn new(project: Option<&'p str>, folder: Option<&str>) -> Self {
        let folder = folder
            .or(project)
            .map(str::to_owned)
            .map_or(ShellLocation::Unsaid, ShellLocation::Known);
        Self { project, previous: ShellLocation::Unsaid, pushed: Vec::new(), folder }
    }

    /// Follows a change of folder; returns false if the command is not one.
    fn moves(&mut self, words: &[&str]) -> bool {
        let next = match words {
            ["cd", "-"] if self.previous == ShellLocation::Unsaid => ShellLocation::Unknown,
            ["cd", "-"] => self.previous.clone(),
            ["cd", into] if self.is_there_already(into) => self.folder.clone(),
            ["cd", into] => self.folder_at(into),
            ["pushd", into] => {
                self.pushed.push(self.folder.clone());
                self.folder_at(into)
            }
            ["popd"] => self.pushed.pop().unwrap_or(ShellLocation::Unknown),
            ["cd" | "pushd" | "popd", ..] => ShellLocation::Unknown,
            _ => return false,
        };
        self.previous = std::mem::replace(&mut self.folder, next);
        true
    }

    /// Returns the folder that commands changed to; `None` if there was no change or only the shell
    /// knows the folder.
    fn into_entered(self) -> Option<String> {
        match self.folder {
            ShellLocation::Known(folder) if self.previous != ShellLocation::Unsaid => Some(folder),
            _ => None,
        }
    }

    /// Returns whether the session is already in the folder of the line's first `cd`: a client may
    /// record the folder only after the line has run.
    fn is_there_already(&self, into: &str) -> bool {
        let ShellLocation::Known(folder) = &self.folder else { return false };
        let is_first =
            self.previous == ShellLocation::Unsaid && self.project != Some(folder.as_str());
        let into = into.trim_end_matches('/');
        is_first && folder.strip_suffix(into).is_some_and(|above| above.ends_with('/'))
    }

    fn folder_at(&self, into: &str) -> ShellLocation {
        match &self.folder {
            _ if !has_plain_letters(into) || into.starts_with('~') => ShellLocation::Unknown,
            _ if is_absolute(into) => ShellLocation::Known(absolute(self.project, None, into)),
            ShellLocation::Known(folder) => {
                ShellLocation::Known(absolute(self.project, Some(folder), into))
            }
            ShellLocation::Unsaid => ShellLocation::Known(absolute(None, None, into)),
            ShellLocation::Unknown => ShellLocation::Unknown,
        }
    }

    /// Returns the path relative to the project; `None` if it is relative to an unknown folder.
    fn resolve(&self, path: &str) -> Option<String> {
        match &self.folder {
            ShellLocation::Unknown if !is_absolute(path) => None,
            ShellLocation::Known(folder) => Some(resolve(self.project, Some(folder), path)),
            ShellLocation::Unknown | ShellLocation::Unsaid => {
                Some(resolve(self.project, None, path))
            }
        }
    }

    fn rewrite(&self, (path, change, from): FoundChange<'_>) -> Option<FileRewrite> {
        let from = match from {
            Some(from) => Some(self.resolve(from)?),
            None => None,
        };
        Some(FileRewrite { path: self.resolve(&path)?, change, from })
    }

    /// Returns the repository that git works on: the project, unless the command runs outside it or
    /// in a worktree.
    fn repository(&self) -> Option<String> {
        let folder = self.resolve(".")?;
        let is_apart = is_absolute(&folder) || is_in_worktree(&folder);
        Some(if is_apart { folder } else { String::new() })
    }

    /// Returns the paths that these words name, or the whole repository if a word is not literal.
    fn paths<'w>(&self, words: impl Iterator<Item = &'w str>) -> Option<Vec<String>> {
        let words: Vec<&str> = words.filter(|word| !word.starts_with('-')).collect();
        match words.iter().all(|word| is_literal(word)) {
            true => words.into_iter().map(|word| self.resolve(word)).collect(),
            false => Some(vec![self.repository()?]),
        }
    }
}

type FoundChange<'w> = (Cow<'w, str>, ChangeKind, Option<&'w str>);

fn changes<'w>(words: &[&'w str]) -> Vec<FoundChange<'w>> {
    let all = |files: Vec<&'w str>, change| -> Vec<FoundChange<'w>> {
        files.into_iter().map(|file| (file.into(), change, None)).collect()
    };
    match words {
        ["git", "mv", rest @ ..] | ["mv", rest @ ..] => {
            let moved = |(from, to)| (to, ChangeKind::Moved, Some(from));
            transfers(rest).into_iter().map(moved).collect()
        }
        ["git", "rm", rest @ ..] | ["rm", rest @ ..] => all(files(rest), ChangeKind::Deleted),
        ["cp", rest @ ..] => {
            transfers(rest).into_iter().map(|(_, to)| (to, ChangeKind::Written, None)).collect()
        }
        ["tee", rest @ ..] => all(files(rest), ChangeKind::Written),
        ["sed" | "perl", rest @ ..] if rest.iter().any(|word| is_in_place(word)) => {
            all(files(rest), ChangeKind::Edited)
        }
        _ => Vec::new(),
    }
}

/// Returns the sources of a `cp` or `mv`, each with its new path. In a target folder, a file keeps
/// its name.
fn transfers<'w>(rest: &[&'w str]) -> Vec<(&'w str, Cow<'w, str>)> {
    let Some((target, sources)) = target_and_sources(rest) else { return Vec::new() };
    let into_folder = sources.len() > 1 || target.ends_with('/');
    if !into_folder && !names::is_file(target) {
        return Vec::new();
    }
    let files = sources.iter().copied().filter(|source| is_plain(source));
    let path = |source: &'w str| -> Cow<'w, str> {
        let name = source.rsplit('/').next().unwrap_or(source);
        match into_folder {
            true => format!("{}/{name}", target.trim_end_matches('/')).into(),
            false => target.into(),
        }
    };
    files.map(|source| (source, path(source))).collect()
}

/// Returns the target and the sources of a `cp` or `mv`; `None` if only a shell knows the target.
fn target_and_sources<'w>(rest: &[&'w str]) -> Option<(&'w str, Vec<&'w str>)> {
    let is_option = |word: &&str| word.starts_with('-');
    if rest.iter().any(|word| *word == "-t" || word.starts_with("--target-directory")) {
        return None;
    }
    let words: Vec<&str> = rest.iter().copied().filter(|word| !is_option(word)).collect();
    let (target, sources) = words.split_last()?;
    (!sources.is_empty() && has_plain_letters(target)).then(|| (*target, sources.to_vec()))
}

/// Returns a move whose target may be a folder: `mv a.rs lib`, `mv old new`.
fn moved_somewhere(rest: &[&str], place: &ShellFolders<'_>) -> Option<Effect> {
    let (to, sources) = target_and_sources(rest)?;
    let [from] = sources[..] else { return None };
    let is_unclear = has_plain_letters(from) && !to.ends_with('/') && !names::is_file(to);
    let (from, to) = (place.resolve(from)?, place.resolve(to)?);
    is_unclear.then_some(Effect::Move { from, to })
}

/// Recognizes `git show HEAD:PATH > PATH`, which restores a file.
fn shown_back(command: &Command, words: &[&str], place: &ShellFolders<'_>) -> Option<Effect> {
    let (["git", "show", shown], [output]) = (words, &command.outputs[..]) else { return None };
    let path = place.resolve(output)?;
    let is_same = shown.strip_prefix("HEAD:") == Some(&path);
    is_same.then(|| Effect::Restore { paths: vec![path], source: RestoreSource::Head })
}

fn is_in_place(word: &str) -> bool {
    let flags = short_flags(word).split('.').next().unwrap_or_default();
    word.starts_with("--in-place") || flags.contains('i')
}

/// Returns the letters of `-rf`; empty for a long option.
fn short_flags(word: &str) -> &str {
    word.strip_prefix('-').filter(|flags| !flags.starts_with('-')).unwrap_or_default()
}

fn removed_folders(rest: &[&str], place: &ShellFolders<'_>) -> Vec<Effect> {
    let is_recursive =
        |word: &&str| *word == "--recursive" || short_flags(word).contains(['r', 'R']);
    if !rest.iter().any(is_recursive) {
        return Vec::new();
    }
    let folders = rest.iter().filter(|word| !word.starts_with('-') && has_plain_letters(word));
    folders.filter_map(|word| Some(Effect::RemoveFolder(place.resolve(word)?))).collect()
}

/// Returns the effect of a git command on files, commits and stashes.
fn git(words: &[&str], place: &ShellFolders<'_>) -> Option<Effect> {
    match words {
        ["-C", into, rest @ ..] => {
            git(rest, &ShellFolders { folder: place.folder_at(into), ..place.clone() })
        }
        ["-c", _, rest @ ..] | ["--no-pager" | "-P", rest @ ..] => git(rest, place),
        ["add" | "stage", rest @ ..] => Some(Effect::Stage(staged(rest, place)?)),
        ["commit", rest @ ..] => {
            let all = rest.iter().any(|word| *word == "--all" || short_flags(word).contains('a'));
            let amends = rest.contains(&"--amend");
            Some(Effect::Commit { repository: place.repository()?, all, amends })
        }
        ["checkout" | "switch", rest @ ..] if is_forced_switch(rest) => {
            Some(Effect::Reset { repository: place.repository()?, back: 0 })
        }
        ["checkout", rest @ ..] => checked_out(rest, place),
        ["restore", rest @ ..] => restored(rest, place),
        ["reset", rest @ ..] if rest.contains(&"--hard") => {
            let to = rest.iter().find(|word| !word.starts_with('-'));
            let back = to.map_or(0, |to| commits_back(to));
            Some(Effect::Reset { repository: place.repository()?, back })
        }
        ["clean", rest @ ..] if rest.iter().any(|word| cleans(word)) => {
            Some(Effect::Clean { repository: place.repository()? })
        }
        ["stash", rest @ ..] => stashed(rest, place),
        _ => None,
    }
}

/// Recognizes `git checkout -f main`, which discards changes.
fn is_forced_switch(rest: &[&str]) -> bool {
    let is_forced = |word: &&str| {
        matches!(*word, "--force" | "--discard-changes") || short_flags(word).contains('f')
    };
    rest.iter().any(is_forced) && !rest.contains(&"--")
}

/// Recognizes `git clean -f`, but not with `-n`, which only lists files.
fn cleans(word: &str) -> bool {
    let flags = short_flags(word);
    word == "--force" || flags.contains('f') && !flags.contains('n')
}

fn staged(rest: &[&str], place: &ShellFolders<'_>) -> Option<Vec<String>> {
    match rest.iter().any(|word| matches!(*word, "-A" | "--all" | "-u" | "--update")) {
        true => Some(vec![place.repository()?]),
        false => place.paths(rest.iter().copied()),
    }
}

/// Reads `git checkout [REF] [--] PATH…`. Without `--`, a word may be a branch; the caller checks
/// whether it is a known path.
fn checked_out(rest: &[&str], place: &ShellFolders<'_>) -> Option<Effect> {
    let is_new_branch = |word: &&str| matches!(*word, "-b" | "-B" | "--orphan" | "-p" | "--patch");
    if rest.iter().any(is_new_branch) {
        return None;
    }
    let words = rest.iter().copied();
    let (source, paths): (Option<&str>, Vec<&str>) =
        match rest.iter().position(|word| *word == "--") {
            Some(at) => (
                words.clone().take(at).find(|word| !word.starts_with('-')),
                words.skip(at + 1).collect(),
            ),
            None => (None, words.filter(|word| !word.starts_with('-')).collect()),
        };
    let source = match source {
        None => RestoreSource::Index,
        Some("HEAD") => RestoreSource::Head,
        Some(_) => RestoreSource::Other,
    };
    plain_paths(&paths, place).map(|paths| Effect::Restore { paths, source })
}

fn restored(rest: &[&str], place: &ShellFolders<'_>) -> Option<Effect> {
    let has = |long: &str, short: &str| rest.iter().any(|word| *word == long || *word == short);
    if has("--staged", "-S") && !has("--worktree", "-W") || has("--patch", "-p") {
        return None;
    }
    let mut words = rest.iter().copied().peekable();
    let is_staged = has("--staged", "-S");
    let (mut paths, mut source) =
        (Vec::new(), if is_staged { RestoreSource::Head } else { RestoreSource::Index });
    while let Some(word) = words.next() {
        let named = match word {
            "--source" | "-s" => words.next(),
            _ => word.strip_prefix("--source="),
        };
        match named {
            Some("HEAD") => source = RestoreSource::Head,
            Some(_) => source = RestoreSource::Other,
            None if word.starts_with('-') => {}
            None => paths.push(word),
        }
    }
    plain_paths(&paths, place).map(|paths| Effect::Restore { paths, source })
}

/// Returns the literal paths and patterns among these words, excluded ones with a `!` before them;
/// `None` if there are none.
fn plain_paths(words: &[&str], place: &ShellFolders<'_>) -> Option<Vec<String>> {
    let path = |word: &&str| match *word {
        ":/" => place.repository(),
        word => match word.strip_prefix(":!").or_else(|| word.strip_prefix(":^")) {
            Some(excluded) => Some(format!("!{}", place.resolve(excluded)?)),
            None if is_literal(word) => place.resolve(word),
            None => None,
        },
    };
    let paths: Vec<String> = words.iter().filter_map(path).collect();
    (!paths.is_empty()).then_some(paths)
}

/// Returns how many commits before the newest one `HEAD~2` or `HEAD^` is.
fn commits_back(to: &str) -> u32 {
    match to.strip_prefix("HEAD") {
        Some("^") | Some("~") => 1,
        Some(rest) => rest.strip_prefix('~').and_then(|count| count.parse().ok()).unwrap_or(0),
        None => 0,
    }
}

fn stashed(rest: &[&str], place: &ShellFolders<'_>) -> Option<Effect> {
    let nth =
        rest.iter().find_map(|word| word.strip_prefix("stash@{")?.strip_suffix('}')?.parse().ok());
    let nth = nth.unwrap_or(0);
    match rest {
        ["pop", ..] => Some(Effect::Unstash { nth, drops: true }),
        ["apply", ..] => Some(Effect::Unstash { nth, drops: false }),
        ["drop", ..] => Some(Effect::DropStash { nth }),
        ["clear", ..] => Some(Effect::ClearStashes),
        ["push" | "save", rest @ ..] => pushed(rest, place),
        [] => pushed(&[], place),
        [flag, ..] if flag.starts_with('-') => pushed(rest, place),
        _ => None,
    }
}

fn pushed(rest: &[&str], place: &ShellFolders<'_>) -> Option<Effect> {
    let untracked =
        rest.iter().any(|word| matches!(*word, "-u" | "--include-untracked" | "-a" | "--all"));
    let mut words = rest.iter().copied();
    let mut paths = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "-m" | "--message" => {
                words.next();
            }
            word if word.starts_with('-') => {}
            word => paths.push(word),
        }
    }
    let paths = match paths.is_empty() {
        true => vec![place.repository()?],
        false => place.paths(paths.into_iter())?,
    };
    let keeps_staged = rest.iter().any(|word| matches!(*word, "-k" | "--keep-index"));
    Some(Effect::Stash { paths, untracked, keeps_staged })
}

fn files<'w>(words: &[&'w str]) -> Vec<&'w str> {
    words.iter().copied().filter(|word| !word.starts_with('-') && is_plain(word)).collect()
}

/// Returns whether a word is a literal path of a file.
fn is_plain(word: &str) -> bool {
    has_plain_letters(word) && names::is_file(word)
}

/// Returns whether git takes a word literally, apart from `*`.
fn is_literal(word: &str) -> bool {
    let is_magic = word.is_empty() || word.starts_with(':');
    !is_magic && !word.contains(['?', '[', '$', '`', '{', '~'])
}

/// Returns whether a shell leaves a word unchanged.
fn has_plain_letters(word: &str) -> bool {
    let plain = |c: char| {
        c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | ':' | '\\')
    };
    !word.is_empty() && word.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<Effect> {
        effects(&plimsoll_core::shell::commands(line), Some("/app"), Some("/app")).all
    }

    #[track_caller]
    fn check(line: &str, expected: &[(&str, ChangeKind)]) {
        let changes = of(line).into_iter().filter_map(|effect| match effect {
            Effect::Change(rewrite) => Some((rewrite.path, rewrite.change)),
            _ => None,
        });
        let changes: Vec<(String, ChangeKind)> = changes.collect();
        let changes: Vec<(&str, ChangeKind)> =
            changes.iter().map(|(path, change)| (path.as_str(), *change)).collect();
        assert_eq!(changes, expected, "{line}");
    }

    #[track_caller]
    fn check_git(line: &str, expected: Option<Effect>) {
        assert_eq!(of(line).into_iter().next(), expected, "{line}");
    }

    fn these(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn plain_commands_tell_what_they_change() {
        check(
            "sed -i 's/a.rs/b.rs/' src/c.rs src/d.rs",
            &[("src/c.rs", ChangeKind::Edited), ("src/d.rs", ChangeKind::Edited)],
        );
        check("cd app && perl -pi -e 's/x/y/' a.ts", &[("app/a.ts", ChangeKind::Edited)]);
        check("cd /app/web/../api && echo > a.ts", &[("api/a.ts", ChangeKind::Written)]);
        check("git mv src/a.rs src/b.rs", &[("src/b.rs", ChangeKind::Moved)]);
        check(
            "rm -f ./a.txt && cp b.json c.json",
            &[("a.txt", ChangeKind::Deleted), ("c.json", ChangeKind::Written)],
        );
        check(
            "echo x > a.md; ls | tee -a b.log",
            &[("a.md", ChangeKind::Written), ("b.log", ChangeKind::Written)],
        );
        check("cat > docs/a.md <<'EOF'\nrm b.rs\nEOF", &[("docs/a.md", ChangeKind::Written)]);
    }

    #[test]
    fn cd_lasts_as_long_as_in_a_shell() {
        let written = |path| [(path, ChangeKind::Written)];
        check("(cd web && npm i) && echo > b.ts", &written("b.ts"));
        check("(cd web && echo > b.ts)", &written("web/b.ts"));
        check("cd web && ls && cd - && echo > b.ts", &written("b.ts"));
        check("cd - && echo > b.ts", &[]);
        check("cd /app/web && cd api && cd - && echo > b.ts", &written("web/b.ts"));
        check("pushd web && ls && popd && echo > b.ts", &written("b.ts"));
        check("cd $DIR && echo > b.ts && echo > /app/c.ts", &written("c.ts"));
        check("cd \"$(mktemp -d)\" && echo > b.ts", &[]);
    }

    #[test]
    fn a_late_folder_report_is_not_applied_twice() {
        let line = plimsoll_core::shell::commands("cd web && echo > a.ts");
        let all = effects(&line, Some("/app"), Some("/app/web")).all;
        assert!(matches!(&all[..], [Effect::Change(it)] if it.path == "web/a.ts"), "{all:?}");
    }

    #[test]
    fn a_failed_line_applies_all_but_its_last_command() {
        let line = plimsoll_core::shell::commands("git checkout -- a.rs && cargo test > log.txt");
        let Effects { all, before_last, .. } = effects(&line, Some("/app"), None);
        assert_eq!((all.len(), before_last), (2, 1));
    }

    #[test]
    fn words_that_a_shell_expands_are_left_out() {
        for line in ["rm $FILE.rs *.rs", "sed -n 1p a.rs", "grep x a.rs 2>/dev/null", "mv a.rs lib"]
        {
            check(line, &[]);
        }
    }

    #[test]
    fn git_commands_that_put_files_back_are_known() {
        let restore =
            |paths: &[&str], source| Some(Effect::Restore { paths: these(paths), source });
        let reset =
            |repository: &str, back| Effect::Reset { repository: repository.to_owned(), back };
        check_git(
            "git checkout -- src/a.rs b.rs",
            restore(&["src/a.rs", "b.rs"], RestoreSource::Index),
        );
        check_git("git checkout HEAD -- src", restore(&["src"], RestoreSource::Head));
        check_git("git checkout -- 'my file.rs'", restore(&["my file.rs"], RestoreSource::Index));
        check_git("git checkout main -- a.rs", restore(&["a.rs"], RestoreSource::Other));
        check_git("git checkout .", restore(&[""], RestoreSource::Index));
        check_git("git -C web restore a.ts", restore(&["web/a.ts"], RestoreSource::Index));
        check_git("git restore --source=HEAD~1 a.rs", restore(&["a.rs"], RestoreSource::Other));
        check_git("git checkout -- '*.rs' :/", restore(&["*.rs", ""], RestoreSource::Index));
        check_git("git checkout -- . ':!b.rs'", restore(&["", "!b.rs"], RestoreSource::Index));
        check_git("GIT_PAGER=cat git checkout -- a.rs", restore(&["a.rs"], RestoreSource::Index));
        check_git("bash -c 'git checkout -- a.rs'", restore(&["a.rs"], RestoreSource::Index));
        check_git("git show HEAD:a.rs > a.rs", restore(&["a.rs"], RestoreSource::Head));
        check_git("cargo test || git checkout a.rs", None);
        check_git("git checkout -f main", Some(reset("", 0)));
        check_git("git reset -q --hard", Some(reset("", 0)));
        check_git("git reset --hard HEAD~2", Some(reset("", 2)));
        check_git("cd /tmp/other && git reset --hard", Some(reset("/tmp/other", 0)));
        check_git("cd src && git reset --hard", Some(reset("", 0)));
        check_git("cd .worktrees/fix && git reset --hard", Some(reset(".worktrees/fix", 0)));
        check_git("git clean -fd", Some(Effect::Clean { repository: String::new() }));
        for line in [
            "git restore --staged a.rs",
            "git checkout -b fix",
            "git reset HEAD a.rs",
            "git clean -n",
        ] {
            check_git(line, None);
        }
    }

    #[test]
    fn stash_commands_are_distinguished() {
        let stash =
            |paths, untracked| Some(Effect::Stash { paths, untracked, keeps_staged: false });
        check_git("git stash", stash(these(&[""]), false));
        check_git("git stash -u", stash(these(&[""]), true));
        check_git("git stash push -q -m 'a b' -- src/a.rs", stash(these(&["src/a.rs"]), false));
        check_git("git stash pop", Some(Effect::Unstash { nth: 0, drops: true }));
        let second = Effect::Unstash { nth: 1, drops: false };
        check_git("git stash apply 'stash@{1}'", Some(second));
        check_git("git stash drop", Some(Effect::DropStash { nth: 0 }));
        check_git("git stash clear", Some(Effect::ClearStashes));
        check_git("git stash list", None);
    }

    #[test]
    fn commits_include_staged_or_all_changes() {
        check_git("git add -A", Some(Effect::Stage(these(&[""]))));
        check_git("git add src/a.rs docs", Some(Effect::Stage(these(&["src/a.rs", "docs"]))));
        let commit = |all| Some(Effect::Commit { repository: String::new(), all, amends: false });
        check_git("git commit -am fix", commit(true));
        check_git("git commit -m 'a b'", commit(false));
    }
}
