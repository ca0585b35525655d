//! The build without telemetry: every macro checks its arguments and expands to nothing, every type is zero-sized and
//! has no `Drop`, every function returns at once. `on.rs` has the same items in the same order.
#![expect(
    clippy::inline_always,
    reason = "calls that do nothing shall leave nothing, also where little is inlined"
)]

#[path = "off/context.rs"]
mod context;
#[path = "off/future.rs"]
mod future;
#[path = "off/lifecycle.rs"]
mod lifecycle;
#[path = "off/macros.rs"]
mod macros;
#[path = "off/memory.rs"]
mod memory;
#[path = "off/metrics.rs"]
mod metrics;
#[path = "off/observer.rs"]
mod observer;
#[path = "off/span.rs"]
mod span;

pub use context::{Context, ContextGuard, carry};
pub use future::{FutureExt, InContext, InSpan, InSpanErr};
pub use lifecycle::{
    DEFAULT_SHUTDOWN_BUDGET, TelemetryHandle, configure_telemetry_env, effective_config,
    get_telemetry, init_telemetry, install_log_bridge, is_telemetry_env_enabled,
    is_telemetry_metrics_enabled, load_telemetry_config, memory_profiling_config_from_env,
    probe_telemetry, shutdown_telemetry, shutdown_telemetry_async,
    telemetry_config_from_global_config,
};
pub use memory::MemoryProfiler;
pub use metrics::{
    Stopwatch, record_active_servers, record_model_call, record_rollout, record_rollout_outcome,
    record_verify,
};
pub use observer::observe_current_runtime;
pub use span::{
    Attributes, Entered, Parent, Span, SpanOptions, Status, StatusStyle, is_span_group_enabled,
    set_current_attributes, with_current_span,
};

/// Whether telemetry is compiled in: `false` in this build.
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
pub const TELEMETRY_COMPILED_IN: bool = false;

#[doc(hidden)]
pub mod __private {
    pub use super::future::{any_future, fallible, fallible_future};
    pub use super::metrics::STOPPED;
    pub use super::span::{
        MANAGED_SPAN, NO_ATTRIBUTES, NO_SPAN, NOT_ENTERED, TRACED_FUNCTION, UNGATED_SPAN,
        check_name, check_start,
    };
    pub use crate::literal::literal;
}
