//! Names of span events.

/// An error that the span's work ended with.
pub const EXCEPTION: &str = "exception";
/// The span was still open when telemetry shut down.
pub const SPAN_TRUNCATED: &str = "nemo.span.truncated";
