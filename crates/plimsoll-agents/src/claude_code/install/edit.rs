//! Adds and removes our hooks, status line and compaction percentage in a settings text.

use super::events::{self, LISTENED, Listened, OLDEST, UPDATE};
use super::inspect::{self, Found, OVERRIDE, root, scalar, without_mark};
use crate::install::{HookEntry, Installed, Timeout, Unfit, Wish};
use crate::jsonc::{
    self, Level, List, Node, Object, Style, Value, index_of, member, quoted, replaced, take_out,
};
use plimsoll_core::shell;

pub(super) fn install(text: &str, wish: &Wish<'_>) -> Result<String, Unfit> {
    if let Some(found) = wish.client.filter(|client| *client < OLDEST) {
        return Err(Unfit::OldClient { found, needed: OLDEST, update: UPDATE });
    }
    with_body(text, |body| {
        let body = if body.trim().is_empty() { "{}\n" } else { body };
        let body = with_hooks(body.to_owned(), wish)?;
        let body = match wish.status_line {
            true => with_status_line(body, wish.program)?,
            false => without_status_line(body, None)?,
        };
        match wish.compact_at {
            Some(percent) => with_override(body, percent),
            None => Ok(body),
        }
    })
}

pub(super) fn uninstall(text: &str, installed: Option<&Installed<'_>>) -> Result<String, Unfit> {
    // Ignore an earlier text that cannot be parsed.
    let before = installed.and_then(|installed| Before::read(installed.before));
    let less = with_body(text, |body| {
        let body = without_hooks(body.to_owned(), before.as_ref())?;
        let body = without_status_line(body, before.as_ref())?;
        match installed {
            Some(installed) => without_override(body, installed, before.as_ref()),
            None => Ok(body),
        }
    })?;
    // If the text was blank before the installation, make it blank again.
    Ok(match installed {
        Some(Installed { before, .. })
            if is_blank(before) && less != text && is_empty_object(&less) =>
        {
            (*before).to_owned()
        }
        _ => less,
    })
}

/// Edits a text after its byte order mark.
fn with_body(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, Unfit>,
) -> Result<String, Unfit> {
    let body = without_mark(text);
    Ok([&text[..text.len() - body.len()], &edit(body)?].concat())
}

fn is_blank(text: &str) -> bool {
    without_mark(text).trim().is_empty()
}

fn is_empty_object(text: &str) -> bool {
    without_mark(text).split_whitespace().collect::<String>() == "{}"
}

/// The text before the installation, which shows what was the user's own.
struct Before<'b> {
    text: &'b str,
    root: Object<'b>,
}

impl<'b> Before<'b> {
    fn read(text: &'b str) -> Option<Self> {
        let text = without_mark(text);
        Some(Self { text, root: root(text).ok()?? })
    }

    fn value(&self, path: &[&str]) -> Option<&Value<'b>> {
        let (last, way) = path.split_last()?;
        let object = way.iter().try_fold(&self.root, |at, key| member(at, key)?.as_object())?;
        member(object, last)
    }

    /// Returns the text of the list at `path`, if it is empty.
    fn empty_list(&self, path: &[&str]) -> Option<&'b str> {
        if path.is_empty() {
            return self.root.properties.is_empty().then(|| &self.text[span(&self.root)]);
        }
        let value = self.value(path)?;
        let is_empty = match value {
            Value::Object(object) => object.properties.is_empty(),
            Value::Array(array) => array.elements.is_empty(),
            _ => false,
        };
        is_empty.then(|| self.raw(value))
    }

    fn raw(&self, value: &Value<'_>) -> &'b str {
        &self.text[jsonc::place(value)]
    }
}

fn span(object: &Object<'_>) -> std::ops::Range<usize> {
    object.range.start..object.range.end
}

/// Parses a text as an object. Fails if a key that concerns us occurs twice.
fn unambiguous(text: &str) -> Result<Object<'_>, Unfit> {
    let root = root(text)?;
    let root = root.ok_or(Unfit::Form { what: "the whole of it".into(), expected: "an object" })?;
    match inspect::twice(&root).into_iter().next() {
        Some(key) => Err(Unfit::Twice(key)),
        None => Ok(root),
    }
}

/// Returns the member `key`. Fails if it is not an object.
fn object<'o, 'a>(root: &'o Object<'a>, key: &str) -> Result<Option<&'o Object<'a>>, Unfit> {
    match member(root, key) {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(Unfit::Form { what: format!("`{key}`"), expected: "an object" }),
    }
}

/// Adds missing hooks, and removes those of ours that differ from the wish.
fn with_hooks(mut text: String, wish: &Wish<'_>) -> Result<String, Unfit> {
    // If the version is unknown, an earlier installation may have written an event for a newer
    // client.
    let allowed: Vec<&Listened> = match wish.client {
        Some(_) => events::listened(wish.client).collect(),
        None => LISTENED.iter().collect(),
    };
    while let Some(less) = without_stray(&text, wish, &allowed)? {
        text = less;
    }
    for listened in events::listened(wish.client) {
        text = with_hook(text, wish, listened)?;
    }
    Ok(text)
}

/// Returns the command line of a hook.
///
/// Every client passes it to a shell; a client before 2.1.140 ignores `args` and would call the
/// bare program. `|| :` makes the line succeed in any case: a shell runs a damaged program that
/// happens to be text as a script, which fails with exit code 2, and the client would take that for
/// a refusal. A real refusal is also printed as JSON.
pub(super) fn hook_line(program: &str) -> String {
    format!("{} hook || :", shell::quote(program))
}

/// Removes the first of our hooks that differs from the wish or occurs again; `None` if there is
/// none.
fn without_stray(
    text: &str,
    wish: &Wish<'_>,
    listened: &[&Listened],
) -> Result<Option<String>, Unfit> {
    let root = unambiguous(text)?;
    let mut seen = Vec::new();
    for found in inspect::hooks(&root).iter().filter(|found| found.entry.is_ours) {
        let wished = listened.iter().any(|listened| is_as_wished(&found.entry, wish, listened));
        if !wished || seen.contains(&found.event) {
            return Ok(Some(without_hook(text, &root, found, None)));
        }
        seen.push(found.event);
    }
    Ok(None)
}

fn is_as_wished(entry: &HookEntry, wish: &Wish<'_>, listened: &Listened) -> bool {
    let all = |matcher: &Option<String>| matches!(matcher.as_deref(), None | Some("" | "*"));
    let matches = match listened.matcher {
        Some(matcher) => entry.matcher.as_deref() == Some(matcher),
        None => all(&entry.matcher),
    };
    matches
        && entry.event == listened.event
        && entry.command == hook_line(wish.program)
        && entry.args.is_none()
        && entry.timeout == Timeout::Seconds(f64::from(listened.timeout))
}

fn with_hook(text: String, wish: &Wish<'_>, listened: &Listened) -> Result<String, Unfit> {
    let root = unambiguous(&text)?;
    let ours = |found: &Found| found.entry.is_ours && found.entry.event == listened.event;
    if inspect::hooks(&root).iter().any(ours) {
        return Ok(text);
    }
    let style = Style::of(&text, &root);
    let group = Node::Text(group(wish.program, listened));
    let Some(hooks) = object(&root, "hooks")? else {
        let event = (listened.event.to_owned(), Node::Array(vec![group]));
        let hooks = Node::Object(vec![event]);
        return Ok(List::from(&root).append_member(&text, &style, "hooks", &hooks));
    };
    Ok(match member(hooks, listened.event) {
        None => {
            let groups = Node::Array(vec![group]);
            List::from(hooks).append_member(&text, &style, listened.event, &groups)
        }
        Some(Value::Array(groups)) => List::from(groups).append_element(&text, &style, &group),
        Some(_) => {
            let what = format!("`hooks.{}`", listened.event);
            return Err(Unfit::Form { what, expected: "an array" });
        }
    })
}

/// Returns our hook group for one event, on one line.
fn group(program: &str, listened: &Listened) -> String {
    let matcher = listened.matcher.map(|matcher| format!("\"matcher\": {}, ", quoted(matcher)));
    let (matcher, line) = (matcher.unwrap_or_default(), quoted(&hook_line(program)));
    let timeout = listened.timeout;
    format!(
        "{{ {matcher}\"hooks\": [{{ \"type\": \"command\", \"command\": {line}, \
         \"timeout\": {timeout} }}] }}"
    )
}

fn without_hooks(mut text: String, before: Option<&Before<'_>>) -> Result<String, Unfit> {
    while !text.trim().is_empty() {
        let root = unambiguous(&text)?;
        let Some(found) = inspect::hooks(&root).into_iter().find(|found| found.entry.is_ours)
        else {
            break;
        };
        text = without_hook(&text, &root, &found, before);
    }
    Ok(text)
}

fn without_hook(
    text: &str,
    root: &Object<'_>,
    found: &Found,
    before: Option<&Before<'_>>,
) -> String {
    let levels = || {
        let hooks = member(root, "hooks")?.as_object()?;
        let event = &hooks.properties[found.event];
        let groups = event.value.as_array()?;
        let group = member(groups.elements[found.group].as_object()?, "hooks")?.as_array()?;
        let event = event.name.as_str();
        let was = |path: &[&str]| before.and_then(|before| before.empty_list(path));
        Some([
            Level { list: group.into(), index: found.index, before: None },
            Level { list: groups.into(), index: found.group, before: was(&["hooks", event]) },
            Level { list: hooks.into(), index: found.event, before: was(&["hooks"]) },
            Level { list: root.into(), index: index_of(root, "hooks")?, before: was(&[]) },
        ])
    };
    levels().map_or_else(|| text.to_owned(), |levels| take_out(text, &levels))
}

fn with_status_line(text: String, program: &str) -> Result<String, Unfit> {
    let root = unambiguous(&text)?;
    let ours = format!("{} statusline", shell::quote(program));
    let Some(line) = object(&root, "statusLine")? else {
        let line = format!("{{ \"type\": \"command\", \"command\": {} }}", quoted(&ours));
        let style = Style::of(&text, &root);
        return Ok(List::from(&root).append_member(&text, &style, "statusLine", &Node::Text(line)));
    };
    let (Some(value), Some(found)) = (member(line, "command"), inspect::status_line(&root)) else {
        return Err(Unfit::Form { what: "`statusLine.command`".to_owned(), expected: "a string" });
    };
    let command = match shell::words(&found.command).first() {
        Some(first) if found.is_ours && first.text == program => return Ok(text),
        Some(first) if found.is_ours => {
            format!("{}{}", shell::quote(program), &found.command[first.end..])
        }
        _ => format!("{ours} --wrap {}", shell::quote(&found.command)),
    };
    Ok(replaced(&text, jsonc::place(value), &quoted(&command)))
}

fn without_status_line(text: String, before: Option<&Before<'_>>) -> Result<String, Unfit> {
    if text.trim().is_empty() {
        return Ok(text);
    }
    let root = unambiguous(&text)?;
    let Some(found) = inspect::status_line(&root).filter(|line| line.is_ours) else {
        return Ok(text);
    };
    let line = object(&root, "statusLine")?.and_then(|line| member(line, "command"));
    let (Some(value), Some(index)) = (line, index_of(&root, "statusLine")) else { return Ok(text) };
    let Some(wrapped) = inspect::wrapped(&found.command)? else {
        let empty = before.and_then(|before| before.empty_list(&[]));
        let level = Level { list: List::from(&root), index, before: empty };
        return Ok(take_out(&text, &[level]));
    };
    // The user may have written the same command with other escapes.
    let theirs = before.and_then(|before| {
        let value = before.value(&["statusLine", "command"])?;
        (scalar(value)? == wrapped).then(|| before.raw(value).to_owned())
    });
    let theirs = theirs.unwrap_or_else(|| quoted(&wrapped));
    Ok(replaced(&text, jsonc::place(value), &theirs))
}

fn with_override(text: String, percent: u8) -> Result<String, Unfit> {
    let root = unambiguous(&text)?;
    let style = Style::of(&text, &root);
    let percent = percent.to_string();
    let value = Node::Text(quoted(&percent));
    let Some(env) = object(&root, "env")? else {
        let env = Node::Object(vec![(OVERRIDE.to_owned(), value)]);
        return Ok(List::from(&root).append_member(&text, &style, "env", &env));
    };
    Ok(match member(env, OVERRIDE) {
        None => List::from(env).append_member(&text, &style, OVERRIDE, &value),
        Some(found) if scalar(found).as_ref() == Some(&percent) => text,
        Some(found) => replaced(&text, jsonc::place(found), &quoted(&percent)),
    })
}

/// Restores the compaction percentage if we set it and it has not changed since.
fn without_override(
    text: String,
    installed: &Installed<'_>,
    before: Option<&Before<'_>>,
) -> Result<String, Unfit> {
    let set = |text: &str| inspect::inspect(text).ok()?.compact_at;
    let ours = set(installed.after);
    if ours.is_none() || set(&text) != ours || set(installed.before) == ours {
        return Ok(text);
    }
    let root = unambiguous(&text)?;
    let Some(env) = object(&root, "env")? else { return Ok(text) };
    let (Some(value), Some(index)) = (member(env, OVERRIDE), index_of(env, OVERRIDE)) else {
        return Ok(text);
    };
    if let Some(theirs) =
        before.and_then(|before| Some(before.raw(before.value(&["env", OVERRIDE])?)))
    {
        return Ok(replaced(&text, jsonc::place(value), theirs));
    }
    let was = |path: &[&str]| before.and_then(|before| before.empty_list(path));
    let root_index = index_of(&root, "env").unwrap_or_default();
    let levels = [
        Level { list: List::from(env), index, before: was(&["env"]) },
        Level { list: List::from(&root), index: root_index, before: was(&[]) },
    ];
    Ok(take_out(&text, &levels))
}
