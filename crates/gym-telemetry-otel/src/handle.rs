//! The handle of a process that exports telemetry.

use std::time::Duration;

use gym_telemetry_core::group;
use gym_telemetry_core::receipt::{Outcome, ShutdownReceipt};
use tokio::sync::oneshot;

use crate::process;

/// How long a shutdown may take unless the caller says otherwise.
pub const DEFAULT_SHUTDOWN_BUDGET: Duration = Duration::from_secs(5);

/// Telemetry that was started; see [`init_telemetry`](crate::init_telemetry).
///
/// Handles are all alike: there is one telemetry per process. Dropping a handle does nothing. What was recorded
/// within the last seconds is lost unless [`shutdown`](Self::shutdown) is called before the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the last seconds of telemetry are lost without a shutdown"]
pub struct TelemetryHandle(());

impl TelemetryHandle {
    pub(crate) fn of_process() -> Option<Self> {
        process::telemetry().map(|_| Self(()))
    }

    /// Whether anything is exported: there is an exporter, and telemetry was not shut down.
    #[must_use]
    pub fn is_exporting(&self) -> bool {
        process::telemetry().is_some_and(crate::thread::Telemetry::is_exporting)
    }

    /// Exports what has ended so far, and waits for that until `budget` is used up. Open spans stay open.
    ///
    /// Blocks the thread. It may be called from anywhere, also inside a runtime; there prefer
    /// [`flush_async`](Self::flush_async).
    #[must_use = "the outcome tells whether everything arrived"]
    pub fn flush(&self, budget: Duration) -> Outcome {
        process::telemetry().map_or(Outcome::NotConfigured, |telemetry| telemetry.flush(budget))
    }

    /// Like [`flush`](Self::flush), without blocking the thread. It works on any runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not stop the flush.
    pub async fn flush_async(&self, budget: Duration) -> Outcome {
        let outcome = elsewhere(move || TelemetryHandle(()).flush(budget)).await;
        outcome.unwrap_or_else(|| Outcome::Failed("no thread to wait on".to_owned()))
    }

    /// See [`shutdown_telemetry`](crate::shutdown_telemetry).
    pub fn shutdown(&self, budget: Duration) -> ShutdownReceipt {
        shutdown(budget)
    }

    /// See [`shutdown_telemetry_async`](crate::shutdown_telemetry_async).
    pub async fn shutdown_async(&self, budget: Duration) -> ShutdownReceipt {
        shutdown_async(budget).await
    }
}

pub(crate) fn shutdown(budget: Duration) -> ShutdownReceipt {
    let Some(telemetry) = process::telemetry() else {
        return ShutdownReceipt::default();
    };
    // From now on call sites need not try.
    group::pin(&[]);
    telemetry.shut_down(budget)
}

pub(crate) async fn shutdown_async(budget: Duration) -> ShutdownReceipt {
    if process::telemetry().is_none() {
        return ShutdownReceipt::default();
    }
    elsewhere(move || shutdown(budget))
        .await
        .unwrap_or_else(|| shutdown(Duration::ZERO))
}

/// Runs something that blocks on a thread of its own, so that its deadline holds whatever runtime the caller has and
/// however busy that and the telemetry thread are. `None` if there is no such thread to be had.
async fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (reply, answer) = oneshot::channel();
    std::thread::Builder::new()
        .name("gym-telemetry-wait".to_owned())
        .spawn(move || {
            let _ = reply.send(work());
        })
        .ok()?;
    answer.await.ok()
}
