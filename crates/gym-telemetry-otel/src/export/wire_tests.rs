//! What arrives at a collector.

use std::borrow::Cow;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, UNIX_EPOCH};

use opentelemetry::trace::{
    Event, Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use super::report::{BuildError, Cause, ExportReport};
use super::span::SpanPipe;
use crate::collector::{Behaviour, BlackHole, Collector, refusing_endpoint, text};
use crate::settings::{ExporterKind, Protocol, Settings, Signal};
use crate::test_env::Vars;

const BOTH: [Protocol; 2] = [Protocol::Grpc, Protocol::HttpProtobuf];

fn signal(protocol: Protocol, endpoint: &str, path: &str) -> Signal {
    let endpoint = match protocol {
        Protocol::Grpc => endpoint.to_owned(),
        Protocol::HttpProtobuf | Protocol::HttpJson => format!("{endpoint}{path}"),
    };
    Signal {
        exporter: ExporterKind::Otlp,
        protocol,
        endpoint,
        headers: vec![
            ("X-Team".to_owned(), "rl=1".to_owned()),
            ("authorization".to_owned(), "Bearer S3CR3T".to_owned()),
        ],
        timeout: Duration::from_secs(20),
        ..Signal::off()
    }
}

pub(crate) fn settings(protocol: Protocol, endpoint: &str) -> Settings {
    let enabled = Vars::new(&[("NEMO_GYM_OTEL_ENABLED", "1")]);
    let settings = Settings::resolve(&enabled)
        .expect("valid settings")
        .expect("telemetry is on");
    Settings {
        traces: signal(protocol, endpoint, "/v1/traces"),
        metrics: signal(protocol, endpoint, "/v1/metrics"),
        ..settings
    }
}

fn resource() -> Resource {
    Resource::builder_empty()
        .with_attribute(KeyValue::new("service.name", "nemo-gym/agent"))
        .build()
}

fn pipe(settings: &Settings) -> SpanPipe {
    SpanPipe::build(settings, &resource())
        .expect("the settings are fine")
        .expect("traces are on")
}

pub(super) fn span(name: &'static str) -> SpanData {
    SpanData {
        span_context: SpanContext::new(
            TraceId::from(0xab),
            SpanId::from(0xcd),
            TraceFlags::new(3),
            false,
            TraceState::default(),
        ),
        parent_span_id: SpanId::INVALID,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: Cow::Borrowed(name),
        start_time: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        end_time: UNIX_EPOCH + Duration::from_secs(1_700_000_001),
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::builder("nemo.lens").build(),
    }
}

pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made")
        .block_on(async {
            tokio::time::timeout(crate::collector::DEADLINE, future)
                .await
                .expect("no hang")
        })
}

#[test]
fn spans_arrive_whole_over_both_protocols() {
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
    for protocol in BOTH {
        let collector = Collector::start();
        let report = run(async {
            pipe(&settings(protocol, &collector.endpoint()))
                .export(vec![span("gym.job"), rich.clone()])
                .await
        });
        assert_eq!(report, ExportReport::delivered(2), "{protocol:?}");

        let received = collector.received();
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
    crate::test_process::alone(&HOSTILE_ENVIRONMENT, || {
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
fn a_missing_listener_is_named_within_the_timeout() {
    for protocol in BOTH {
        let settings = settings(protocol, &refusing_endpoint());
        let report = run(async { pipe(&settings).export(vec![span("a"), span("b")]).await });
        assert_eq!(
            report,
            ExportReport::lost(2, Cause::ConnectionRefused),
            "{protocol:?}"
        );
    }
}

#[test]
fn a_name_without_an_address_is_named() {
    // A label of more than 63 letters is refused before any server is asked.
    let endpoint = format!("http://{}.invalid:4317", "x".repeat(64));
    for protocol in BOTH {
        let settings = settings(protocol, &endpoint);
        let report = run(async { pipe(&settings).export(vec![span("a")]).await });
        assert_eq!(
            report,
            ExportReport::lost(1, Cause::NameNotResolved),
            "{protocol:?}"
        );
    }
}

#[test]
fn a_stuck_request_does_not_stall_the_next_batch() {
    for protocol in BOTH {
        let collector = Collector::start();
        let mut settings = settings(protocol, &collector.endpoint());
        settings.traces.timeout = Duration::from_millis(200);
        collector.behave(Behaviour::Hang);
        run(async {
            let pipe = pipe(&settings);
            assert_eq!(
                pipe.export(vec![span("stuck")]).await,
                ExportReport::lost(1, Cause::TimedOut),
                "{protocol:?}"
            );
            collector.behave(Behaviour::Accept);
            // The first connection may still be served by the collector's old mind; a later one must get through.
            while pipe.export(vec![span("next")]).await != ExportReport::delivered(1) {}
        });
        assert_eq!(
            collector
                .received()
                .spans()
                .map(|span| span.name.as_str())
                .collect::<Vec<_>>(),
            ["next"]
        );
    }
}

#[test]
fn a_dead_connection_is_replaced() {
    for protocol in BOTH {
        let collector = Collector::start();
        let address = collector.address();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut settings = settings(
            protocol,
            &format!("http://{}", listener.local_addr().expect("an address")),
        );
        settings.traces.timeout = Duration::from_millis(500);
        let relay = std::thread::spawn(move || {
            // The first connection is dead for ever, later ones reach the collector.
            let (_dead, _) = listener.accept().expect("a connection");
            let (mut near, _) = listener.accept().expect("a new connection");
            let mut far = TcpStream::connect(address).expect("the collector listens");
            let (mut near_end, mut far_end) = (
                near.try_clone().expect("a handle"),
                far.try_clone().expect("a handle"),
            );
            std::thread::scope(|scope| {
                // Either end may reset the connection when it is done.
                scope.spawn(|| {
                    std::io::copy(&mut near, &mut far).map(|_| far.shutdown(Shutdown::Write))
                });
                scope.spawn(|| {
                    std::io::copy(&mut far_end, &mut near_end)
                        .map(|_| near_end.shutdown(Shutdown::Write))
                });
            });
        });
        run(async {
            let pipe = pipe(&settings);
            assert_eq!(
                pipe.export(vec![span("a")]).await,
                ExportReport::lost(1, Cause::TimedOut),
                "{protocol:?}"
            );
            while pipe.export(vec![span("b")]).await != ExportReport::delivered(1) {}
        });
        assert!(collector.received().spans().all(|span| span.name == "b"));
        drop(collector);
        relay.join().expect("no panic");
    }
}

#[test]
fn a_black_hole_is_given_up_after_the_timeout() {
    let hole = BlackHole::start();
    for protocol in BOTH {
        let mut settings = settings(protocol, &hole.endpoint());
        settings.traces.timeout = Duration::from_millis(200);
        let report = run(async { pipe(&settings).export(vec![span("a")]).await });
        assert_eq!(
            report,
            ExportReport::lost(1, Cause::TimedOut),
            "{protocol:?}"
        );
    }
}

#[test]
fn failures_are_named_without_the_collectors_text() {
    const UNAUTHENTICATED: i32 = 16;
    for (protocol, cause) in [
        (
            Protocol::Grpc,
            Cause::GrpcStatus(tonic::Code::Unauthenticated),
        ),
        (Protocol::HttpProtobuf, Cause::HttpStatus(401)),
    ] {
        let collector = Collector::start();
        let message = "token S3CR3T is unknown";
        collector.behave(Behaviour::Fail {
            http: 401,
            grpc: UNAUTHENTICATED,
            retry_after: None,
            message,
        });
        let report = run(async {
            pipe(&settings(protocol, &collector.endpoint()))
                .export(vec![span("a")])
                .await
        });
        assert_eq!(report, ExportReport::lost(1, cause));
        assert!(!format!("{report:?} {cause}").contains("S3CR3T"));
        assert_eq!(collector.attempts(), 1, "there is no use in asking again");
    }
}

#[test]
fn an_overloaded_collector_is_asked_again() {
    const UNAVAILABLE: i32 = 14;
    for protocol in BOTH {
        let collector = Collector::start();
        let retry_after = Some(Duration::from_secs(1));
        collector.behave(Behaviour::Fail {
            http: 503,
            grpc: UNAVAILABLE,
            retry_after,
            message: "busy",
        });
        let endpoint = collector.endpoint();
        let report = std::thread::scope(|scope| {
            let exporting = scope.spawn(|| {
                run(async {
                    pipe(&settings(protocol, &endpoint))
                        .export(vec![span("a")])
                        .await
                })
            });
            collector.wait_for_attempts(1);
            collector.behave(Behaviour::Accept);
            exporting.join().expect("no panic")
        });
        assert_eq!(report, ExportReport::delivered(1), "{protocol:?}");
        assert_eq!(collector.attempts(), 2, "the collector's pause is kept");
    }
}

#[test]
fn a_pause_beyond_the_timeout_ends_the_export_at_once() {
    const RESOURCE_EXHAUSTED: i32 = 8;
    for (protocol, cause) in [
        (
            Protocol::Grpc,
            Cause::GrpcStatus(tonic::Code::ResourceExhausted),
        ),
        (Protocol::HttpProtobuf, Cause::HttpStatus(429)),
    ] {
        let collector = Collector::start();
        let retry_after = Some(Duration::from_hours(1));
        collector.behave(Behaviour::Fail {
            http: 429,
            grpc: RESOURCE_EXHAUSTED,
            retry_after,
            message: "later",
        });
        let report = run(async {
            pipe(&settings(protocol, &collector.endpoint()))
                .export(vec![span("a")])
                .await
        });
        assert_eq!(report, ExportReport::lost(1, cause));
    }
}

#[test]
fn partial_success_is_counted() {
    for protocol in BOTH {
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
            let collector = Collector::start();
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

#[test]
fn a_far_end_with_another_protocol_is_recognised() {
    use std::io::{Read, Write};
    for (protocol, greeting) in [
        (
            Protocol::Grpc,
            &b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"[..],
        ),
        // What an HTTP/2 server says first: its settings and that it gives up.
        (
            Protocol::HttpProtobuf,
            b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\x01",
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let greeter = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            assert!(stream.read(&mut [0; 1024]).expect("a request") > 0);
            stream.write_all(greeting).expect("an answer");
            stream
        });
        let report = run(async {
            pipe(&settings(protocol, &endpoint))
                .export(vec![span("a")])
                .await
        });
        assert_eq!(
            report,
            ExportReport::lost(1, Cause::OtherProtocol),
            "{protocol:?}"
        );
        drop(greeter.join());
    }
}

#[test]
fn a_pipe_that_cannot_be_built_says_why_and_does_not_panic() {
    let built = |settings: &Settings| SpanPipe::build(settings, &resource()).err();
    for protocol in BOTH {
        assert_eq!(
            built(&settings(protocol, "http://h:1")),
            Some(BuildError::NoRuntime)
        );
        run(async {
            assert_eq!(
                built(&settings(protocol, "https://h:1")),
                Some(BuildError::TlsUnsupported)
            );
            assert_eq!(
                built(&settings(protocol, "http://")),
                Some(BuildError::InvalidEndpoint)
            );
        });
    }
}
