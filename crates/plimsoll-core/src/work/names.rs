//! Names in a text: files, symbols, references. One pass, by hand: a regex would cost more than all
//! the rest.

use serde::{Deserialize, Serialize};

/// What a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum NameKind {
    /// A file, by a path or its mere name.
    File,
    /// A name in code.
    Symbol,
    /// An issue, a hash, a version, an address: something to look up elsewhere.
    Reference,
}

/// Gives `take` every name in `text`.
pub(super) fn scan<'a>(text: &'a str, mut take: impl FnMut(NameKind, &'a str)) {
    let mut rest = text;
    while let Some(from) = rest.find(|character: char| !is_gap(character)) {
        rest = &rest[from..];
        let end = rest.find(is_gap).unwrap_or(rest.len());
        word(&rest[..end], &mut take);
        rest = &rest[end..];
    }
}

/// Whether a character stands between words rather than in one.
fn is_gap(character: char) -> bool {
    character.is_whitespace()
        || matches!(
            character,
            '"' | '\''
                | '`'
                | '('
                | ')'
                | '<'
                | '>'
                | '{'
                | '}'
                | ','
                | ';'
                | '|'
                | '='
                | '*'
                | '!'
        )
}

fn word<'a>(word: &'a str, take: &mut impl FnMut(NameKind, &'a str)) {
    if let Some(at) = word.find("://") {
        return address(word, at, take);
    }
    let trimmed = word.trim_matches(|c: char| matches!(c, '.' | ':' | '?' | '[' | ']' | '…'));
    if trimmed.len() < 2 {
        return;
    }
    let path = without_place(trimmed);
    if is_file(path) {
        take(NameKind::File, path);
    } else if is_reference(trimmed) {
        return take(NameKind::Reference, trimmed);
    } else {
        parts(trimmed, |part| {
            if is_reference(part) {
                take(NameKind::Reference, part);
            }
        });
    }
    symbols(trimmed, take);
}

fn address<'a>(word: &'a str, at: usize, take: &mut impl FnMut(NameKind, &'a str)) {
    if !matches!(&word[..at], "http" | "https") {
        return;
    }
    let end = word.find([']', '\\']).unwrap_or(word.len());
    let address = word[..end].trim_end_matches(['.', ':', '?']);
    if address.len() > at + 3 + 4 {
        take(NameKind::Reference, address);
    }
}

/// A path without the line and column behind it, as compilers write them.
fn without_place(word: &str) -> &str {
    match word.split_once(':') {
        Some((path, rest)) if path.len() > 1 && rest.starts_with(|c: char| c.is_ascii_digit()) => {
            path
        }
        _ => word,
    }
}

/// Gives `take` the pieces of a word between the signs that join words.
fn parts<'a>(word: &'a str, mut take: impl FnMut(&'a str)) {
    for part in word.split(['/', ':', '@', '[', ']', '&']) {
        if part.len() != word.len() && !part.is_empty() {
            take(part.trim_matches('.'));
        }
    }
}

/// Gives `take` the names in code that a word holds.
fn symbols<'a>(word: &'a str, take: &mut impl FnMut(NameKind, &'a str)) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    for part in word.split(|c: char| !is_part(c)) {
        if is_symbol(part) {
            take(NameKind::Symbol, part);
        }
    }
}

const SHORTEST_SYMBOL: usize = 5;
const LONGEST_SYMBOL: usize = 80;

/// Whether a word is a name that somebody made up: of several words, joined by case or underscore.
pub(super) fn is_symbol(word: &str) -> bool {
    let core = word.trim_matches(['_', '$']);
    let bytes = core.as_bytes();
    if !(SHORTEST_SYMBOL..=LONGEST_SYMBOL).contains(&bytes.len())
        || bytes[0].is_ascii_digit()
        || word.starts_with(|c: char| c.is_ascii_digit())
    {
        return false;
    }
    let humps =
        bytes.windows(2).any(|pair| !pair[0].is_ascii_uppercase() && pair[1].is_ascii_uppercase());
    let acronym = bytes.windows(3).any(|three| {
        three[0].is_ascii_uppercase()
            && three[1].is_ascii_uppercase()
            && three[2].is_ascii_lowercase()
    });
    (bytes.contains(&b'_') || humps || acronym) && bytes.iter().any(u8::is_ascii_alphabetic)
}

/// Endings of files that people work on.
const ENDINGS: &[&str] = &[
    "adoc",
    "astro",
    "bash",
    "bat",
    "bazel",
    "bzl",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "cmake",
    "conf",
    "cpp",
    "cs",
    "csproj",
    "css",
    "csv",
    "cts",
    "cxx",
    "dart",
    "diff",
    "dockerfile",
    "edn",
    "eex",
    "ejs",
    "elm",
    "env",
    "erb",
    "erl",
    "ex",
    "exs",
    "fish",
    "fs",
    "gd",
    "gleam",
    "go",
    "gql",
    "gradle",
    "graphql",
    "groovy",
    "h",
    "haml",
    "hbs",
    "hcl",
    "heex",
    "hpp",
    "hrl",
    "hs",
    "html",
    "ini",
    "ipynb",
    "java",
    "jl",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsx",
    "kt",
    "kts",
    "less",
    "lock",
    "log",
    "lua",
    "m",
    "md",
    "mdx",
    "mjs",
    "mk",
    "ml",
    "mm",
    "mod",
    "mts",
    "nim",
    "nix",
    "patch",
    "php",
    "pl",
    "plist",
    "pm",
    "png",
    "prisma",
    "properties",
    "proto",
    "ps1",
    "pug",
    "py",
    "pyi",
    "pyx",
    "r",
    "rake",
    "rb",
    "rs",
    "rst",
    "sass",
    "sbt",
    "scala",
    "scss",
    "service",
    "sh",
    "sln",
    "slim",
    "snap",
    "sol",
    "sql",
    "styl",
    "sum",
    "svelte",
    "svg",
    "swift",
    "tera",
    "tex",
    "tf",
    "tfvars",
    "tmpl",
    "toml",
    "tpl",
    "ts",
    "tsx",
    "twig",
    "txt",
    "vb",
    "vim",
    "vue",
    "wat",
    "wgsl",
    "xaml",
    "xib",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

/// Whether a word names a file: it ends like one.
pub(super) fn is_file(word: &str) -> bool {
    const LONGEST: usize = 200;
    let Some((stem, ending)) = word.rsplit_once('.') else { return false };
    let name = stem.rsplit(['/', '\\']).next().unwrap_or_default();
    if word.len() > LONGEST || name.is_empty() || ending.is_empty() || ending.len() > 10 {
        return false;
    }
    let known = ENDINGS.binary_search(&ending).is_ok();
    known
        && name.chars().all(|c| {
            c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '@' | '~' | '$' | ']' | '[')
        })
}

/// Whether a word is something to look up elsewhere.
pub(super) fn is_reference(word: &str) -> bool {
    let bytes = word.as_bytes();
    match bytes.first() {
        Some(b'#') => (2..=7).contains(&bytes.len()) && bytes[1..].iter().all(u8::is_ascii_digit),
        Some(_) => {
            is_hash(bytes)
                || is_uuid(bytes)
                || is_version(word)
                || is_ticket(word)
                || is_code(bytes)
        }
        None => false,
    }
}

/// A commit, shortened or whole.
pub(super) fn is_hash(bytes: &[u8]) -> bool {
    let hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (7..=12).contains(&bytes.len()) | (bytes.len() == 40)
        && bytes.iter().all(hex)
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(u8::is_ascii_alphabetic)
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// `1.2.3`, `v2.0.0-rc.1`.
fn is_version(word: &str) -> bool {
    let word = word.strip_prefix('v').unwrap_or(word);
    let (numbers, _) = word.split_once('-').unwrap_or((word, ""));
    let mut count = 0;
    for number in numbers.split('.') {
        if number.is_empty() || number.len() > 5 || !number.bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        count += 1;
    }
    count == 3 && word.len() <= 24
}

/// `PROJ-123`.
fn is_ticket(word: &str) -> bool {
    let Some((project, number)) = word.split_once('-') else { return false };
    (2..=10).contains(&project.len())
        && project.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && project.starts_with(|c: char| c.is_ascii_uppercase())
        && (1..=6).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit())
}

/// A compiler's or linter's error code: letters, then digits.
fn is_code(bytes: &[u8]) -> bool {
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let digits = bytes[letters..].iter().filter(|byte| byte.is_ascii_digit()).count();
    letters + digits == bytes.len()
        && ((letters == 1 && bytes[0] == b'E' && digits == 4)
            || ((2..=5).contains(&letters) && (3..=5).contains(&digits)))
}
