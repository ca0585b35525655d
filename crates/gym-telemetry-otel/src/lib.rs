//! The OpenTelemetry back end of gym-telemetry.
//!
//! Spans are recorded on the thread that makes them and handed to one telemetry thread, which owns a runtime of its own
//! and every exporter. Libraries and servers instrument with `gym-telemetry-api`, which this crate is behind when
//! telemetry is compiled in; use it directly where a program wants what the facade leaves out.
//!
//! | to | use |
//! |---|---|
//! | read the `telemetry:` block and hand it to child processes | [`load_telemetry_config`], [`configure_telemetry_env`] |
//! | start and end telemetry | [`init_telemetry`], [`shutdown_telemetry`], [`TelemetryHandle`] |
//! | send spans through an exporter of your own | [`init_telemetry_with_exporter`] |
//! | use a tracer or meter provider that is there already | [`init_telemetry_with_providers`], [`Providers`] |
//! | record work | [`Span`], [`FutureExt`], [`set_current_attributes`] |
//! | keep the trace together across tasks, threads and processes | [`Context`], [`carry`] |
//! | sample the memory of servers | [`MemoryProfiler`] |
//! | export what `tracing` and `log` say | [`install_log_bridge`], or [`log_layer`] in a subscriber of your own |
//! | observe a tokio runtime | [`observe_runtime`], [`observe_current_runtime`] |
//! | count and measure | [`Counter`], [`Histogram`], [`observe()`] and their relatives |
//!
//! Whatever goes wrong, the host goes on: a bad setting is one warning on standard error, a full queue or a lost
//! collector costs spans, and each of them is counted in the receipt of the shutdown.
//!
//! ```
//! use gym_telemetry_core::ServerIdentity;
//! use gym_telemetry_otel::{DEFAULT_SHUTDOWN_BUDGET, init_telemetry, shutdown_telemetry};
//!
//! let identity = ServerIdentity::builder().server_name("policy_model").build();
//! let telemetry = init_telemetry(identity);
//! assert!(telemetry.is_none(), "off unless the environment or a configuration switches it on");
//! let receipt = shutdown_telemetry(DEFAULT_SHUTDOWN_BUDGET);
//! assert!(receipt.is_complete());
//! ```

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
mod health;
mod lifecycle;
mod logs;
mod memory;
mod metrics;
mod observer;
mod options;
mod process;
#[doc(hidden)]
pub mod propagation;
mod providers;
mod random;
mod recorder;
mod resource;
#[doc(hidden)]
pub mod sandbox;
mod settings;
mod span;
#[doc(hidden)]
pub mod testing;
mod thread;
#[doc(hidden)]
pub mod ticks;
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
pub use lifecycle::{
    get_telemetry, init_telemetry, init_telemetry_with_exporter, init_telemetry_with_providers,
    shutdown_telemetry, shutdown_telemetry_async,
};
pub use logs::{install_log_bridge, log_layer};
pub use memory::MemoryProfiler;
pub use metrics::{
    Counter, Gauge, Histogram, IntegerGauge, Number, Observation, Observer, UpDownCounter,
    are_metrics_exporting, observe, record_active_servers, record_http_server_request,
    record_model_call, record_rollout, record_rollout_outcome, record_verify,
};
pub use observer::{observe_current_runtime, observe_runtime};
pub use options::{Parent, SpanOptions, Status, StatusStyle};
pub use providers::Providers;
pub use span::{Entered, Span, set_current_attributes, with_current_span};
