//! The build with telemetry. `off.rs` has the same items in the same order.

#[path = "on/macros.rs"]
mod macros;
#[path = "on/metrics.rs"]
mod metrics;
#[path = "on/span.rs"]
mod span;

pub use gym_telemetry_otel::MemoryProfiler;
pub use gym_telemetry_otel::observe_current_runtime;
pub use gym_telemetry_otel::{
    Attributes, Entered, Parent, Span, SpanOptions, Status, StatusStyle, set_current_attributes,
    with_current_span,
};
pub use gym_telemetry_otel::{Context, ContextGuard, carry};
pub use gym_telemetry_otel::{
    DEFAULT_SHUTDOWN_BUDGET, TelemetryHandle, configure_telemetry_env, effective_config,
    get_telemetry, init_telemetry, install_log_bridge, is_telemetry_env_enabled,
    is_telemetry_metrics_enabled, load_telemetry_config, memory_profiling_config_from_env,
    probe_telemetry, shutdown_telemetry, shutdown_telemetry_async,
    telemetry_config_from_global_config,
};
pub use gym_telemetry_otel::{FutureExt, InContext, InSpan, InSpanErr};
pub use gym_telemetry_otel::{
    record_active_servers, record_model_call, record_rollout, record_rollout_outcome, record_verify,
};
pub use metrics::Stopwatch;
pub use span::is_span_group_enabled;

/// Whether telemetry is compiled in: `true` in this build.
///
/// A program that is told to be observed can say in one line that it cannot:
///
/// ```
/// fn warning(enabled: Option<&str>) -> Option<&'static str> {
///     let wanted = matches!(enabled, Some("1" | "true"));
///     (wanted && !gym_telemetry_api::TELEMETRY_COMPILED_IN).then_some("built without telemetry")
/// }
///
/// assert_eq!(warning(Some("1")).is_none(), gym_telemetry_api::TELEMETRY_COMPILED_IN);
/// ```
pub const TELEMETRY_COMPILED_IN: bool = true;

#[doc(hidden)]
pub mod __private {
    pub use super::span::{
        MANAGED_SPAN, ONCE, TRACED_FUNCTION, UNGATED_SPAN, add_current_event, add_event, conclude,
        enter, is_enabled, is_recording_process, never, recorded, run, start,
    };
    pub use crate::literal::literal;
    pub use gym_telemetry_otel::propagation::{PropagationSettings, propagation_settings, warn};
    pub use gym_telemetry_otel::sandbox::{HeldError, sample_interval, tokio};
    pub use gym_telemetry_otel::testing;
    pub use gym_telemetry_otel::ticks;
    pub use gym_telemetry_otel::{
        Histogram, Observation, Observer, are_metrics_exporting, observe,
        record_http_server_request,
    };
}
