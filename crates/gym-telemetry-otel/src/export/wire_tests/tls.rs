//! Exports over TLS.

use std::path::Path;

use gym_telemetry_core::receipt::Outcome;
use gym_telemetry_core::{ServerIdentity, env};

use super::super::report::{BuildError, Cause, ExportReport, Trust};
use super::super::span::SpanPipe;
use super::front::{Authority, Clients, Front, Identity};
use super::{codecs, pipe, resource, run, settings, span};
use crate::collector::{Collector, DEADLINE};
use crate::metrics::{MetricsPipe, record_rollout};
use crate::settings::{ClientFiles, Protocol, Settings, TlsFile};
use crate::test_process::{alone, command_for, spawn};
use crate::{Span, SpanOptions};

const ALL: [Protocol; 3] = [Protocol::Grpc, Protocol::HttpProtobuf, Protocol::HttpJson];
const CA: &str = env::OTEL_EXPORTER_OTLP_CERTIFICATE;

fn file(variable: &'static str, path: &Path) -> TlsFile {
    TlsFile {
        variable,
        path: path.to_owned(),
    }
}

fn client(identity: &Identity) -> ClientFiles {
    ClientFiles {
        certificate: file(
            env::OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE,
            &identity.certificate_file,
        ),
        key: file(env::OTEL_EXPORTER_OTLP_CLIENT_KEY, &identity.key_file),
    }
}

/// Settings for spans to `endpoint`, of whose collector the authority is trusted.
fn trusting(protocol: Protocol, endpoint: &str, authority: &Authority) -> Settings {
    let mut settings = settings(protocol, endpoint);
    settings.traces.tls.certificate = Some(file(CA, &authority.file()));
    settings.metrics.tls = settings.traces.tls.clone();
    settings
}

fn export(settings: &Settings) -> ExportReport {
    run(async { pipe(settings).export(vec![span("a")]).await })
}

fn refused(settings: &Settings) -> Cause {
    let report = export(settings);
    assert_eq!((report.exported, report.failed), (0, 1));
    report.cause.expect("a reason")
}

#[test]
fn a_collector_of_a_private_authority_is_trusted_over_every_protocol() {
    let authority = Authority::new();
    let collector = Collector::start_with(codecs::ALL);
    for version in rustls::ALL_VERSIONS {
        let front = Front::with_versions(
            collector.address(),
            &authority.server(),
            Clients::Anybody,
            &[version],
        );
        for protocol in ALL {
            let settings = trusting(protocol, &front.endpoint(), &authority);
            assert_eq!(
                export(&settings),
                ExportReport::delivered(1),
                "{protocol:?} {version:?}"
            );
            let host = format!("https://localhost:{}", front.port());
            let settings = trusting(protocol, &host, &authority);
            assert_eq!(export(&settings), ExportReport::delivered(1));
        }
    }
    let received = collector.received();
    assert_eq!(received.spans().count(), 4 * ALL.len());
    assert_eq!(
        received.traces[0].header("authorization"),
        ["Bearer S3CR3T"]
    );
}

#[test]
fn metrics_go_over_tls_too() {
    alone(&[], || {
        let authority = Authority::new();
        let collector = Collector::start();
        let front = Front::start(collector.address(), &authority.server(), Clients::Anybody);
        for protocol in [Protocol::Grpc, Protocol::HttpProtobuf] {
            let settings = trusting(protocol, &front.endpoint(), &authority);
            let report = run(async {
                let pipe = MetricsPipe::build(&settings, &resource())
                    .expect("the settings are fine")
                    .expect("metrics are on");
                record_rollout(std::time::Duration::from_secs(1));
                pipe.collect_and_export().await
            });
            assert_eq!(report.failed, 0, "{protocol:?}");
            assert!(report.exported > 0, "{protocol:?}");
        }
        assert_eq!(collector.received().metrics.len(), 2);
    });
}

#[test]
fn a_collector_that_wants_to_know_who_calls_is_told() {
    let authority = Authority::new();
    let callers = Authority::new();
    let collector = Collector::start_with(codecs::ALL);
    for version in rustls::ALL_VERSIONS {
        let front = Front::with_versions(
            collector.address(),
            &authority.server(),
            Clients::Of(&callers),
            &[version],
        );
        for protocol in ALL {
            let mut settings = trusting(protocol, &front.endpoint(), &authority);
            assert_eq!(
                refused(&settings),
                Cause::ClientWanted,
                "{protocol:?} {version:?}"
            );
            settings.traces.tls.client = Some(client(&authority.client()));
            assert_eq!(
                refused(&settings),
                Cause::ClientRefused,
                "{protocol:?} {version:?}"
            );
            settings.traces.tls.client = Some(client(&callers.client()));
            assert_eq!(
                export(&settings),
                ExportReport::delivered(1),
                "{protocol:?} {version:?}"
            );
        }
    }
}

#[test]
fn a_certificate_that_does_not_fit_is_told_by_its_fault() {
    let authority = Authority::new();
    let other = Authority::new();
    let collector = Collector::start();
    for (identity, trusted, cause) in [
        (
            authority.server(),
            &other,
            Cause::Untrusted(Trust::File(CA)),
        ),
        (
            authority.server_for(&["elsewhere"]),
            &authority,
            Cause::OtherName,
        ),
        (authority.expired_server(), &authority, Cause::OutOfDate),
        (authority.as_server(), &authority, Cause::AuthorityAsServer),
    ] {
        let front = Front::start(collector.address(), &identity, Clients::Anybody);
        for protocol in ALL {
            let settings = trusting(protocol, &front.endpoint(), trusted);
            assert_eq!(refused(&settings), cause, "{protocol:?}");
        }
        // The system trusts none of them.
        let settings = settings(Protocol::Grpc, &front.endpoint());
        assert_ne!(export(&settings), ExportReport::delivered(1));
    }
    assert_eq!(collector.attempts(), 0, "nothing was sent to anybody");
    let told = Cause::Untrusted(Trust::System).to_string();
    assert!(told.contains(CA), "{told}");
}

#[test]
fn a_collector_of_the_wrong_authority_costs_one_warning_that_says_so() {
    let (authority, other) = (Authority::new(), Authority::new());
    let collector = Collector::start();
    let front = Front::start(collector.address(), &authority.server(), Clients::Anybody);
    let mut command = command_for(|| {
        let telemetry = crate::init_telemetry(ServerIdentity::builder().build());
        let telemetry = telemetry.expect("telemetry is on");
        for _ in 0..3 {
            Span::start("work", SpanOptions::default(), |_| {}).end();
            assert!(matches!(telemetry.flush(DEADLINE), Outcome::Failed(_)));
        }
        let receipt = telemetry.shutdown(DEADLINE);
        assert_eq!((receipt.traces.exported, receipt.traces.failed), (0, 3));
    });
    command
        .env("NEMO_GYM_OTEL_ENABLED", "1")
        .env("NEMO_GYM_OTEL_METRICS_ENABLED", "0")
        .env(env::OTEL_EXPORTER_OTLP_ENDPOINT, front.endpoint())
        .env(CA, other.file());
    let mut child = spawn(&mut command);
    assert!(child.wait().success(), "{}", child.stderr());
    let said = child.stderr();
    let warnings: Vec<_> = said
        .lines()
        .filter(|line| line.starts_with("gym-telemetry:"))
        .collect();
    let [warning] = warnings.as_slice() else {
        panic!("not one warning: {said}")
    };
    for part in ["certificate is signed by nobody", CA, &front.endpoint()] {
        assert!(warning.contains(part), "no {part:?} in {warning}");
    }
}

#[test]
fn a_far_end_without_tls_is_recognised_and_gets_nothing_in_clear_text() {
    let authority = Authority::new();
    let collector = Collector::start();
    let endpoint = format!("https://{}", collector.address());
    for protocol in ALL {
        let settings = trusting(protocol, &endpoint, &authority);
        assert_eq!(refused(&settings), Cause::NoTls, "{protocol:?}");
    }
    assert_eq!(collector.attempts(), 0);
    let front = Front::start(collector.address(), &authority.server(), Clients::Anybody);
    let clear = format!("http://127.0.0.1:{}", front.port());
    for protocol in ALL {
        assert_ne!(
            export(&settings(protocol, &clear)),
            ExportReport::delivered(1),
            "{protocol:?}"
        );
    }
    assert_eq!(collector.attempts(), 0);
}

#[test]
fn the_authorities_of_the_system_are_those_of_ssl_cert_file() {
    let authority = Authority::new();
    let collector = Collector::start();
    let front = Front::start(collector.address(), &authority.server(), Clients::Anybody);
    let roots = authority.file();
    for protocol in ["grpc", "http/protobuf"] {
        let variables = [
            ("NEMO_GYM_OTEL_ENABLED", "1"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &front.endpoint()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ("SSL_CERT_FILE", roots.to_str().expect("text")),
        ];
        alone(&variables, || {
            let settings = Settings::of_process()
                .expect("valid settings")
                .expect("telemetry is on");
            assert_eq!(export(&settings), ExportReport::delivered(1));
        });
    }
    assert_eq!(collector.received().spans().count(), 2);
}

#[test]
fn a_system_without_authorities_is_told_by_the_variable() {
    let variables = [
        ("SSL_CERT_FILE", "/nowhere/ca.pem"),
        ("SSL_CERT_DIR", "/nowhere"),
    ];
    alone(&variables, || {
        let error = unbuilt(&settings(Protocol::Grpc, "https://h:1"));
        assert!(error.contains("SSL_CERT_FILE"), "{error}");
        assert!(error.contains("/nowhere/ca.pem"), "{error}");
    });
}

fn unbuilt(settings: &Settings) -> String {
    let error = run(async { SpanPipe::build(settings, &resource()).err() });
    let error = error.expect("a reason");
    assert!(matches!(error, BuildError::Tls(_)), "{error:?}");
    error.to_string()
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_variable_and_nothing_is_sent() {
    let authority = Authority::new();
    let directory = authority.directory();
    let put = |name: &str, text: &[u8]| {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("a writable file");
        path
    };
    let (me, strangers) = (authority.client(), Authority::new());
    let other_key = strangers.client().key_file;
    let encrypted = put(
        "encrypted.key",
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nUzNDUjNU\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let garbage = put(
        "garbage.pem",
        b"-----BEGIN CERTIFICATE-----\n%S3CR3T\n-----END CERTIFICATE-----\n",
    );
    let no_certificate = put(
        "odd.pem",
        b"-----BEGIN CERTIFICATE-----\nUzNDUjNU\n-----END CERTIFICATE-----\n",
    );
    let empty = put("empty.pem", b"");
    let (variable, key) = (
        env::OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE,
        env::OTEL_EXPORTER_OTLP_CLIENT_KEY,
    );
    let ca = |path: &Path, why: &'static str| (path.to_owned(), None, vec![CA, why]);
    let pair = |certificate: &Path, key: &Path, why: Vec<&'static str>| {
        (
            authority.file(),
            Some((certificate.to_owned(), key.to_owned())),
            why,
        )
    };
    for (authorities, pair, parts) in [
        ca(Path::new("/nowhere/ca.pem"), "/nowhere/ca.pem"),
        ca(directory, "is no file"),
        ca(&empty, "no certificate in PEM form"),
        ca(&garbage, "no valid PEM"),
        ca(&no_certificate, "no certificate that can be trusted"),
        ca(
            Path::new("-----BEGIN CERTIFICATE-----S3CR3T"),
            "path of a PEM file",
        ),
        pair(
            &empty,
            &me.key_file,
            vec![variable, "empty.pem", "no certificate"],
        ),
        pair(
            &me.certificate_file,
            Path::new("/nowhere/me.key"),
            vec![key, "/nowhere/me.key"],
        ),
        pair(
            &me.certificate_file,
            &empty,
            vec![key, "empty.pem", "no private key"],
        ),
        pair(
            &me.certificate_file,
            &encrypted,
            vec![key, "encrypted.key", "pass phrase"],
        ),
        pair(
            &me.certificate_file,
            &other_key,
            vec![variable, key, "client.pem", "client.key", "does not belong"],
        ),
    ] {
        let mut settings = settings(Protocol::Grpc, "https://h:1");
        settings.traces.tls.certificate = Some(file(CA, &authorities));
        settings.traces.tls.client = pair.map(|(certificate, key_file)| ClientFiles {
            certificate: file(variable, &certificate),
            key: file(key, &key_file),
        });
        let error = unbuilt(&settings);
        for part in parts {
            assert!(error.contains(part), "no {part:?} in {error}");
        }
        assert!(
            !error.contains("S3CR3T") && !error.contains("UzNDUjNU"),
            "{error}"
        );
    }
}
