//! Requests that are unusual in what they hold or how large they are.

use opentelemetry::{Array, KeyValue, Value};

use super::super::report::{Cause, ExportReport};
use super::{pipe, run, settings, span};
use crate::collector::{Behaviour, Collector, text};
use crate::settings::Protocol;

#[test]
fn numbers_that_json_does_not_have_arrive_in_every_protocol() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let list = Value::Array(Array::F64(odd.to_vec()));
    let mut strange = span("strange");
    strange.attributes = vec![KeyValue::new("list", list)];
    for (key, number) in ["nan", "more", "less"].into_iter().zip(odd) {
        strange.attributes.push(KeyValue::new(key, number));
    }
    for protocol in [Protocol::Grpc, Protocol::HttpProtobuf] {
        let collector = Collector::start();
        let settings = settings(protocol, &collector.endpoint());
        let report = run(async { pipe(&settings).export(vec![strange.clone()]).await });
        assert_eq!(report, ExportReport::delivered(1));
        let received = collector.received();
        let span = received.spans().next().expect("it arrives");
        assert_eq!(text(&span.attributes, "nan").as_deref(), Some("NaN"));
        assert_eq!(text(&span.attributes, "less").as_deref(), Some("-inf"));
    }
    let (server, body) = raw_http_server();
    let settings = settings(Protocol::HttpJson, &server);
    let report = run(async { pipe(&settings).export(vec![strange.clone()]).await });
    assert_eq!(report, ExportReport::delivered(1));
    let body: serde_json::Value =
        serde_json::from_str(&body.join().expect("a request")).expect("the body is JSON");
    let span = &body["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    let value = |at: usize| &span["attributes"][at]["value"];
    let names = ["NaN", "Infinity", "-Infinity"];
    for (at, name) in names.into_iter().enumerate() {
        assert_eq!(value(0)["arrayValue"]["values"][at]["doubleValue"], name);
        assert_eq!(value(at + 1)["doubleValue"], name);
    }
}

/// Answers one request with success, and returns its body.
fn raw_http_server() -> (String, std::thread::JoinHandle<String>) {
    use std::io::{BufRead, BufReader, Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
    let serving = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        let mut stream = BufReader::new(stream);
        let mut length = 0;
        let mut line = String::new();
        while stream.read_line(&mut line).expect("a line") > 2 {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            line.clear();
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("the body");
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        stream.get_mut().write_all(answer).expect("an answer");
        String::from_utf8(body).expect("text")
    });
    (endpoint, serving)
}

#[test]
fn a_request_that_is_too_large_is_told_in_whichever_words_the_server_has() {
    const OUT_OF_RANGE: i32 = 11;
    const RESOURCE_EXHAUSTED: i32 = 8;
    for (protocol, grpc, message, cause) in [
        (
            Protocol::Grpc,
            RESOURCE_EXHAUSTED,
            "grpc: received message larger than max (5242880 vs. 4194304)",
            Cause::TooLarge,
        ),
        (
            Protocol::Grpc,
            RESOURCE_EXHAUSTED,
            "gRPC message exceeds maximum size 4194304: 5242880",
            Cause::TooLarge,
        ),
        (
            Protocol::Grpc,
            OUT_OF_RANGE,
            "Error, decoded message length too large: found 5242880 bytes",
            Cause::TooLarge,
        ),
        (
            Protocol::Grpc,
            RESOURCE_EXHAUSTED,
            "quota",
            Cause::GrpcStatus(tonic::Code::ResourceExhausted),
        ),
        (Protocol::HttpProtobuf, OUT_OF_RANGE, "", Cause::TooLarge),
    ] {
        let collector = Collector::start();
        collector.behave(Behaviour::Fail {
            http: 413,
            grpc,
            retry_after: None,
            message,
        });
        let settings = settings(protocol, &collector.endpoint());
        let report = run(async { pipe(&settings).export(vec![span("a")]).await });
        assert_eq!(report, ExportReport::lost(1, cause), "{message}");
        assert_eq!(collector.attempts(), 1, "{message}");
    }
}

#[test]
fn a_batch_that_is_too_large_for_the_collector_is_lost_with_its_cause() {
    // Servers of gRPC take 4 MiB unless somebody tells them otherwise.
    let collector = Collector::start();
    let mut large = span("large");
    large.attributes = vec![KeyValue::new("text", "x".repeat(5 * 1024 * 1024))];
    let report = run(async {
        let pipe = pipe(&settings(Protocol::Grpc, &collector.endpoint()));
        let report = pipe.export(vec![large.clone()]).await;
        // The connection is as good as before.
        assert_eq!(
            pipe.export(vec![span("small")]).await,
            ExportReport::delivered(1)
        );
        report
    });
    assert_eq!(report, ExportReport::lost(1, Cause::TooLarge));
    let received = collector.received();
    let names: Vec<_> = received.spans().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["small"]);
}
