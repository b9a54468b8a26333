//! Task files in YAML, or in JSON, which is valid YAML.

use std::collections::HashSet;
use std::fmt;

use plimsoll_core::text::thousands;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Spanned};

use super::super::{PlanError, Task};

/// Parses a whole file: a list of tasks, or `tasks:` with a list.
pub(super) fn read(text: &str) -> Result<Vec<Task>, PlanError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let TaskFile(tasks) = parse(text)?;
    Ok(tasks.into_iter().map(LocatedTask::into_task).collect())
}

/// Parses the fields of one task.
pub(super) fn read_fields(text: &str) -> Result<Task, PlanError> {
    let fields: TaskFields = parse(text)?;
    Ok(fields.into_task(None))
}

pub(super) const FIELDS: [&str; 9] = [
    "id",
    "description",
    "files",
    "estimated_files",
    "tokens",
    "whole",
    "done",
    "after",
    "subtasks",
];

fn parse<T: de::DeserializeOwned>(text: &str) -> Result<T, PlanError> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 64,
            max_nodes: 1_000_000,
            max_events: 2_000_000,
            max_anchors: 0,
            max_aliases: 0,
            max_documents: 1,
        },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| PlanError {
        line: error.location().map(|place| place.line()),
        message: error_message(&error),
    })
}

/// Returns the first line of a parser error without its location, which is shown separately.
fn error_message(error: &serde_saphyr::Error) -> String {
    if let Error::DuplicateMappingKey { key, .. } = error.without_snippet() {
        let key = key.as_ref().map_or("this key".to_owned(), |key| format!("`{key}`"));
        return format!("{key} is there twice");
    }
    let text = error.without_snippet().to_string();
    let line = text.lines().next().unwrap_or_default();
    let place = line.find(" at line ").unwrap_or(line.len());
    line[..place].to_owned()
}

struct TaskFile(Vec<LocatedTask>);

impl<'de> Deserialize<'de> for TaskFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TaskFileVisitor)
    }
}

struct TaskFileVisitor;

impl<'de> Visitor<'de> for TaskFileVisitor {
    type Value = TaskFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tasks, or `tasks:` with one")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<TaskFile, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(TaskFile)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TaskFile, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Listed {
            tasks: Vec<LocatedTask>,
        }
        Listed::deserialize(MapAccessDeserializer::new(map)).map(|listed| TaskFile(listed.tasks))
    }
}

/// A task with its location in the file.
#[derive(Deserialize)]
#[serde(transparent)]
struct LocatedTask(Spanned<TaskFields>);

impl LocatedTask {
    fn into_task(self) -> Task {
        let line = Some(self.0.referenced.line()).filter(|line| *line > 0);
        self.0.value.into_task(line)
    }
}

/// The fields of a task. A plain string is a description.
struct TaskFields(Named);

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Named {
    id: Option<String>,
    description: String,
    files: NameList,
    estimated_files: Option<LimitedCount>,
    tokens: Option<LimitedCount>,
    whole: bool,
    done: bool,
    after: NameList,
    subtasks: Vec<LocatedTask>,
}

impl TaskFields {
    fn into_task(self, line: Option<u64>) -> Task {
        let Self(named) = self;
        Task {
            id: named.id.unwrap_or_default(),
            description: named.description.trim().to_owned(),
            files: normalize_paths(named.files.0),
            estimated_files: named.estimated_files.map(|count| count.0),
            tokens: named.tokens.map(|count| count.0),
            whole: named.whole,
            done: named.done,
            after: named.after.0,
            subtasks: named.subtasks.into_iter().map(LocatedTask::into_task).collect(),
            line,
        }
    }
}

/// Removes leading `./` and duplicates.
fn normalize_paths(names: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = names.into_iter().map(|name| name.trim_start_matches("./").to_owned());
    names.filter(|name| seen.insert(name.clone())).collect()
}

impl<'de> Deserialize<'de> for TaskFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TaskVisitor)
    }
}

struct TaskVisitor;

impl<'de> Visitor<'de> for TaskVisitor {
    type Value = TaskFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a task: its description, or `description:` and other fields")
    }

    fn visit_str<E>(self, text: &str) -> Result<TaskFields, E> {
        Ok(TaskFields(Named { description: text.to_owned(), ..Named::default() }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TaskFields, A::Error> {
        Named::deserialize(MapAccessDeserializer::new(map)).map(TaskFields)
    }
}

/// Names: a list, or a string with commas between the names.
#[derive(Default)]
struct NameList(Vec<String>);

impl<'de> Deserialize<'de> for NameList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameListVisitor)
    }
}

struct NameListVisitor;

impl<'de> Visitor<'de> for NameListVisitor {
    type Value = NameList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name, or a list of names")
    }

    fn visit_str<E>(self, text: &str) -> Result<NameList, E> {
        let words = text.split(',').map(|word| word.trim().trim_matches('`'));
        Ok(NameList(words.filter(|word| !word.is_empty()).map(str::to_owned).collect()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<NameList, E> {
        Ok(NameList(vec![number.to_string()]))
    }

    fn visit_i64<E>(self, number: i64) -> Result<NameList, E> {
        Ok(NameList(vec![number.to_string()]))
    }

    /// `2.10` would become `2.1`.
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<NameList, E> {
        Err(E::custom("a name with a point in it, such as \"2.1\", must stand in quotes here"))
    }

    fn visit_unit<E>(self) -> Result<NameList, E> {
        Ok(NameList::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<NameList, A::Error> {
        let mut words = Vec::new();
        while let Some(word) = seq.next_element()? {
            words.push(word);
        }
        Ok(NameList(words))
    }
}

/// A number of files or tokens.
struct LimitedCount(u64);

/// Maximum count. It keeps sums and products of counts far from overflow.
const MAX_COUNT: u64 = 1_000_000_000;

impl<'de> Deserialize<'de> for LimitedCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = LimitedCount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from 0 to {}", thousands(MAX_COUNT))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<LimitedCount, E> {
        let too_large = || E::invalid_value(de::Unexpected::Unsigned(number), &self);
        (number <= MAX_COUNT).then_some(LimitedCount(number)).ok_or_else(too_large)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<LimitedCount, E> {
        let negative = || E::invalid_value(de::Unexpected::Signed(number), &self);
        u64::try_from(number).map_err(|_| negative()).and_then(|number| self.visit_u64(number))
    }
}
