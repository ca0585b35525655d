//! Lines as the Python SDK prints them for the same data, and how lines stay whole.
//!
//! `tests/golden/console.py` has printed the lines. Three differences are meant: resource attributes are sorted,
//! numbers that JSON does not have are strings, and bucket bounds are always floating-point numbers.

use std::io::Read;
use std::time::{Duration, UNIX_EPOCH};

use opentelemetry::trace::{
    Event, Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, KeyValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;

use super::super::report::{Cause, ExportReport};
use super::super::wire_tests::span as plain_span;
use super::resource::ResourceText;
use super::{Console, log, metric, span};
use crate::logs::{Record, SpanIds};
use crate::settings::LogLimits;
use crate::test_process::{alone, command_for, spawn};

fn golden() -> Vec<String> {
    let text = include_str!("../../../tests/golden/console.jsonl");
    let valid = |line: &str| {
        ["-Infinity", "Infinity", "NaN"]
            .iter()
            .fold(line.to_owned(), |line, number| {
                line.replace(&format!(": {number},"), &format!(": \"{number}\","))
            })
    };
    text.lines().map(valid).collect()
}

fn resource() -> Resource {
    let list = Value::Array(Array::String(vec!["x".into(), "y".into()]));
    Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", "nemo-gym/a"),
            KeyValue::new("process.pid", 42),
            KeyValue::new("ok", true),
            KeyValue::new("ratio", 0.5),
            KeyValue::new("list", list),
        ])
        .build()
}

fn rich_span() -> SpanData {
    let state = [("a", "b"), ("k", "it's"), ("q", "\"'\\")];
    let context = |trace: u128, span: u64, state: TraceState| {
        SpanContext::new(
            TraceId::from(trace),
            SpanId::from(span),
            TraceFlags::SAMPLED,
            true,
            state,
        )
    };
    let state = TraceState::from_key_value(state).expect("a valid trace state");
    let link_state = TraceState::from_key_value([("q", "z")]).expect("a valid trace state");
    let mut span = plain_span("POST /verify");
    span.span_context = context(0xab, 0xcd, state);
    span.parent_span_id = SpanId::from(0x1112_1314_1516_1718);
    span.span_kind = SpanKind::Server;
    span.attributes = vec![
        KeyValue::new("s", "é🙂\n\"\\\0\u{7f}\u{2028}/"),
        KeyValue::new("i", 3),
        KeyValue::new("f", 1.0),
        KeyValue::new("b", true),
        KeyValue::new(
            "as",
            Value::Array(Array::String(vec!["a".into(), "b".into()])),
        ),
        KeyValue::new("ai", Value::Array(Array::I64(vec![1, 2]))),
        KeyValue::new("af", Value::Array(Array::F64(vec![1.5, 2.0]))),
        KeyValue::new("ab", Value::Array(Array::Bool(vec![true, false]))),
        KeyValue::new("empty", Value::Array(Array::I64(Vec::new()))),
        KeyValue::new("nan", f64::NAN),
        KeyValue::new("inf", f64::INFINITY),
        KeyValue::new("minf", f64::NEG_INFINITY),
        KeyValue::new("big", 1e22),
    ];
    let exception = vec![
        KeyValue::new("exception.type", "ValueError"),
        KeyValue::new("exception.escaped", "False"),
    ];
    span.events.events = vec![
        Event::new("exception", span.start_time, exception, 0),
        Event::new(
            "bare",
            span.start_time + Duration::from_nanos(1_999),
            Vec::new(),
            0,
        ),
    ];
    span.links.links = vec![
        Link::new(context(1, 2, link_state), vec![KeyValue::new("l", 1)], 0),
        Link::new(context(5, 6, TraceState::default()), Vec::new(), 0),
    ];
    span.status = Status::error("bad");
    span.start_time += Duration::from_nanos(123_456_789);
    span
}

#[test]
fn span_lines_are_those_of_the_python_sdk() {
    let simple = [
        ("internal", SpanKind::Internal, Status::Unset),
        ("client", SpanKind::Client, Status::Ok),
        ("producer", SpanKind::Producer, Status::error("")),
        ("consumer", SpanKind::Consumer, Status::Unset),
    ];
    let simple = simple.map(|(name, kind, status)| SpanData {
        span_kind: kind,
        status,
        ..plain_span(name)
    });
    let resource = ResourceText::new(&resource());
    let lines: Vec<_> = std::iter::once(rich_span())
        .chain(simple)
        .map(|span| span::line(&span, &resource))
        .collect();
    assert_eq!(lines, golden()[..5]);
}

#[test]
fn metric_lines_are_those_of_the_python_sdk() {
    let metrics = crate::metrics::collected(|meter| {
        let histogram = meter
            .f64_histogram("histogram")
            .with_unit("ms")
            .with_description("a distribution")
            .with_boundaries(vec![100.0, 250.5])
            .build();
        histogram.record(12.5, &[]);
        histogram.record(300.0, &[]);
        meter
            .u64_counter("counter")
            .with_unit("1")
            .build()
            .add(2, &[KeyValue::new("a", "b"), KeyValue::new("n", 1)]);
        meter.i64_up_down_counter("up_down").build().add(-2, &[]);
        meter.f64_gauge("gauge").build().record(0.5, &[]);
        meter
            .u64_gauge("integer_gauge")
            .build()
            .record(3, &[KeyValue::new("z", true)]);
        let report = |instrument: &dyn opentelemetry::metrics::AsyncInstrument<i64>| {
            instrument.observe(7, &[KeyValue::new("x", "y")]);
        };
        meter
            .i64_observable_gauge("observable")
            .with_callback(report)
            .build();
    });
    let line = metric::line(&metrics, &ResourceText::new(&resource()));
    assert_eq!(without_times(&line), golden()[5]);
}

/// Replaces each number of 19 digits by zero.
fn without_times(line: &str) -> String {
    let mut text = String::new();
    let mut digits = String::new();
    for character in line.chars().chain(['\n']) {
        if character.is_ascii_digit() {
            digits.push(character);
        } else {
            text.push_str(if digits.len() == 19 { "0" } else { &digits });
            text.push(character);
            digits.clear();
        }
    }
    text.trim_end().to_owned()
}

/// The lines of `output` that are ours; each must be whole.
fn lines(output: &str) -> Vec<serde_json::Value> {
    let ours = output.lines().filter(|line| line.contains("span_id"));
    ours.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}")))
        .collect()
}

/// A span whose line has at least so many bytes.
fn span_of_size(bytes: usize) -> SpanData {
    // Eleven bytes on the line.
    let payload = "\n\"\u{2028}x".repeat(bytes / 11 + 1);
    let attributes = vec![KeyValue::new("payload", payload)];
    SpanData {
        attributes,
        ..plain_span("sized")
    }
}

#[test]
fn lines_stay_whole_with_several_threads_and_a_host_that_prints() {
    const THREADS: usize = 8;
    let output = alone(&[], || {
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let batch = vec![span_of_size(200), span_of_size(20_000), span_of_size(200)];
                    for _ in 0..50 {
                        let report = Console::new(&resource()).spans(&batch);
                        assert_eq!(report, ExportReport::delivered(3));
                    }
                });
            }
            scope.spawn(|| (0..500).for_each(|number| outer_print(&format!("host {number}\n"))));
        });
    });
    assert_eq!(lines(&output).len(), THREADS * 50 * 3);
    assert_eq!(
        output
            .lines()
            .filter(|line| line.starts_with("host "))
            .count(),
        500
    );
}

#[test]
fn short_lines_stay_whole_with_several_processes_on_one_pipe() {
    const PROCESSES: usize = 4;
    let (mut reader, writer) = std::io::pipe().expect("a pipe can be made");
    let mut children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            let mut command = command_for(|| {
                let batch = vec![span_of_size(200); 20];
                for _ in 0..50 {
                    assert_eq!(
                        Console::new(&resource()).spans(&batch),
                        ExportReport::delivered(20)
                    );
                }
            });
            spawn(command.stdout(writer.try_clone().expect("a pipe can be shared")))
        })
        .collect();
    drop(writer);
    let mut output = String::new();
    reader.read_to_string(&mut output).expect("text");
    for child in &mut children {
        assert!(child.wait().success());
    }
    assert_eq!(lines(&output).len(), PROCESSES * 50 * 20, "{output}");
}

#[test]
fn an_unfinished_line_of_the_host_does_not_become_part_of_ours() {
    let output = alone(&[], || {
        outer_print("half a line");
        assert_eq!(
            Console::new(&resource()).spans(&[span_of_size(200)]),
            ExportReport::delivered(1)
        );
        outer_print(" and its other half\n");
    });
    assert_eq!(lines(&output).len(), 1);
    assert!(
        output
            .lines()
            .any(|line| line.ends_with("half a line and its other half")),
        "{output}"
    );
}

#[test]
fn a_closed_pipe_stops_the_exporter_for_good_and_nothing_else() {
    alone(&[], || {
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        rustix::stdio::dup2_stdout(&writer).expect("standard output can be replaced");
        drop((reader, writer));
        let console = Console::new(&resource());
        let spans = [span_of_size(200), span_of_size(200)];
        let lost = ExportReport::lost(2, Cause::OutputClosed);
        assert_eq!(console.spans(&spans), lost);
        // Whatever is at that place later did not ask for our lines.
        let (_reader, writer) = std::io::pipe().expect("a pipe can be made");
        rustix::stdio::dup2_stdout(&writer).expect("standard output can be replaced");
        assert_eq!(console.spans(&spans), lost);
    });
}

#[test]
fn a_full_non_blocking_pipe_is_waited_for() {
    alone(&[], || {
        let (mut reader, writer) = std::io::pipe().expect("a pipe can be made");
        rustix::io::ioctl_fionbio(&writer, true).expect("a pipe can be made non-blocking");
        rustix::stdio::dup2_stdout(&writer).expect("standard output can be replaced");
        drop(writer);
        let reading = std::thread::spawn(move || {
            let mut output = vec![0; 8 * 200_000];
            reader.read_exact(&mut output).expect("enough was written");
            (reader, output)
        });
        let report = Console::new(&resource()).spans(&vec![span_of_size(200_000); 8]);
        assert_eq!(report, ExportReport::delivered(8));
        reading.join().expect("enough was read");
    });
}

/// Prints as a host does.
fn outer_print(text: &str) {
    use std::io::Write;
    // Not the macro: the test harness would swallow its output.
    write!(std::io::stdout(), "{text}").expect("standard output is open");
}

/// As `opentelemetry-sdk` 1.44 prints them.
#[test]
fn log_records_are_the_lines_of_the_python_sdk() {
    use opentelemetry::logs::{AnyValue, LogRecord as _, Severity};

    let resource = Resource::builder_empty()
        .with_attribute(KeyValue::new("service.name", "x"))
        .build();
    let resource = ResourceText::new(&resource);
    let record = |body: &'static str, severity, text| {
        let mut record = Record::new(LogLimits::default());
        let at = UNIX_EPOCH + Duration::from_nanos(1_700_000_000_123_456_789);
        record.set_timestamp(at);
        record.set_body(body.into());
        record.set_severity_number(severity);
        record.set_severity_text(text);
        record
    };
    let plain = record("é hi\n", Severity::Warn, "WARN");
    assert_eq!(
        log::line(&plain, &resource),
        r#"{"body": "\u00e9 hi\n", "severity_number": 13, "severity_text": "WARN", "attributes": null, "dropped_attributes": 0, "timestamp": "2023-11-14T22:13:20.123457Z", "observed_timestamp": "2023-11-14T22:13:20.123457Z", "trace_id": "0x00000000000000000000000000000000", "span_id": "0x0000000000000000", "trace_flags": 0, "resource": {"attributes": {"service.name": "x"}, "schema_url": ""}, "event_name": ""}"#
    );
    let mut rich = record("hi", Severity::Info, "INFO");
    rich.set_event_name("e");
    rich.add_attribute("a", 1);
    rich.add_attribute("b", "x");
    rich.add_attribute("f", f64::INFINITY);
    rich.add_attribute("list", AnyValue::from_iter([true, false]));
    rich.add_attribute("map", AnyValue::from_iter([("z", 1), ("k", 2)]));
    rich.dropped = 2;
    rich.span = Some(SpanIds {
        trace_id: 0xab_u128.to_be_bytes(),
        span_id: 0xcd_u64.to_be_bytes(),
        flags: 3,
    });
    assert_eq!(
        log::line(&rich, &resource),
        r#"{"body": "hi", "severity_number": 9, "severity_text": "INFO", "attributes": {"a": 1, "b": "x", "f": "Infinity", "list": [true, false], "map": {"k": 2, "z": 1}}, "dropped_attributes": 2, "timestamp": "2023-11-14T22:13:20.123457Z", "observed_timestamp": "2023-11-14T22:13:20.123457Z", "trace_id": "0x000000000000000000000000000000ab", "span_id": "0x00000000000000cd", "trace_flags": 3, "resource": {"attributes": {"service.name": "x"}, "schema_url": ""}, "event_name": "e"}"#
    );
}
