//! Command lines as a shell reads them.

/// The text as one word.
pub fn quote(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte);
    match !text.is_empty() && text.bytes().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// One word of a command line.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    /// The word without its quotes.
    pub text: String,
    /// Where it ends in the line.
    pub end: usize,
}

/// The words of a command line, quotes undone and nothing expanded.
pub fn words(line: &str) -> Vec<Word> {
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
    words
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

    proptest! {
        #[test]
        fn a_quoted_text_is_one_word(text in any::<String>()) {
            prop_assert_eq!(texts(&format!("x {} y", quote(&text))), ["x", &text, "y"]);
        }
    }
}
