//! Protocol, endpoint, headers and timeout of a signal.

use std::time::Duration;

use super::{quiet, resolve, warned};
use crate::settings::{Protocol, Signal};

#[test]
fn the_protocol_of_a_signal_beats_the_shared_one() {
    use Protocol::{Grpc, HttpProtobuf};
    for (vars, expected) in [
        (vec![], (Grpc, Grpc)),
        (
            vec![("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")],
            (HttpProtobuf, HttpProtobuf),
        ),
        (
            vec![
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
                ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", " HTTP/protobuf "),
            ],
            (HttpProtobuf, Grpc),
        ),
        (
            vec![
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
                ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", ""),
                ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"),
            ],
            (HttpProtobuf, Grpc),
        ),
    ] {
        let settings = quiet(&vars);
        assert_eq!(
            (settings.traces.protocol, settings.metrics.protocol),
            expected,
            "{vars:?}"
        );
    }
    let logs = [
        ("NEMO_LENS_LOGS_ENABLED", "1"),
        ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/protobuf"),
    ];
    assert_eq!(quiet(&logs).logs.protocol, HttpProtobuf);
    let json = quiet(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "HTTP/json")]);
    assert_eq!(json.traces.protocol, Protocol::HttpJson);
    assert_eq!(json.traces.endpoint, "http://localhost:4318/v1/traces");
    for (word, expected) in [("x", Grpc), ("http", Grpc), ("json", Grpc)] {
        let vars = [("OTEL_EXPORTER_OTLP_PROTOCOL", word)];
        let settings = warned(
            &vars,
            &["OTEL_EXPORTER_OTLP_PROTOCOL", word, expected.name()],
        );
        assert_eq!(settings.traces.protocol, expected, "{word}");
    }
}

#[test]
fn a_shared_http_endpoint_gets_the_path_of_the_signal() {
    let http = ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
    for (endpoint, traces) in [
        ("http://h:4318", "http://h:4318/v1/traces"),
        ("http://h:4318/", "http://h:4318/v1/traces"),
        ("http://h:4318///", "http://h:4318/v1/traces"),
        ("http://h/otlp", "http://h/otlp/v1/traces"),
        ("http://h/otlp/", "http://h/otlp/v1/traces"),
        (" HTTP://h ", "http://h/v1/traces"),
        ("http://h/x?k=v", "http://h/x/v1/traces?k=v"),
        ("http://[::1]:4318", "http://[::1]:4318/v1/traces"),
        ("http://u:p@h:1", "http://u:p@h:1/v1/traces"),
        ("localhost:4318", "http://localhost:4318/v1/traces"),
    ] {
        let settings = quiet(&[http, ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)]);
        assert_eq!(settings.traces.endpoint, traces, "{endpoint}");
        assert_eq!(
            settings.metrics.endpoint,
            traces.replace("traces", "metrics"),
            "{endpoint}"
        );
    }
    for end in ["/v1/traces", "/v1/traces/", "/v1/metrics", "/v1/logs"] {
        let endpoint = format!("http://h:4318{end}");
        let settings = warned(
            &[http, ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)],
            &["OTEL_EXPORTER_OTLP_ENDPOINT", end.trim_end_matches('/')],
        );
        assert_eq!(settings.traces.endpoint, "http://h:4318/v1/traces", "{end}");
        assert_eq!(
            settings.metrics.endpoint, "http://h:4318/v1/metrics",
            "{end}"
        );
    }
    let defaults = quiet(&[http]);
    assert_eq!(defaults.traces.endpoint, "http://localhost:4318/v1/traces");
}

#[test]
fn an_endpoint_of_one_signal_is_taken_as_it_is() {
    let http = ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
    let shared = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://shared:1");
    let own = (
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "http://own:2/some/path/",
    );
    let settings = quiet(&[http, shared, own]);
    assert_eq!(settings.traces.endpoint, "http://own:2/some/path/");
    assert_eq!(settings.metrics.endpoint, "http://shared:1/v1/metrics");
    let settings = quiet(&[shared, ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "  ")]);
    assert_eq!(settings.metrics.endpoint, "http://shared:1");
    assert_eq!(quiet(&[]).traces.endpoint, "http://localhost:4317");
}

#[test]
fn an_endpoint_that_cannot_be_used_switches_its_signal_off() {
    for endpoint in [
        "not a url",
        "http://",
        "http://:4317",
        "http://h:port",
        "http://h:99999",
        "http://h:",
        "ftp://h",
        "grpc://h:4317",
        "http:/h",
        "/v1/traces",
        "https://",
        "https://h:port",
    ] {
        let name = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        let settings = warned(&[(name, endpoint)], &[name, "traces are off"]);
        assert_eq!(settings.traces, Signal::off(), "{endpoint}");
        assert!(settings.metrics.is_on(), "{endpoint}");
    }
    let settings = resolve(&[(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "wss://u:S3CR3T@h:4317?k=S3CR3T",
    )]);
    assert!(!settings.traces.is_on() && !settings.metrics.is_on());
    assert_eq!(settings.warnings.len(), 2, "{:?}", settings.warnings);
    assert!(!format!("{settings:?}").contains("S3CR3T"));
}

#[test]
fn an_address_without_a_scheme_is_clear_text_and_says_so_beyond_this_machine() {
    let name = "OTEL_EXPORTER_OTLP_ENDPOINT";
    for local in [
        "localhost:4317",
        "127.0.0.1:4317",
        "[::1]:4317",
        "localhost",
    ] {
        assert_eq!(
            quiet(&[(name, local)]).traces.endpoint,
            format!("http://{local}")
        );
    }
    let settings = warned(&[(name, "collector:4317")], &[name, "clear text"]);
    assert_eq!(settings.traces.endpoint, "http://collector:4317");
}

#[test]
fn headers_are_decoded_and_wrong_ones_left_out() {
    let name = "OTEL_EXPORTER_OTLP_HEADERS";
    for (text, expected) in [
        ("a=1", vec![("a", "1")]),
        (" A = 1 , b = 2 ,", vec![("a", "1"), ("b", "2")]),
        (
            "authorization=Bearer%20x%3D",
            vec![("authorization", "Bearer x=")],
        ),
        ("k=a=b==", vec![("k", "a=b==")]),
        ("k=50%", vec![("k", "50%")]),
        ("k=%zz", vec![("k", "%zz")]),
        ("k=", vec![("k", "")]),
        ("k=1,K=2", vec![("k", "2")]),
        (" ", vec![]),
    ] {
        let settings = quiet(&[(name, text)]);
        let headers: Vec<_> = settings
            .traces
            .headers
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        assert_eq!(headers, expected, "{text}");
    }
    for text in [
        "S3CR3T",
        "=S3CR3T",
        "a b=S3CR3T",
        "k=S3CR3T%0A",
        "ok=1,S3CR3T",
    ] {
        let settings = warned(&[(name, text)], &[name, "entry "]);
        assert!(
            settings.traces.headers.iter().all(|(name, _)| name == "ok"),
            "{text}"
        );
        assert!(
            !format!("{settings:?} {:?}", settings.traces).contains("S3CR3T"),
            "{text}"
        );
    }
}

#[test]
fn headers_of_one_signal_replace_the_shared_ones_and_lost_credentials_are_named() {
    let shared = ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=S3CR3T,x=1");
    let own = ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "y=2");
    let settings = warned(
        &[shared, own],
        &[
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization",
        ],
    );
    assert_eq!(settings.traces.headers, [("y".to_owned(), "2".to_owned())]);
    assert_eq!(settings.metrics.headers.len(), 2);
    quiet(&[
        shared,
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "Authorization=other"),
    ]);
    quiet(&[("OTEL_EXPORTER_OTLP_HEADERS", "x=1"), own]);
}

#[test]
fn timeouts_and_intervals_are_whole_milliseconds() {
    let timeout = "OTEL_EXPORTER_OTLP_TIMEOUT";
    assert_eq!(quiet(&[]).traces.timeout, Duration::from_secs(10));
    assert_eq!(
        quiet(&[(timeout, " 250 ")]).traces.timeout,
        Duration::from_millis(250)
    );
    assert_eq!(quiet(&[(timeout, "0")]).traces.timeout, Duration::ZERO);
    let settings = quiet(&[(timeout, "250"), ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "9")]);
    assert_eq!(settings.traces.timeout, Duration::from_millis(9));
    assert_eq!(settings.metrics.timeout, Duration::from_millis(250));
    for garbage in ["abc", "-5", "0.3", "10s", "99999999999999999999999"] {
        let settings = warned(&[(timeout, garbage)], &[timeout, garbage, "10000"]);
        assert_eq!(
            settings.traces.timeout,
            Duration::from_secs(10),
            "{garbage}"
        );
    }
    let interval = "OTEL_METRIC_EXPORT_INTERVAL";
    assert_eq!(quiet(&[]).metric_export_interval, Duration::from_secs(10));
    assert_eq!(
        quiet(&[(interval, "60000")]).metric_export_interval,
        Duration::from_mins(1)
    );
    for garbage in ["0", "abc", "-1", "1.5", "NaN"] {
        let settings = warned(&[(interval, garbage)], &[interval, garbage, "10000"]);
        assert_eq!(
            settings.metric_export_interval,
            Duration::from_secs(10),
            "{garbage}"
        );
    }
}
