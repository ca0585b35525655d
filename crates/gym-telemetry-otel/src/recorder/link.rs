//! What a new span hangs on.

use gym_telemetry_core::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

/// A place in a trace that spans can be children of.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub trace_id: TraceId,
    /// `None` at the top of a trace whose root was dropped: its children become roots of the same trace rather
    /// than point at a parent that nobody exports.
    pub span_id: Option<SpanId>,
    pub flags: TraceFlags,
    pub trace_state: TraceState,
    /// Whether another process made it, so that sampling is decided anew here.
    pub is_remote: bool,
}

impl Link {
    /// The span of another process.
    pub(crate) fn remote(context: &SpanContext) -> Self {
        Self {
            trace_id: context.trace_id(),
            span_id: Some(context.span_id()),
            flags: context.flags(),
            trace_state: context.trace_state().clone(),
            is_remote: true,
        }
    }

    /// The context to send to other processes, unless there is no span to name.
    pub(crate) fn span_context(&self) -> Option<SpanContext> {
        Some(SpanContext::new(
            self.trace_id,
            self.span_id?,
            self.flags,
            self.trace_state.clone(),
            self.is_remote,
        ))
    }
}
