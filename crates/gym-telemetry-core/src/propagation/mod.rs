//! W3C trace context and baggage: the headers that join the traces of different processes.
//!
//! Parsing is strict. A malformed `traceparent` gives no context, so the receiver starts a trace of its own; a
//! malformed `tracestate` or `baggage` is dropped alone. Every parser takes linear time and keeps a bounded amount.
//!
//! ```
//! use std::collections::HashMap;
//! use gym_telemetry_core::propagation;
//!
//! let inbound = HashMap::from([
//!     ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03"),
//!     ("baggage", "team=rl"),
//! ]);
//! let extracted = propagation::extract(|name| inbound.get(name));
//!
//! let mut outbound = HashMap::new();
//! propagation::inject(extracted.context.as_ref(), extracted.baggage.as_ref(), |name, value| {
//!     outbound.insert(name, value.to_owned());
//! });
//! assert_eq!(outbound["traceparent"], inbound["traceparent"]);
//! assert_eq!(outbound["baggage"], inbound["baggage"]);
//! ```

mod baggage;
mod carrier;
mod context;
mod error;
mod flags;
mod hex;
mod ids;
mod ows;
mod trace_state;
mod traceparent;

pub use baggage::Baggage;
pub use carrier::{Extracted, extract, inject};
pub use context::SpanContext;
pub use error::{ParseError, ParseErrorKind};
pub use flags::TraceFlags;
pub use ids::{SpanId, TraceId};
pub use trace_state::TraceState;
pub use traceparent::TraceparentBuf;

/// The header that names the caller's span.
pub const TRACEPARENT: &str = "traceparent";
/// The header with what tracing systems add to `traceparent`.
pub const TRACESTATE: &str = "tracestate";
/// The header with what the application passes along a trace.
pub const BAGGAGE: &str = "baggage";
