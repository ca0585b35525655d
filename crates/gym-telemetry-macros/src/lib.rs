//! The `#[trace_fn]` attribute of gym-telemetry-api.
