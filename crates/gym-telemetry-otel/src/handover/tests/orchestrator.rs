//! What the orchestrator itself sees of its block.

use gym_telemetry_core::{ConfigSource, TelemetryConfig};

use super::{added, enabled};
use crate::environment::Source;
use crate::handover::overlay::Overlay;
use crate::handover::plan::{Plan, plan};
use crate::settings::Settings;
use crate::test_env::Vars;

#[test]
fn publishing_again_changes_nothing() {
    let env = Vars::new(&[]);
    let first = plan(&enabled(), &Overlay::new(&env, None), None);
    let before = first.published.as_ref();
    let mut other = enabled();
    other.exporter = "console".to_owned();
    other.run_id = Some("other".to_owned());
    for config in [enabled(), TelemetryConfig::default(), other] {
        let again = plan(&config, &Overlay::new(&env, before), before);
        assert_eq!(added(&again), added(&first));
        let id = |plan: &Plan| {
            plan.published
                .as_ref()
                .map(|published| published.run_id.clone())
        };
        assert_eq!(id(&again), id(&first));
    }
    // The same in a child, which got the variables by inheritance.
    let mut inherited = Vars::new(&[]);
    for (name, value) in added(&first) {
        inherited = inherited.with(&name, &value);
    }
    let again = plan(&enabled(), &Overlay::new(&inherited, None), None);
    assert!(added(&again).is_empty(), "{again:?}");
    assert_eq!(
        again.published.map(|published| published.run_id),
        first.published.map(|known| known.run_id)
    );
}

#[test]
fn the_orchestrator_knows_the_place_in_the_file() {
    let text = "telemetry:\n  enabled: true\n  memory_profiling:\n    interval_seconds: 2\n";
    let config = crate::load_telemetry_config(&ConfigSource::yaml(text)).expect("valid");
    let env = Vars::new(&[("NEMO_LENS_SPAN_GROUPS", "all")]);
    let plan = plan(&config, &Overlay::new(&env, None), None);
    let overlay = Overlay::new(&env, plan.published.as_ref());
    let settings = Settings::resolve(&overlay).expect("valid").expect("on");
    let source = |name: &str| {
        let found = settings.effective.iter().find(|known| known.name == name);
        found
            .map(|known| known.source.to_string())
            .unwrap_or_default()
    };
    assert_eq!(
        source("memory_profiling.interval_seconds"),
        "telemetry.memory_profiling.interval_seconds (line 4 of the configuration text)"
    );
    assert_eq!(source("span_groups"), "NEMO_LENS_SPAN_GROUPS");
    assert_eq!(source("logs_enabled"), "default");
    assert_eq!(source("run_id"), Source::Generated.to_string());
}

#[test]
fn a_wrong_value_of_the_block_is_an_error_that_names_field_and_line() {
    let source = ConfigSource::yaml("telemetry:\n  enabled: true\n  exporter: zipkin\n");
    let config = crate::telemetry_config_from_global_config(&source).expect("read");
    let env = Vars::new(&[]);
    let plan = plan(&config, &Overlay::new(&env, None), None);
    let overlay = Overlay::new(&env, plan.published.as_ref());
    let error = Settings::resolve(&overlay).expect_err("no such exporter");
    assert_eq!((error.field(), error.line()), (Some("exporter"), Some(3)));
    assert!(
        error.to_string().contains("otlp, console or stdout"),
        "{error}"
    );
}

#[test]
fn a_variable_that_is_not_unicode_is_replaced_and_named() {
    let mut config = enabled();
    config.service_name = "mine".to_owned();
    let env = Vars::new(&[])
        .with_bytes("OTEL_SERVICE_NAME", b"\xff")
        .with_bytes("JUNK", b"\xff");
    let plan = plan(&config, &Overlay::new(&env, None), None);
    let [warning] = plan.warnings.as_slice() else {
        panic!("{:?}", plan.warnings)
    };
    assert!(warning.contains("OTEL_SERVICE_NAME"), "{warning}");
    let variables = added(&plan);
    assert_eq!(variables["OTEL_SERVICE_NAME"], "mine");
    assert!(!variables.contains_key("JUNK"));
    let overlay = Overlay::new(&env, plan.published.as_ref());
    let settings = Settings::resolve(&overlay).expect("valid").expect("on");
    assert_eq!(settings.service_name, "mine");
}
