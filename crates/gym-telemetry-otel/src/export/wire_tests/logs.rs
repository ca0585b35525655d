//! Log records, on every way that they may take.

use std::time::{Duration, UNIX_EPOCH};

use opentelemetry::logs::{AnyValue, LogRecord as _, Severity};

use super::super::log::LogPipe;
use super::super::report::{Cause, ExportReport};
use super::{codecs, resource, run, settings};
use crate::collector::{Behaviour, Collector, body, text};
use crate::logs::{Record, SpanIds};
use crate::settings::{Compression, ExporterKind, LogLimits, Protocol, Settings};
use crate::test_process::alone;

fn pipe(settings: &Settings) -> LogPipe {
    LogPipe::build(settings, &resource())
        .expect("the settings are fine")
        .expect("logs are on")
}

fn record(message: &'static str, target: &'static str) -> Record {
    let mut record = Record::new(LogLimits::default());
    record.set_timestamp(UNIX_EPOCH + Duration::from_secs(1_700_000_000));
    record.set_target(target);
    record.set_event_name("event src/lib.rs:7");
    record.set_severity_number(Severity::Warn);
    record.set_severity_text("WARN");
    record.set_body(message.into());
    record
}

fn rich() -> Record {
    let mut record = record("late", "agent::run");
    record.span = Some(SpanIds {
        trace_id: 0xab_u128.to_be_bytes(),
        span_id: 0xcd_u64.to_be_bytes(),
        flags: 3,
    });
    record.set_event_name("gym.late");
    record.add_attribute("n", 7);
    record.add_attribute("ratio", 0.5);
    record.add_attribute("bytes", AnyValue::from(&b"\x00\xff"[..]));
    record.add_attribute("list", AnyValue::from_iter(["a", "b"]));
    record.add_attribute("map", AnyValue::from_iter([("k", "v")]));
    record.dropped = 2;
    record
}

#[test]
fn log_records_arrive_whole_over_every_protocol_with_and_without_compression() {
    let protocols = [Protocol::Grpc, Protocol::HttpProtobuf, Protocol::HttpJson];
    for (protocol, compression) in protocols.into_iter().flat_map(|protocol| {
        [Compression::None, Compression::Gzip].map(|compression| (protocol, compression))
    }) {
        let collector = Collector::start_with(codecs::ALL);
        let mut settings = settings(protocol, &collector.endpoint());
        settings.logs.compression = compression;
        let records = vec![record("one", "agent"), rich(), record("two", "agent")];
        let report = run(async { pipe(&settings).export(records).await });
        assert_eq!(
            report,
            ExportReport::delivered(3),
            "{protocol:?} {compression:?}"
        );
        let received = collector.received();
        assert_eq!(received.logs[0].header("x-team"), ["rl=1"]);
        let told: Vec<_> = received
            .scoped_logs()
            .map(|(resource, scope, record)| {
                let service = text(&resource.attributes, "service.name");
                assert_eq!(service.as_deref(), Some("nemo-gym/agent"));
                (scope.name.as_str(), body(record))
            })
            .collect();
        assert_eq!(
            told,
            [("agent", "one"), ("agent", "two"), ("agent::run", "late")]
        );
        let records: Vec<_> = received.log_records().collect();
        let (plain, rich) = (records[0], records[2]);
        assert_eq!(plain.time_unix_nano, 1_700_000_000_000_000_000);
        assert!(plain.observed_time_unix_nano > 0);
        assert_eq!(
            (plain.severity_number, plain.severity_text.as_str()),
            (13, "WARN")
        );
        assert!(plain.trace_id.is_empty() && plain.span_id.is_empty());
        assert_eq!((plain.flags, plain.event_name.as_str()), (0, ""));
        assert_eq!(rich.trace_id, 0xab_u128.to_be_bytes());
        assert_eq!(rich.span_id, 0xcd_u64.to_be_bytes());
        assert_eq!((rich.flags, rich.event_name.as_str()), (3, "gym.late"));
        assert_eq!(rich.dropped_attributes_count, 2);
        assert_eq!(text(&rich.attributes, "n").as_deref(), Some("7"));
        assert_eq!(text(&rich.attributes, "ratio").as_deref(), Some("0.5"));
        let keys: Vec<_> = rich.attributes.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["n", "ratio", "bytes", "list", "map"]);
    }
}

#[test]
fn rejected_log_records_are_counted() {
    for protocol in [Protocol::Grpc, Protocol::HttpProtobuf, Protocol::HttpJson] {
        let collector = Collector::start_with(codecs::ALL);
        collector.behave(Behaviour::Partial {
            rejected: 1,
            message: "too old",
        });
        let records = vec![record("a", ""), record("b", "")];
        let report = run(async {
            pipe(&settings(protocol, &collector.endpoint()))
                .export(records)
                .await
        });
        let expected = ExportReport {
            exported: 1,
            failed: 1,
            cause: Some(Cause::PartlyRejected),
        };
        assert_eq!(report, expected, "{protocol:?}");
    }
}

#[test]
fn people_can_read_log_records() {
    let output = alone(&[], || {
        let mut settings = settings(Protocol::Grpc, "http://127.0.0.1:1");
        settings.logs.exporter = ExporterKind::Stdout;
        run(async {
            let pipe = pipe(&settings);
            assert_eq!(pipe.destination(), "standard output");
            let records = vec![record("one", "agent"), rich()];
            assert_eq!(pipe.export(records).await, ExportReport::delivered(2));
        });
    });
    for part in [
        "nemo-gym/agent",
        "\"agent\"",
        "SeverityText: \"WARN\"",
        "TraceId: 000000000000000000000000000000ab",
        "SpanId: 00000000000000cd",
        "n: Int(7)",
    ] {
        assert!(output.contains(part), "{part} in {output}");
    }
}
