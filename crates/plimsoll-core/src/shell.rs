//! Splits command lines as a shell does.

/// Quotes a text so that a shell reads it as one word.
pub fn quote(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte);
    match !text.is_empty() && text.bytes().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    /// The word without its quotes.
    pub text: String,
    /// The index in the line at which it ends.
    pub end: usize,
}

/// Splits a command line into words. Removes quotes and expands nothing.
pub fn words(line: &str) -> Vec<Word> {
    read(line).0
}

/// Splits a command line that a user typed into words; `None` if a quote is not closed.
pub fn typed_words(line: &str) -> Option<Vec<String>> {
    match read(line) {
        (words, None) => Some(words.into_iter().map(|word| word.text).collect()),
        (_, Some(_)) => None,
    }
}

/// Splits a command line into words. Also returns the quote that is still open at its end.
fn read(line: &str) -> (Vec<Word>, Option<char>) {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.char_indices();
    while let Some((at, character)) = characters.next() {
        match (quote, character) {
            (None, blank) if blank.is_whitespace() => {
                words.extend(word.take().map(|text| Word { text, end: at }));
            }
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (Some(open), close) if open == close => quote = None,
            (None | Some('"'), '\\') => {
                let next = characters.next().map(|(_, next)| next);
                word.get_or_insert_default().extend(next);
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word.map(|text| Word { text, end: line.len() }));
    (words, quote)
}

/// One command of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The command as it was typed, up to its last word.
    pub typed: String,
    /// Its words, with quotes removed and nothing expanded.
    pub words: Vec<String>,
    /// The files to which its output is redirected.
    pub outputs: Vec<String>,
    /// Whether a later command decides the exit code of the line: `a` in `a | b` and `a; b`, but
    /// not in `a && b`.
    pub is_hidden: bool,
    /// Whether it runs only if the previous command fails: `b` in `a || b`.
    pub is_alternative: bool,
    /// The number of subshells around it: 1 for both commands of `(a; b)`.
    pub depth: usize,
}

/// Splits a line into its commands at pipes and list operators. Ignores here-documents.
pub fn commands(line: &str) -> Vec<Command> {
    let line = without_documents(line);
    let mut tokens = Tokens { rest: &line, depth: 0, is_alternative: false };
    let mut commands = Vec::new();
    loop {
        let (command, more) = tokens.command();
        commands.push(command);
        if !more {
            break;
        }
    }
    commands.retain(|command| !command.words.is_empty());
    if let Some(last) = commands.last_mut() {
        last.is_hidden = false;
    }
    commands
}

/// Removes the here-documents from a line: their text is not a command.
fn without_documents(text: &str) -> String {
    let mut kept = String::new();
    let mut end: Option<&str> = None;
    for line in text.lines() {
        match end {
            Some(mark) => end = (line.trim() != mark).then_some(mark),
            None => {
                kept.push_str(line);
                kept.push('\n');
                end = document(line);
            }
        }
    }
    kept
}

/// Returns the word that ends the here-document that a line starts.
fn document(line: &str) -> Option<&str> {
    let rest = line.split("<<").nth(1)?;
    let rest = rest.trim_start_matches('-').trim_start().trim_start_matches(['\'', '"', '\\']);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

enum Token {
    Word(String),
    Output(String),
    End,
}

/// The unread rest of a line.
struct Tokens<'a> {
    rest: &'a str,
    /// Number of open parentheses.
    depth: usize,
    /// Whether the next command follows `||`.
    is_alternative: bool,
}

impl Tokens<'_> {
    /// Reads the next command. Also returns whether anything follows it.
    fn command(&mut self) -> (Command, bool) {
        let (start, mut end, mut depth) = (self.rest, 0, self.depth);
        let (mut words, mut outputs) = (Vec::new(), Vec::new());
        let is_alternative = std::mem::take(&mut self.is_alternative);
        loop {
            match self.next() {
                Some(Token::Word(word)) if word.is_empty() => {}
                Some(Token::Word(word)) => {
                    depth = if words.is_empty() { self.depth } else { depth };
                    words.push(word);
                    end = start.len() - self.rest.len();
                }
                Some(Token::Output(file)) => outputs.push(file),
                last => {
                    let typed = start[..end].trim().to_owned();
                    let is_hidden = !start[..start.len() - self.rest.len()].ends_with("&&");
                    let command =
                        Command { typed, words, outputs, is_hidden, is_alternative, depth };
                    return (command, last.is_some());
                }
            }
        }
    }

    fn next(&mut self) -> Option<Token> {
        self.skip(|c| matches!(c, ' ' | '\t' | '\r'));
        match self.peek()? {
            '\n' | ';' | '|' | '&' | '(' | ')' => self.sign(),
            '>' => self.output(),
            '<' => {
                self.skip(|c| c == '<');
                self.file();
                self.next()
            }
            '#' => {
                self.skip(|c| c != '\n');
                self.next()
            }
            _ => {
                let word = self.word();
                // The 2 of `2>` is not a word.
                let is_channel = word.bytes().all(|byte| byte.is_ascii_digit());
                let is_word = !is_channel || self.peek() != Some('>');
                Some(Token::Word(if is_word { word } else { String::new() }))
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let first = self.peek()?;
        self.rest = &self.rest[first.len_utf8()..];
        Some(first)
    }

    fn skip(&mut self, unwanted: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(unwanted);
    }

    /// Reads the operator between two commands. `&>` is a redirection instead.
    fn sign(&mut self) -> Option<Token> {
        let sign = self.take()?;
        match sign {
            '(' => self.depth += 1,
            ')' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        match self.peek() {
            Some('>') if sign == '&' => self.output(),
            Some('&') if sign == '&' => self.take().map(|_| Token::End),
            Some('|') if sign == '|' => {
                self.is_alternative = true;
                self.take().map(|_| Token::End)
            }
            _ => Some(Token::End),
        }
    }

    fn output(&mut self) -> Option<Token> {
        self.skip(|c| matches!(c, '>' | '|'));
        // `2>&1` redirects to another stream, not to a file.
        if let Some(rest) = self.rest.strip_prefix('&') {
            self.rest = rest;
            self.word();
            return self.next();
        }
        Some(Token::Output(self.file()))
    }

    fn file(&mut self) -> String {
        self.skip(|c| matches!(c, ' ' | '\t'));
        self.word()
    }

    fn word(&mut self) -> String {
        let (mut word, mut quote) = (String::new(), None);
        while let Some(character) = self.peek() {
            if quote.is_none() && " \t\r\n;|&()<>".contains(character) {
                break;
            }
            self.take();
            match (quote, character) {
                (None, '\'' | '"') => quote = Some(character),
                (Some(open), close) if open == close => quote = None,
                (None | Some('"'), '\\') => {
                    word.extend(self.take().filter(|next| *next != '\n'));
                }
                _ => word.push(character),
            }
        }
        word
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(line: &str) -> Vec<String> {
        words(line).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn quotes_are_undone() {
        let line = r#"'/opt/my tools/plimsoll'  statusline --wrap 'echo it'\''s' "a \" b" \$c"#;
        let expected =
            ["/opt/my tools/plimsoll", "statusline", "--wrap", "echo it's", "a \" b", "$c"];
        assert_eq!(texts(line), expected);
        assert_eq!(words("ab 'c d' e").iter().map(|word| word.end).collect::<Vec<_>>(), [2, 8, 10]);
    }

    #[track_caller]
    fn check(line: &str, expected: &[(&[&str], &[&str])]) {
        let found = commands(line);
        let found: Vec<(Vec<&str>, Vec<&str>)> = found
            .iter()
            .map(|command| {
                let words = command.words.iter().map(String::as_str).collect();
                (words, command.outputs.iter().map(String::as_str).collect())
            })
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(words, outputs)| (words.to_vec(), outputs.to_vec())).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn lists_and_pipes_are_taken_apart() {
        check(
            "cd 'my app' && make \"a; b\" 2>&1 | tee -a out.log; echo done # and so on",
            &[
                (&["cd", "my app"], &[]),
                (&["make", "a; b"], &[]),
                (&["tee", "-a", "out.log"], &[]),
                (&["echo", "done"], &[]),
            ],
        );
        check(
            "x=$(git commit \\\n  -m a)",
            &[(&["x=$"], &[]), (&["git", "commit", "-m", "a"], &[])],
        );
    }

    #[test]
    fn what_hides_how_a_command_ended_is_told() {
        let hidden = |line| commands(line).iter().map(|one| one.is_hidden).collect::<Vec<_>>();
        assert_eq!(hidden("cd a && make 2>&1 | tail -3"), [false, true, false]);
        assert_eq!(hidden("make; echo $?"), [true, false]);
        assert_eq!(hidden("make || true"), [true, false]);
        assert_eq!(hidden("make\n"), [false]);
    }

    #[test]
    fn a_command_behind_two_bars_is_an_alternative() {
        let found = commands("a || b && c | d");
        assert_eq!(
            found.iter().map(|one| one.is_alternative).collect::<Vec<_>>(),
            [false, true, false, false]
        );
    }

    #[test]
    fn outputs_that_are_files_are_told() {
        check("a 2>/dev/null >b.txt", &[(&["a"], &["/dev/null", "b.txt"])]);
        check("a &> 'c d' < e", &[(&["a"], &["c d"])]);
        check("echo 5 > f", &[(&["echo", "5"], &["f"])]);
    }

    #[test]
    fn a_document_is_no_command() {
        let line = "cat > a.md <<'EOF'\nit's; rm -rf b\nEOF\nls";
        check(line, &[(&["cat"], &["a.md"]), (&["ls"], &[])]);
        let line = "git commit -m \"$(cat <<EOF\nfix \"x\"\nEOF\n)\" && ls";
        check(line, &[(&["git", "commit", "-m", "$(cat <<EOF\n)"], &[]), (&["ls"], &[])]);
    }

    proptest! {
        #[test]
        fn any_text_has_commands(text in any::<String>()) {
            commands(&text);
        }

        #[test]
        fn a_quoted_text_is_one_word(text in any::<String>()) {
            prop_assert_eq!(texts(&format!("x {} y", quote(&text))), ["x", &text, "y"]);
        }
    }
}
