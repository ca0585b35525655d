//! The lines of a configuration file: a second parse that keeps positions instead of values.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use gym_telemetry_core::config::ConfigFormat;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use toml_edit::TableLike;

/// Where each key of a document stands, by dotted path.
#[derive(Debug, Default)]
pub(super) struct Places(BTreeMap<String, Place>);

/// The position of one entry.
#[derive(Debug)]
struct Place {
    line: usize,
    value: Range<usize>,
}

impl Places {
    /// Finds the places of `text`. A text that cannot be read this way has none.
    pub(super) fn find(text: &str, format: ConfigFormat) -> Self {
        let mut places = Self::default();
        match format {
            // A JSON text is a YAML flow mapping, so one parser finds the lines of both.
            ConfigFormat::Yaml | ConfigFormat::Json => {
                let options = super::document::yaml_options();
                if let Ok(root) = serde_saphyr::from_str_with_options::<Node>(text, options) {
                    places.add(text, "", root.entries);
                }
            }
            ConfigFormat::Toml => {
                if let Ok(root) = toml_edit::ImDocument::parse(text) {
                    places.add(text, "", toml_entries(root.as_table()));
                }
            }
            // A format of a later version of the vocabulary has no lines here yet.
            _ => {}
        }
        places
    }

    /// The line of the key at `path`, from 1.
    pub(super) fn line(&self, path: &str) -> Option<usize> {
        self.0.get(path).map(|place| place.line)
    }

    /// The bytes of the value at `path`, as written in the file.
    pub(super) fn written<'t>(&self, path: &str, text: &'t str) -> Option<&'t str> {
        text.get(self.0.get(path)?.value.clone()).map(str::trim)
    }

    fn add(&mut self, text: &str, prefix: &str, entries: Vec<Entry>) {
        for entry in entries {
            let path = if prefix.is_empty() {
                entry.key
            } else {
                format!("{prefix}.{}", entry.key)
            };
            self.add(text, &path, entry.below);
            self.0.insert(
                path,
                Place {
                    line: line_of(text, entry.key_start),
                    value: entry.value,
                },
            );
        }
    }
}

/// The line of a byte offset, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    before.matches('\n').count() + 1
}

/// A value of which only the keys below it are kept.
#[derive(Default)]
struct Node {
    entries: Vec<Entry>,
}

struct Entry {
    key: String,
    key_start: usize,
    value: Range<usize>,
    below: Vec<Entry>,
}

/// The entries of a TOML table. A header without entries of its own stands where its first entry does.
fn toml_entries(table: &dyn TableLike) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (name, item) in table.iter() {
        let below = item.as_table_like().map(toml_entries).unwrap_or_default();
        let start = table
            .key(name)
            .and_then(toml_edit::Key::span)
            .map(|span| span.start);
        let first = below.iter().map(|entry| entry.key_start).min();
        entries.push(Entry {
            key: name.to_owned(),
            key_start: start.or(first).unwrap_or(0),
            value: item.span().unwrap_or(0..0),
            below,
        });
    }
    entries
}

/// A YAML span as bytes of the text.
fn bytes(location: serde_saphyr::Location) -> Range<usize> {
    let span = location.span();
    let offset = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let start = offset(span.byte_offset());
    start..start.saturating_add(offset(span.byte_len()))
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value = map.next_value::<Spanned<Node>>()?;
            entries.push(Entry {
                key_start: bytes(key.referenced).start,
                key: key.value,
                value: bytes(value.referenced),
                below: value.value.entries,
            });
        }
        Ok(Node { entries })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Node::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Node::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Node::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Node::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Node::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Node::default())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Node::default())
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Node::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Node::deserialize(deserializer)
    }
}
