//! The same run through every protocol: what arrives is the same, field by field.

#[path = "../../gym-telemetry-otel/src/export/wire_tests/codecs.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "it belongs to another crate's tests"
)]
mod codecs;
#[path = "../../gym-telemetry-otel/tests/support/mod.rs"]
mod collector;
mod support;

use std::collections::HashMap;
use std::fmt::Write as _;

use collector::Collector;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::common::v1::{AnyValue as Any, KeyValue};
use opentelemetry_proto::tonic::trace::v1::{self as proto, Status};
use serde_json::{Map, Value, json};
use support::run::{Finished, Run};

/// Spans whose ids and times are still in them, all fields as the console writes them.
type Spans = Vec<Value>;

const PROTOCOLS: [&str; 3] = ["grpc", "http/protobuf", "http/json"];

/// Two runs: one with every kind of call, and one that fails on its way.
const RUNS: [fn(Run) -> Run; 2] = [
    |run| run.args(["--rollouts", "4"]),
    |run| {
        let not_a_model = format!("{} serve resources", env!("CARGO_BIN_EXE_gym-demo"));
        run.args(["--model-command", &not_a_model, "--rollouts", "1"])
    },
];

fn start(arrange: fn(Run) -> Run) -> Run {
    arrange(Run::new())
        .env("NEMO_GYM_OTEL_ENABLED", "1")
        .env("NEMO_GYM_OTEL_SPAN_GROUPS", "all")
        .env("NEMO_GYM_OTEL_RUN_ID", "the-run")
        // How often a sandbox is read, and what it uses then, is another matter in each run.
        .env(
            "NEMO_GYM_OTEL_SANDBOX_RESOURCE_SAMPLE_INTERVAL_SECONDS",
            "0",
        )
        .env("OTEL_RESOURCE_ATTRIBUTES", "team=rl%2Ctheory")
}

fn over_otlp(arrange: fn(Run) -> Run, protocol: &str) -> (Spans, Finished) {
    let collector = Collector::start_with(codecs::ALL);
    let run = start(arrange)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint())
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
        .finish();
    let received = collector.received();
    let spans = received
        .scoped_spans()
        .map(|(resource, _, span)| from_otlp(&resource.attributes, span))
        .collect();
    (spans, run)
}

fn on_the_console(arrange: fn(Run) -> Run) -> (Spans, Finished) {
    let run = start(arrange)
        .env("NEMO_GYM_OTEL_EXPORTER", "console")
        .finish();
    let spans = ["orchestrator", "weather", "policy_model", "weather_agent"]
        .iter()
        .flat_map(|process| run.lines(process))
        .filter(|line| line.get("kind").is_some())
        .map(from_console)
        .collect();
    (spans, run)
}

fn from_console(mut line: Value) -> Value {
    let resource = line["resource"]["attributes"].take();
    line["resource"] = resource;
    line
}

/// The span as a line of the console.
fn from_otlp(resource: &[KeyValue], span: &proto::Span) -> Value {
    let context = |trace: &[u8], id: &[u8], state: &str| {
        assert_eq!(state, "", "no state was set");
        json!({"trace_id": hex(trace), "span_id": hex(id), "trace_state": "[]"})
    };
    let events: Vec<_> = span
        .events
        .iter()
        .map(|event| {
            json!({
                "name": event.name,
                "timestamp": time(event.time_unix_nano),
                "attributes": attributes(&event.attributes),
            })
        })
        .collect();
    let links: Vec<_> = span
        .links
        .iter()
        .map(|link| {
            json!({
                "context": context(&link.trace_id, &link.span_id, &link.trace_state),
                "attributes": attributes(&link.attributes),
            })
        })
        .collect();
    let is_root = span.parent_span_id.is_empty();
    json!({
        "name": span.name,
        "context": context(&span.trace_id, &span.span_id, &span.trace_state),
        "kind": span.kind().as_str_name().replace("SPAN_KIND_", "SpanKind."),
        "parent_id": (!is_root).then(|| hex(&span.parent_span_id)),
        "start_time": time(span.start_time_unix_nano),
        "end_time": time(span.end_time_unix_nano),
        "status": status(span.status.as_ref()),
        "attributes": attributes(&span.attributes),
        "events": events,
        "links": links,
        "resource": attributes(resource),
    })
}

fn status(status: Option<&Status>) -> Value {
    let code = status.map(Status::code).unwrap_or_default();
    let mut told = json!({"status_code": code.as_str_name().trim_start_matches("STATUS_CODE_")});
    if let Some(status) = status.filter(|status| !status.message.is_empty()) {
        told["description"] = Value::from(status.message.clone());
    }
    told
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("text can be written to");
        text
    })
}

/// Sorts by time as the console's text does; the two are never compared.
fn time(nanoseconds: u64) -> String {
    format!("{nanoseconds:020}")
}

fn attributes(list: &[KeyValue]) -> Value {
    let pairs = list
        .iter()
        .map(|pair| (pair.key.clone(), value(pair.value.as_ref())));
    let map: Map<String, Value> = pairs.collect();
    assert_eq!(map.len(), list.len(), "no key twice");
    Value::Object(map)
}

fn value(any: Option<&Any>) -> Value {
    match any.and_then(|any| any.value.as_ref()) {
        Some(AnyValue::StringValue(text)) => Value::from(text.clone()),
        Some(AnyValue::BoolValue(truth)) => Value::from(*truth),
        Some(AnyValue::IntValue(number)) => Value::from(*number),
        Some(AnyValue::DoubleValue(number)) => Value::from(*number),
        Some(AnyValue::ArrayValue(list)) => list
            .values
            .iter()
            .map(|element| value(Some(element)))
            .collect(),
        other => panic!("an attribute of the demo is {other:?}"),
    }
}

/// What must be the same in every run: each span with the names of those above it, without ids, times and ports.
fn essence(mut spans: Spans) -> Vec<String> {
    spans.sort_by_key(|span| span["start_time"].to_string());
    let id = |span: &Value| span["context"]["span_id"].to_string();
    let by_id: HashMap<String, Value> = spans.iter().map(|span| (id(span), span.clone())).collect();
    assert_eq!(by_id.len(), spans.len(), "no id twice");
    let mut lines: Vec<_> = spans
        .iter()
        .map(|span| {
            let mut path = Vec::new();
            let mut above = Some(span);
            while let Some(span) = above {
                path.push(text(&span["name"]));
                assert_eq!(
                    by_id[&id(span)]["context"]["trace_id"],
                    span["context"]["trace_id"]
                );
                let parent = &span["parent_id"];
                above = (!parent.is_null()).then(|| {
                    by_id
                        .get(&parent.to_string())
                        .unwrap_or_else(|| panic!("the parent of {span} is missing"))
                });
            }
            format!("{} {}", path.join(" < "), without_accidents(span.clone()))
        })
        .collect();
    lines.sort();
    lines
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}

/// Checks what differs between runs, and takes it out.
fn without_accidents(mut span: Value) -> String {
    let field = |span: &Value, name: &str| text(&span[name]);
    assert!(
        field(&span, "start_time") <= field(&span, "end_time"),
        "{span}"
    );
    for event in span["events"].as_array_mut().expect("a list") {
        let at = event["timestamp"].take();
        assert!(at.is_string(), "an event has a time");
    }
    assert_eq!(span["links"], json!([]));
    let resource = &mut span["resource"];
    assert!(resource["process.pid"].is_u64(), "{resource}");
    let instance = text(&resource["service.instance.id"]);
    assert!(instance.starts_with("the-run-rank0-"), "{instance}");
    resource["process.pid"] = Value::Null;
    resource["service.instance.id"] = Value::Null;
    for name in ["context", "parent_id", "start_time", "end_time"] {
        span[name] = Value::Null;
    }
    if span["attributes"].get("server.port").is_some() {
        assert!(span["attributes"]["server.port"].is_u64(), "{span}");
        span["attributes"]["server.port"] = Value::Null;
    }
    for id in ["nemo.gym.sandbox.id", "nemo.gym.sandbox.request.id"] {
        if let Some(id) = span["attributes"].get_mut(id) {
            assert!(id.take().is_string(), "an id is text");
        }
    }
    without_ports(&span.to_string())
}

/// Replaces each port of the loopback interface.
fn without_ports(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str("127.0.0.1:PORT");
        plain.push_str(part.trim_start_matches(|char: char| char.is_ascii_digit()));
    }
    plain
}

#[test]
fn every_protocol_carries_the_same_spans() {
    for arrange in RUNS {
        let (spans, run) = on_the_console(arrange);
        let expected = essence(spans);
        assert!(expected.len() > 8, "{}", run.stderr());
        for protocol in PROTOCOLS {
            let (spans, run) = over_otlp(arrange, protocol);
            let found = essence(spans);
            for (expected, found) in expected.iter().zip(&found) {
                assert_eq!(found, expected, "{protocol}");
            }
            assert_eq!(found.len(), expected.len(), "{protocol}: {}", run.stderr());
        }
    }
}

#[test]
fn a_run_that_fails_says_why_in_every_protocol() {
    let [_, failing] = RUNS;
    let mut all = vec![on_the_console(failing).0];
    all.extend(PROTOCOLS.map(|protocol| over_otlp(failing, protocol).0));
    for spans in all {
        let rollout = spans.iter().find(|span| span["name"] == "gym.rollout");
        let rollout = rollout.expect("the rollout arrives");
        assert_eq!(rollout["status"]["status_code"], "ERROR");
        assert!(rollout["status"]["description"].is_string(), "{rollout}");
        assert_eq!(rollout["events"][0]["name"], "exception");
        let told = &rollout["events"][0]["attributes"];
        assert!(told["exception.message"].is_string(), "{told}");
    }
}
