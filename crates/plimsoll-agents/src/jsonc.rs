//! Edits a JSON text and leaves every other byte unchanged.
//!
//! The text is parsed to find the positions of its parts and then spliced, never printed anew.
//! Comments and trailing commas are accepted, so they survive.

use std::ops::Range;

pub(crate) use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
pub(crate) use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// Parses a text; `None` if it is blank.
pub(crate) fn parse(text: &str) -> Result<Option<Value<'_>>, ParseError> {
    parse_with(text, true)
}

/// Parses a text as strict JSON, without comments and trailing commas.
pub(crate) fn parse_strictly(text: &str) -> Result<Option<Value<'_>>, ParseError> {
    parse_with(text, false)
}

fn parse_with(text: &str, extras: bool) -> Result<Option<Value<'_>>, ParseError> {
    let options = ParseOptions {
        allow_comments: extras,
        allow_trailing_commas: extras,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    Ok(parse_to_ast(text, &CollectOptions::default(), &options)?.value)
}

/// Returns the value of the member `key`. If the key occurs more than once, the last one counts, as
/// for most readers.
pub(crate) fn member<'o, 'a>(object: &'o Object<'a>, key: &str) -> Option<&'o Value<'a>> {
    Some(&object.properties[index_of(object, key)?].value)
}

/// Returns the index of the member `key`, the last one if it occurs more than once.
pub(crate) fn index_of(object: &Object<'_>, key: &str) -> Option<usize> {
    object.properties.iter().rposition(|member| member.name.as_str() == key)
}

/// Returns the range of a value in its text.
pub(crate) fn place(value: &Value<'_>) -> Range<usize> {
    value.start()..value.end()
}

/// Replaces the text at `place` with `new`.
pub(crate) fn replaced(text: &str, place: Range<usize>, new: &str) -> String {
    [&text[..place.start], new, &text[place.end..]].concat()
}

/// Formats a string as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The layout of a text.
pub(crate) struct Style {
    newline: &'static str,
    /// One level of indentation.
    step: String,
    /// Whether everything is on one line.
    inline: bool,
}

impl Style {
    /// Detects the style of a text whose outermost value is `root`.
    pub(crate) fn of(text: &str, root: &Object<'_>) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = root.properties.first().map(|member| member.start());
        let step = first.and_then(|first| own_line(text, first));
        let inline = first.is_some_and(|first| !text[root.start()..first].contains('\n'));
        Self { newline, step: step.unwrap_or("  ").to_owned(), inline }
    }
}

/// A value to insert into a text.
pub(crate) enum Node {
    /// Inserted unchanged.
    Text(String),
    /// An object with one member per line.
    Object(Vec<(String, Node)>),
    /// An array with one element per line.
    Array(Vec<Node>),
}

impl Node {
    /// Prints the node on a line indented by `indent`, or without line breaks if that is `None`.
    fn print(&self, style: &Style, indent: Option<&str>) -> String {
        let inner = indent.map(|indent| format!("{indent}{}", style.step));
        let print = |node: &Node| node.print(style, inner.as_deref());
        let (open, items, close): (_, Vec<String>, _) = match self {
            Self::Text(text) => return text.clone(),
            Self::Object(members) => {
                let members = members.iter().map(|(key, node)| member_text(key, &print(node)));
                ('{', members.collect(), '}')
            }
            Self::Array(elements) => ('[', elements.iter().map(print).collect(), ']'),
        };
        let (Some(indent), Some(inner)) = (indent, &inner) else {
            return format!("{open}{}{close}", items.join(", "));
        };
        let newline = style.newline;
        let items = items.join(&format!(",{newline}{inner}"));
        format!("{open}{newline}{inner}{items}{newline}{indent}{close}")
    }
}

/// Formats a member of an object.
fn member_text(key: &str, value: &str) -> String {
    format!("{}: {value}", quoted(key))
}

/// The range of an object or array, and of each of its items.
#[derive(Clone)]
pub(crate) struct List {
    brackets: Range<usize>,
    items: Vec<Range<usize>>,
}

impl From<&Object<'_>> for List {
    fn from(object: &Object<'_>) -> Self {
        let items = object.properties.iter().map(|member| member.start()..member.end());
        Self { brackets: object.start()..object.end(), items: items.collect() }
    }
}

impl From<&Array<'_>> for List {
    fn from(array: &Array<'_>) -> Self {
        let items = array.elements.iter().map(place);
        Self { brackets: array.start()..array.end(), items: items.collect() }
    }
}

impl List {
    /// Appends a member after the last item.
    pub(crate) fn append_member(
        &self,
        text: &str,
        style: &Style,
        key: &str,
        node: &Node,
    ) -> String {
        self.append(text, style, |indent| member_text(key, &node.print(style, indent)))
    }

    /// Appends an element after the last item.
    pub(crate) fn append_element(&self, text: &str, style: &Style, node: &Node) -> String {
        self.append(text, style, |indent| node.print(style, indent))
    }

    /// Inserts the new item right after the last one. Removing it together with the gap between the
    /// two restores every byte.
    fn append(&self, text: &str, style: &Style, item: impl Fn(Option<&str>) -> String) -> String {
        let Some(last) = self.items.last() else { return self.fill(text, style, item) };
        let new = match own_line(text, last.start) {
            Some(indent) => format!(",{}{indent}{}", style.newline, item(Some(indent))),
            None => format!(", {}", item(None)),
        };
        replaced(text, last.end..last.end, &new)
    }

    /// Inserts the first item between the brackets.
    fn fill(&self, text: &str, style: &Style, item: impl Fn(Option<&str>) -> String) -> String {
        let inside = self.inside();
        let blank = text[inside.clone()].trim().is_empty();
        // A comment inside stays where it is.
        let room = if blank { inside } else { inside.start..inside.start };
        if style.inline {
            return replaced(text, room, &item(None));
        }
        let Style { newline, step, .. } = style;
        let outer = line_indent(text, self.brackets.start);
        let indent = format!("{outer}{step}");
        let end = if blank { format!("{newline}{outer}") } else { String::new() };
        replaced(text, room, &format!("{newline}{indent}{}{end}", item(Some(&indent))))
    }

    /// Removes an item and its comma.
    fn remove(&self, text: &str, index: usize) -> String {
        let item = self.items[index].clone();
        let before = index.checked_sub(1).map(|before| self.items[before].end);
        let after = self.items.get(index + 1).map(|after| after.start);
        let (gap, whole) = match (before, after) {
            (Some(before), _) => (before..item.start, before..item.end),
            (None, Some(after)) => (item.end..after, item.start..after),
            (None, None) => (item.end..self.inside().end, self.inside()),
        };
        let rest = [&text[whole.start..item.start], &text[item.end..whole.end]].concat();
        if rest.chars().all(|character| character.is_whitespace() || character == ',') {
            return replaced(text, whole, "");
        }
        // Keep the comments around the item.
        let comma = comma(&text[gap.clone()]).map(|at| gap.start + at..gap.start + at + 1);
        let mut cuts = [Some(item), comma].into_iter().flatten().collect::<Vec<_>>();
        cuts.sort_by_key(|cut| std::cmp::Reverse(cut.start));
        cuts.into_iter().fold(text.to_owned(), |text, cut| replaced(&text, cut, ""))
    }

    /// Returns the text between the brackets without the item, blanks and commas: comments.
    fn left_without(&self, text: &str, index: usize) -> String {
        let (inside, item) = (self.inside(), &self.items[index]);
        tokens(&[&text[inside.start..item.start], &text[item.end..inside.end]].concat())
    }

    fn inside(&self) -> Range<usize> {
        self.brackets.start + 1..self.brackets.end - 1
    }
}

/// One step on the path from an item to the root.
pub(crate) struct Level<'b> {
    pub(crate) list: List,
    /// The item that is removed or contains the removed one.
    pub(crate) index: usize,
    /// The list with its brackets as it was before the installation, if it was empty then.
    pub(crate) before: Option<&'b str>,
}

/// Removes the item at the end of the path `levels`, innermost first. Also removes lists that
/// become empty, unless they were empty before: those are restored to their earlier text.
pub(crate) fn take_out(text: &str, levels: &[Level<'_>]) -> String {
    for (number, Level { list, index, before }) in levels.iter().enumerate() {
        if list.items.len() > 1 {
            return list.remove(text, *index);
        }
        let left = list.left_without(text, *index);
        match before {
            Some(before) if tokens(&before[1..before.len() - 1]) == left => {
                return replaced(text, list.brackets.clone(), before);
            }
            _ if !left.is_empty() || number + 1 == levels.len() => {
                return list.remove(text, *index);
            }
            _ => {}
        }
    }
    text.to_owned()
}

/// Removes blanks and commas from a text.
fn tokens(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace() && *character != ',').collect()
}

/// Returns the indentation of the item at `at`; `None` if the item does not begin its line.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let begin = text[..at].rfind('\n')? + 1;
    let indent = &text[begin..at];
    indent.chars().all(|character| character == ' ' || character == '\t').then_some(indent)
}

/// Returns the indentation of the line that contains `at`.
fn line_indent(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[begin..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the index of the comma between two items, skipping blanks and comments.
fn comma(gap: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = gap.get(at..).filter(|rest| !rest.is_empty()) {
        at += match rest {
            _ if rest.starts_with(',') => return Some(at),
            _ if rest.starts_with("//") => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/")? + 2,
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
    }
    None
}
