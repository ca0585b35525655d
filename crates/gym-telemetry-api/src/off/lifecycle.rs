//! A process without telemetry.

use std::convert::Infallible;
use std::time::Duration;

use gym_telemetry_core::config::ProbeReport;
use gym_telemetry_core::receipt::Outcome;
use gym_telemetry_core::{
    ChildEnv, ConfigError, ConfigSource, EffectiveConfig, MemoryProfilingConfig, ServerIdentity,
    ShutdownReceipt, TelemetryConfig,
};

/// How long a shutdown may take unless the caller says otherwise.
pub const DEFAULT_SHUTDOWN_BUDGET: Duration = Duration::from_secs(5);

/// The telemetry of this process; in this build there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the last seconds of telemetry are lost without a shutdown"]
pub struct TelemetryHandle(Infallible);

#[expect(clippy::unused_async, reason = "the other build waits")]
impl TelemetryHandle {
    /// Whether anything is exported.
    #[must_use]
    pub fn is_exporting(&self) -> bool {
        match self.0 {}
    }

    /// Exports what has ended so far.
    #[must_use = "the outcome tells whether everything arrived"]
    pub fn flush(&self, _budget: Duration) -> Outcome {
        match self.0 {}
    }

    /// Exports what has ended so far.
    pub async fn flush_async(&self, _budget: Duration) -> Outcome {
        match self.0 {}
    }

    /// Ends telemetry.
    pub fn shutdown(&self, _budget: Duration) -> ShutdownReceipt {
        match self.0 {}
    }

    /// Ends telemetry.
    pub async fn shutdown_async(&self, _budget: Duration) -> ShutdownReceipt {
        match self.0 {}
    }
}

/// Returns `None`: this build is not observed and observes no children.
#[inline(always)]
#[must_use = "the children need these variables in their environment"]
pub fn configure_telemetry_env(_config: Option<&TelemetryConfig>) -> Option<ChildEnv> {
    None
}

/// Returns `None` and starts nothing, whatever the environment says.
#[inline(always)]
#[must_use = "the last seconds of telemetry are lost without a shutdown"]
pub fn init_telemetry(_identity: ServerIdentity) -> Option<TelemetryHandle> {
    None
}

/// Does nothing: log records are not exported by this build.
#[inline(always)]
pub fn install_log_bridge() {}

/// Returns settings that are off, without a word about them.
#[inline(always)]
#[must_use]
pub fn effective_config() -> EffectiveConfig {
    EffectiveConfig::default()
}

/// Returns nothing: there is nobody to ask.
#[inline(always)]
#[must_use]
pub fn probe_telemetry() -> Vec<ProbeReport> {
    Vec::new()
}

/// Returns `None`.
#[inline(always)]
#[must_use]
pub fn get_telemetry() -> Option<TelemetryHandle> {
    None
}

/// Returns a receipt of nothing.
#[inline(always)]
pub fn shutdown_telemetry(_budget: Duration) -> ShutdownReceipt {
    ShutdownReceipt::default()
}

/// Returns a receipt of nothing.
#[inline(always)]
pub async fn shutdown_telemetry_async(_budget: Duration) -> ShutdownReceipt {
    ShutdownReceipt::default()
}

/// Returns `false`, whatever the environment says.
#[inline(always)]
#[must_use]
pub fn is_telemetry_env_enabled() -> bool {
    false
}

/// Returns `false`, whatever the environment says.
#[inline(always)]
#[must_use]
pub fn is_telemetry_metrics_enabled() -> bool {
    false
}

/// Returns the defaults as they are.
///
/// # Errors
///
/// None in this build.
#[inline(always)]
pub fn memory_profiling_config_from_env(
    defaults: MemoryProfilingConfig,
) -> Result<MemoryProfilingConfig, ConfigError> {
    Ok(defaults)
}

/// Returns the defaults without reading the source.
///
/// # Errors
///
/// None in this build.
#[inline(always)]
pub fn telemetry_config_from_global_config(
    _source: &ConfigSource,
) -> Result<TelemetryConfig, ConfigError> {
    Ok(TelemetryConfig::default())
}

/// Returns the defaults without reading the source.
///
/// # Errors
///
/// None in this build.
#[inline(always)]
pub fn load_telemetry_config(_source: &ConfigSource) -> Result<TelemetryConfig, ConfigError> {
    Ok(TelemetryConfig::default())
}
