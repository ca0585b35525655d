//! What of a block reaches the children, and the orchestrator itself.

mod block;
mod conflicts;
mod gates;
mod orchestrator;
mod signals;
mod table;

use std::collections::BTreeMap;

use gym_telemetry_core::TelemetryConfig;

use super::overlay::Overlay;
use super::plan::{Plan, plan};
use crate::settings::Settings;
use crate::test_env::Vars;

fn enabled() -> TelemetryConfig {
    let mut config = TelemetryConfig::default();
    config.enabled = true;
    config
}

fn run(config: &TelemetryConfig, vars: &[(&str, &str)]) -> Plan {
    let env = Vars::new(vars);
    plan(config, &Overlay::new(&env, None), None)
}

/// What is published, which must cause no warning.
fn published(config: &TelemetryConfig, vars: &[(&str, &str)]) -> BTreeMap<String, String> {
    let plan = run(config, vars);
    assert!(plan.warnings.is_empty(), "{vars:?}: {:?}", plan.warnings);
    added(&plan)
}

fn added(plan: &Plan) -> BTreeMap<String, String> {
    let child = plan.published.as_ref().expect("on").child_env();
    child
        .vars()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The settings that a child sees which inherits `vars` and gets what is published, and those that the orchestrator
/// sees. They must agree.
fn child(config: &TelemetryConfig, vars: &[(&str, &str)]) -> Settings {
    let plan = run(config, vars);
    let env = Vars::new(vars);
    let mut inherited = env.clone();
    for (name, value) in added(&plan) {
        inherited = inherited.with(&name, &value);
    }
    let child = Settings::resolve(&inherited).expect("valid").expect("on");
    let overlay = Overlay::new(&env, plan.published.as_ref());
    let parent = Settings::resolve(&overlay).expect("valid").expect("on");
    let values = |settings: &Settings| -> Vec<_> {
        settings
            .effective
            .iter()
            .map(|known| (known.name.clone(), known.value.clone()))
            .collect()
    };
    assert_eq!(values(&child), values(&parent), "{vars:?}");
    child
}
