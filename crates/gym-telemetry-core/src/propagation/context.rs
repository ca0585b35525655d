//! What identifies a span across processes.

use super::{SpanId, TraceFlags, TraceId, TraceState};

/// What identifies a span across processes.
///
/// ```
/// use gym_telemetry_core::SpanContext;
///
/// let context = SpanContext::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02")?;
/// assert!(context.is_remote() && !context.flags().is_sampled());
/// assert_eq!(&*context.to_traceparent(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02");
/// # Ok::<(), gym_telemetry_core::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpanContext {
    trace_id: TraceId,
    span_id: SpanId,
    flags: TraceFlags,
    trace_state: TraceState,
    is_remote: bool,
}

impl SpanContext {
    /// Puts a context together. `is_remote` says that the span belongs to another process.
    #[must_use]
    pub const fn new(
        trace_id: TraceId,
        span_id: SpanId,
        flags: TraceFlags,
        trace_state: TraceState,
        is_remote: bool,
    ) -> Self {
        Self {
            trace_id,
            span_id,
            flags,
            trace_state,
            is_remote,
        }
    }

    /// This context with another trace state.
    #[must_use]
    pub fn with_trace_state(mut self, trace_state: TraceState) -> Self {
        self.trace_state = trace_state;
        self
    }

    /// The trace.
    #[must_use]
    pub const fn trace_id(&self) -> TraceId {
        self.trace_id
    }

    /// The span.
    #[must_use]
    pub const fn span_id(&self) -> SpanId {
        self.span_id
    }

    /// The flags.
    #[must_use]
    pub const fn flags(&self) -> TraceFlags {
        self.flags
    }

    /// What tracing systems added.
    #[must_use]
    pub const fn trace_state(&self) -> &TraceState {
        &self.trace_state
    }

    /// Whether the span belongs to another process.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        self.is_remote
    }
}
