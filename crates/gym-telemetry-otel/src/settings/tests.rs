//! Every variable: valid, blank, with spaces, garbage, and in conflict with another.

use std::time::Duration;

use gym_telemetry_core::env::{SETTINGS, Setting};

use super::*;
use crate::test_env::Vars;

const ON: (&str, &str) = ("NEMO_GYM_OTEL_ENABLED", "1");

fn try_resolve(vars: &[(&str, &str)]) -> Result<Option<Settings>, ConfigError> {
    Settings::resolve(&Vars::new(vars).with(ON.0, ON.1))
}

fn resolve(vars: &[(&str, &str)]) -> Settings {
    match try_resolve(vars) {
        Ok(Some(settings)) => settings,
        other => panic!("{vars:?}: {other:?}"),
    }
}

/// The settings of variables that must not cause a warning.
fn quiet(vars: &[(&str, &str)]) -> Settings {
    let settings = resolve(vars);
    assert!(
        settings.warnings.is_empty(),
        "{vars:?}: {:?}",
        settings.warnings
    );
    settings
}

/// The settings of variables that must cause one warning, which holds all of `parts`.
fn warned(vars: &[(&str, &str)], parts: &[&str]) -> Settings {
    let settings = resolve(vars);
    let [warning] = settings.warnings.as_slice() else {
        panic!(
            "{vars:?}: one warning expected, got {:?}",
            settings.warnings
        );
    };
    for part in parts {
        assert!(
            warning.contains(part),
            "{vars:?}: {warning:?} lacks {part:?}"
        );
    }
    settings
}

fn value<'s>(settings: &'s Settings, name: &str) -> &'s str {
    let found = settings
        .effective
        .iter()
        .find(|effective| effective.name == name);
    &found.unwrap_or_else(|| panic!("no setting {name}")).value
}

/// A setting of the gym's own, with the name it has in the block.
struct Row {
    setting: Setting,
    name: &'static str,
    default: &'static str,
    /// Values and what they come to.
    valid: &'static [(&'static str, &'static str)],
    garbage: &'static [&'static str],
}

const BOOLEAN: &[(&str, &str)] = &[
    ("1", "true"),
    ("true", "true"),
    ("YES", "true"),
    ("On", "true"),
    ("0", "false"),
    ("False", "false"),
    ("no", "false"),
    ("OFF", "false"),
];
const NO_BOOLEAN: &[&str] = &["maybe", "enabled", "2", "-1", "1.0", "true false", "tru"];
const NO_NUMBER: &[&str] = &[
    "abc", "NaN", "inf", "-inf", "infinity", "1e999", "-0.5", "1 s", "0x10", "1,5",
];

fn rows() -> Vec<Row> {
    let boolean = |setting, name, default| Row {
        setting,
        name,
        default,
        valid: BOOLEAN,
        garbage: NO_BOOLEAN,
    };
    vec![
        boolean(env::TRACES_ENABLED, "traces_enabled", "true"),
        boolean(env::METRICS_ENABLED, "metrics_enabled", "true"),
        boolean(env::LOGS_ENABLED, "logs_enabled", "false"),
        boolean(
            env::SERVICE_NAME_PER_SERVER,
            "service_name_per_server",
            "true",
        ),
        boolean(env::INSTRUMENT_AIOHTTP, "instrument_aiohttp", "true"),
        boolean(
            env::MEMORY_PROFILING_ENABLED,
            "memory_profiling.enabled",
            "false",
        ),
        boolean(env::SAMPLER_ENABLED, "sampler_enabled", "false"),
        Row {
            setting: env::EXPORTER,
            name: "traces.exporter",
            default: "otlp",
            valid: &[
                ("otlp", "otlp"),
                ("console", "console"),
                ("Console", "console"),
            ],
            garbage: &["zipkin", "none", "otlp,console", "1"],
        },
        Row {
            setting: env::SPAN_GROUPS,
            name: "span_groups",
            default: "default",
            valid: &[
                ("all", "all"),
                ("default,sandbox", "default,sandbox"),
                (",", ","),
            ],
            garbage: &[],
        },
        Row {
            setting: env::EXPORT_SAMPLE_RATE,
            name: "export_sample_rate",
            default: "1",
            valid: &[("0", "0"), ("1", "1"), ("0.25", "0.25"), ("1e-3", "0.001")],
            garbage: &["abc", "NaN", "inf", "-0.1", "1.5", "50%"],
        },
        Row {
            setting: env::MEMORY_PROFILING_INTERVAL_SECONDS,
            name: "memory_profiling.interval_seconds",
            default: "1",
            valid: &[("0.25", "0.25"), ("60", "60")],
            garbage: &["0", "-1", "abc", "NaN", "inf", "1s"],
        },
        Row {
            setting: env::SANDBOX_RESOURCE_SAMPLE_INTERVAL_SECONDS,
            name: "sandbox_resource_sample_interval_seconds",
            default: "10",
            valid: &[("0", "0"), ("2.5", "2.5")],
            garbage: NO_NUMBER,
        },
        Row {
            setting: env::PROPAGATION_HOSTS,
            name: "propagation_hosts",
            default: "",
            valid: &[("a.example, *.B.example,", "a.example,*.b.example")],
            garbage: &[],
        },
    ]
}

#[test]
fn every_setting_has_its_default() {
    let settings = quiet(&[]);
    for row in rows() {
        assert_eq!(value(&settings, row.name), row.default, "{}", row.name);
        let effective = settings
            .effective
            .iter()
            .find(|effective| effective.name == row.name);
        assert_eq!(
            effective.map(|effective| &effective.source),
            Some(&Source::Default),
            "{}",
            row.name
        );
    }
}

#[test]
fn every_setting_takes_its_own_variable_first_and_the_stand_in_next() {
    for row in rows() {
        for name in row.setting.names() {
            for (text, expected) in row.valid {
                let spaced = format!(" \t{text}\n");
                for text in [text, spaced.as_str()] {
                    let settings = quiet(&[(name, text)]);
                    assert_eq!(value(&settings, row.name), *expected, "{name}={text:?}");
                    let source = settings
                        .effective
                        .iter()
                        .find(|known| known.name == row.name);
                    assert_eq!(
                        source.map(|known| &known.source),
                        Some(&Source::Variable(name))
                    );
                }
            }
        }
        let (Some(lens), [(first, expected), .., (last, other)]) = (row.setting.lens, row.valid)
        else {
            continue;
        };
        assert_ne!(
            expected, other,
            "{}: the row must tell the two apart",
            row.name
        );
        let settings = quiet(&[(row.setting.gym, first), (lens, last)]);
        assert_eq!(
            value(&settings, row.name),
            *expected,
            "{} over {lens}",
            row.setting.gym
        );
        let settings = quiet(&[(row.setting.gym, "  "), (lens, last)]);
        assert_eq!(value(&settings, row.name), *other, "{lens} under a blank");
        // What loses is not even looked at.
        let settings = quiet(&[(row.setting.gym, first), (lens, "gar bage")]);
        assert_eq!(value(&settings, row.name), *expected);
    }
}

#[test]
fn a_blank_variable_is_unset() {
    for row in rows() {
        for name in row.setting.names() {
            for blank in ["", "  ", "\t\n"] {
                let settings = quiet(&[(name, blank)]);
                assert_eq!(value(&settings, row.name), row.default, "{name}={blank:?}");
            }
        }
    }
}

#[test]
fn garbage_in_a_variable_of_ours_is_an_error_that_names_it() {
    for row in rows() {
        for name in row.setting.names() {
            for garbage in row.garbage {
                let error = try_resolve(&[(name, garbage)]).expect_err(garbage);
                assert_eq!(error.field(), Some(name), "{name}={garbage}");
                assert!(
                    error.to_string().contains(" use "),
                    "{error}: no accepted values"
                );
            }
        }
    }
    let error = try_resolve(&[("NEMO_GYM_OTEL_MEMORY_PROFILING_INTERVAL_SECONDS", "0")]);
    assert!(
        error
            .expect_err("0")
            .to_string()
            .contains("interval_seconds")
    );
}

#[test]
fn every_setting_is_in_the_table_or_has_a_test_of_its_own() {
    let others = [env::ENABLED, env::RUN_ID, env::USER_ID];
    for setting in SETTINGS {
        let known = rows().iter().any(|row| row.setting == *setting) || others.contains(setting);
        assert!(known, "{setting:?}");
    }
}

#[test]
fn the_switch_decides_before_anything_else_is_read() {
    let garbage = ("NEMO_GYM_OTEL_EXPORTER", "zipkin");
    for (vars, on) in [
        (vec![], false),
        (vec![("NEMO_LENS_ENABLED", "1")], true),
        (
            vec![
                ("NEMO_GYM_OTEL_ENABLED", "0"),
                ("NEMO_LENS_ENABLED", "1"),
                garbage,
            ],
            false,
        ),
        (
            vec![("NEMO_GYM_OTEL_ENABLED", " "), ("NEMO_LENS_ENABLED", "yes")],
            true,
        ),
        (
            vec![
                ("NEMO_GYM_OTEL_ENABLED", "1"),
                ("OTEL_SDK_DISABLED", "true"),
                garbage,
            ],
            false,
        ),
        (
            vec![
                ("NEMO_GYM_OTEL_ENABLED", "1"),
                ("OTEL_SDK_DISABLED", " TRUE "),
            ],
            false,
        ),
        (
            vec![
                ("NEMO_GYM_OTEL_ENABLED", "1"),
                ("OTEL_SDK_DISABLED", "false"),
            ],
            true,
        ),
        (vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:1")], false),
    ] {
        let settings = Settings::resolve(&Vars::new(&vars)).expect("no error");
        assert_eq!(settings.is_some(), on, "{vars:?}");
    }
    for word in ["1", "yes", "disabled"] {
        warned(
            &[("OTEL_SDK_DISABLED", word)],
            &["OTEL_SDK_DISABLED", word, "true"],
        );
    }
    let vars = [("NEMO_GYM_OTEL_ENABLED", "enabled")];
    let error = Settings::resolve(&Vars::new(&vars)).expect_err("no boolean word");
    assert_eq!(error.field(), Some("NEMO_GYM_OTEL_ENABLED"));
    assert!(error.to_string().contains(BOOLEAN_WORDS), "{error}");
}

#[test]
fn texts_are_taken_as_they_are() {
    let settings = quiet(&[]);
    assert_eq!((settings.run_id, settings.user_id), (None, None));
    let settings = quiet(&[
        ("NEMO_LENS_RUN_ID", "42"),
        ("NEMO_LENS_USER_ID", " kim "),
        ("SLURM_JOB_ID", "7"),
    ]);
    assert_eq!(settings.run_id.as_deref(), Some("42"));
    assert_eq!(settings.user_id.as_deref(), Some("kim"));
    let settings = quiet(&[("NEMO_GYM_OTEL_RUN_ID", ""), ("SLURM_JOB_ID", "7")]);
    assert_eq!(settings.run_id.as_deref(), Some("7"));
}

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
    for word in ["zipkin", "otlp,console", "stdout", "OTLP console"] {
        let settings = warned(
            &[("OTEL_TRACES_EXPORTER", word)],
            &["OTEL_TRACES_EXPORTER", word, "otlp"],
        );
        assert_eq!(settings.traces.exporter, Otlp, "{word}");
    }
}

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
    for (word, expected) in [("x", Grpc), ("http", Grpc), ("http/json", HttpProtobuf)] {
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
        "https://h:4317",
        "HTTPS://h",
    ] {
        let name = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        let settings = warned(&[(name, endpoint)], &[name, "traces are off"]);
        assert_eq!(settings.traces, Signal::off(), "{endpoint}");
        assert!(settings.metrics.is_on(), "{endpoint}");
    }
    let settings = resolve(&[(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "https://u:S3CR3T@h:4317?k=S3CR3T",
    )]);
    assert!(!settings.traces.is_on() && !settings.metrics.is_on());
    assert_eq!(settings.warnings.len(), 2, "{:?}", settings.warnings);
    assert!(
        settings
            .warnings
            .iter()
            .all(|warning| warning.contains("TLS")),
        "{:?}",
        settings.warnings
    );
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
