//! What telemetry tells about itself, each test in a process of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;

use gym_telemetry_core::metric;
use gym_telemetry_core::receipt::DropReason;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;

use super::PATIENCE;
use super::lifecycle::{init, on, start};
use crate::collector::{Behaviour, Collector, Received, refusing_endpoint, text};
use crate::test_process::{alone, command_for, spawn};
use crate::{install_log_bridge, observe};

/// The newest points of a metric: what tells them apart but the name of the component, and the value or the count.
fn points(received: &Received, name: &str) -> BTreeMap<String, u64> {
    let label = |attributes: &[KeyValue]| {
        let mut label: Vec<_> = attributes
            .iter()
            .filter(|pair| pair.key != "otel.component.name")
            .filter_map(|pair| {
                let value = text(attributes, &pair.key)?;
                let is_component = pair.key.starts_with("otel.");
                Some(if is_component {
                    value
                } else {
                    format!("{}={value}", pair.key)
                })
            })
            .collect();
        label.sort();
        label.join(" ")
    };
    let number = |value: &Option<Value>| match value {
        Some(Value::AsInt(value)) => u64::try_from(*value).expect("not negative"),
        other => panic!("{name} counts {other:?}"),
    };
    let metric = received.metric(name).unwrap_or_else(|| panic!("no {name}"));
    match metric.data.as_ref().expect("metrics have data") {
        Data::Sum(sum) => sum
            .data_points
            .iter()
            .map(|point| (label(&point.attributes), number(&point.value)))
            .collect(),
        Data::Histogram(histogram) => histogram
            .data_points
            .iter()
            .map(|point| (label(&point.attributes), point.count))
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn expected<const N: usize>(rows: [(&str, u64); N]) -> BTreeMap<String, u64> {
    rows.map(|(label, value)| (label.to_owned(), value)).into()
}

#[test]
fn the_last_metrics_say_of_spans_what_the_receipt_says() {
    let room = [
        ("OTEL_BSP_MAX_QUEUE_SIZE", "10"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10"),
    ];
    alone(&room, || {
        let collector = Collector::start();
        let handle = init(&on(&collector.endpoint()));
        let mut open: Vec<_> = (0..10).map(|_| start("open")).collect();
        for _ in 0..3 {
            assert!(!start("no room").is_recording());
        }
        open.truncate(6);
        let receipt = handle.shutdown(PATIENCE);
        drop(open);
        let traces = &receipt.traces;
        assert_eq!((traces.exported, traces.truncated), (4, 6));
        assert_eq!(traces.dropped, [(DropReason::QueueFull, 3)]);

        let received = collector.received();
        let points = |name| points(&received, name);
        assert_eq!(
            points("otel.sdk.exporter.span.exported"),
            expected([
                ("otlp_grpc_span_exporter", 4),
                ("nemo.span.truncated=true otlp_grpc_span_exporter", 6)
            ])
        );
        assert_eq!(
            points("otel.sdk.processor.span.processed"),
            expected([
                ("batching_span_processor", 10),
                ("batching_span_processor error.type=queue_full", 3)
            ])
        );
        assert_eq!(
            points("otel.sdk.span.started"),
            expected([("RECORD_AND_SAMPLE", 13)])
        );
        assert_eq!(
            points("otel.sdk.processor.span.queue.size"),
            expected([("batching_span_processor", 0)])
        );
        assert_eq!(
            points("otel.sdk.processor.span.queue.capacity"),
            expected([("batching_span_processor", 10)])
        );
        let exports = points("otel.sdk.exporter.operation.duration");
        assert!(exports["otlp_grpc_span_exporter"] >= 1, "{exports:?}");
    });
}

#[test]
fn exports_that_fail_are_counted_and_warned_about_once() {
    let (stdout, mut child) = {
        let mut command = command_for(|| {
            let collector = Collector::start();
            let mut config = on(&collector.endpoint());
            config.span_groups = "all".to_owned();
            let handle = init(&config);
            for _ in 0..3 {
                start("lost").end();
                let _ = handle.flush(PATIENCE);
            }
            let receipt = handle.shutdown(PATIENCE);
            assert_eq!((receipt.traces.exported, receipt.traces.failed), (0, 3));
            let received = collector.received();
            assert_eq!(
                points(&received, "otel.sdk.exporter.span.exported"),
                expected([
                    ("otlp_grpc_span_exporter", 0),
                    ("error.type=_OTHER otlp_grpc_span_exporter", 3)
                ])
            );
            let exports = points(&received, "otel.sdk.exporter.operation.duration");
            assert_eq!(
                exports["error.type=_OTHER otlp_grpc_span_exporter"], 3,
                "{exports:?}"
            );
            assert!(exports["otlp_grpc_metric_exporter"] >= 3, "{exports:?}");
            let points = points(&received, "otel.sdk.exporter.metric_data_point.exported");
            assert!(points["otlp_grpc_metric_exporter"] > 0, "{points:?}");
        });
        command.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", refusing_endpoint());
        let (_, stdout) = mpsc::channel();
        (stdout, spawn(&mut command))
    };
    child.expect_success(&stdout);
    let said = child.stderr();
    let warnings = said
        .lines()
        .filter(|line| line.contains("could not be exported"));
    assert_eq!(warnings.count(), 1, "{said}");
}

#[test]
fn log_records_and_points_that_are_lost_are_counted() {
    let room = [
        ("OTEL_BLRP_SCHEDULE_DELAY", "3600000"),
        ("OTEL_BLRP_MAX_QUEUE_SIZE", "2"),
        ("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "2"),
    ];
    alone(&room, || {
        let collector = Collector::start();
        collector.behave(Behaviour::Partial {
            rejected: 1,
            message: "no",
        });
        let mut config = on(&collector.endpoint());
        config.logs_enabled = true;
        let handle = init(&config);
        install_log_bridge();
        (0..1_000).for_each(|number| tracing::info!(number, "too many"));
        let _ = handle.flush(PATIENCE);
        let receipt = handle.shutdown(PATIENCE);
        let [(DropReason::QueueFull, dropped)] = receipt.logs.dropped[..] else {
            panic!("{receipt:?}")
        };
        let received = collector.received();
        let points = |name, label: &str| points(&received, name).get(label).copied();
        assert_eq!(
            points(
                "otel.sdk.processor.log.processed",
                "batching_log_processor error.type=queue_full"
            ),
            Some(dropped)
        );
        assert_eq!(
            points(
                "otel.sdk.exporter.log.exported",
                "error.type=_OTHER otlp_grpc_log_exporter"
            ),
            Some(receipt.logs.failed)
        );
        let lost = points(
            "otel.sdk.exporter.metric_data_point.exported",
            "error.type=_OTHER otlp_grpc_metric_exporter",
        );
        assert_eq!(lost, Some(1), "the last export cannot tell of itself");
    });
}

#[test]
fn a_callback_that_panics_is_counted_and_takes_nothing_along() {
    alone(&[], || {
        let collector = Collector::start();
        let handle = init(&on(&collector.endpoint()));
        let calls = AtomicU32::new(0);
        let observation = observe(move |observer| {
            assert_ne!(calls.fetch_add(1, Ordering::Relaxed), 1, "the second call");
            observer.report(&metric::SERVERS_ACTIVE, 3_i64, &[]);
        });
        let with_servers = || {
            collector
                .received()
                .metrics()
                .filter(|it| it.name == "gym.servers.active")
                .count()
        };
        let others = || {
            let metrics = collector.received();
            metrics
                .metrics()
                .filter(|it| it.name == "otel.sdk.span.started")
                .count()
        };
        for (servers, all) in [(1, 1), (1, 2), (2, 3)] {
            let _ = handle.flush(PATIENCE);
            assert_eq!((with_servers(), others()), (servers, all));
        }
        let receipt = handle.shutdown(PATIENCE);
        drop(observation);
        assert!(receipt.is_complete(), "{receipt:?}");
        let collections = points(
            &collector.received(),
            "otel.sdk.metric_reader.collection.duration",
        );
        assert_eq!(
            collections["error.type=callback_panic periodic_metric_reader"], 1,
            "{collections:?}"
        );
        assert_eq!(collections["periodic_metric_reader"], 2, "{collections:?}");
    });
}

#[test]
fn spans_without_room_are_warned_about_once() {
    let mut command = command_for(|| {
        let collector = Collector::start();
        let handle = init(&on(&collector.endpoint()));
        let open: Vec<_> = (0..20).map(|_| start("open")).collect();
        let receipt = handle.shutdown(PATIENCE);
        drop(open);
        assert_eq!(receipt.traces.dropped, [(DropReason::QueueFull, 10)]);
    });
    command
        .env("OTEL_BSP_MAX_QUEUE_SIZE", "10")
        .env("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10");
    let mut child = spawn(&mut command);
    let (_, stdout) = mpsc::channel();
    child.expect_success(&stdout);
    let said = child.stderr();
    let warnings = said
        .lines()
        .filter(|line| line.contains("spans were dropped"));
    assert_eq!(warnings.count(), 1, "{said}");
}
