//! Every variable: valid, blank, with spaces, garbage, and in conflict with another.

mod otlp;
mod own;
mod rows;
mod standard;
mod table;
mod transport;
mod tuning;

use gym_telemetry_core::config::ConfigError;

use super::Settings;
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
