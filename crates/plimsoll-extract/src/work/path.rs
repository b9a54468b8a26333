//! Resolves paths relative to the project.

use std::borrow::Cow;

/// Resolves a path that a tool received: against the agent's folder, without `.` and `..`, and
/// relative to the project if it is inside.
pub(super) fn resolve(project: Option<&str>, folder: Option<&str>, path: &str) -> String {
    let path = absolute(project, folder, path);
    match inside(project.unwrap_or_default(), &path) {
        Some(relative) => relative.to_owned(),
        None => path,
    }
}

/// Returns the absolute path, as far as folder or project are known.
pub(super) fn absolute(project: Option<&str>, folder: Option<&str>, path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = match folder.or(project).filter(|folder| !folder.is_empty()) {
        Some(folder) if !is_absolute(&path) => format!("{folder}/{path}"),
        _ => path,
    };
    let path = match drive_of_shell(&path) {
        Some(windows) if project.is_some_and(has_drive) => windows,
        _ => path,
    };
    normalize(&path).into_owned()
}

/// Returns a path from a text, relative to the project if it is inside. The agent's folder at that
/// time is unknown.
pub(super) fn shown<'p>(project: Option<&str>, path: &'p str) -> &'p str {
    let relative = project.and_then(|project| inside(project, path));
    relative.filter(|path| !path.is_empty()).unwrap_or(path).trim_start_matches("./")
}

/// Returns whether a path does not depend on the agent's folder.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~']) || has_drive(path)
}

/// Returns whether `path` is `folder` or is below it. An empty folder is the project.
pub(super) fn is_below(folder: &str, path: &str) -> bool {
    match folder {
        "" => !is_absolute(path) && !path.starts_with("../"),
        _ => path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

/// Returns whether `path` is below `pattern`, in which a `*` matches any text.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return is_below(pattern, path) };
    let Some(mut path) = path.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        let found = match parts.peek() {
            Some(_) => path.find(part).map(|at| at + part.len()),
            None => path.ends_with(part).then_some(path.len()),
        };
        let Some(end) = found else { return false };
        path = &path[end..];
    }
    true
}

/// Returns whether a path inside the project is in a worktree of another branch.
pub(super) fn is_in_worktree(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "worktrees" | ".worktrees"))
}

/// Returns the path below `project`, ignoring the case of drive letters.
fn inside<'p>(project: &str, path: &'p str) -> Option<&'p str> {
    let project = project.trim_end_matches('/');
    let (start, rest) = path.split_at_checked(project.len())?;
    let is_same = match has_drive(project) && has_drive(start) {
        true => start[..1].eq_ignore_ascii_case(&project[..1]) && start[1..] == project[1..],
        false => start == project,
    };
    match rest.strip_prefix('/') {
        Some(rest) if is_same && !project.is_empty() => Some(rest),
        None if is_same && rest.is_empty() && !project.is_empty() => Some(""),
        _ => None,
    }
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Returns `d:/app` for `/d/app`, the form of shells on Windows.
fn drive_of_shell(path: &str) -> Option<String> {
    match path.as_bytes() {
        [b'/', letter, b'/', ..] if letter.is_ascii_alphabetic() => {
            Some(format!("{}:{}", char::from(*letter), &path[2..]))
        }
        _ => None,
    }
}

/// Removes `.`, `..` and empty parts from a path.
fn normalize(path: &str) -> Cow<'_, str> {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    if path.trim_start_matches('/').split('/').all(is_plain) {
        return Cow::Borrowed(path);
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if root == "/" => {}
            part => parts.push(part),
        }
    }
    Cow::Owned(format!("{root}{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(project: &str, folder: &str, path: &str, expected: &str) {
        assert_eq!(resolve(Some(project), Some(folder), path), expected, "{path} in {folder}");
    }

    #[test]
    fn a_path_is_relative_to_the_project_it_is_in() {
        check("/home/me/app", "/home/me/app", "/home/me/app/src/a.rs", "src/a.rs");
        check("/home/me/app", "/home/me/app", "./src/../b.rs", "b.rs");
        check("/home/me/app", "/home/me/app", ".", "");
        check("/home/me/app", "/home/me/app", "/home/me/app2/a.rs", "/home/me/app2/a.rs");
        check("/home/me/app", "/home/me/app", "~/notes.md", "~/notes.md");
    }

    #[test]
    fn a_relative_path_starts_where_the_agent_is() {
        check("/app", "/app/web", "package.json", "web/package.json");
        check("/app", "/app/web", "../package.json", "package.json");
        check("/app", "/app", "../lib/a.rs", "/lib/a.rs");
    }

    #[test]
    fn a_text_that_shows_the_project_itself_shows_no_file_in_it() {
        assert_eq!(shown(Some("/home/me/next.js"), "/home/me/next.js"), "/home/me/next.js");
        assert_eq!(shown(Some("/home/me/next.js"), "/home/me/next.js/a.ts"), "a.ts");
    }

    #[test]
    fn drives_are_compared_without_case() {
        check("D:/app", "D:/app", "d:\\app\\src\\a.go", "src/a.go");
        check("D:/app", "D:/app", "/d/app/src/a.go", "src/a.go");
        check("D:/app", "/d/app/src", "a.go", "src/a.go");
        check("/app", "/app", "/d/app/src/a.go", "/d/app/src/a.go");
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("*.rs", "src/a.rs") && matches("src/*.rs", "src/a.rs"));
        assert!(matches("src/*/b*.rs", "src/a/bc.rs") && matches("src/*", "src/a.rs"));
        assert!(!matches("*.rs", "a.ts") && !matches("lib/*.rs", "src/a.rs"));
    }

    #[test]
    fn folders_hold_what_is_below_them() {
        assert!(
            is_below("", "src/a.rs") && is_below("src", "src/a.rs") && is_below("a.rs", "a.rs")
        );
        assert!(!is_below("", "/etc/hosts") && !is_below("sr", "src/a.rs"));
    }
}
