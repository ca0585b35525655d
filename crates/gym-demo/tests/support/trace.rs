//! Spans as they were exported, and the trees they make.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde_json::Value;

/// One exported span, from whichever exporter.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_field_names,
    reason = "the ids are called so everywhere"
)]
pub struct Span {
    pub trace_id: String,
    pub span_id: String,
    pub parent_id: Option<String>,
    pub name: String,
    /// `INTERNAL`, `SERVER`, `CLIENT`
    pub kind: String,
    /// `UNSET`, `OK`, `ERROR`
    pub status: String,
    /// Sorts by time.
    pub start: String,
    pub attributes: BTreeMap<String, Value>,
    pub resource: BTreeMap<String, Value>,
}

impl Span {
    pub fn service(&self) -> &str {
        self.resource["service.name"]
            .as_str()
            .expect("a service name is text")
    }

    pub fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.get(key)?.as_str()
    }
}

/// Picks the spans out of console lines.
pub fn read_spans(lines: &[Value]) -> Vec<Span> {
    lines
        .iter()
        .filter(|line| line.get("kind").is_some())
        .map(read_span)
        .collect()
}

fn read_span(line: &Value) -> Span {
    let text = |value: &Value| {
        value
            .as_str()
            .unwrap_or_else(|| panic!("text is missing in {line}"))
            .to_owned()
    };
    let id = |value: &Value| text(value).trim_start_matches("0x").to_owned();
    let map = |value: &Value| {
        let object = value
            .as_object()
            .unwrap_or_else(|| panic!("an object is missing in {line}"));
        object
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    Span {
        trace_id: id(&line["context"]["trace_id"]),
        span_id: id(&line["context"]["span_id"]),
        parent_id: line["parent_id"]
            .as_str()
            .map(|id| id.trim_start_matches("0x").to_owned()),
        name: text(&line["name"]),
        kind: text(&line["kind"])
            .trim_start_matches("SpanKind.")
            .to_owned(),
        status: text(&line["status"]["status_code"]),
        start: text(&line["start_time"]),
        attributes: map(&line["attributes"]),
        resource: map(&line["resource"]["attributes"]),
    }
}

/// The spans of each trace.
pub fn traces(spans: &[Span]) -> HashMap<String, Vec<Span>> {
    let mut traces: HashMap<String, Vec<Span>> = HashMap::new();
    for span in spans {
        traces
            .entry(span.trace_id.clone())
            .or_default()
            .push(span.clone());
    }
    traces
}

/// Draws a trace, a line for each span under its parent: kind, name and service.
///
/// # Panics
///
/// If the spans are not one tree: no root, several, or a parent that is not among them.
pub fn draw(spans: &[Span]) -> String {
    let known = |id: &str| spans.iter().any(|span| span.span_id == id);
    let (mut roots, mut children) = (Vec::new(), HashMap::<&str, Vec<&Span>>::new());
    for span in spans {
        match span.parent_id.as_deref() {
            None => roots.push(span),
            Some(parent) => {
                assert!(
                    known(parent),
                    "the parent of {} {:?} is not in the trace",
                    span.service(),
                    span.name
                );
                children.entry(parent).or_default().push(span);
            }
        }
    }
    assert_eq!(roots.len(), 1, "one root: {roots:?}");
    let mut text = String::new();
    draw_under(&mut text, roots[0], &children, 0);
    assert_eq!(
        text.lines().count(),
        spans.len(),
        "every span hangs below the root"
    );
    text
}

fn draw_under(text: &mut String, span: &Span, children: &HashMap<&str, Vec<&Span>>, depth: usize) {
    let indent = "  ".repeat(depth);
    writeln!(
        text,
        "{indent}{} {} [{}]",
        span.kind,
        span.name,
        span.service()
    )
    .expect("text can be written to");
    let mut below = children
        .get(span.span_id.as_str())
        .cloned()
        .unwrap_or_default();
    below.sort_by(|one, other| one.start.cmp(&other.start));
    for child in below {
        draw_under(text, child, children, depth + 1);
    }
}
