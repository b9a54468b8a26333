//! Task files in YAML, or in JSON, which is valid YAML.

use std::collections::HashSet;
use std::fmt;

use plimsoll_core::text::thousands;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Spanned};

use super::super::{Problem, Task};

/// Parses a whole file: a list of tasks, or `tasks:` with a list.
pub(super) fn read(text: &str) -> Result<Vec<Task>, Problem> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let File(tasks) = parse(text)?;
    Ok(tasks.into_iter().map(WrittenTask::into_task).collect())
}

/// Parses the fields of one task.
pub(super) fn read_fields(text: &str) -> Result<Task, Problem> {
    let fields: Fields = parse(text)?;
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

fn parse<T: de::DeserializeOwned>(text: &str) -> Result<T, Problem> {
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
    serde_saphyr::from_str_with_options(text, options).map_err(|error| Problem {
        line: error.location().map(|place| place.line()),
        what: said(&error),
    })
}

/// Returns the first line of a parser error without its location, which is shown separately.
fn said(error: &serde_saphyr::Error) -> String {
    if let Error::DuplicateMappingKey { key, .. } = error.without_snippet() {
        let key = key.as_ref().map_or("this key".to_owned(), |key| format!("`{key}`"));
        return format!("{key} is there twice");
    }
    let text = error.without_snippet().to_string();
    let line = text.lines().next().unwrap_or_default();
    let place = line.find(" at line ").unwrap_or(line.len());
    line[..place].to_owned()
}

struct File(Vec<WrittenTask>);

impl<'de> Deserialize<'de> for File {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyFile)
    }
}

struct AnyFile;

impl<'de> Visitor<'de> for AnyFile {
    type Value = File;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tasks, or `tasks:` with one")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<File, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(File)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<File, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Listed {
            tasks: Vec<WrittenTask>,
        }
        Listed::deserialize(MapAccessDeserializer::new(map)).map(|listed| File(listed.tasks))
    }
}

/// A task with its location in the file.
#[derive(Deserialize)]
#[serde(transparent)]
struct WrittenTask(Spanned<Fields>);

impl WrittenTask {
    fn into_task(self) -> Task {
        let line = Some(self.0.referenced.line()).filter(|line| *line > 0);
        self.0.value.into_task(line)
    }
}

/// The fields of a task. A plain string is a description.
struct Fields(Named);

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Named {
    id: Option<String>,
    description: String,
    files: Words,
    estimated_files: Option<Count>,
    tokens: Option<Count>,
    whole: bool,
    done: bool,
    after: Words,
    subtasks: Vec<WrittenTask>,
}

impl Fields {
    fn into_task(self, line: Option<u64>) -> Task {
        let Self(named) = self;
        Task {
            id: named.id.unwrap_or_default(),
            description: named.description.trim().to_owned(),
            files: each_once(named.files.0),
            estimated_files: named.estimated_files.map(|count| count.0),
            tokens: named.tokens.map(|count| count.0),
            whole: named.whole,
            done: named.done,
            after: named.after.0,
            subtasks: named.subtasks.into_iter().map(WrittenTask::into_task).collect(),
            line,
        }
    }
}

/// Removes leading `./` and duplicates.
fn each_once(names: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = names.into_iter().map(|name| name.trim_start_matches("./").to_owned());
    names.filter(|name| seen.insert(name.clone())).collect()
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyTask)
    }
}

struct AnyTask;

impl<'de> Visitor<'de> for AnyTask {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a task: its description, or `description:` and other fields")
    }

    fn visit_str<E>(self, text: &str) -> Result<Fields, E> {
        Ok(Fields(Named { description: text.to_owned(), ..Named::default() }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Fields, A::Error> {
        Named::deserialize(MapAccessDeserializer::new(map)).map(Fields)
    }
}

/// Names: a list, or a string with commas between the names.
#[derive(Default)]
struct Words(Vec<String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyWords)
    }
}

struct AnyWords;

impl<'de> Visitor<'de> for AnyWords {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name, or a list of names")
    }

    fn visit_str<E>(self, text: &str) -> Result<Words, E> {
        let words = text.split(',').map(|word| word.trim().trim_matches('`'));
        Ok(Words(words.filter(|word| !word.is_empty()).map(str::to_owned).collect()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Words, E> {
        Ok(Words(vec![number.to_string()]))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Words, E> {
        Ok(Words(vec![number.to_string()]))
    }

    /// `2.10` would become `2.1`.
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Words, E> {
        Err(E::custom("a name with a point in it, such as \"2.1\", must stand in quotes here"))
    }

    fn visit_unit<E>(self) -> Result<Words, E> {
        Ok(Words::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Words, A::Error> {
        let mut words = Vec::new();
        while let Some(word) = seq.next_element()? {
            words.push(word);
        }
        Ok(Words(words))
    }
}

/// A number of files or tokens.
struct Count(u64);

/// Maximum count. It keeps sums and products of counts far from overflow.
const LARGEST: u64 = 1_000_000_000;

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyCount)
    }
}

struct AnyCount;

impl Visitor<'_> for AnyCount {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from 0 to {}", thousands(LARGEST))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Count, E> {
        let too_large = || E::invalid_value(de::Unexpected::Unsigned(number), &self);
        (number <= LARGEST).then_some(Count(number)).ok_or_else(too_large)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Count, E> {
        let negative = || E::invalid_value(de::Unexpected::Signed(number), &self);
        u64::try_from(number).map_err(|_| negative()).and_then(|number| self.visit_u64(number))
    }
}
