//! The OpenTelemetry back end of gym-telemetry.

mod attributes;
mod config;
mod contain;
mod context;
mod environment;
mod explain;
mod export;
#[doc(hidden)]
pub mod facade;
mod failure;
mod fork;
mod future;
mod handle;
mod handover;
mod lifecycle;
mod metrics;
mod options;
mod process;
#[doc(hidden)]
pub mod propagation;
mod random;
mod recorder;
mod resource;
mod settings;
mod span;
mod stack;
#[doc(hidden)]
pub mod testing;
mod thread;
mod warn;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod collector;
#[cfg(test)]
mod test_env;
#[cfg(test)]
mod test_process;
#[cfg(test)]
mod tests;

pub use attributes::Attributes;
pub use config::{load_telemetry_config, telemetry_config_from_global_config};
pub use context::{Context, ContextGuard, carry};
pub use explain::{effective_config, probe_telemetry};
pub use future::{FutureExt, InContext, InSpan, InSpanErr};
pub use handle::{DEFAULT_SHUTDOWN_BUDGET, TelemetryHandle};
pub use handover::{
    configure_telemetry_env, is_telemetry_env_enabled, is_telemetry_metrics_enabled,
    memory_profiling_config_from_env,
};
pub use lifecycle::{get_telemetry, init_telemetry, shutdown_telemetry, shutdown_telemetry_async};
pub use metrics::{
    Counter, Gauge, Histogram, IntegerGauge, Number, Observation, Observer, UpDownCounter,
    are_metrics_exporting, observe, record_active_servers, record_http_server_request,
    record_rollout, record_verify,
};
pub use options::{Parent, SpanOptions, Status, StatusStyle};
pub use span::{Entered, Span, set_current_attributes, with_current_span};
