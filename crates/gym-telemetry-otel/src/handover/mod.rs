//! From the block of the orchestrator to the environment of its servers, and to the orchestrator itself.
//!
//! A setting of the block becomes a variable that is put where none is set. Nothing touches the environment of this
//! process: the variables are kept beside it, and every setting is read through [`with_process_env`], so the
//! orchestrator sees what its children see.

mod explained;
mod fields;
mod overlay;
mod plan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use gym_telemetry_core::config::{ConfigError, MemoryProfilingConfig, TelemetryConfig};
use gym_telemetry_core::env::{self, ChildEnv, Setting};
use parking_lot::{Mutex, RwLock};

pub(crate) use self::explained::Explained;
use self::overlay::{Overlay, Published};
use self::plan::plan;
use crate::environment::{EnvSource, ProcessEnv};
use crate::settings::{self, Lookup, parse_boolean};
use crate::warn::warn;

/// What was published in this process, beside its environment.
static PUBLISHED: RwLock<Option<Arc<Published>>> = RwLock::new(None);

/// What the last block came to, also if it left telemetry off.
static EXPLAINED: RwLock<Option<Arc<Explained>>> = RwLock::new(None);

/// Serialises publishing, so that two threads agree on one run id.
static PUBLISHING: Mutex<()> = Mutex::new(());

/// Hands the `telemetry:` block to the processes that this one is about to start, and to this one.
///
/// Call it once in the orchestrator, before `init_telemetry` and before any server starts,
/// and apply the result to each server's command. A variable that is already set wins over the block, so does a
/// `NEMO_LENS_*` variable; a blank one counts as unset. `None` as configuration stands for the defaults: telemetry is
/// then on if the environment says so.
///
/// Returns the run id and the variables to add to the environment of each child, or `None` when telemetry is off:
/// then there is nothing to add. A second call returns the same run id; what was handed over first stays.
#[must_use = "the children need these variables in their environment"]
pub fn configure_telemetry_env(config: Option<&TelemetryConfig>) -> Option<ChildEnv> {
    let default = TelemetryConfig::default();
    let config = config.unwrap_or(&default);
    let _publishing = PUBLISHING.lock();
    let before = PUBLISHED.read().clone();
    let env = Overlay::new(&ProcessEnv, before.as_deref());
    let plan = plan(config, &env, before.as_deref());
    for warning in &plan.warnings {
        warn(warning.clone(), warning);
    }
    *EXPLAINED.write() = Some(Arc::new(plan.explained));
    let published = plan.published?;
    let child = published.child_env();
    *PUBLISHED.write() = Some(Arc::new(published));
    Some(child)
}

/// Whether telemetry is switched on for this process.
///
/// Cheap, and safe to ask before anything else: it looks at no more than the switch and starts nothing. A value of
/// the switch that is no boolean word counts as off here; `init_telemetry` warns about it.
#[must_use]
pub fn is_telemetry_env_enabled() -> bool {
    with_process_env(|env| is_switched_on(env, env::ENABLED, false))
}

/// Whether the metrics switch is on, which it is unless somebody switched it off.
///
/// This is the switch alone: ask [`is_telemetry_env_enabled`] as well to know whether metrics are exported.
#[must_use]
pub fn is_telemetry_metrics_enabled() -> bool {
    with_process_env(|env| is_switched_on(env, env::METRICS_ENABLED, true))
}

/// How memory is sampled in this process: its environment first, then what was handed over, then `defaults`.
///
/// # Errors
///
/// If a variable holds no boolean word or no interval above 0; the error names the variable.
pub fn memory_profiling_config_from_env(
    defaults: MemoryProfilingConfig,
) -> Result<MemoryProfilingConfig, ConfigError> {
    with_process_env(|env| settings::memory_profiling(&mut Lookup::new(env), defaults))
}

/// Runs `read` on the environment of this process with what was published beside it.
pub(crate) fn with_process_env<T>(read: impl FnOnce(&dyn EnvSource) -> T) -> T {
    let published = PUBLISHED.read().clone();
    read(&Overlay::new(&ProcessEnv, published.as_deref()))
}

/// Runs `read` on the environment of this process as it would be if what was published last took effect.
pub(crate) fn with_explained<T>(read: impl FnOnce(&dyn EnvSource, Option<&Explained>) -> T) -> T {
    let explained = EXPLAINED.read().clone();
    let explained = explained.as_deref();
    let published = explained.map(|explained| &explained.published);
    read(&Overlay::new(&ProcessEnv, published), explained)
}

fn is_switched_on(env: &dyn EnvSource, setting: Setting, default: bool) -> bool {
    let sdk_disabled = env.text(env::OTEL_SDK_DISABLED);
    if sdk_disabled.is_some_and(|text| text.eq_ignore_ascii_case("true")) {
        return false;
    }
    let first = setting.names().find_map(|name| env.text(name));
    first.map_or(default, |text| parse_boolean(&text).unwrap_or(false))
}
