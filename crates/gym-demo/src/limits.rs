//! The concurrency limits of one process, and what the summary of a run says of them.
//!
//! The numbers of the summary are counted here, so that they are there in both builds and whatever exports the
//! metrics: these come from the semaphore itself.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gym_concurrency::{AcquireError, ConcurrencyComponent, MeteredSemaphore, OwnedPermit};
use serde::{Deserialize, Serialize};

/// One limit.
#[derive(Debug)]
pub(crate) struct Limit {
    name: &'static str,
    semaphore: Arc<MeteredSemaphore>,
    seen: Mutex<Seen>,
}

/// What came of the callers so far.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    peak_active: usize,
    peak_queued: usize,
    waits: u64,
    granted_waits: u64,
    timeouts: u64,
    longest_wait: Duration,
}

impl Limit {
    /// Makes a limit of `slots` for `name`, which may belong to a server.
    pub(crate) fn new(
        slots: gym_concurrency::Limit,
        component: ConcurrencyComponent,
        name: &'static str,
        server: Option<&str>,
        timeout: Option<Duration>,
    ) -> Self {
        let mut semaphore =
            MeteredSemaphore::new(slots, component, name).expect("a limit that was read is valid");
        if let Some(server) = server {
            semaphore = semaphore.with_server_name(server);
        }
        if let Some(timeout) = timeout {
            semaphore = semaphore.with_admission_timeout(timeout);
        }
        Self {
            name,
            semaphore: Arc::new(semaphore),
            seen: Mutex::default(),
        }
    }

    /// How many there may be at the same time.
    pub(crate) fn slots(&self) -> usize {
        self.semaphore.limit()
    }

    /// Takes a slot, waiting for one if all are held.
    ///
    /// # Errors
    ///
    /// When the admission timeout passed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the wait.
    pub(crate) async fn admit(&self) -> Result<OwnedPermit, AcquireError> {
        if let Ok(permit) = Arc::clone(&self.semaphore).try_acquire_owned() {
            self.note(|seen| seen.peak_active = seen.peak_active.max(self.semaphore.active()));
            return Ok(permit);
        }
        let started = Instant::now();
        self.note(|seen| {
            seen.waits += 1;
            seen.peak_queued = seen.peak_queued.max(self.semaphore.queued() + 1);
        });
        let outcome = Arc::clone(&self.semaphore).acquire_owned().await;
        self.note(|seen| {
            seen.longest_wait = seen.longest_wait.max(started.elapsed());
            match &outcome {
                Ok(_) => {
                    seen.granted_waits += 1;
                    seen.peak_active = seen.peak_active.max(self.semaphore.active());
                }
                Err(_) => seen.timeouts += 1,
            }
        });
        outcome
    }

    /// What the limit saw up to now.
    pub(crate) fn report(&self) -> LimitReport {
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        LimitReport {
            name: self.name.to_owned(),
            slots: self.semaphore.limit(),
            peak_active: seen.peak_active,
            peak_queued: seen.peak_queued,
            waits: seen.waits,
            longest_wait_ms: seen.longest_wait.as_secs_f64() * 1e3,
            timeouts: seen.timeouts,
            cancelled: seen.waits - seen.granted_waits - seen.timeouts,
            held_at_end: self.semaphore.active(),
        }
    }

    fn note(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// What a limit saw in a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct LimitReport {
    pub(crate) name: String,
    pub(crate) slots: usize,
    pub(crate) peak_active: usize,
    pub(crate) peak_queued: usize,
    /// Callers that found no free slot.
    pub(crate) waits: u64,
    pub(crate) longest_wait_ms: f64,
    pub(crate) timeouts: u64,
    pub(crate) cancelled: u64,
    /// Slots that are held when all work is done.
    pub(crate) held_at_end: usize,
}

/// Leaves the reports of a server to its orchestrator; where that fails, the summary lacks them.
pub(crate) fn write(file: &Path, limits: &[Arc<Limit>]) {
    let reports: Vec<_> = limits.iter().map(|limit| limit.report()).collect();
    let json = serde_json::to_vec(&reports).expect("strings and numbers always serialize");
    let _ = fs::write(file, json);
}

/// Reads and removes what a server has left; nothing for a server that has no limits.
pub(crate) fn take(file: &Path) -> Vec<LimitReport> {
    let json = fs::read(file).unwrap_or_default();
    let _ = fs::remove_file(file);
    serde_json::from_slice(&json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gym_concurrency::ConcurrencyComponent;

    use super::Limit;

    #[tokio::test]
    async fn a_report_tells_waits_from_timeouts_and_what_is_still_held() {
        let slots = "2".parse().expect("a limit");
        let timeout = Some(Duration::from_millis(1));
        let component = ConcurrencyComponent::ModelServer;
        let limit = Limit::new(slots, component, "test", Some("a"), timeout);
        let (first, _second) = (
            limit.admit().await.expect("free"),
            limit.admit().await.expect("free"),
        );
        assert!(limit.admit().await.expect_err("full").is_timeout());
        drop(first);
        let report = limit.report();
        assert_eq!(
            (report.slots, report.peak_active, report.peak_queued),
            (2, 2, 1)
        );
        assert_eq!((report.waits, report.timeouts, report.cancelled), (1, 1, 0));
        assert_eq!(report.held_at_end, 1);
    }
}
