//! Reads the spans and log records that processes wrote on standard output.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use gym_telemetry_core::attribute;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Sandboxes;

/// What is told of one trace.
#[derive(Debug, Default)]
pub(super) struct SpansOfTrace {
    /// How many spans there are, by `service.name`.
    pub(super) services: BTreeMap<String, usize>,
    /// How many log records there are.
    pub(super) logs: usize,
    pub(super) sandboxes: Sandboxes,
}

/// What comes before the trace id in a line of the console exporter.
const TRACE_ID: &str = "\"trace_id\": \"0x";

/// The part of a line that says what it is and what it tells.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Span {
        name: String,
        #[serde(default)]
        attributes: Map<String, Value>,
        resource: SpanResource,
    },
    Log {
        #[serde(rename = "severity_number")]
        _severity: Option<u8>,
    },
}

#[derive(Deserialize)]
struct SpanResource {
    attributes: HashMap<String, Value>,
}

/// Reads the spans and log records of these traces. Whatever else is in the files is passed over, unread: a long run
/// writes gigabytes.
pub(super) fn read(files: &[PathBuf], traces: &HashSet<&str>) -> HashMap<String, SpansOfTrace> {
    let mut spans: HashMap<String, SpansOfTrace> = HashMap::new();
    let files = files.iter().filter_map(|path| File::open(path).ok());
    for line in files.flat_map(|file| BufReader::new(file).lines().map_while(Result::ok)) {
        let Some(trace) = trace_of(&line).filter(|trace| traces.contains(trace)) else {
            continue;
        };
        let (name, attributes, resource) = match serde_json::from_str(&line) {
            Ok(Line::Span {
                name,
                attributes,
                resource,
            }) => (name, attributes, resource),
            Ok(Line::Log { .. }) => {
                spans.entry(trace.to_owned()).or_default().logs += 1;
                continue;
            }
            Err(_) => continue,
        };
        let service = resource
            .attributes
            .get(attribute::SERVICE_NAME)
            .and_then(Value::as_str);
        let of_trace = spans.entry(trace.to_owned()).or_default();
        *of_trace
            .services
            .entry(service.unwrap_or("unknown").to_owned())
            .or_default() += 1;
        of_trace.sandboxes.add(&name, &attributes);
    }
    spans
}

fn trace_of(line: &str) -> Option<&str> {
    line.split_once(TRACE_ID)?.1.split('"').next()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;

    use super::read;

    #[test]
    fn spans_and_log_records_are_counted_by_trace_and_other_lines_are_passed_over() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("a.jsonl");
        let span = |trace: &str, service: &str| {
            format!(
                r#"{{"name": "x", "context": {{"trace_id": "0x{trace}"}}, "resource": {{"attributes": {{"service.name": "{service}"}}}}}}"#
            )
        };
        let lines = [
            span("aa", "x"),
            span("aa", "x"),
            span("aa", "y"),
            span("bb", "x"),
            span("cc", "x"),
            r#"{"body": "b", "severity_number": 9, "trace_id": "0xaa"}"#.to_owned(),
            r#"{"resource_metrics": []}"#.to_owned(),
            "hello".to_owned(),
        ];
        fs::write(&file, lines.join("\n")).expect("a writable file");
        let spans = read(
            &[file, directory.path().join("none.jsonl")],
            &HashSet::from(["aa", "bb"]),
        );
        assert_eq!(spans.len(), 2);
        assert_eq!(spans["aa"].services["x"], 2);
        assert_eq!(spans["aa"].services["y"], 1);
        assert_eq!(spans["bb"].services["x"], 1);
        assert_eq!((spans["aa"].logs, spans["bb"].logs), (1, 0));
    }
}
