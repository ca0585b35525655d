//! Compression, TLS and clear text.

use super::{quiet, value, warned};
use crate::settings::{ClientFiles, Compression, TlsFile, TlsFiles};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HTTPS: (&str, &str) = (ENDPOINT, "https://collector:4317");

#[test]
fn requests_are_compressed_where_somebody_asks_for_it() {
    use Compression::{Gzip, None};
    let shared = "OTEL_EXPORTER_OTLP_COMPRESSION";
    let own = "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION";
    for (vars, expected) in [
        (vec![], (None, None)),
        (vec![(shared, " GZIP ")], (Gzip, Gzip)),
        (vec![(shared, " ")], (None, None)),
        (vec![(shared, "gzip"), (own, "none")], (None, Gzip)),
        (vec![(shared, "gzip"), (own, " ")], (Gzip, Gzip)),
        (vec![(own, "gzip")], (Gzip, None)),
    ] {
        let settings = quiet(&vars);
        let found = (settings.traces.compression, settings.metrics.compression);
        assert_eq!(found, expected, "{vars:?}");
    }
    for unknown in ["snappy", "zstd", "1", "gzip,none"] {
        let settings = warned(&[(shared, unknown)], &[shared, unknown, "gzip"]);
        assert_eq!(settings.traces.compression, None, "{unknown}");
    }
}

#[test]
fn an_https_endpoint_stays_https_in_every_protocol() {
    for (protocol, traces) in [
        ("grpc", "https://collector:4317"),
        ("http/protobuf", "https://collector:4317/v1/traces"),
    ] {
        let settings = quiet(&[HTTPS, ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)]);
        assert_eq!(settings.traces.endpoint, traces);
    }
    let settings = quiet(&[(ENDPOINT, "HTTPS://u:p@h/otlp/")]);
    assert_eq!(settings.traces.endpoint, "https://u:p@h/otlp/");
}

#[test]
fn the_files_of_a_signal_beat_the_shared_ones() {
    let settings = quiet(&[
        HTTPS,
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", " /tls/ca.pem "),
        (
            "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
            "/tls/traces-ca.pem",
        ),
        ("OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE", " "),
        ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/tls/me.pem"),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/tls/me.key"),
        ("OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY", "/tls/metrics.key"),
    ]);
    let file = |name: &'static str, path: &str| TlsFile {
        variable: name,
        path: path.into(),
    };
    let certificate = file("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/tls/me.pem");
    assert_eq!(
        settings.traces.tls,
        TlsFiles {
            certificate: Some(file(
                "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
                "/tls/traces-ca.pem"
            )),
            client: Some(ClientFiles {
                certificate: certificate.clone(),
                key: file("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/tls/me.key"),
            }),
        }
    );
    assert_eq!(
        settings.metrics.tls,
        TlsFiles {
            certificate: Some(file("OTEL_EXPORTER_OTLP_CERTIFICATE", "/tls/ca.pem")),
            client: Some(ClientFiles {
                certificate,
                key: file("OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY", "/tls/metrics.key"),
            }),
        }
    );
    assert_eq!(value(&settings, "traces.certificate"), "/tls/traces-ca.pem");
    assert_eq!(quiet(&[HTTPS]).traces.tls, TlsFiles::NONE);
}

#[test]
fn half_of_a_client_identity_is_not_used_and_the_other_half_is_named() {
    let certificate = "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE";
    let key = "OTEL_EXPORTER_OTLP_CLIENT_KEY";
    for (given, missing) in [(certificate, key), (key, certificate)] {
        let settings = warned(&[HTTPS, (given, "/tls/me")], &[given, missing]);
        assert_eq!(settings.traces.tls, TlsFiles::NONE);
    }
}

#[test]
fn files_for_tls_are_of_no_use_in_clear_text() {
    let name = "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE";
    for vars in [vec![], vec![(ENDPOINT, "http://collector:4317")]] {
        let mut vars = vars;
        vars.push((name, "/tls/ca.pem"));
        let settings = warned(&vars, &[name, "traces", "clear text"]);
        assert_eq!(settings.traces.tls, TlsFiles::NONE);
    }
}

#[test]
fn an_address_without_a_scheme_is_what_the_insecure_switch_says() {
    let shared = "OTEL_EXPORTER_OTLP_INSECURE";
    let address = (ENDPOINT, "collector:4317");
    for (vars, expected) in [
        (vec![(shared, "true")], "http://collector:4317"),
        (vec![(shared, " FALSE ")], "https://collector:4317"),
        (
            vec![
                (shared, "true"),
                ("OTEL_EXPORTER_OTLP_TRACES_INSECURE", "false"),
            ],
            "https://collector:4317",
        ),
    ] {
        let mut vars = vars;
        vars.push(address);
        assert_eq!(quiet(&vars).traces.endpoint, expected, "{vars:?}");
    }
    // A scheme has the last word.
    let settings = quiet(&[HTTPS, (shared, "true")]);
    assert_eq!(settings.traces.endpoint, HTTPS.1);
    let local = (ENDPOINT, "localhost:4317");
    for garbage in ["1", "yes", "off"] {
        let settings = warned(
            &[local, (shared, garbage)],
            &[shared, garbage, "true or false"],
        );
        assert_eq!(settings.traces.endpoint, "http://localhost:4317");
    }
}

#[test]
fn paths_of_keys_and_pasted_certificates_are_shown_nowhere() {
    let settings = quiet(&[
        HTTPS,
        (
            "OTEL_EXPORTER_OTLP_CERTIFICATE",
            "-----BEGIN CERTIFICATE-----S3CR3T",
        ),
        (
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
            "-----BEGIN CERTIFICATE-----S3CR3T",
        ),
        (
            "OTEL_EXPORTER_OTLP_CLIENT_KEY",
            "-----BEGIN PRIVATE KEY-----S3CR3T",
        ),
    ]);
    assert!(settings.traces.tls.certificate.is_some());
    let shown = format!("{settings:?} {:?}", settings.traces);
    assert!(!shown.contains("S3CR3T"), "{shown}");
}
