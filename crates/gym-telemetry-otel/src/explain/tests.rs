use gym_telemetry_core::TelemetryConfig;
use gym_telemetry_core::config::{
    ConfigSource, EffectiveConfig, FindingKind, ProbeOutcome, Severity,
};

use super::{effective_config, explain, probe_telemetry};
use crate::collector::{Collector, refusing_endpoint};
use crate::test_env::Vars;
use crate::test_process::alone;

const ON: (&str, &str) = ("NEMO_GYM_OTEL_ENABLED", "1");

fn of(vars: &[(&str, &str)]) -> EffectiveConfig {
    explain(&Vars::new(vars).with(ON.0, ON.1), None)
}

/// What is suspicious but not worth a word in a run of the defaults.
fn kinds(config: &EffectiveConfig) -> Vec<FindingKind> {
    let mut kinds: Vec<_> = config.findings.iter().map(|finding| finding.kind).collect();
    kinds.retain(|kind| *kind != FindingKind::OneTrace);
    kinds
}

#[track_caller]
fn found(vars: &[(&str, &str)], kind: FindingKind, parts: &[&str]) {
    let config = of(vars);
    let messages: Vec<_> = config
        .of_kind(kind)
        .map(|finding| finding.message.as_str())
        .collect();
    let names_all = |message: &&str| parts.iter().all(|part| message.contains(part));
    assert!(
        messages.iter().any(names_all),
        "{vars:?}: {parts:?} not in {:?}",
        config.findings
    );
}

#[test]
fn nothing_is_suspicious_about_the_defaults_but_that_a_run_is_one_trace() {
    let config = of(&[]);
    assert!(config.is_enabled);
    assert_eq!(kinds(&config), []);
    assert_eq!(config.findings.len(), 1, "{:?}", config.findings);
    assert_eq!(config.findings[0].severity, Severity::Note);
    let quiet = of(&[("NEMO_GYM_OTEL_SPAN_GROUPS", "per_rollout")]);
    assert_eq!(quiet.findings, []);
}

#[test]
fn a_setting_names_its_source_and_everybody_who_was_not_heard() {
    let config = of(&[
        ("NEMO_GYM_OTEL_SPAN_GROUPS", "per_rollout"),
        ("NEMO_LENS_SPAN_GROUPS", "all"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=S3CR3T"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=S3CR3T"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:S3CR3T@h:4317"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://own:4317"),
    ]);
    let overrides = |name: &str| -> Vec<_> {
        let setting = config.setting(name).unwrap_or_else(|| panic!("no {name}"));
        let overridden = setting.overrides.iter();
        overridden
            .map(|overridden| (overridden.source.to_string(), overridden.value.clone()))
            .collect()
    };
    let pair = |source: &str, value: &str| (source.to_owned(), value.to_owned());
    assert_eq!(
        overrides("span_groups"),
        [pair("NEMO_LENS_SPAN_GROUPS", "all")]
    );
    assert_eq!(
        overrides("traces.endpoint"),
        [pair("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4317")]
    );
    assert_eq!(
        overrides("traces.header_names"),
        [pair("OTEL_EXPORTER_OTLP_HEADERS", "[REDACTED]")]
    );
    assert_eq!(overrides("metrics.endpoint"), []);
    let source = &config.setting("span_groups").expect("it is there").source;
    assert_eq!(source.to_string(), "NEMO_GYM_OTEL_SPAN_GROUPS");
    assert!(!format!("{config:?}").contains("S3CR3T"), "{config:?}");
}

#[test]
fn settings_that_hardly_anybody_wants_are_found() {
    use FindingKind as K;
    let name = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let http = ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
    found(
        &[(name, "http://h:4318")],
        K::PortMismatch,
        &["traces", "grpc", "4318", "HTTP"],
    );
    found(
        &[(name, "http://h:4317"), http],
        K::PortMismatch,
        &["metrics", "4317", "gRPC"],
    );
    for groups in ["rollout,server", "rollout,http_client"] {
        let missing = if groups.contains("server") {
            "http_client"
        } else {
            "server"
        };
        found(
            &[("NEMO_GYM_OTEL_SPAN_GROUPS", groups)],
            K::BrokenTraces,
            &[groups, missing],
        );
    }
    found(
        &[("OTEL_PROPAGATORS", "none")],
        K::BrokenTraces,
        &["OTEL_PROPAGATORS"],
    );
    found(&[], K::OneTrace, &["per_rollout"]);
    found(
        &[("OTEL_TRACES_SAMPLER", "always_off")],
        K::NothingSampled,
        &["OTEL_TRACES_SAMPLER"],
    );
    found(
        &[
            ("NEMO_GYM_OTEL_SAMPLER_ENABLED", "1"),
            ("NEMO_GYM_OTEL_EXPORT_SAMPLE_RATE", "0.1"),
        ],
        K::NothingSampled,
        &["NEMO_GYM_OTEL_EXPORT_SAMPLE_RATE"],
    );
    found(&[(name, "  ")], K::BlankVariable, &[name]);
    found(
        &[("NEMO_GYM_OTEL_SPAN_GROUPS", "default,sandbx")],
        K::UnknownName,
        &["sandbx", "did you mean sandbox?"],
    );
    found(
        &[("NEMO_GYM_OTEL_SPANGROUPS", "all")],
        K::UnknownName,
        &[
            "NEMO_GYM_OTEL_SPANGROUPS",
            "did you mean NEMO_GYM_OTEL_SPAN_GROUPS?",
        ],
    );
    found(
        &[("OTEL_EXPORTER_OTLP_ENDPOINTS", "http://h")],
        K::UnknownName,
        &["did you mean OTEL_EXPORTER_OTLP_ENDPOINT?"],
    );
    found(
        &[
            ("OTEL_TRACES_EXPORTER", "none"),
            ("OTEL_METRICS_EXPORTER", "none"),
        ],
        K::NothingExported,
        &["neither traces nor metrics"],
    );
    found(
        &[("OTEL_EXPORTER_OTLP_TIMEOUT", "10s")],
        K::Ignored,
        &["OTEL_EXPORTER_OTLP_TIMEOUT"],
    );
    let https = (name, "https://h:4317");
    found(
        &[https, ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/no/such/ca.pem")],
        K::UnreadableFile,
        &["/no/such/ca.pem"],
    );
    let pasted = "-----BEGIN CERTIFICATE-----S3CR3T";
    let config = of(&[https, ("OTEL_EXPORTER_OTLP_CERTIFICATE", pasted)]);
    assert_eq!(kinds(&config), [K::UnreadableFile]);
    assert!(!format!("{config:?}").contains("S3CR3T"), "{config:?}");
}

#[test]
fn a_proxy_is_in_the_way_unless_the_collector_is_exempt_or_here() {
    use FindingKind::Proxy;
    let name = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let proxy = ("https_proxy", "http://u:S3CR3T@proxy:3128");
    let https = (name, "https://collector.example:4317");
    found(
        &[https, proxy],
        Proxy,
        &["https_proxy", "collector.example"],
    );
    found(
        &[(name, "http://collector:4317"), ("ALL_PROXY", "socks5://p")],
        Proxy,
        &["ALL_PROXY"],
    );
    for vars in [
        vec![proxy, (name, "https://localhost:4317")],
        vec![proxy, (name, "https://127.0.0.1:4317")],
        vec![proxy, (name, "http://collector:4317")],
        vec![proxy, https, ("NO_PROXY", "other, .example")],
        vec![proxy, https, ("no_proxy", "*")],
        vec![https],
    ] {
        assert_eq!(of(&vars).of_kind(Proxy).count(), 0, "{vars:?}");
    }
    assert!(!format!("{:?}", of(&[https, proxy])).contains("S3CR3T"));
}

#[test]
fn telemetry_that_is_off_is_explained_all_the_same() {
    let config = explain(&Vars::default(), None);
    assert!(!config.is_enabled);
    assert_eq!(kinds(&config), [FindingKind::Off]);
    assert!(config.findings[0].message.contains("NEMO_GYM_OTEL_ENABLED"));
    assert!(config.setting("traces.endpoint").is_some());
    let config = of(&[("OTEL_SDK_DISABLED", "true")]);
    assert!(!config.is_enabled);
    assert!(config.findings[0].message.contains("OTEL_SDK_DISABLED"));
    let config = of(&[("NEMO_GYM_OTEL_TRACES_ENABLED", "S3CR3T-maybe")]);
    assert!(!config.is_enabled);
    assert_eq!(kinds(&config), [FindingKind::Refused]);
    assert!(
        config.findings[0]
            .message
            .contains("NEMO_GYM_OTEL_TRACES_ENABLED")
    );
}

fn publish(text: &str) -> TelemetryConfig {
    let config = crate::load_telemetry_config(&ConfigSource::yaml(text)).expect("a valid block");
    let _ = crate::configure_telemetry_env(Some(&config));
    config
}

#[test]
fn the_block_is_explained_with_its_lines() {
    alone(
        &[
            ("NEMO_GYM_OTEL_SPAN_GROUPS", "all"),
            ("OTEL_METRICS_EXPORTER", "none"),
        ],
        || {
            publish(
                "telemetry:\n  enabled: true\n  span_groups: default\n  exporter: console\n  \
                 exporterr: x\n  memory_profiling:\n    intervall_seconds: 3\n",
            );
            let config = effective_config();
            let exporter = config.setting("traces.exporter").expect("a setting");
            assert_eq!(exporter.value, "console");
            assert!(
                exporter.source.to_string().contains("line 4"),
                "{exporter:?}"
            );
            let groups = config.setting("span_groups").expect("a setting");
            assert_eq!(groups.value, "all");
            assert_eq!(groups.overrides.len(), 1, "{groups:?}");
            assert_eq!(groups.overrides[0].value, "default");
            assert!(groups.overrides[0].source.to_string().contains("line 3"));
            let unknown: Vec<_> = config.of_kind(FindingKind::UnknownName).collect();
            assert_eq!(unknown.len(), 2, "{unknown:?}");
            assert!(unknown[0].message.contains("line 5"), "{unknown:?}");
            assert!(unknown[0].message.contains("did you mean exporter?"));
            assert!(
                unknown[1]
                    .message
                    .contains("memory_profiling.interval_seconds?")
            );
        },
    );
}

#[test]
fn a_block_that_leaves_telemetry_off_is_explained_too() {
    alone(&[], || {
        publish("telemetry:\n  enabled: false\n  span_groups: per_rollout\n");
        let config = effective_config();
        assert!(!config.is_enabled);
        let off: Vec<_> = config.of_kind(FindingKind::Off).collect();
        assert!(off[0].message.contains("line 2"), "{off:?}");
        assert_eq!(
            config.setting("span_groups").expect("a setting").value,
            "per_rollout"
        );
        assert!(!crate::is_telemetry_env_enabled());
    });
}

#[test]
fn a_block_without_the_switch_is_told_how_to_switch_telemetry_on() {
    alone(&[], || {
        publish("telemetry:\n  span_groups: all\n");
        let config = effective_config();
        let off: Vec<_> = config.of_kind(FindingKind::Off).collect();
        assert!(off[0].message.contains("NEMO_GYM_OTEL_ENABLED"), "{off:?}");
    });
}

#[test]
fn every_endpoint_that_answers_says_so() {
    let collector = Collector::start();
    let endpoint = collector.endpoint();
    for protocol in ["grpc", "http/protobuf"] {
        alone(
            &[
                ON,
                ("NEMO_GYM_OTEL_LOGS_ENABLED", "1"),
                ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ],
            || {
                let reports = probe_telemetry();
                let of = |signal| {
                    let report = reports.iter().find(|report| report.signal == signal);
                    report.expect("a report of every signal").outcome.clone()
                };
                assert_eq!(of("traces"), ProbeOutcome::Accepted(None));
                assert_eq!(of("metrics"), ProbeOutcome::Accepted(None));
                assert_eq!(of("logs"), ProbeOutcome::Accepted(None));
            },
        );
    }
}

#[test]
fn an_endpoint_that_does_not_answer_says_why() {
    let endpoint = refusing_endpoint();
    alone(
        &[
            ON,
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
            ("OTEL_METRICS_EXPORTER", "console"),
        ],
        || {
            let reports = probe_telemetry();
            assert_eq!(
                reports[0].outcome,
                ProbeOutcome::Failed("connection refused".to_owned())
            );
            assert!(reports[0].destination.starts_with("http://"), "{reports:?}");
            assert!(matches!(reports[1].outcome, ProbeOutcome::NotSent(_)));
            assert_eq!(
                reports[2].outcome,
                ProbeOutcome::NotSent("the signal is off".to_owned())
            );
        },
    );
}
