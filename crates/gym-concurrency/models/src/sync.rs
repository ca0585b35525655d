//! What the semaphore is built from here: shuttle's counterparts.

use std::task::{Context, Poll};

pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
pub(crate) use std::sync::PoisonError;

use shuttle::future::batch_semaphore;
pub(crate) use tokio_under_shuttle::sync::{Notify, SemaphorePermit};
pub(crate) use tokio_under_shuttle::time::timeout;

pub(crate) use batch_semaphore::{AcquireError, TryAcquireError};

/// tokio's semaphore as shuttle has it, with the one method that is missing there.
#[derive(Debug)]
pub(crate) struct Semaphore(tokio_under_shuttle::sync::Semaphore);

impl Semaphore {
    pub(crate) const MAX_PERMITS: usize = tokio::sync::Semaphore::MAX_PERMITS;

    pub(crate) fn new(permits: usize) -> Self {
        Self(tokio_under_shuttle::sync::Semaphore::new(permits))
    }

    pub(crate) fn available_permits(&self) -> usize {
        self.0.available_permits()
    }

    pub(crate) fn add_permits(&self, permits: usize) {
        self.0.add_permits(permits);
    }

    /// Forgets up to `most` free permits and returns how many.
    pub(crate) fn forget_permits(&self, most: usize) -> usize {
        let mut forgotten = 0;
        while forgotten < most {
            let Ok(permit) = self.0.try_acquire() else {
                break;
            };
            permit.forget();
            forgotten += 1;
        }
        forgotten
    }

    pub(crate) async fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.0.acquire().await
    }

    pub(crate) async fn acquire_many(
        &self,
        permits: u32,
    ) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.0.acquire_many(permits).await
    }

    pub(crate) fn try_acquire_many(
        &self,
        permits: u32,
    ) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.0.try_acquire_many(permits)
    }

    pub(crate) fn close(&self) {
        self.0.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// Shuttle decides when a task is interrupted: its budget never runs out.
pub(crate) fn poll_proceed(_: &mut Context<'_>) -> Poll<Progress> {
    Poll::Ready(Progress)
}

#[derive(Debug)]
pub(crate) struct Progress;

impl Progress {
    #[expect(clippy::unused_self, reason = "the shape of tokio's")]
    pub(crate) fn made_progress(&self) {}
}
