//! What the settings amount to, told to people.

mod findings;
mod names;
mod probe;
#[cfg(test)]
mod tests;

use gym_telemetry_core::config::{
    ConfigError, EffectiveConfig, EffectiveSetting, Finding, FindingKind,
};
use gym_telemetry_core::env;

pub use self::probe::probe_telemetry;

use crate::environment::{EnvSource, Source};
use crate::handover::Explained;
use crate::settings::{Lookup, Settings};

/// Returns every setting of this process with its value, who gave it and whom it overrides, and what is suspicious.
///
/// It reads the environment and what [`configure_telemetry_env`](crate::configure_telemetry_env) was given, also if
/// that left telemetry off. It looks at files that settings name, but starts nothing and connects to nothing;
/// [`probe_telemetry`] does. Secrets are hidden.
#[must_use]
pub fn effective_config() -> EffectiveConfig {
    crate::handover::with_explained(explain)
}

/// What the settings in `env` amount to, of which `explained` holds what was published.
pub(crate) fn explain(env: &dyn EnvSource, explained: Option<&Explained>) -> EffectiveConfig {
    let mut lookup = Lookup::new(env);
    let (is_enabled, settings) = read(&mut lookup);
    let (effective, warnings, beaten) = lookup.finish_with_beaten();
    let mut config = EffectiveConfig::default();
    config.is_enabled = is_enabled;
    config.settings = effective
        .into_iter()
        .map(|effective| {
            let name = effective.name.into_owned();
            let mut setting = EffectiveSetting::new(name, effective.value, effective.source);
            let fields = explained
                .into_iter()
                .flat_map(|explained| &explained.beaten);
            for (winner, loser) in beaten.iter().chain(fields) {
                if *winner == setting.source && !setting.overrides.contains(loser) {
                    setting.overrides.push(loser.clone());
                }
            }
            setting
        })
        .collect();
    let findings = &mut config.findings;
    if let Some(explained) = explained {
        findings.extend(explained.findings.iter().cloned());
    }
    for warning in warnings {
        push(findings, Finding::new(FindingKind::Ignored, warning));
    }
    match &settings {
        Err(error) => {
            let message = format!("telemetry stays off: {error}");
            findings.push(Finding::new(FindingKind::Refused, message));
        }
        Ok(settings) if is_enabled => findings::of_settings(settings, env, findings),
        Ok(_) => findings.push(Finding::new(FindingKind::Off, why_off(env))),
    }
    names::of_variables(env, findings);
    findings.sort_by_key(|finding| finding.severity);
    config
}

/// Whether telemetry is on, and all settings, also if it is off.
fn read(lookup: &mut Lookup<'_>) -> (bool, Result<Settings, ConfigError>) {
    let is_disabled = lookup.sdk_disabled();
    match lookup.boolean("enabled", env::ENABLED, false) {
        Err(error) => (false, Err(error)),
        Ok(enabled) => {
            let settings = Settings::read(lookup);
            (enabled && !is_disabled && settings.is_ok(), settings)
        }
    }
}

fn why_off(env: &dyn EnvSource) -> String {
    let mut lookup = Lookup::new(env);
    if lookup.sdk_disabled() {
        return format!("telemetry is off: {} is true", env::OTEL_SDK_DISABLED);
    }
    // A block without the field was published with the default.
    let found = lookup.setting(env::ENABLED);
    match found.filter(|found| found.source != Source::Default) {
        Some(found) => format!("telemetry is off: {} says so", found.source),
        None => format!(
            "telemetry is off: neither {} nor the field enabled of the telemetry block switches it on",
            env::ENABLED.gym
        ),
    }
}

fn push(findings: &mut Vec<Finding>, finding: Finding) {
    if !findings
        .iter()
        .any(|known| known.message == finding.message)
    {
        findings.push(finding);
    }
}
