//! Every field of the block, and what wins over it.

use gym_telemetry_core::config::Origin;
use gym_telemetry_core::{ConfigSource, TelemetryConfig};

use super::{added, child, enabled, published, run};
use crate::handover::overlay::Published;

#[test]
fn nothing_is_published_while_telemetry_is_off() {
    for (config, vars) in [
        (TelemetryConfig::default(), vec![]),
        (
            TelemetryConfig::default(),
            vec![("NEMO_GYM_OTEL_EXPORTER", "console"), ("SLURM_JOB_ID", "1")],
        ),
        (enabled(), vec![("NEMO_GYM_OTEL_ENABLED", "0")]),
        (enabled(), vec![("OTEL_SDK_DISABLED", "true")]),
        (
            enabled(),
            vec![("NEMO_GYM_OTEL_ENABLED", "0"), ("NEMO_LENS_ENABLED", "1")],
        ),
    ] {
        let plan = run(&config, &vars);
        assert!(plan.published.is_none(), "{vars:?}");
        assert!(plan.warnings.is_empty(), "{vars:?}: {:?}", plan.warnings);
    }
    let plan = run(&enabled(), &[("NEMO_GYM_OTEL_ENABLED", "maybe")]);
    assert!(plan.published.is_none());
    let [warning] = plan.warnings.as_slice() else {
        panic!("{:?}", plan.warnings)
    };
    assert!(
        warning.contains("NEMO_GYM_OTEL_ENABLED") && warning.contains("yes"),
        "{warning}"
    );
}

#[test]
fn every_field_becomes_a_variable() {
    let source = ConfigSource::yaml(
        "telemetry:\n  enabled: true\n  exporter: console\n  instrument_aiohttp: false\n  logs_enabled: true\n  \
         memory_profiling: {enabled: true, interval_seconds: 0.25}\n  metrics_enabled: false\n  \
         otlp_endpoint: http://c:4317\n  otlp_headers: x-key=S3CR3T\n  otlp_protocol: http/protobuf\n  \
         run_id: 42\n  sandbox_resource_sample_interval_seconds: 0\n  service_name: mine\n  \
         service_name_per_server: false\n  span_groups: all\n  traces_enabled: false\n",
    );
    let config = crate::load_telemetry_config(&source).expect("valid");
    let expected = [
        ("NEMO_GYM_OTEL_ENABLED", "1"),
        ("NEMO_GYM_OTEL_EXPORTER", "console"),
        ("NEMO_GYM_OTEL_INSTRUMENT_AIOHTTP", "0"),
        ("NEMO_GYM_OTEL_LOGS_ENABLED", "1"),
        ("NEMO_GYM_OTEL_MEMORY_PROFILING_ENABLED", "1"),
        ("NEMO_GYM_OTEL_MEMORY_PROFILING_INTERVAL_SECONDS", "0.25"),
        ("NEMO_GYM_OTEL_METRICS_ENABLED", "0"),
        ("NEMO_GYM_OTEL_RUN_ID", "42"),
        (
            "NEMO_GYM_OTEL_SANDBOX_RESOURCE_SAMPLE_INTERVAL_SECONDS",
            "0.0",
        ),
        ("NEMO_GYM_OTEL_SERVICE_NAME_PER_SERVER", "0"),
        ("NEMO_GYM_OTEL_SPAN_GROUPS", "all"),
        ("NEMO_GYM_OTEL_TRACES_ENABLED", "0"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=S3CR3T"),
        ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
        ("OTEL_SERVICE_NAME", "mine"),
    ];
    let actual = published(&config, &[]);
    let actual: Vec<_> = actual
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(actual, expected);
    // Set before by somebody, each stays as it is.
    for (name, _) in expected {
        if name != "NEMO_GYM_OTEL_ENABLED" && name != "OTEL_EXPORTER_OTLP_PROTOCOL" {
            assert!(
                !published(&config, &[(name, "1")]).contains_key(name),
                "{name}"
            );
        }
        let blank = published(&config, &[(name, "  ")]);
        assert_eq!(blank.len(), expected.len(), "a blank {name} is no value");
    }
    let plan = run(&config, &[]);
    let shown = format!(
        "{plan:?} {:?}",
        plan.published.as_ref().map(Published::child_env)
    );
    assert!(!shown.contains("S3CR3T"), "{shown}");
}

#[test]
fn defaults_are_published_too_but_nothing_without_a_value() {
    let names: Vec<_> = published(&enabled(), &[("NEMO_LENS_RUN_ID", "r")])
        .into_keys()
        .collect();
    assert_eq!(
        names,
        [
            "NEMO_GYM_OTEL_ENABLED",
            "NEMO_GYM_OTEL_EXPORTER",
            "NEMO_GYM_OTEL_INSTRUMENT_AIOHTTP",
            "NEMO_GYM_OTEL_LOGS_ENABLED",
            "NEMO_GYM_OTEL_MEMORY_PROFILING_ENABLED",
            "NEMO_GYM_OTEL_MEMORY_PROFILING_INTERVAL_SECONDS",
            "NEMO_GYM_OTEL_METRICS_ENABLED",
            "NEMO_GYM_OTEL_SANDBOX_RESOURCE_SAMPLE_INTERVAL_SECONDS",
            "NEMO_GYM_OTEL_SERVICE_NAME_PER_SERVER",
            "NEMO_GYM_OTEL_SPAN_GROUPS",
            "NEMO_GYM_OTEL_TRACES_ENABLED",
            "OTEL_SERVICE_NAME",
        ]
    );
}

#[test]
fn the_environment_alone_can_switch_it_on() {
    for name in ["NEMO_GYM_OTEL_ENABLED", "NEMO_LENS_ENABLED"] {
        let vars = [(name, "yes"), ("NEMO_LENS_SPAN_GROUPS", "all")];
        let variables = published(&TelemetryConfig::default(), &vars);
        assert!(!variables.contains_key("NEMO_GYM_OTEL_ENABLED"), "{name}");
        let settings = child(&TelemetryConfig::default(), &vars);
        assert_eq!(
            (
                settings.service_name.as_str(),
                settings.span_groups.as_str()
            ),
            ("nemo-gym", "all")
        );
    }
}

#[test]
fn a_lens_variable_wins_over_the_block_and_an_explicit_difference_is_named() {
    let mut config = enabled();
    config.span_groups = "per_rollout".to_owned();
    config.set_origin("span_groups", Origin::file("gym.yaml").at_line(7));
    config.metrics_enabled = true;
    config.set_origin("metrics_enabled", Origin::file("gym.yaml").at_line(8));
    for (vars, parts) in [
        (
            vec![("NEMO_LENS_SPAN_GROUPS", "all")],
            vec!["span_groups", "gym.yaml:7", "NEMO_LENS_SPAN_GROUPS"],
        ),
        (
            vec![("NEMO_LENS_METRICS_ENABLED", "0")],
            vec!["metrics_enabled", "gym.yaml:8"],
        ),
        (
            vec![("NEMO_LENS_ENABLED", "0")],
            vec!["telemetry.enabled", "NEMO_LENS_ENABLED"],
        ),
        (vec![("NEMO_LENS_SPAN_GROUPS", " per_rollout ")], vec![]),
        (vec![("NEMO_LENS_METRICS_ENABLED", "YES")], vec![]),
        (vec![("NEMO_LENS_TRACES_ENABLED", "0")], vec![]),
        (vec![("NEMO_LENS_SPAN_GROUPS", " ")], vec![]),
        (
            vec![
                ("NEMO_LENS_SPAN_GROUPS", "all"),
                ("NEMO_GYM_OTEL_SPAN_GROUPS", "default"),
            ],
            vec![],
        ),
        (vec![("NEMO_GYM_OTEL_SPAN_GROUPS", "default")], vec![]),
        (vec![("OTEL_SERVICE_NAME", "other")], vec![]),
        // Nothing is said about settings of telemetry that is off.
        (
            vec![
                ("NEMO_LENS_SPAN_GROUPS", "all"),
                ("NEMO_GYM_OTEL_ENABLED", "0"),
            ],
            vec![],
        ),
    ] {
        let plan = run(&config, &vars);
        assert_eq!(
            plan.warnings.len(),
            usize::from(!parts.is_empty()),
            "{vars:?}: {:?}",
            plan.warnings
        );
        for part in parts {
            assert!(
                plan.warnings[0].contains(part),
                "{vars:?}: {:?}",
                plan.warnings
            );
        }
    }
    let plan = run(&config, &[("NEMO_LENS_SPAN_GROUPS", "all")]);
    assert!(!added(&plan).contains_key("NEMO_GYM_OTEL_SPAN_GROUPS"));
    let settings = child(
        &config,
        &[
            ("NEMO_LENS_SPAN_GROUPS", "all"),
            ("NEMO_LENS_METRICS_ENABLED", "0"),
        ],
    );
    assert_eq!(settings.span_groups, "all");
    assert!(!settings.metrics.is_on() && settings.traces.is_on());
}

#[test]
fn a_value_set_in_code_counts_as_explicit() {
    let mut config = enabled();
    config.exporter = "console".to_owned();
    let plan = run(&config, &[("NEMO_LENS_EXPORTER", "otlp")]);
    assert_eq!(
        plan.warnings,
        ["telemetry.exporter is ignored because NEMO_LENS_EXPORTER is set"]
    );
}

#[test]
fn the_run_id_is_the_first_that_somebody_named() {
    let named = |id: &str| {
        let mut config = enabled();
        config.run_id = Some(id.to_owned());
        config
    };
    let slurm = ("SLURM_JOB_ID", "4242");
    let own = "NEMO_GYM_OTEL_RUN_ID";
    for (config, vars, id, minted) in [
        (
            named("yaml"),
            vec![(own, " gym "), ("NEMO_LENS_RUN_ID", "lens"), slurm],
            "gym",
            false,
        ),
        (
            enabled(),
            vec![("NEMO_LENS_RUN_ID", "lens"), slurm],
            "lens",
            false,
        ),
        (named(" yaml "), vec![slurm], "yaml", true),
        (named("  "), vec![slurm], "4242", true),
        (enabled(), vec![(own, ""), slurm], "4242", true),
    ] {
        let plan = run(&config, &vars);
        assert_eq!(
            plan.published
                .as_ref()
                .map(|published| published.run_id.as_str()),
            Some(id),
            "{vars:?}"
        );
        let variable = added(&plan).get(own).cloned();
        assert_eq!(variable.as_deref(), minted.then_some(id), "{vars:?}");
        assert_eq!(
            child(&config, &vars).run_id.as_deref(),
            Some(id),
            "{vars:?}"
        );
    }
    let plan = run(&named("yaml"), &[("NEMO_LENS_RUN_ID", "lens")]);
    assert_eq!(
        plan.warnings,
        ["telemetry.run_id is ignored because NEMO_LENS_RUN_ID is set"]
    );
    let minted = added(&run(&enabled(), &[]))[own].clone();
    assert!(
        minted.len() == 12 && minted.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')),
        "{minted}"
    );
    assert_ne!(added(&run(&enabled(), &[]))[own], minted);
}
