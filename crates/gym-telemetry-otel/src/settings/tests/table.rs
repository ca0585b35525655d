//! Every standard variable: valid, blank, with spaces, garbage, and in conflict with the one that stands behind it.

use std::collections::BTreeSet;

use gym_telemetry_core::config::EffectiveConfig;
use gym_telemetry_core::env::VARIABLES;

use super::ON;
use super::rows::{Row, rows};
use crate::explain::explain;
use crate::settings::Settings;
use crate::test_env::Vars;

/// Variables that other tests are about: the switch, and those that only the resource heeds.
const ELSEWHERE: &[&str] = &[
    "OTEL_SDK_DISABLED",
    "DEPLOYMENT_ENV",
    "ENVIRONMENT",
    "WANDB_ENTITY",
    "WANDB_PROJECT",
    "CUDA_VISIBLE_DEVICES",
    "HOSTNAME",
    "KUBERNETES_SERVICE_HOST",
];

fn is_elsewhere(name: &str) -> bool {
    ELSEWHERE.contains(&name) || name.starts_with("SLURM_") || name.starts_with("K8S_")
}

/// The settings of a row with some of its variables set.
struct Outcome {
    settings: Settings,
    config: EffectiveConfig,
}

impl Outcome {
    fn of(row: &Row, vars: &[(&str, &str)]) -> Self {
        let mut env = Vars::new(&row.beside)
            .with(ON.0, ON.1)
            .with("NEMO_GYM_OTEL_LOGS_ENABLED", "1");
        for (name, value) in vars {
            env = env.with(name, value);
        }
        let settings = Settings::resolve(&env).expect("standard variables are no error");
        let settings = settings.expect("telemetry is on");
        let config = explain(&env, None);
        let shown = format!("{settings:?} {config:?}");
        assert!(!shown.contains("S3CR3T"), "{vars:?}: {shown}");
        Self { settings, config }
    }

    fn value(&self, row: &Row) -> &str {
        self.config
            .setting(&row.name)
            .map_or("", |setting| &setting.value)
    }
}

#[test]
fn every_variable_is_in_the_table_or_another_test() {
    let rows = rows();
    for name in VARIABLES {
        let is_here = rows
            .iter()
            .any(|row| row.variables.iter().any(|known| known == name));
        assert!(is_here != is_elsewhere(name), "{name}");
    }
}

#[test]
fn a_valid_value_takes_effect_with_and_without_spaces_around_it() {
    for row in rows() {
        for name in &row.variables {
            for (text, expected) in &row.valid {
                for text in [(*text).to_owned(), format!(" \t{text}  ")] {
                    let outcome = Outcome::of(&row, &[(name, &text)]);
                    assert_eq!(outcome.value(&row), *expected, "{name}={text:?}");
                    let warnings = &outcome.settings.warnings;
                    assert!(warnings.is_empty(), "{name}={text:?}: {warnings:?}");
                }
            }
        }
    }
}

#[test]
fn a_blank_value_is_no_value() {
    for row in rows() {
        for name in &row.variables {
            if row.beside.iter().any(|(beside, _)| beside == name) {
                continue;
            }
            for blank in ["", "   ", "\t"] {
                let outcome = Outcome::of(&row, &[(name, blank)]);
                assert_eq!(outcome.value(&row), row.default, "{name}={blank:?}");
                let warnings = &outcome.settings.warnings;
                assert!(warnings.is_empty(), "{name}={blank:?}: {warnings:?}");
            }
        }
    }
}

#[test]
fn garbage_is_the_default_and_one_warning_that_names_variable_and_value() {
    for row in rows() {
        for name in &row.variables {
            for garbage in row.garbage {
                let outcome = Outcome::of(&row, &[(name, garbage)]);
                assert_eq!(outcome.value(&row), row.default, "{name}={garbage}");
                let about: Vec<_> = outcome
                    .settings
                    .warnings
                    .iter()
                    .filter(|warning| warning.contains(name.as_str()))
                    .collect();
                let is_shared = !name.contains("EXPORTER_OTLP") && row.variables.len() > 1;
                let most = if is_shared { row.variables.len() } else { 1 };
                assert!(
                    (1..=most).contains(&about.len()),
                    "{name}={garbage}: {about:?}"
                );
                // What is wrong about one of many attributes may be a secret.
                if name != "OTEL_RESOURCE_ATTRIBUTES" {
                    assert!(about[0].contains(garbage), "{name}={garbage}: {about:?}");
                }
                assert_eq!(
                    outcome.settings.warnings.len(),
                    about.len(),
                    "{name}={garbage}"
                );
            }
        }
    }
}

#[test]
fn of_two_variables_the_more_specific_one_wins_and_the_other_is_listed() {
    for row in rows() {
        let [own, shared] = row.variables.as_slice() else {
            continue;
        };
        for (first, second) in [(0, 1), (1, 0)] {
            let (winner, loser) = (row.valid[first], row.valid[second]);
            let outcome = Outcome::of(&row, &[(own, winner.0), (shared, loser.0)]);
            assert_eq!(outcome.value(&row), winner.1, "{own}, {shared}");
            let setting = outcome.config.setting(&row.name).expect("it is set");
            assert_eq!(setting.source.to_string(), *own);
            let overridden = setting
                .overrides
                .iter()
                .map(|loser| loser.source.to_string());
            assert!(
                overridden.collect::<Vec<_>>().contains(shared),
                "{setting:?}"
            );
        }
    }
}

#[test]
fn a_value_that_is_not_unicode_or_endless_harms_nobody() {
    let endless = "x".repeat(1 << 20);
    let mut tried = BTreeSet::new();
    for row in rows() {
        for name in &row.variables {
            if !tried.insert(name.clone()) {
                continue;
            }
            let env = Vars::new(&row.beside)
                .with(ON.0, ON.1)
                .with("NEMO_GYM_OTEL_LOGS_ENABLED", "1");
            let outcome = Settings::resolve(&env.clone().with_bytes(name, b"\xff\xfe"));
            let settings = outcome.expect("no error").expect("on");
            let about = |settings: &Settings| {
                let warnings = settings.warnings.iter();
                warnings
                    .filter(|warning| warning.contains(name.as_str()))
                    .count()
            };
            assert!(about(&settings) > 0, "{name}: {:?}", settings.warnings);
            let settings = Settings::resolve(&env.with(name, &endless));
            let settings = settings.expect("no error").expect("on");
            let longest = settings.warnings.iter().map(String::len).max().unwrap_or(0);
            assert!(longest < 1000, "{name}: a warning of {longest} bytes");
        }
    }
}
