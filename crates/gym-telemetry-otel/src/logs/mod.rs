//! Log records: from the places that make them to the telemetry thread.
//!
//! The appenders of OpenTelemetry turn events of `tracing` and records of `log` into records of ours. Each is stamped
//! with the current span on the thread that makes it, redacted and cut, and waits in a bounded queue.

mod bridge;
mod counts;
mod echo;
mod install;
mod logger;
mod place;
mod queue;
mod quiet;
mod record;

pub use bridge::log_layer;
pub use install::install_log_bridge;
pub(crate) use install::warn_if_deaf;
pub(crate) use queue::LogQueue;
pub(crate) use quiet::{silence_thread, silently};
pub(crate) use record::{Record, SpanIds};
