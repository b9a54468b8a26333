//! Which files a command line changes, as far as it is plain.

use super::act::Change;
use super::names;
use crate::shell::Command;

/// A file that a command changes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Rewrite {
    pub(super) path: String,
    pub(super) change: Change,
    /// What it was called before.
    pub(super) from: Option<String>,
}

const MOST: usize = 12;

/// The files that the commands of a line change. What a shell would have to expand is left out.
pub(super) fn rewrites(commands: &[Command]) -> Vec<Rewrite> {
    let mut folder = String::new();
    let mut found = Vec::new();
    for command in commands {
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        if let ["cd" | "pushd", into, ..] = words[..] {
            folder = join(&folder, into);
            continue;
        }
        let written = command.outputs.iter().map(|file| (file.as_str(), Change::Written, None));
        let changes = written.chain(changes(&words)).filter(|(path, ..)| is_plain(path));
        found.extend(changes.map(|(path, change, from)| Rewrite {
            path: join(&folder, path),
            change,
            from: from.map(|from| join(&folder, from)),
        }));
    }
    found.truncate(MOST);
    found
}

type Found<'w> = (&'w str, Change, Option<&'w str>);

fn changes<'w>(words: &[&'w str]) -> Vec<Found<'w>> {
    let all = |files: Vec<&'w str>, change| -> Vec<Found<'w>> {
        files.into_iter().map(|file| (file, change, None)).collect()
    };
    match words {
        ["git", "mv", rest @ ..] | ["mv", rest @ ..] => moved(rest),
        ["git", "rm", rest @ ..] | ["rm", rest @ ..] => all(files(rest), Change::Deleted),
        ["cp", rest @ ..] => files(rest)
            .last()
            .filter(|_| files(rest).len() == 2)
            .map(|file| (*file, Change::Written, None))
            .into_iter()
            .collect(),
        ["tee", rest @ ..] => all(files(rest), Change::Written),
        ["sed" | "perl", rest @ ..] if rest.iter().any(|word| is_in_place(word)) => {
            all(files(rest), Change::Edited)
        }
        _ => Vec::new(),
    }
}

/// `mv a.rs b.rs`. Into a folder a file keeps its name, and its path is not told by the command alone.
fn moved<'w>(rest: &[&'w str]) -> Vec<Found<'w>> {
    match files(rest)[..] {
        [from, to] => vec![(to, Change::Moved, Some(from))],
        _ => Vec::new(),
    }
}

fn is_in_place(word: &str) -> bool {
    let flags = word.strip_prefix('-').filter(|flags| !flags.starts_with('-'));
    word.starts_with("--in-place")
        || flags.is_some_and(|flags| flags.split('.').next().is_some_and(|it| it.contains('i')))
}

fn files<'w>(words: &[&'w str]) -> Vec<&'w str> {
    words.iter().copied().filter(|word| !word.starts_with('-') && is_plain(word)).collect()
}

/// Whether a word is a file's path, and means what it says.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@');
    word.chars().all(plain) && names::is_file(word)
}

fn join(folder: &str, path: &str) -> String {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    match folder.is_empty() || path.starts_with('/') {
        true => path.to_owned(),
        false => format!("{folder}/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[(&str, Change)]) {
        let found = rewrites(&crate::shell::commands(line));
        let found: Vec<(&str, Change)> =
            found.iter().map(|rewrite| (rewrite.path.as_str(), rewrite.change)).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn plain_commands_tell_what_they_change() {
        check(
            "sed -i 's/a.rs/b.rs/' src/c.rs src/d.rs",
            &[("src/c.rs", Change::Edited), ("src/d.rs", Change::Edited)],
        );
        check("cd app && perl -pi -e 's/x/y/' a.ts", &[("app/a.ts", Change::Edited)]);
        check("git mv src/a.rs src/b.rs", &[("src/b.rs", Change::Moved)]);
        check(
            "rm -f ./a.txt && cp b.json c.json",
            &[("a.txt", Change::Deleted), ("c.json", Change::Written)],
        );
        check(
            "echo x > a.md; ls | tee -a b.log",
            &[("a.md", Change::Written), ("b.log", Change::Written)],
        );
        check("cat > docs/a.md <<'EOF'\nrm b.rs\nEOF", &[("docs/a.md", Change::Written)]);
    }

    #[test]
    fn what_is_not_plain_is_left_out() {
        for line in ["rm $FILE.rs *.rs", "sed -n 1p a.rs", "grep x a.rs 2>/dev/null", "mv a.rs lib"]
        {
            check(line, &[]);
        }
    }
}
