//! Exports that succeed, at least in part.

use std::time::{Duration, Instant};

use opentelemetry::trace::{Event, Link, SpanId, SpanKind, Status, TraceId};
use opentelemetry::{InstrumentationScope, KeyValue};

use super::super::report::{Cause, ExportReport};
use super::{BOTH, codecs, pipe, run, settings, span};
use crate::collector::{Behaviour, Collector, text};
use crate::settings::{Compression, Protocol};
use crate::test_process::alone;

#[test]
fn spans_arrive_whole_over_every_protocol_with_and_without_compression() {
    let mut rich = span("POST /verify");
    rich.span_kind = SpanKind::Server;
    rich.parent_span_id = SpanId::from(0xef);
    rich.parent_span_is_remote = true;
    rich.attributes = vec![KeyValue::new("nemo.gym.rollout.id", "7-0")];
    rich.status = Status::error("bad");
    rich.events.events.push(Event::new(
        "exception",
        rich.start_time,
        vec![KeyValue::new("k", 1)],
        0,
    ));
    rich.links
        .links
        .push(Link::new(rich.span_context.clone(), Vec::new(), 0));
    rich.instrumentation_scope = InstrumentationScope::builder("nemo.lens.helpers").build();
    let protocols = [Protocol::Grpc, Protocol::HttpProtobuf, Protocol::HttpJson];
    let compressions = [Compression::None, Compression::Gzip];
    for (protocol, compression) in protocols
        .into_iter()
        .flat_map(|protocol| compressions.map(|compression| (protocol, compression)))
    {
        let collector = Collector::start_with(codecs::ALL);
        let mut settings = settings(protocol, &collector.endpoint());
        settings.traces.compression = compression;
        let report = run(async {
            pipe(&settings)
                .export(vec![span("gym.job"), rich.clone()])
                .await
        });
        assert_eq!(
            report,
            ExportReport::delivered(2),
            "{protocol:?} {compression:?}"
        );

        let received = collector.received();
        let encoding = received.traces[0].header(match protocol {
            Protocol::Grpc => "grpc-encoding",
            Protocol::HttpProtobuf | Protocol::HttpJson => "content-encoding",
        });
        assert_eq!(
            encoding.concat(),
            if compression == Compression::Gzip {
                "gzip"
            } else {
                ""
            }
        );
        if protocol == Protocol::HttpJson {
            assert_eq!(
                received.traces[0].header("content-type"),
                ["application/json"]
            );
        }
        let spans: Vec<_> = received.scoped_spans().collect();
        let scopes: Vec<_> = spans
            .iter()
            .map(|(_, scope, span)| (scope.name.as_str(), span.name.as_str()))
            .collect();
        assert_eq!(
            scopes,
            [
                ("nemo.lens", "gym.job"),
                ("nemo.lens.helpers", "POST /verify")
            ]
        );
        let (resource, _, span) = spans[1];
        assert_eq!(
            text(&resource.attributes, "service.name").as_deref(),
            Some("nemo-gym/agent")
        );
        assert_eq!(span.trace_id, TraceId::from(0xab).to_bytes());
        assert_eq!(span.parent_span_id, SpanId::from(0xef).to_bytes());
        // The W3C flags, "is known to be remote or not" and "is remote".
        assert_eq!(span.flags, 0x303);
        assert_eq!(spans[0].2.flags, 0x103);
        assert_eq!(
            text(&span.attributes, "nemo.gym.rollout.id").as_deref(),
            Some("7-0")
        );
        assert_eq!((span.events.len(), span.links.len()), (1, 1));
        assert_eq!(
            span.status.as_ref().map(|status| status.message.as_str()),
            Some("bad")
        );
    }
}

/// What the usual exporter would read on its own account, and get wrong.
const HOSTILE_ENVIRONMENT: [(&str, &str); 7] = [
    (
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "http://127.0.0.1:1/v1/traces",
    ),
    ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1"),
    (
        "OTEL_EXPORTER_OTLP_HEADERS",
        "authorization=Bearer%20OTHER,x-team=other,x-more=1",
    ),
    ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-more=2"),
    ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
    ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
    ("OTEL_EXPORTER_OTLP_COMPRESSION", "snappy"),
];

#[test]
fn only_the_settings_count_and_each_header_is_sent_once() {
    alone(&HOSTILE_ENVIRONMENT, || {
        for protocol in BOTH {
            let collector = Collector::start();
            let report = run(async {
                pipe(&settings(protocol, &collector.endpoint()))
                    .export(vec![span("a")])
                    .await
            });
            assert_eq!(report, ExportReport::delivered(1));
            let received = collector.received();
            let [request] = received.traces.as_slice() else {
                panic!("not one request: {received:?}")
            };
            assert_eq!(request.header("x-team"), ["rl=1"]);
            assert_eq!(request.header("authorization"), ["Bearer S3CR3T"]);
            assert_eq!(request.header("x-more"), [""; 0]);
            assert!(
                request.header("user-agent")[0].starts_with("gym-telemetry/"),
                "{:?}",
                request.headers
            );
        }
    });
}

#[test]
fn the_url_is_used_as_it_stands_with_its_credentials_in_a_header() {
    let collector = Collector::start();
    let mut settings = settings(Protocol::HttpProtobuf, "");
    settings.traces.headers.clear();
    settings.traces.endpoint = format!("http://u:p@{}/v1/traces?api_key=Q", collector.address());
    let pipe = run(async {
        let pipe = pipe(&settings);
        assert_eq!(
            pipe.export(vec![span("a")]).await,
            ExportReport::delivered(1)
        );
        pipe
    });
    let received = collector.received();
    assert_eq!(received.traces[0].path, "/v1/traces?api_key=Q");
    assert_eq!(received.traces[0].header("authorization"), ["Basic dTpw"]);
    assert_eq!(
        pipe.destination(),
        format!("http://{}/v1/traces", collector.address())
    );
}

#[test]
fn an_overloaded_collector_is_asked_again_after_the_pause_that_it_wants() {
    const UNAVAILABLE: i32 = 14;
    for protocol in BOTH {
        let collector = Collector::start();
        let pause = Duration::from_secs(1);
        collector.behave(Behaviour::Fail {
            http: 503,
            grpc: UNAVAILABLE,
            retry_after: Some(pause),
            message: "busy",
        });
        let endpoint = collector.endpoint();
        let start = Instant::now();
        let report = std::thread::scope(|scope| {
            let export = async {
                pipe(&settings(protocol, &endpoint))
                    .export(vec![span("a")])
                    .await
            };
            let exporting = scope.spawn(|| run(export));
            collector.wait_for_attempts(1);
            collector.behave(Behaviour::Accept);
            exporting.join().expect("no panic")
        });
        assert_eq!(report, ExportReport::delivered(1), "{protocol:?}");
        assert_eq!(collector.attempts(), 2);
        assert!(
            start.elapsed() >= pause,
            "{protocol:?}: asked again too early"
        );
    }
}

#[test]
fn partial_success_is_counted() {
    for protocol in [Protocol::Grpc, Protocol::HttpProtobuf, Protocol::HttpJson] {
        for (rejected, message, report) in [
            (
                2,
                "too old",
                ExportReport {
                    exported: 1,
                    failed: 2,
                    cause: Some(Cause::PartlyRejected),
                },
            ),
            (
                9,
                "",
                ExportReport {
                    exported: 0,
                    failed: 3,
                    cause: Some(Cause::PartlyRejected),
                },
            ),
            (
                0,
                "slow down",
                ExportReport {
                    exported: 3,
                    failed: 0,
                    cause: Some(Cause::CollectorWarning),
                },
            ),
            (
                -1,
                "",
                ExportReport {
                    exported: 3,
                    failed: 0,
                    cause: None,
                },
            ),
        ] {
            let collector = Collector::start_with(codecs::ALL);
            collector.behave(Behaviour::Partial { rejected, message });
            let exported = run(async {
                pipe(&settings(protocol, &collector.endpoint()))
                    .export(vec![span("a"), span("b"), span("c")])
                    .await
            });
            assert_eq!(exported, report, "{protocol:?}");
        }
    }
}
