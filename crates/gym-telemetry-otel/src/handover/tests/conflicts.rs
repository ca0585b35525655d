//! Every field of the block against every other source of the same setting.

use gym_telemetry_core::TelemetryConfig;
use gym_telemetry_core::config::{ConfigSource, FIELDS, FieldVariable};

use super::{child, run};
use crate::explain::explain;
use crate::test_env::Vars;

/// A field with two values as they are written in the block and in a variable, and what they come to.
struct Row {
    field: &'static str,
    /// The setting that shows it.
    name: &'static str,
    block: (&'static str, &'static str),
    variable: (&'static str, &'static str),
    stand_in: (&'static str, &'static str),
}

fn rows() -> Vec<Row> {
    let row = |field, name, block, variable, stand_in| Row {
        field,
        name,
        block,
        variable,
        stand_in,
    };
    let boolean = |field, block: bool| {
        let [block, other] = [block, !block].map(|value| {
            if value {
                ("true", "true")
            } else {
                ("false", "false")
            }
        });
        row(field, field, block, other, other)
    };
    let same = |text| (text, text);
    vec![
        row(
            "exporter",
            "traces.exporter",
            same("console"),
            same("otlp"),
            same("stdout"),
        ),
        boolean("instrument_aiohttp", false),
        boolean("logs_enabled", true),
        boolean("memory_profiling.enabled", true),
        row(
            "memory_profiling.interval_seconds",
            "memory_profiling.interval_seconds",
            same("2"),
            same("3"),
            same("4"),
        ),
        boolean("metrics_enabled", false),
        row(
            "otlp_endpoint",
            "traces.endpoint",
            same("http://block:1"),
            same("http://variable:2"),
            same(""),
        ),
        row(
            "otlp_headers",
            "traces.header_names",
            ("a=S3CR3T", "a"),
            ("b=S3CR3T", "b"),
            same(""),
        ),
        row(
            "otlp_protocol",
            "traces.protocol",
            same("http/json"),
            same("grpc"),
            same(""),
        ),
        row("run_id", "run_id", same("block"), same("own"), same("lens")),
        row(
            "sandbox_resource_sample_interval_seconds",
            "sandbox_resource_sample_interval_seconds",
            same("2"),
            same("3"),
            same(""),
        ),
        row(
            "service_name",
            "service_name",
            same("block"),
            same("variable"),
            same(""),
        ),
        boolean("service_name_per_server", false),
        row(
            "span_groups",
            "span_groups",
            same("per_rollout"),
            same("all"),
            same("default,sandbox"),
        ),
        boolean("traces_enabled", false),
    ]
}

/// The field's own variable and the one that stands in for it.
fn variables(field: &str) -> (&'static str, Option<&'static str>) {
    let known = FIELDS.iter().find(|known| known.name == field);
    match known.expect("a field").variable {
        FieldVariable::Setting(setting) => (setting.gym, setting.lens),
        FieldVariable::Standard(name) => (name, None),
        other => panic!("{other:?}"),
    }
}

/// A block that switches telemetry on and sets one field, which stands in the last line.
fn block(field: &str, value: &str) -> TelemetryConfig {
    let text = match field.split_once('.') {
        Some((outer, inner)) => format!("  {outer}:\n    {inner}: {value}\n"),
        None => format!("  {field}: {value}\n"),
    };
    let source = ConfigSource::yaml(format!("telemetry:\n  enabled: true\n{text}"));
    crate::load_telemetry_config(&source).expect("a valid block")
}

/// The setting's value in a child process of an orchestrator with this block and these variables.
fn effective(config: &TelemetryConfig, row: &Row, vars: &[(&str, &str)]) -> String {
    let settings = child(config, vars);
    let shown = format!("{settings:?}");
    assert!(!shown.contains("S3CR3T"), "{shown}");
    let setting = settings
        .effective
        .iter()
        .find(|setting| setting.name == row.name);
    setting.map_or_else(String::new, |setting| setting.value.clone())
}

#[test]
fn every_field_but_the_switch_is_in_the_table() {
    let mut expected: Vec<_> = FIELDS.iter().map(|field| field.name).collect();
    expected.retain(|field| *field != "enabled");
    let found: Vec<_> = rows().iter().map(|row| row.field).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_own_variable_beats_the_stand_in_and_that_the_block_and_that_the_default() {
    for row in rows() {
        let (own, lens) = variables(row.field);
        let config = block(row.field, row.block.0);
        let nobody = super::enabled();
        let at = |vars: &[(&str, &str)]| effective(&config, &row, vars);
        assert_eq!(at(&[]), row.block.1, "{}", row.field);
        assert_ne!(effective(&nobody, &row, &[]), row.block.1, "{}", row.field);
        assert_eq!(at(&[(own, row.variable.0)]), row.variable.1, "{own}");
        for blank in ["", "  \t"] {
            assert_eq!(at(&[(own, blank)]), row.block.1, "{own} is blank");
        }
        let Some(lens) = lens else { continue };
        assert_eq!(at(&[(lens, row.stand_in.0)]), row.stand_in.1, "{lens}");
        assert_eq!(at(&[(lens, " ")]), row.block.1, "{lens} is blank");
        let both = [(own, row.variable.0), (lens, row.stand_in.0)];
        assert_eq!(at(&both), row.variable.1, "{own} and {lens}");
        let both = [(own, " "), (lens, row.stand_in.0)];
        assert_eq!(at(&both), row.stand_in.1, "{own} is blank, {lens}");
    }
}

#[test]
fn a_field_that_is_not_heard_is_warned_about_for_a_stand_in_and_listed_for_either() {
    for row in rows() {
        let (own, lens) = variables(row.field);
        let config = block(row.field, row.block.0);
        for (name, value, warnings) in [
            Some((own, row.variable.0, 0)),
            lens.map(|lens| (lens, row.stand_in.0, 1)),
        ]
        .into_iter()
        .flatten()
        {
            let plan = run(&config, &[(name, value)]);
            let about: Vec<_> = plan
                .warnings
                .iter()
                .filter(|warning| warning.contains(row.field) && warning.contains(name))
                .collect();
            assert_eq!(about.len(), warnings, "{name}: {:?}", plan.warnings);
            assert_eq!(plan.warnings.len(), warnings, "{:?}", plan.warnings);
            let loser = plan
                .explained
                .beaten
                .iter()
                .find(|(_, loser)| loser.source.to_string().contains(row.field));
            let (winner, loser) = loser.unwrap_or_else(|| panic!("{name} beats {}", row.field));
            assert_eq!(winner.to_string(), name);
            assert!(!loser.value.contains("S3CR3T"), "{}", loser.value);
        }
    }
}

#[test]
fn nothing_that_is_explained_holds_a_secret() {
    let config = block("otlp_headers", "a=S3CR3T");
    let vars = [
        ("NEMO_GYM_OTEL_ENABLED", "1"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "b=S3CR3T"),
    ];
    let plan = run(&config, &vars);
    let env = Vars::new(&vars);
    let told = format!("{config:?} {:?}", explain(&env, Some(&plan.explained)));
    assert!(!told.contains("S3CR3T"), "{told}");
}
