//! The gym's own variables.

use gym_telemetry_core::env::{self, SETTINGS, Setting};

use super::{quiet, try_resolve, value, warned};
use crate::environment::Source;
use crate::settings::{BOOLEAN_WORDS, Settings};
use crate::test_env::Vars;

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
                ("stdout", "stdout"),
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
