//! Names of instrumentation scopes.

/// The scope of `#[trace_fn]` spans and of every metric.
pub const LENS: &str = "nemo.lens";
/// The scope of the other spans that name none.
pub const HELPERS: &str = "nemo.lens.helpers";
/// The scope of the spans of HTTP requests, inbound and outbound.
pub const GYM: &str = "nemo.gym";
