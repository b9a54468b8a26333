//! YAML with source positions.

use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::{Error, Location, Spanned};

/// A position in a file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: u64,
    /// In characters.
    pub column: u64,
}

impl Place {
    fn of(location: Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

/// A parsed value.
#[derive(Debug)]
pub(super) enum Node {
    /// Keys with their positions, and values.
    Map(Vec<(String, Place, Node)>),
    Leaf(Value),
}

impl Node {
    /// Converts to a value without positions.
    pub(super) fn value(self) -> Value {
        match self {
            Self::Map(members) => {
                members.into_iter().map(|(key, _, node)| (key, node.value())).collect()
            }
            Self::Leaf(value) => value,
        }
    }
}

/// Parses a file. Error messages repeat nothing of its content.
pub(super) fn read(text: &str) -> Result<Node, (Option<Place>, &'static str)> {
    serde_saphyr::from_str(text).map_err(|error| {
        let what = match error.without_snippet() {
            Error::DuplicateMappingKey { .. } => "the file cannot be read: this key is there twice",
            _ => "the file cannot be read: this is not the YAML of a config",
        };
        (error.location().map(Place::of), what)
    })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyNode)
    }
}

struct AnyNode;

impl<'de> Visitor<'de> for AnyNode {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            members.push((key.value, Place::of(key.referenced), map.next_value()?));
        }
        Ok(Node::Map(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<Node>()? {
            items.push(item.value());
        }
        Ok(Node::Leaf(items.into()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf(Value::Null))
    }

    fn visit_some<D: serde::Deserializer<'de>>(self, inner: D) -> Result<Node, D::Error> {
        Node::deserialize(inner)
    }
}
