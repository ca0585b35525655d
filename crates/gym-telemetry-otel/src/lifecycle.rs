//! The life of telemetry in a process.

use std::time::Duration;

use gym_telemetry_core::ShutdownReceipt;

use crate::handle::{self, TelemetryHandle};

/// The telemetry of this process, if it was started and is on.
#[must_use]
pub fn get_telemetry() -> Option<TelemetryHandle> {
    TelemetryHandle::of_process()
}

/// Exports what was recorded, ends telemetry for good and tells what became of everything.
///
/// Spans that are still open are exported as truncated. All signals share `budget`; whatever the collector does, the
/// call returns within it. It blocks the thread and may be called from anywhere, also inside a runtime, where
/// [`shutdown_telemetry_async`] is better.
///
/// A second call changes nothing and returns the same receipt. If telemetry is off, the receipt says that nothing
/// was configured.
pub fn shutdown_telemetry(budget: Duration) -> ShutdownReceipt {
    handle::shutdown(budget)
}

/// Like [`shutdown_telemetry`], without blocking the thread. It works on any runtime.
///
/// # Cancel safety
///
/// Dropping the future does not stop the shutdown; a later call returns its receipt.
pub async fn shutdown_telemetry_async(budget: Duration) -> ShutdownReceipt {
    handle::shutdown_async(budget).await
}
