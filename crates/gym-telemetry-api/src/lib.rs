//! The facade: telemetry macros and functions that compile to nothing without the telemetry feature.
#![forbid(unsafe_code)]

mod literal;
mod macros;

#[cfg(feature = "telemetry")]
#[path = "on.rs"]
mod build;
#[cfg(not(feature = "telemetry"))]
#[path = "off.rs"]
mod build;

pub use build::{
    Attributes, Context, ContextGuard, DEFAULT_SHUTDOWN_BUDGET, Entered, FutureExt, InContext,
    InSpan, InSpanErr, Parent, Span, SpanOptions, Status, StatusStyle, Stopwatch,
    TELEMETRY_COMPILED_IN, TelemetryHandle, carry, configure_telemetry_env, get_telemetry,
    is_span_group_enabled, is_telemetry_env_enabled, is_telemetry_metrics_enabled,
    memory_profiling_config_from_env, set_current_attributes, shutdown_telemetry,
    shutdown_telemetry_async, with_current_span,
};
pub use gym_telemetry_core::{
    Baggage, ChildEnv, ConfigError, ConfigFormat, ConfigSource, MemoryProfilingConfig,
    ServerIdentity, ServerType, ShutdownReceipt, SpanContext, SpanGroup, SpanKind, TelemetryConfig,
    ToValue, Value, attribute, group, span,
};
pub use gym_telemetry_macros::trace_fn;

#[doc(hidden)]
pub use build::__private;
#[doc(hidden)]
pub use gym_telemetry_macros::__check_arguments;
