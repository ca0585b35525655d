//! Standard variables that are not about the collector.

use gym_telemetry_core::env::{self, SETTINGS};

use super::{ON, quiet, resolve, try_resolve, warned};
use crate::settings::{ExporterKind, Sampler, Settings};
use crate::test_env::Vars;

#[test]
fn the_exporter_of_a_signal_is_the_gyms_then_the_signals_then_otlp() {
    use ExporterKind::{Console, None, Otlp};
    let logs = ("NEMO_GYM_OTEL_LOGS_ENABLED", "1");
    for (vars, expected) in [
        (vec![], [Otlp, Otlp, Otlp]),
        (
            vec![("OTEL_TRACES_EXPORTER", "console")],
            [Console, Otlp, Otlp],
        ),
        (vec![("OTEL_METRICS_EXPORTER", "none")], [Otlp, None, Otlp]),
        (
            vec![("OTEL_LOGS_EXPORTER", " Console ")],
            [Otlp, Otlp, Console],
        ),
        (vec![("OTEL_LOGS_EXPORTER", " ")], [Otlp, Otlp, Otlp]),
        (
            vec![
                ("OTEL_TRACES_EXPORTER", "none"),
                ("NEMO_LENS_EXPORTER", "console"),
            ],
            [Console, Console, Console],
        ),
        (
            vec![
                ("OTEL_TRACES_EXPORTER", "console"),
                ("NEMO_GYM_OTEL_EXPORTER", "otlp"),
            ],
            [Otlp, Otlp, Otlp],
        ),
        (
            vec![("NEMO_GYM_OTEL_TRACES_ENABLED", "0")],
            [None, Otlp, Otlp],
        ),
    ] {
        let mut vars = vars;
        vars.push(logs);
        let settings = quiet(&vars);
        let exporters =
            [settings.traces, settings.metrics, settings.logs].map(|signal| signal.exporter);
        assert_eq!(exporters, expected, "{vars:?}");
    }
    assert_eq!(
        quiet(&[]).logs.exporter,
        None,
        "logs are off unless switched on"
    );
    for word in ["zipkin", "otlp,console", "stderr", "OTLP console"] {
        let settings = warned(
            &[("OTEL_TRACES_EXPORTER", word)],
            &["OTEL_TRACES_EXPORTER", word, "otlp"],
        );
        assert_eq!(settings.traces.exporter, Otlp, "{word}");
    }
}

#[test]
fn the_standard_sampler_survives_every_bad_argument() {
    let name = "OTEL_TRACES_SAMPLER";
    let sampler = |parent_based, ratio| Sampler {
        parent_based,
        ratio,
    };
    for (text, expected) in [
        ("", Sampler::DEFAULT),
        ("always_on", sampler(false, 1.0)),
        ("ALWAYS_ON", sampler(false, 1.0)),
        ("always_off ", sampler(false, 0.0)),
        ("traceidratio", sampler(false, 1.0)),
        ("parentbased_always_on", sampler(true, 1.0)),
        ("parentbased_always_off", sampler(true, 0.0)),
        ("parentbased_traceidratio", sampler(true, 1.0)),
    ] {
        assert_eq!(quiet(&[(name, text)]).sampler, expected, "{text}");
    }
    for unknown in ["sometimes", "parentbased_", "jaeger_remote", "xray"] {
        assert_eq!(
            warned(&[(name, unknown)], &[name, unknown]).sampler,
            Sampler::DEFAULT
        );
    }
    let argument = "OTEL_TRACES_SAMPLER_ARG";
    let ratio = (name, "traceidratio");
    for (text, expected) in [
        (" 0.5 ", 0.5),
        ("0", 0.0),
        ("1", 1.0),
        ("1e-2", 0.01),
        ("", 1.0),
    ] {
        assert_eq!(
            quiet(&[ratio, (argument, text)]).sampler,
            sampler(false, expected),
            "{text}"
        );
    }
    for garbage in ["NaN", "inf", "-1", "1.5", "abc"] {
        let settings = warned(&[ratio, (argument, garbage)], &[argument, garbage]);
        assert_eq!(settings.sampler, sampler(false, 1.0), "{garbage}");
    }
    quiet(&[(name, "always_on"), (argument, "abc")]);
}

#[test]
fn the_gyms_sampler_decides_once_for_the_process_and_replaces_the_standard_one() {
    let on = ("NEMO_LENS_SAMPLER_ENABLED", "1");
    for (rate, ratio) in [("1", 1.0), ("0", 0.0), ("0.785", 0.0), ("0.7851", 1.0)] {
        let vars = [
            on,
            ("NEMO_GYM_OTEL_EXPORT_SAMPLE_RATE", rate),
            ("OTEL_TRACES_SAMPLER", "always_off"),
        ];
        assert_eq!(
            quiet(&vars).sampler,
            Sampler {
                parent_based: false,
                ratio
            },
            "{rate}"
        );
    }
    assert_eq!(
        quiet(&[("NEMO_GYM_OTEL_EXPORT_SAMPLE_RATE", "0")]).sampler,
        Sampler::DEFAULT
    );
}

#[test]
fn a_sampler_becomes_the_one_of_the_sdk() {
    for (name, argument, expected) in [
        ("", "", "ParentBased(AlwaysOn)"),
        ("always_on", "", "AlwaysOn"),
        ("always_off", "", "AlwaysOff"),
        ("traceidratio", "0.5", "TraceIdRatioBased(0.5)"),
        ("traceidratio", "0", "AlwaysOff"),
        ("parentbased_always_off", "", "ParentBased(AlwaysOff)"),
        (
            "parentbased_traceidratio",
            "0.5",
            "ParentBased(TraceIdRatioBased(0.5))",
        ),
    ] {
        let vars = [
            ("OTEL_TRACES_SAMPLER", name),
            ("OTEL_TRACES_SAMPLER_ARG", argument),
        ];
        assert_eq!(
            format!("{:?}", quiet(&vars).sampler.to_sdk()),
            expected,
            "{name}"
        );
    }
}

#[test]
fn propagation_is_always_w3c_unless_switched_off() {
    let name = "OTEL_PROPAGATORS";
    for text in [
        "",
        "tracecontext",
        "baggage , TraceContext",
        "tracecontext,",
    ] {
        assert!(quiet(&[(name, text)]).propagate, "{text}");
    }
    assert!(!quiet(&[(name, " NONE ")]).propagate);
    for other in ["b3", "tracecontext,b3", "jaeger"] {
        let settings = warned(
            &[(name, other)],
            &[name, other.rsplit(',').next().unwrap_or(other)],
        );
        assert!(settings.propagate, "{other}");
    }
}

#[test]
fn the_service_name_is_the_standard_variable_then_the_launch_attribute_then_the_gym() {
    assert_eq!(quiet(&[]).service_name, "nemo-gym");
    let launch = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=launched");
    assert_eq!(quiet(&[launch]).service_name, "launched");
    assert_eq!(
        quiet(&[launch, ("OTEL_SERVICE_NAME", " own ")]).service_name,
        "own"
    );
    assert_eq!(
        quiet(&[("OTEL_SERVICE_NAME", " ")]).service_name,
        "nemo-gym"
    );
}

#[test]
fn launch_attributes_are_decoded_or_left_out_as_a_whole() {
    let name = "OTEL_RESOURCE_ATTRIBUTES";
    let settings = quiet(&[(name, " a = 1 , b%20c=x%2Cy%3Dz,,d=")]);
    let expected = [("a", "1"), ("b c", "x,y=z"), ("d", "")];
    assert_eq!(
        settings.launch_attributes,
        expected.map(|(k, v)| (k.to_owned(), v.to_owned()))
    );
    for garbage in ["a", "a=1,b", "=1", "a=%zz", "a=%f", "a=%ff", "ok=1,S3CR3T"] {
        let settings = warned(&[(name, garbage)], &[name]);
        assert!(settings.launch_attributes.is_empty(), "{garbage}");
        assert!(!settings.warnings[0].contains("S3CR3T"));
    }
}

#[test]
fn a_variable_that_is_not_unicode_is_named_and_ignored() {
    let standard = [
        env::OTEL_SERVICE_NAME,
        env::OTEL_RESOURCE_ATTRIBUTES,
        env::OTEL_EXPORTER_OTLP_ENDPOINT,
        env::OTEL_EXPORTER_OTLP_HEADERS,
        env::OTEL_EXPORTER_OTLP_PROTOCOL,
        env::OTEL_METRIC_EXPORT_INTERVAL,
        env::OTEL_TRACES_EXPORTER,
        env::OTEL_TRACES_SAMPLER,
        env::OTEL_PROPAGATORS,
        env::OTEL_SDK_DISABLED,
    ];
    let ours = SETTINGS
        .iter()
        .filter(|setting| **setting != env::ENABLED)
        .map(|setting| setting.gym);
    for name in ours.chain(standard) {
        let vars = Vars::new(&[ON])
            .with_bytes(name, b"S3CR3T\xff")
            .with_bytes("JUNK", b"\xff");
        let settings = Settings::resolve(&vars).expect("no error").expect("on");
        let [warning] = settings.warnings.as_slice() else {
            panic!("{name}: {:?}", settings.warnings);
        };
        assert!(
            warning.contains(name) && !warning.contains("S3CR3T"),
            "{warning}"
        );
    }
}

#[test]
fn a_huge_value_is_not_repeated_in_full() {
    let huge = "x".repeat(1 << 20);
    let settings = resolve(&[
        ("OTEL_TRACES_EXPORTER", &huge),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", &huge),
    ]);
    assert!(settings.warnings.iter().all(|warning| warning.len() < 500));
    let error = try_resolve(&[("NEMO_GYM_OTEL_EXPORTER", &huge)]).expect_err("no exporter");
    assert!(error.to_string().len() < 500);
}

#[test]
fn no_secret_is_shown() {
    let settings = resolve(&[
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization=Bearer%20S3CR3T",
        ),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-api-key=S3CR3T"),
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "http://u:S3CR3T@h/?api_key=S3CR3T",
        ),
        ("OTEL_RESOURCE_ATTRIBUTES", "api_key=S3CR3T"),
        ("OTEL_PROPAGATORS", "b3"),
    ]);
    assert_eq!(
        settings.traces.headers[0].1, "S3CR3T",
        "the collector needs it"
    );
    let shown = format!("{settings:?} {:?} {:?}", settings.traces, settings.metrics);
    assert!(!shown.contains("S3CR3T"), "{shown}");
}
