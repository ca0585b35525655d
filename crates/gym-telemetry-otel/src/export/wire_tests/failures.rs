//! Exports that fail.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use super::super::report::{BuildError, Cause, ExportReport};
use super::super::span::SpanPipe;
use super::{BOTH, pipe, resource, run, settings, span};
use crate::collector::{Behaviour, BlackHole, Collector, refusing_endpoint};
use crate::settings::{Protocol, Settings};

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
                built(&settings(protocol, "ftp://h:1")),
                Some(BuildError::UnknownScheme)
            );
            assert_eq!(
                built(&settings(protocol, "http://")),
                Some(BuildError::InvalidEndpoint)
            );
        });
    }
}
