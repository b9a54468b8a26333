//! Reads a config file as far as it is valid.
//!
//! One bad value does not void the others: a user who asked for a strict guard gets it. Ignored
//! values are reported with their position, in words that repeat no value.

use std::fmt::{self, Display};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plimsoll_core::settings::keys::{self, Key, Kind, Setter};
use plimsoll_core::settings::{Config, Settings};
use serde_json::{Value, json};

use super::yaml::{self, Node, Place};
use crate::paths::{self, Links};

/// Whose config a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    User,
    /// The project's, written by its authors.
    Project,
}

impl Layer {
    /// Returns whether to follow symbolic links: a repository must not make us read files
    /// elsewhere.
    pub(crate) fn links(self) -> Links {
        match self {
            Self::User => Links::Followed,
            Self::Project => Links::Refused,
        }
    }
}

/// An error in a config file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    pub path: PathBuf,
    /// Position in the file, if known.
    pub place: Option<Place>,
    /// A sentence.
    pub what: String,
}

impl Complaint {
    /// Formats the position, to be appended to the file name.
    pub fn at(&self) -> String {
        let place = |Place { line, column }| format!(":{line}:{column}");
        self.place.map_or_else(String::new, place)
    }
}

impl Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {}", self.path.display(), self.at(), self.what)
    }
}

/// An existing config file.
#[derive(Debug)]
pub struct ConfigFile {
    pub path: PathBuf,
    pub layer: Layer,
    pub complaints: Vec<Complaint>,
    config: Config,
    /// Valid keys with their positions.
    places: Vec<(&'static str, Place)>,
}

impl ConfigFile {
    /// Reads the file at `path`; `None` if it does not exist.
    pub fn read(path: &Path, layer: Layer) -> Option<Self> {
        Self::new(path, layer, paths::read_small(path, layer.links()))
    }

    /// Parses the result of reading the file at `path`.
    pub(super) fn new(path: &Path, layer: Layer, read: std::io::Result<String>) -> Option<Self> {
        let mut file = Self {
            path: path.to_owned(),
            layer,
            complaints: Vec::new(),
            config: Config::default(),
            places: Vec::new(),
        };
        match read {
            Ok(text) => file.parse(&text),
            Err(error) if is_absent(&error) => return None,
            Err(error) => file.complain(None, format!("the file cannot be read: {error}")),
        }
        Some(file)
    }

    /// Returns the position of `key` if it is set here and valid.
    pub fn place(&self, key: &str) -> Option<Place> {
        self.places.iter().find(|(name, _)| *name == key).map(|(_, place)| *place)
    }

    /// Reports whether there is an error in `key` or its value.
    pub(super) fn complains_about(&self, key: &str) -> bool {
        let name = format!("`{key}`");
        self.complaints.iter().any(|complaint| complaint.what.contains(&name))
    }

    /// Applies the file's values to `settings`.
    pub fn lay_over(&mut self, settings: &mut Settings) {
        for complaint in settings.take(&self.config) {
            let place = complaint.keys.iter().find_map(|key| self.place(key));
            self.complain(place, complaint.why);
            self.places.retain(|(name, _)| !complaint.keys.contains(name));
        }
    }

    fn complain(&mut self, place: Option<Place>, what: String) {
        self.complaints.push(Complaint { path: self.path.clone(), place, what });
    }

    fn parse(&mut self, text: &str) {
        // The parser rejects an empty file.
        if text.trim().is_empty() {
            return;
        }
        let mut taken = json!({});
        match yaml::read(text) {
            Ok(Node::Map(members)) => self.section("", members, &mut taken),
            Ok(Node::Leaf(Value::Null)) => {}
            Ok(Node::Leaf(_)) => self.complain(None, "a config is keys and values".to_owned()),
            Err((place, what)) => self.complain(place, what.to_owned()),
        }
        self.config = serde_json::from_value(taken).unwrap_or_default();
    }

    fn section(&mut self, prefix: &str, members: Vec<(String, Place, Node)>, taken: &mut Value) {
        for (own, place, node) in members {
            let name = format!("{prefix}{own}");
            match (keys::find(&name), keys::first_of(&name), node) {
                (Some(key), _, node) => self.key(key, place, node, taken),
                (None, Some(_), Node::Map(members)) => {
                    self.section(&format!("{name}."), members, taken);
                }
                // A section whose keys are all commented out.
                (None, Some(_), Node::Leaf(Value::Null)) => {}
                (None, Some(first), Node::Leaf(_)) => {
                    let what =
                        format!("`{name}` is ignored: it takes keys, such as `{}`", first.name);
                    self.complain(Some(place), what);
                }
                (None, None, _) => self.complain(Some(place), unknown(&name)),
            }
        }
    }

    fn key(&mut self, key: &'static Key, place: Place, node: Node, taken: &mut Value) {
        let path: Vec<&str> = key.name.split('.').collect();
        match node {
            Node::Leaf(Value::Null) => {}
            _ if self.layer == Layer::Project && key.setter == Setter::User => {
                let name = key.name;
                self.complain(
                    Some(place),
                    format!("`{name}` in a project's config is ignored: set it in your own"),
                );
            }
            Node::Map(models) if key.kind == Kind::Models => {
                for (model, place, node) in models {
                    self.value(key, &[&path[..], &[model.as_str()]].concat(), place, node, taken);
                }
            }
            node => self.value(key, &path, place, node, taken),
        }
    }

    /// Takes the value at `path` if a config accepts it there.
    fn value(
        &mut self,
        key: &'static Key,
        path: &[&str],
        place: Place,
        node: Node,
        taken: &mut Value,
    ) {
        let value = node.value();
        if serde_json::from_value::<Config>(put(json!({}), path, value.clone())).is_err() {
            let (name, takes) = (path.join("."), key.kind.allowed());
            self.complain(Some(place), format!("`{name}` is ignored: it takes {takes}"));
            return;
        }
        *taken = put(taken.take(), path, value);
        self.places.push((key.name, place));
    }
}

/// Reports whether the file does not exist.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn put(mut tree: Value, path: &[&str], value: Value) -> Value {
    *path.iter().fold(&mut tree, |at, key| &mut at[*key]) = value;
    tree
}

fn unknown(name: &str) -> String {
    match keys::suggest(name) {
        Some(meant) => format!("`{name}` is no key we know; did you mean `{meant}`?"),
        None => format!("`{name}` is no key we know"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(layer: Layer, text: &str) -> ConfigFile {
        ConfigFile::new(Path::new("f"), layer, Ok(text.to_owned())).unwrap()
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut file = file(Layer::User, text);
        file.lay_over(&mut Settings::default());
        let found: Vec<String> = file.complaints.iter().map(Complaint::to_string).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        check(
            "lines:\n  wran: 60\n",
            &["f:2:3: `lines.wran` is no key we know; did you mean `lines.warn`?"],
        );
        check("quiet: 3\n", &["f:1:1: `quiet` is ignored: it takes `true` or `false`"]);
        check(
            "lines: {warn: hunter2}\n",
            &["f:1:9: `lines.warn` is ignored: it takes a percentage above 0 and at most 100"],
        );
        check("lines: 7\n", &["f:1:1: `lines` is ignored: it takes keys, such as `lines.ceiling`"]);
        check(
            "guard: {mode: fierce}",
            &["f:1:9: `guard.mode` is ignored: it takes `warn`, `strict` or `off`"],
        );
        check(
            "models:\n  a: {window: 5}\n  b: {}\n",
            &[
                "f:3:3: `models.b` is ignored: it takes names of models, each with a `window`, a whole number of tokens above 0",
            ],
        );
        check(
            "lines: {save: 90, restart: 80}\n",
            &["f:1:9: the save line (90) must lie below the restart line (80)"],
        );
        check(
            "quiet: true\nquiet: true\n",
            &["f:2:1: the file cannot be read: this key is there twice"],
        );
        check("a: [\n", &["f:1:4: the file cannot be read: this is not the YAML of a config"]);
        check("- a\n", &["f: a config is keys and values"]);
        check("secret: hunter2", &["f:1:1: `secret` is no key we know"]);
    }

    #[test]
    fn what_says_nothing_is_not_wrong() {
        for text in
            ["", "# a comment\n", "---\n", "lines:\n", "lines:\n  # warn: 60\nquiet:\n", "{}"]
        {
            check(text, &[]);
        }
        check(&keys::default_file(), &[]);
    }

    #[test]
    fn the_default_file_without_its_comment_signs_changes_nothing() {
        let bare = |line: &str| {
            let text = line.trim_start();
            let indent = &line[..line.len() - text.len()];
            match text.strip_prefix("# ") {
                Some(rest) if keys_own(rest) => format!("{indent}{rest}\n"),
                _ => format!("{line}\n"),
            }
        };
        let text: String = keys::default_file().lines().map(bare).collect();
        let mut settings = Settings::default();
        let mut file = file(Layer::User, &text);
        file.lay_over(&mut settings);
        assert_eq!((settings, &file.complaints[..]), (Settings::default(), &[][..]), "{text}");
        assert!(file.place("lines.warn").is_some() && file.place("quiet").is_some(), "{text}");
    }

    fn keys_own(line: &str) -> bool {
        let name = line.split(':').next().unwrap();
        keys::KEYS.iter().any(|key| key.name.rsplit('.').next() == Some(name))
    }

    #[test]
    fn one_bad_value_leaves_the_others() {
        let mut settings = Settings::default();
        let text = "models: {a: {window: 5}, b: 3}\nquiet: true\nwindow: many\n";
        let mut file = file(Layer::User, text);
        file.lay_over(&mut settings);
        assert_eq!((settings.quiet, settings.models.len(), file.complaints.len()), (true, 1, 2));
        assert_eq!(file.place("quiet"), Some(Place { line: 2, column: 1 }));
        assert_eq!(file.place("window"), None);
    }

    #[test]
    fn a_project_decides_nothing_that_is_the_users() {
        let mut settings = Settings::default();
        let text = "window: 1\nmodels: {a: {window: 5}}\nguard: {mode: strict, recovery_skills: [x], ceiling_tokens: 9}\nauto_context: {enabled: false}\nlines: {warn: 60}\n";
        let mut file = file(Layer::Project, text);
        file.lay_over(&mut settings);
        let expected = Settings {
            ceiling_tokens: Some(9),
            lines: plimsoll_core::settings::Lines {
                warn: plimsoll_core::settings::Percent::whole(60),
                ..Default::default()
            },
            ..Settings::default()
        };
        assert_eq!((settings, file.complaints.len()), (expected, 5));
    }
}
