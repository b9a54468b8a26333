//! Finds the values of a Kubernetes `Secret`, whatever their names.

use std::ops::Range;

use super::scan::{self, ALNUM, DOTTED, skip_blanks};
use super::{Secret, header, value};

/// Maximum distance between a document's kind and its data.
const NEAR: usize = 2048;

/// Adds the values under `data` and `stringData` of the YAML document with this kind.
pub(super) fn yaml(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let document = document(text, &hit);
    for data in data(text, &document) {
        add_yaml_values(text, data, document.end, found);
    }
}

/// Adds the values of a JSON document. The keyword includes the closing quote of `"kind"`.
pub(super) fn json(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let kind = header::value_of(text, hit.end);
    if !kind.is_some_and(|kind| scan::matches_at(text, kind, "secret")) {
        return;
    }
    let near = hit.start.saturating_sub(NEAR)..text.len().min(hit.end + NEAR);
    for data in data(text, &near) {
        add_json_values(text, data, near.end, found);
    }
}

/// Returns the YAML document around a position, delimited by `---` lines.
fn document(text: &[u8], hit: &Range<usize>) -> Range<usize> {
    const BETWEEN: &[u8] = b"\n---";
    let least = hit.start.saturating_sub(NEAR);
    let most = text.len().min(hit.end + NEAR);
    let before = text[least..hit.start].windows(4).rposition(|four| four == BETWEEN);
    let after = text[hit.end..most].windows(4).position(|four| four == BETWEEN);
    before.map_or(least, |at| least + at)..after.map_or(most, |at| hit.end + at)
}

/// Returns the ends of the names `data` and `stringData`, but not of `metadata`.
fn data(text: &[u8], near: &Range<usize>) -> Vec<usize> {
    let is_end = |end: &usize| {
        let start = ALNUM.run_start(text, *end, "stringData".len() + 1);
        matches!(
            &text[scan::skip_escape_letter(text, start).min(*end)..*end],
            b"data" | b"stringData"
        )
    };
    near.clone().filter(|end| text[..*end].ends_with(b"ata")).filter(is_end).collect()
}

/// Adds the indented `name: value` lines after a name that start before `limit`. The last value may
/// extend beyond it.
fn add_yaml_values(text: &[u8], name: usize, limit: usize, found: &mut Vec<Secret>) {
    let mut place = name + 1;
    while let Some(line) = next_line(text, place).filter(|line| *line < limit) {
        let name = skip_blanks(text, line);
        let sign = DOTTED.run_end(text, name);
        if name == line || !scan::matches_at(text, sign, ": ") {
            return;
        }
        place = add_value(text, scan::skip_quote(text, skip_blanks(text, sign + 1)), found);
        place = scan::skip_quote(text, place);
    }
}

/// Adds the `"name": "value"` members of the object after a name that start before `limit`.
fn add_json_values(text: &[u8], name: usize, limit: usize, found: &mut Vec<Secret>) {
    let Some(mut place) = header::value_of(text, name) else { return };
    while place < limit && matches!(scan::at(text, place), b'{' | b',') {
        let name = scan::end_while(text, place + 1, |byte| byte.is_ascii_whitespace());
        let sign = DOTTED.run_end(text, scan::skip_quote(text, name));
        let Some(value) = header::value_of(text, sign) else { return };
        place = scan::skip_quote(text, add_value(text, value, found));
    }
}

/// Adds the value that starts here if it is a secret, and returns its end.
fn add_value(text: &[u8], from: usize, found: &mut Vec<Secret>) -> usize {
    let end = scan::end_while(text, from, |byte| byte > b' ' && !b"\"'\\".contains(&byte));
    let range = from..end;
    let is_secret = range.len() >= 4 && !value::is_harmless(&text[range.clone()]);
    found.extend(is_secret.then_some(Secret { range, kind: "kubernetes-secret" }));
    end
}

/// Returns the start of the next line, if a newline or an escaped `
/// ` is at `end`.
fn next_line(text: &[u8], end: usize) -> Option<usize> {
    let rest = text.get(end..)?;
    let ends = ["\n", "\\n"].into_iter().find(|newline| rest.starts_with(newline.as_bytes()))?;
    Some(end + ends.len())
}
