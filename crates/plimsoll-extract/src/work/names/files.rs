//! Recognizes files by their extension.

/// Extensions of files that people work on.
const EXTENSIONS: &[&str] = &[
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
    "slim",
    "sln",
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

/// The extensions as numbers, in the same order.
static ENDING_NUMBERS: [u128; EXTENSIONS.len()] = {
    let mut numbers = [0; EXTENSIONS.len()];
    let mut at = 0;
    while at < numbers.len() {
        numbers[at] = number(EXTENSIONS[at].as_bytes());
        at += 1;
    }
    numbers
};

const LONGEST_ENDING: usize = 10;

/// Encodes a short text as a number with the same ordering.
const fn number(text: &[u8]) -> u128 {
    let mut number = 0;
    let mut at = 0;
    while at < LONGEST_ENDING {
        number = number << 8 | if at < text.len() { text[at] as u128 } else { 0 };
        at += 1;
    }
    number << 8 | text.len() as u128
}

/// For each letter, a bit per length of the extensions that start with it.
static ENDING_LENGTHS: [u16; 26] = {
    let mut lengths = [0; 26];
    let mut at = 0;
    while at < EXTENSIONS.len() {
        let ending = EXTENSIONS[at].as_bytes();
        lengths[(ending[0] - b'a') as usize] |= 1 << ending.len();
        at += 1;
    }
    lengths
};

fn is_ending(ending: &[u8]) -> bool {
    let letter = ending.first().map_or(usize::MAX, |first| usize::from(first.wrapping_sub(b'a')));
    let lengths = ENDING_LENGTHS.get(letter).copied().unwrap_or(0);
    lengths >> ending.len() & 1 == 1 && ENDING_NUMBERS.binary_search(&number(ending)).is_ok()
}

/// Returns whether a word names a file, judging by its extension.
pub(in super::super) fn is_file(word: &str) -> bool {
    const LONGEST: usize = 200;
    /// Common code that ends like a file.
    const CODE: [&str; 6] =
        ["console.log", "process.env", "import.meta.env", "Math.log", "math.log", "np.log"];
    let bytes = word.as_bytes();
    let near = bytes.len().saturating_sub(LONGEST_ENDING + 1);
    let Some(dot) = bytes[near..].iter().rposition(|byte| *byte == b'.') else { return false };
    let (stem, ending) = (&word[..near + dot], &bytes[near + dot + 1..]);
    if word.len() > LONGEST || !is_ending(ending) || CODE.contains(&word) {
        return false;
    }
    let name = stem.rsplit(['/', '\\']).next().unwrap_or_default();
    !name.is_empty()
        && name.chars().all(|c| {
            c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '@' | '~' | '$' | ']' | '[')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_sorted() {
        assert!(EXTENSIONS.is_sorted());
        assert!(EXTENSIONS.iter().all(|ending| ending.len() <= LONGEST_ENDING));
    }
}
