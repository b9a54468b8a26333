//! Recognizes commands that run tests.

/// Words before a program that only start it, each with the number of its arguments.
const STARTERS: &[(&str, usize)] = &[
    ("bundle", 1),
    ("command", 0),
    ("env", 0),
    ("exec", 0),
    ("nice", 0),
    ("nohup", 0),
    ("npx", 0),
    ("poetry", 1),
    ("sudo", 0),
    ("time", 0),
    ("timeout", 1),
    ("uv", 1),
    ("uvx", 0),
    ("xvfb-run", 0),
];

/// Programs that do nothing but run tests.
pub(super) const RUNNERS: &[&str] = &[
    "ava", "behave", "busted", "ctest", "jest", "karma", "mocha", "nose2", "nox", "phpunit",
    "pest", "py.test", "pytest", "rspec", "tox", "vitest",
];

/// Programs that run tests if one of their arguments names a test task.
const TOOLS: &[&str] = &[
    "artisan",
    "bazel",
    "cabal",
    "cargo",
    "composer",
    "cypress",
    "dart",
    "deno",
    "dotnet",
    "flutter",
    "go",
    "lein",
    "mage",
    "manage.py",
    "mise",
    "mix",
    "ninja",
    "nx",
    "playwright",
    "rails",
    "rake",
    "sbt",
    "stack",
    "swift",
    "task",
    "turbo",
    "zig",
];

/// Like [`TOOLS`], but `check` and `verify` run the tests too.
const CHECKERS: &[&str] = &["gradle", "gradlew", "just", "make", "mvn", "mvnw"];

/// Programs that run a package's scripts.
const PACKAGERS: &[&str] = &["bun", "npm", "pnpm", "yarn"];

/// Arguments with which a program does not run the tests.
const IDLE: &[&str] = &[
    "--collect-only",
    "--help",
    "--list",
    "--listTests",
    "--no-run",
    "--showConfig",
    "--version",
    "-h",
    "list",
];

/// Returns whether a command runs tests.
pub(super) fn runs_tests(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = started(&words);
    let Some((program, rest)) = words.split_first() else { return false };
    if rest.iter().any(|word| IDLE.contains(word)) {
        return false;
    }
    let name = program.rsplit('/').next().unwrap_or_default();
    let mut plain = rest.iter().filter(|word| !word.starts_with(['-', '+'])).copied();
    match name {
        _ if RUNNERS.contains(&name) => true,
        _ if CHECKERS.contains(&name) => {
            plain.take(3).any(|word| is_test(word) || matches!(word, "check" | "verify"))
        }
        _ if TOOLS.contains(&name) => plain.take(3).any(is_test),
        _ if PACKAGERS.contains(&name) => packaged(rest),
        "node" => rest.contains(&"--test"),
        "bash" | "sh" | "zsh" => plain.next().is_some_and(is_test_script),
        _ if name.starts_with("python") => python(rest),
        _ => is_test_script(program),
    }
}

/// Returns the words from the program on. Skips variables and starters.
fn started<'w, 'a>(mut words: &'w [&'a str]) -> &'w [&'a str] {
    loop {
        let Some(first) = words.first() else { return words };
        let is_variable = first.split_once('=').is_some_and(|(name, _)| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let starter = STARTERS.iter().find(|(name, _)| name == first).map(|(_, more)| 1 + more);
        let skipped = match starter {
            Some(count) => count,
            None if is_variable => 1,
            None => return words,
        };
        words = words.get(skipped..).unwrap_or_default();
        while words.first().is_some_and(|word| word.starts_with('-')) {
            words = &words[1..];
        }
    }
}

/// Handles `npm test`, `pnpm --filter web run test:unit`, `yarn exec jest`.
fn packaged(rest: &[&str]) -> bool {
    let at = rest.iter().position(|word| matches!(*word, "exec" | "x" | "dlx"));
    if let Some(at) = at {
        return runs_tests(
            &rest[at + 1..].iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(),
        );
    }
    let named = rest.iter().any(|word| is_test(word));
    named || rest.first().is_some_and(|word| *word == "t" || RUNNERS.contains(word))
}

/// Handles `python -m pytest`, `python manage.py test`, `python tests/run_tests.py`.
fn python(rest: &[&str]) -> bool {
    match rest {
        ["-m", module, ..] => RUNNERS.contains(module) || *module == "unittest",
        [script, rest @ ..] if script.ends_with("manage.py") => rest.contains(&"test"),
        [script, ..] => is_test_script(script),
        [] => false,
    }
}

/// Returns whether a word names a task that runs tests: `test`, `test:unit`, `nextest`.
fn is_test(word: &str) -> bool {
    let task = word.rsplit(':').next().unwrap_or_default();
    let begins = ["test:", "test-", "test_", "tests:"].iter().any(|start| word.starts_with(start));
    begins || matches!(task, "test" | "tests" | "nextest" | "spec" | "integrationTest")
}

/// Returns whether a file is a script that runs tests: `./scripts/test.sh`, `./run_tests`.
fn is_test_script(path: &str) -> bool {
    let Some((_, name)) = path.rsplit_once('/') else { return false };
    let stem = name.split('.').next().unwrap_or_default();
    let begins = ["test-", "test_", "run-test", "run_test", "runtest"];
    matches!(stem, "test" | "tests") || begins.iter().any(|start| stem.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: bool) {
        let commands = crate::shell::commands(line);
        let found = commands.iter().any(|command| runs_tests(&command.words));
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn runners_are_known() {
        for line in [
            "cargo test -p core",
            "cargo nextest run",
            "RUST_LOG=debug timeout 60 cargo +stable test",
            "python3 -m pytest tests -k x",
            "uv run pytest",
            "npx jest --coverage",
            "node_modules/.bin/vitest run",
            "go test ./... -race",
            "npm test",
            "npm run test:unit",
            "yarn workspace web test",
            "pnpm --filter web test",
            "bun run test",
            "make check",
            "mise run test:ci",
            "./gradlew :app:test",
            "mvn -q verify",
            "tox -e py312",
            "bundle exec rspec",
            "vendor/bin/phpunit",
            "dotnet test",
            "ctest --output-on-failure",
            "mix test",
            "./scripts/test",
            "bash scripts/run_tests.sh",
        ] {
            check(line, true);
        }
    }

    #[test]
    fn what_only_names_tests_runs_none() {
        for line in [
            "cargo build --tests",
            "cargo test --no-run",
            "cargo nextest list",
            "cargo check",
            "go vet ./test",
            "ls tests/test.sh",
            "vim ./scripts/test",
            "pytest --collect-only",
            "npm run typecheck",
            "test -f a.txt",
            "git add tests",
            "npm install jest",
        ] {
            check(line, false);
        }
    }
}
