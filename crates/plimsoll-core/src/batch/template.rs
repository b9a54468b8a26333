//! The command that an agent is started with, with a place for what it is asked.

use crate::shell;

/// What stands for the prompt in a word of a command.
const PROMPT: &str = "{prompt}";

/// An agent's command, in which `{prompt}` stands for what is asked. Where it stands nowhere, the agent
/// reads it on its stdin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<String>);

/// A command that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Its words.
    pub words: Vec<String>,
    /// What it reads on its stdin.
    pub stdin: Option<String>,
}

impl Template {
    /// A template of these words; nothing if they name no program.
    pub fn new(words: Vec<String>) -> Option<Self> {
        let program = words.first()?;
        (!program.trim().is_empty() && program != PROMPT).then_some(Self(words))
    }

    /// A template as it is typed in a line.
    pub fn parse(line: &str) -> Option<Self> {
        Self::new(shell::words(line).into_iter().map(|word| word.text).collect())
    }

    /// Its words.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    /// The same with `prompt` in its place.
    pub fn fill(&self, prompt: &str) -> Filled {
        let takes = self.0.iter().any(|word| word.contains(PROMPT));
        let words = self.0.iter().map(|word| word.replace(PROMPT, prompt)).collect();
        Filled { words, stdin: (!takes).then(|| prompt.to_owned()) }
    }
}

impl std::fmt::Display for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = self.0.iter().map(|word| match word.as_str() {
            PROMPT => word.clone(),
            word => shell::quote(word),
        });
        f.write_str(&words.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_one_word_or_comes_on_stdin() {
        let named = Template::parse("my-agent --yes 'do {prompt}' {prompt}").unwrap();
        let filled = named.fill("a b 'c'");
        assert_eq!(filled.words, ["my-agent", "--yes", "do a b 'c'", "a b 'c'"]);
        assert_eq!(filled.stdin, None);
        assert_eq!(named.to_string(), "my-agent --yes 'do {prompt}' {prompt}");
        let unnamed = Template::parse("my-agent -p").unwrap();
        assert_eq!(unnamed.fill("x").stdin.as_deref(), Some("x"));
    }

    #[test]
    fn without_a_program_there_is_no_command() {
        for line in ["", "  ", "''", "{prompt}"] {
            assert_eq!(Template::parse(line), None, "{line}");
        }
    }
}
