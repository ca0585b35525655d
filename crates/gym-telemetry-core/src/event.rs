//! Names of span events.

/// An error that the span's work ended with.
pub const EXCEPTION: &str = "exception";
/// The span was still open when telemetry shut down.
pub const SPAN_TRUNCATED: &str = "nemo.span.truncated";
/// The head of a streamed response was sent, on the span of the inbound request.
pub const HTTP_FIRST_BYTE: &str = "nemo.gym.http.first_byte";
/// An outbound request was sent again, on its span.
pub const HTTP_RESEND: &str = "nemo.gym.http.resend";
