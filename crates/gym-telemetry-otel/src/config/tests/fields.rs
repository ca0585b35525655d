//! Every field: valid, of a wrong type, out of range.

use std::collections::BTreeMap;

use gym_telemetry_core::config::{
    ConfigError, ConfigErrorKind, ConfigFormat, ConfigSource, TelemetryConfig,
};

use super::load;
use crate::config::block::Loaded;
use crate::config::{lenient, strict};
use crate::test_env::Vars;

fn block(fields: &str) -> Result<Loaded, ConfigError> {
    load(&format!("telemetry:\n{fields}"), ConfigFormat::Yaml, &[])
}

/// The configuration of a block that must load without a warning.
fn quiet(fields: &str) -> TelemetryConfig {
    let loaded = block(fields).unwrap_or_else(|error| panic!("{fields}: {error}"));
    assert!(
        loaded.warnings.is_empty(),
        "{fields}: {:?}",
        loaded.warnings
    );
    loaded.config
}

/// What each field holds, as text.
fn values(config: &TelemetryConfig) -> BTreeMap<&'static str, String> {
    let option = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    BTreeMap::from([
        ("enabled", config.enabled.to_string()),
        ("exporter", config.exporter.clone()),
        ("instrument_aiohttp", config.instrument_aiohttp.to_string()),
        ("logs_enabled", config.logs_enabled.to_string()),
        (
            "memory_profiling.enabled",
            config.memory_profiling.enabled.to_string(),
        ),
        (
            "memory_profiling.interval_seconds",
            config.memory_profiling.interval_seconds.to_string(),
        ),
        ("metrics_enabled", config.metrics_enabled.to_string()),
        ("otlp_endpoint", option(&config.otlp_endpoint)),
        ("otlp_headers", option(&config.otlp_headers)),
        ("otlp_protocol", option(&config.otlp_protocol)),
        ("run_id", option(&config.run_id)),
        (
            "sandbox_resource_sample_interval_seconds",
            config.sandbox_resource_sample_interval_seconds.to_string(),
        ),
        ("service_name", config.service_name.clone()),
        (
            "service_name_per_server",
            config.service_name_per_server.to_string(),
        ),
        ("span_groups", config.span_groups.clone()),
        ("traces_enabled", config.traces_enabled.to_string()),
    ])
}

/// A field with values as they are written in YAML.
struct Row {
    field: &'static str,
    default: &'static str,
    valid: &'static [(&'static str, &'static str)],
    wrong_type: &'static [&'static str],
    out_of_range: &'static [&'static str],
}

const BOOLEANS: &[(&str, &str)] = &[
    ("true", "true"),
    ("True", "true"),
    ("yes", "true"),
    ("on", "true"),
    ("false", "false"),
    ("no", "false"),
    ("OFF", "false"),
];
const NO_BOOLEANS: &[&str] = &["\"true\"", "maybe", "1", "0", "1.0", "[true]", "{a: true}"];
const TEXTS: &[(&str, &str)] = &[
    ("abc", "abc"),
    ("' a b '", "a b"),
    ("\"true\"", "true"),
    ("'42'", "42"),
];
const NO_TEXTS: &[&str] = &["42", "1.5", "true", "[a]", "{a: b}"];
const NO_NUMBERS: &[&str] = &["\"1.5\"", "abc", "true", "[1]", "{a: 1}"];

fn rows() -> Vec<Row> {
    let row = |field, default, valid, wrong_type, out_of_range| Row {
        field,
        default,
        valid,
        wrong_type,
        out_of_range,
    };
    let boolean = |field, default| row(field, default, BOOLEANS, NO_BOOLEANS, &[]);
    let text = |field, default| row(field, default, TEXTS, NO_TEXTS, &[]);
    vec![
        boolean("enabled", "false"),
        row(
            "exporter",
            "otlp",
            &[
                ("console", "console"),
                ("stdout", "stdout"),
                ("OTLP", "OTLP"),
            ],
            NO_TEXTS,
            &["zipkin", "none"],
        ),
        boolean("instrument_aiohttp", "true"),
        boolean("logs_enabled", "false"),
        boolean("memory_profiling.enabled", "false"),
        row(
            "memory_profiling.interval_seconds",
            "1",
            &[("0.25", "0.25"), ("60", "60"), ("1e-3", "0.001")],
            NO_NUMBERS,
            &["0", "0.0", "-1", ".inf", "-.inf", ".nan", "1e999"],
        ),
        boolean("metrics_enabled", "true"),
        text("otlp_endpoint", "-"),
        text("otlp_headers", "-"),
        text("otlp_protocol", "-"),
        row(
            "run_id",
            "-",
            &[
                ("42", "42"),
                ("0042", "0042"),
                ("1e3", "1e3"),
                ("1.50", "1.50"),
                ("-7", "-7"),
                ("0x2a", "0x2a"),
                ("2f1c", "2f1c"),
                ("18446744073709551616", "18446744073709551616"),
            ],
            &["true", "[a]", "{a: b}"],
            &[],
        ),
        row(
            "sandbox_resource_sample_interval_seconds",
            "10",
            &[("0", "0"), ("2.5", "2.5")],
            NO_NUMBERS,
            &["-1", "-0.001", ".inf", ".nan"],
        ),
        text("service_name", "nemo-gym"),
        boolean("service_name_per_server", "true"),
        text("span_groups", "default"),
        boolean("traces_enabled", "true"),
    ]
}

/// A block with one field, and the field's line.
fn yaml(field: &str, value: &str) -> (String, usize) {
    match field.split_once('.') {
        Some((outer, inner)) => (format!("  {outer}:\n    {inner}: {value}\n"), 3),
        None => (format!("  {field}: {value}\n"), 2),
    }
}

#[test]
fn every_field_is_in_the_table() {
    let defaults = values(&TelemetryConfig::default());
    assert_eq!(
        rows().iter().map(|row| row.field).collect::<Vec<_>>(),
        defaults.keys().copied().collect::<Vec<_>>()
    );
    for row in rows() {
        assert_eq!(defaults[row.field], row.default, "{}", row.field);
    }
}

#[test]
fn a_valid_field_is_taken_and_its_line_remembered() {
    for row in rows() {
        for (written, expected) in row.valid {
            let (fields, line) = yaml(row.field, written);
            let config = quiet(&fields);
            let actual = values(&config);
            assert_eq!(actual[row.field], *expected, "{fields}");
            for (field, value) in values(&TelemetryConfig::default()) {
                assert!(
                    field == row.field || actual[field] == value,
                    "{fields} changed {field}"
                );
            }
            let origins: Vec<_> = config
                .origins()
                .map(|(field, origin)| (field, origin.line()))
                .collect();
            assert_eq!(origins, [(row.field, Some(line))], "{fields}");
        }
    }
}

#[test]
fn a_field_without_a_value_keeps_its_default() {
    for row in rows() {
        for nothing in [
            "",
            "null",
            "~",
            "''",
            "\"  \"",
            "${oc.env:NONE,null}",
            "${oc.env:NONE,}",
        ] {
            let config = quiet(&yaml(row.field, nothing).0);
            assert_eq!(
                values(&config)[row.field],
                row.default,
                "{}: {nothing}",
                row.field
            );
            assert_eq!(config.origin(row.field), None, "{}: {nothing}", row.field);
        }
    }
}

#[test]
fn a_wrong_type_is_an_error_with_field_and_line_and_without_the_value() {
    for row in rows() {
        for written in row.wrong_type {
            let (fields, line) = yaml(row.field, written);
            let error = block(&fields).expect_err(&fields);
            assert_eq!(
                error.kind(),
                ConfigErrorKind::InvalidType,
                "{fields}: {error}"
            );
            assert_eq!(
                (error.field(), error.line()),
                (Some(row.field), Some(line)),
                "{fields}: {error}"
            );
            assert!(error.to_string().contains("expected "), "{error}");
        }
        if row.field != "run_id" && !row.valid.contains(&("abc", "abc")) && row.field != "exporter"
        {
            let (fields, _) = yaml(row.field, "S3CR3T");
            let error = block(&fields).expect_err(&fields);
            assert!(
                !format!("{error} {error:?}").contains("S3CR3T"),
                "{error:?}"
            );
        }
    }
}

#[test]
fn a_value_out_of_range_is_an_error_with_field_and_line() {
    for row in rows() {
        for written in row.out_of_range {
            let (fields, line) = yaml(row.field, written);
            let error = block(&fields).expect_err(&fields);
            assert_eq!(
                error.kind(),
                ConfigErrorKind::InvalidValue,
                "{fields}: {error}"
            );
            assert_eq!(
                (error.field(), error.line()),
                (Some(row.field), Some(line)),
                "{fields}: {error}"
            );
        }
    }
}

#[test]
fn an_unknown_exporter_stops_only_the_strict_loader() {
    let source = ConfigSource::yaml("telemetry:\n  exporter: zipkin\n");
    let loaded = lenient(&source, &Vars::default()).expect("checked when it is built");
    assert_eq!(loaded.config.exporter, "zipkin");
    let error = strict(&source, &Vars::default()).expect_err("no such exporter");
    assert!(
        error.to_string().contains("otlp, console or stdout"),
        "{error}"
    );
}

#[test]
fn variables_are_filled_into_fields_of_every_type() {
    let vars = [
        ("ON", " Yes "),
        ("N", "0.5"),
        ("KEY", "S3CR3T"),
        ("BLANK", " "),
        ("WORD", "console"),
    ];
    let text = "telemetry:\n  enabled: ${oc.env:ON}\n  memory_profiling: {interval_seconds: '${oc.env:N}'}\n  \
                otlp_headers: x-key=${oc.env:KEY},y=${oc.env:BLANK,z}\n  exporter: ${oc.env:WORD,otlp}\n  \
                run_id: ${oc.env:N}\n  logs_enabled: ${oc.env:NONE,1}\n";
    let config = load(text, ConfigFormat::Yaml, &vars).expect("valid").config;
    assert!(config.enabled && config.logs_enabled);
    assert_eq!(values(&config)["memory_profiling.interval_seconds"], "0.5");
    assert_eq!(config.otlp_headers.as_deref(), Some("x-key=S3CR3T,y=z"));
    assert_eq!(
        (config.exporter.as_str(), config.run_id.as_deref()),
        ("console", Some("0.5"))
    );
    assert!(!format!("{config:?}").contains("S3CR3T"));
}

#[test]
fn a_variable_that_does_not_fit_is_an_error_without_its_value() {
    let vars = [("KEY", "S3CR3T")];
    for (fields, kind, field, part) in [
        (
            "  otlp_headers: x=${oc.env:NONE}",
            ConfigErrorKind::Interpolation,
            "otlp_headers",
            "NONE",
        ),
        (
            "  enabled: ${oc.env:NONE}",
            ConfigErrorKind::Interpolation,
            "enabled",
            "NONE",
        ),
        (
            "  enabled: ${oc.env:KEY}",
            ConfigErrorKind::InvalidValue,
            "enabled",
            "1, true, yes",
        ),
        (
            "  memory_profiling: {interval_seconds: '${oc.env:KEY}'}",
            ConfigErrorKind::InvalidValue,
            "memory_profiling.interval_seconds",
            "number of seconds",
        ),
        (
            "  span_groups: ${groups}",
            ConfigErrorKind::Interpolation,
            "span_groups",
            "oc.env",
        ),
        (
            "  otlp_headers: ${oc.env:KEY",
            ConfigErrorKind::Interpolation,
            "otlp_headers",
            "brace",
        ),
    ] {
        let text = format!("telemetry:\n{fields}\n");
        let error = load(&text, ConfigFormat::Yaml, &vars).expect_err(fields);
        assert_eq!(
            (error.kind(), error.field(), error.line()),
            (kind, Some(field), Some(2)),
            "{error}"
        );
        assert!(error.to_string().contains(part), "{error}");
        assert!(
            !format!("{error} {error:?}").contains("S3CR3T"),
            "{error:?}"
        );
    }
}

#[test]
fn only_the_block_is_interpolated() {
    let text = "other: ${oc.env:NONE} ${x}\ntelemetry:\n  enabled: true\n";
    assert!(
        load(text, ConfigFormat::Yaml, &[])
            .expect("valid")
            .config
            .enabled
    );
}

#[test]
fn unknown_keys_are_named_once_and_retired_ones_not_at_all() {
    let loaded = block(
        "  enabled: true\n  export_strategy: all_ranks\n  export_rank: 0\n  span_group: all\n  \
         memory_profiling:\n    interval: 3\n    intervall_seconds: 2\n",
    )
    .expect("loads");
    assert!(loaded.config.enabled);
    assert_eq!(
        values(&loaded.config)["memory_profiling.interval_seconds"],
        "1"
    );
    assert_eq!(
        loaded.config.unknown_keys(),
        [
            "span_group",
            "memory_profiling.interval",
            "memory_profiling.intervall_seconds"
        ]
    );
    let [group, interval, slip] = loaded.warnings.as_slice() else {
        panic!("three warnings expected: {:?}", loaded.warnings);
    };
    for part in ["\"span_group\"", "line 5", "did you mean span_groups?"] {
        assert!(group.contains(part), "{group}");
    }
    assert!(
        interval.contains("\"memory_profiling.interval\"") && interval.contains("line 7"),
        "{interval}"
    );
    assert!(
        slip.contains("did you mean memory_profiling.interval_seconds?"),
        "{slip}"
    );
}
