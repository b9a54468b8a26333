//! Edits of a JSON text that leave every other byte as it is.
//!
//! A text is parsed to know where its parts lie, and then spliced; it is never printed anew. Comments
//! and trailing commas are understood, so that they survive.

use std::ops::Range;

pub(crate) use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
pub(crate) use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The value that a text holds; nothing if it is blank.
pub(crate) fn parse(text: &str) -> Result<Option<Value<'_>>, ParseError> {
    parse_with(text, true)
}

/// The same without comments and trailing commas, which JSON itself does not have.
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

/// The value of the member `key`. Of several with one name the last counts, as it does for most
/// readers.
pub(crate) fn member<'o, 'a>(object: &'o Object<'a>, key: &str) -> Option<&'o Value<'a>> {
    Some(&object.properties[index_of(object, key)?].value)
}

/// Where the member `key` stands among the others; the last of several.
pub(crate) fn index_of(object: &Object<'_>, key: &str) -> Option<usize> {
    object.properties.iter().rposition(|member| member.name.as_str() == key)
}

/// Where a value lies in its text.
pub(crate) fn place(value: &Value<'_>) -> Range<usize> {
    value.start()..value.end()
}

/// The text with `new` in the place of what lies at `place`.
pub(crate) fn replaced(text: &str, place: Range<usize>, new: &str) -> String {
    [&text[..place.start], new, &text[place.end..]].concat()
}

/// A string as JSON writes it.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// How a text is laid out.
pub(crate) struct Style {
    newline: &'static str,
    /// One step of indentation.
    step: String,
    /// Everything stands on one line.
    inline: bool,
}

impl Style {
    /// The style of a text whose outermost value is `root`.
    pub(crate) fn of(text: &str, root: &Object<'_>) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = root.properties.first().map(|member| member.start());
        let step = first.and_then(|first| own_line(text, first));
        let inline = first.is_some_and(|first| !text[root.start()..first].contains('\n'));
        Self { newline, step: step.unwrap_or("  ").to_owned(), inline }
    }
}

/// Something to put into a text.
pub(crate) enum Node {
    /// Written as it is.
    Text(String),
    /// An object, a member a line.
    Object(Vec<(String, Node)>),
    /// An array, an element a line.
    Array(Vec<Node>),
}

impl Node {
    /// The node on a line that is indented by `indent`; on one line with what surrounds it if that
    /// is nothing.
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

/// A member of an object whose value is already written.
fn member_text(key: &str, value: &str) -> String {
    format!("{}: {value}", quoted(key))
}

/// What stands between a pair of brackets: the members of an object, or the elements of an array.
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
    /// The text with a member after the last item.
    pub(crate) fn append_member(
        &self,
        text: &str,
        style: &Style,
        key: &str,
        node: &Node,
    ) -> String {
        self.append(text, style, |indent| member_text(key, &node.print(style, indent)))
    }

    /// The text with an element after the last item.
    pub(crate) fn append_element(&self, text: &str, style: &Style, node: &Node) -> String {
        self.append(text, style, |indent| node.print(style, indent))
    }

    /// Puts the new item right after the last one, so that taking it out with all that lies between
    /// the two gives back every byte.
    fn append(&self, text: &str, style: &Style, item: impl Fn(Option<&str>) -> String) -> String {
        let Some(last) = self.items.last() else { return self.fill(text, style, item) };
        let new = match own_line(text, last.start) {
            Some(indent) => format!(",{}{indent}{}", style.newline, item(Some(indent))),
            None => format!(", {}", item(None)),
        };
        replaced(text, last.end..last.end, &new)
    }

    /// Puts the first item between the brackets.
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

    /// The text without the item, and without the comma that set it apart.
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
        // There are comments around it. They stay.
        let comma = comma(&text[gap.clone()]).map(|at| gap.start + at..gap.start + at + 1);
        let mut cuts = [Some(item), comma].into_iter().flatten().collect::<Vec<_>>();
        cuts.sort_by_key(|cut| std::cmp::Reverse(cut.start));
        cuts.into_iter().fold(text.to_owned(), |text, cut| replaced(&text, cut, ""))
    }

    /// What is left between the brackets without the item, blanks and commas aside: comments.
    fn left_without(&self, text: &str, index: usize) -> String {
        let (inside, item) = (self.inside(), &self.items[index]);
        tokens(&[&text[inside.start..item.start], &text[item.end..inside.end]].concat())
    }

    fn inside(&self) -> Range<usize> {
        self.brackets.start + 1..self.brackets.end - 1
    }
}

/// An item of a list on the way from something to be taken out to the root.
pub(crate) struct Level<'b> {
    /// The list.
    pub(crate) list: List,
    /// The item that leads to what is taken out, or is it.
    pub(crate) index: usize,
    /// The list with its brackets as it stood before we came, if it was empty then.
    pub(crate) before: Option<&'b str>,
}

/// The text without the item that `levels` (innermost first) lead to. A list that is emptied by that
/// goes too, unless it stood there empty before: then it becomes what it was.
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

/// A text without its blanks and commas.
fn tokens(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace() && *character != ',').collect()
}

/// The indentation of what begins at `at`, if it begins its line.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let begin = text[..at].rfind('\n')? + 1;
    let indent = &text[begin..at];
    indent.chars().all(|character| character == ' ' || character == '\t').then_some(indent)
}

/// The indentation of the line that `at` lies in.
fn line_indent(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[begin..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Where the comma is in what separates two items: blanks, comments and one comma.
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
