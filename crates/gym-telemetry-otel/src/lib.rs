//! The OpenTelemetry back end of gym-telemetry.

mod environment;
mod handover;
mod random;
#[allow(
    dead_code,
    unused_imports,
    reason = "read by the exporters and the lifecycle, which are built on it"
)]
mod settings;
mod warn;

#[cfg(test)]
mod test_env;

pub use handover::{
    configure_telemetry_env, is_telemetry_env_enabled, is_telemetry_metrics_enabled,
    memory_profiling_config_from_env,
};
