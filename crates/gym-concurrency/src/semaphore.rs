//! A semaphore that says what it is doing.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use crate::callers::Taken;
use crate::component::ConcurrencyComponent;
use crate::error::{AcquireError, AcquireErrorKind};
use crate::limit::{Limit, LimitError};
use crate::metering::{LimitKey, Registered, SlotMeter};
use crate::permit::{OwnedPermit, Permit};
use crate::slots::{FreeOr, OutOfLine, Slots};
use crate::sync::TryAcquireError;
use crate::waiting::WaitEnd;

/// A `tokio::sync::Semaphore` for a configured concurrency limit, whose state is exported.
///
/// Callers are served in the order in which they came. Cancelling an acquire, a panic while a permit is held
/// and an aborted task all give back what they had.
///
/// ```
/// use std::time::Duration;
/// use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};
///
/// # async fn call_model() {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let upstream = MeteredSemaphore::new(100, ConcurrencyComponent::AgentServer, "upstream_requests")?
///     .with_server_name("weather_agent")
///     .with_admission_timeout(Duration::from_secs(30));
///
/// let permit = upstream.acquire().await?;
/// assert_eq!((upstream.active(), upstream.available(), upstream.queued()), (1, 99, 0));
/// call_model().await;
/// drop(permit);
/// assert_eq!(upstream.active(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MeteredSemaphore {
    slots: Registered,
    admission_timeout: Option<Duration>,
}

impl MeteredSemaphore {
    /// Creates a semaphore of `limit` slots.
    ///
    /// `limit_name` says what the limit bounds, such as `rollouts` or `upstream_requests`. It is a metric
    /// attribute, and `'static` so that no id can become one.
    ///
    /// # Errors
    ///
    /// When `limit` is zero or above [`Limit::MAX`].
    pub fn new<L>(
        limit: L,
        component: ConcurrencyComponent,
        limit_name: &'static str,
    ) -> Result<Self, LimitError>
    where
        L: TryInto<Limit>,
        LimitError: From<L::Error>,
    {
        let limit = limit.try_into()?;
        Ok(Self::build(
            limit,
            LimitKey::new(component, limit_name),
            None,
        ))
    }

    /// Creates a semaphore if there is a limit: without one nothing is limited, and no series is exported.
    ///
    /// # Errors
    ///
    /// As [`MeteredSemaphore::new`].
    pub fn optional<L>(
        limit: Option<L>,
        component: ConcurrencyComponent,
        limit_name: &'static str,
    ) -> Result<Option<Self>, LimitError>
    where
        L: TryInto<Limit>,
        LimitError: From<L::Error>,
    {
        limit
            .map(|limit| Self::new(limit, component, limit_name))
            .transpose()
    }

    /// Names the server that owns the limit. Without one the attribute is left out.
    #[must_use]
    pub fn with_server_name(self, name: impl AsRef<str>) -> Self {
        let key = self.slots.meter.key().server_name(name.as_ref());
        Self::build(self.configured(), key, self.admission_timeout)
    }

    /// Bounds how long one caller waits for a slot.
    ///
    /// Give the bound here instead of wrapping [`acquire`](Self::acquire) in `tokio::time::timeout`, which
    /// counts as a cancellation by the caller. A caller that finds a free slot is admitted whatever the bound.
    #[must_use]
    pub fn with_admission_timeout(self, timeout: Duration) -> Self {
        Self::build(self.configured(), self.slots.meter.key(), Some(timeout))
    }

    /// Takes a slot, waiting for one if all are held.
    ///
    /// # Errors
    ///
    /// When no slot became free within the admission timeout, or when the semaphore is closed.
    ///
    /// # Panics
    ///
    /// With an admission timeout, when it has to wait outside a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the wait, gives back a slot that was granted meanwhile, and counts as
    /// cancelled if the caller was waiting.
    #[inline]
    pub fn acquire(&self) -> impl Future<Output = Result<Permit<'_>, AcquireError>> {
        // The permit is made of what the wait comes to: a future around the wait would cost as much as a part of it.
        let make = |taken| Permit::new(self, taken);
        FreeOr::new(&self.slots, make, self.wait_for_one())
    }

    /// Takes `slots` slots at once, waiting until all of them are free.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire); and at once when `slots` is above the limit, or as soon as the limit
    /// shrinks below it.
    ///
    /// # Panics
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Cancel safety
    ///
    /// As [`acquire`](Self::acquire).
    pub async fn acquire_many(&self, slots: u32) -> Result<Permit<'_>, AcquireError> {
        let taken = self.take_many(slots).await?;
        Ok(Permit::new(self, taken))
    }

    /// Takes a slot as [`acquire`](Self::acquire) does; the permit keeps the semaphore alive.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Cancel safety
    ///
    /// As [`acquire`](Self::acquire).
    pub async fn acquire_owned(self: Arc<Self>) -> Result<OwnedPermit, AcquireError> {
        let taken = FreeOr::new(&self.slots, |taken| taken, self.wait_for_one()).await?;
        Ok(OwnedPermit::new(self, taken))
    }

    /// Takes `slots` slots as [`acquire_many`](Self::acquire_many) does; the permit keeps the semaphore alive.
    ///
    /// # Errors
    ///
    /// As [`acquire_many`](Self::acquire_many).
    ///
    /// # Panics
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Cancel safety
    ///
    /// As [`acquire`](Self::acquire).
    pub async fn acquire_many_owned(
        self: Arc<Self>,
        slots: u32,
    ) -> Result<OwnedPermit, AcquireError> {
        let taken = self.take_many(slots).await?;
        Ok(OwnedPermit::new(self, taken))
    }

    /// Takes a slot if one is free.
    ///
    /// # Errors
    ///
    /// When no slot is free, or when the semaphore is closed.
    pub fn try_acquire(&self) -> Result<Permit<'_>, AcquireError> {
        let taken = self.try_take()?;
        Ok(Permit::new(self, taken))
    }

    /// Takes a slot if one is free; the permit keeps the semaphore alive.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Self::try_acquire).
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedPermit, AcquireError> {
        let taken = self.try_take()?;
        Ok(OwnedPermit::new(self, taken))
    }

    /// Changes the limit while it is in use.
    ///
    /// More slots are free at once. Of fewer, the free ones go at once and the held ones as they are given
    /// back. A caller that waits for more slots than the new limit has gets an error.
    ///
    /// # Errors
    ///
    /// When `limit` is zero or above [`Limit::MAX`].
    pub fn resize<L>(&self, limit: L) -> Result<(), LimitError>
    where
        L: TryInto<Limit>,
        LimitError: From<L::Error>,
    {
        self.slots.resize(limit.try_into()?);
        Ok(())
    }

    /// Closes the semaphore: callers that wait and callers that come get an error, held permits stay valid.
    pub fn close(&self) {
        self.slots.close();
    }

    /// Returns whether the semaphore is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.slots.is_closed()
    }

    /// Returns the configured number of slots.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.slots.limit()
    }

    /// Returns how many slots are held, or granted to a caller that has not run since.
    ///
    /// More than the limit after it shrank, until permits are given back.
    #[must_use]
    pub fn active(&self) -> usize {
        self.slots.snapshot().active
    }

    /// Returns the limit less the active slots, and zero when more are active.
    #[must_use]
    pub fn available(&self) -> usize {
        let snapshot = self.slots.snapshot();
        snapshot.limit.saturating_sub(snapshot.active)
    }

    /// Returns how many callers wait that no slot has been granted to.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.slots.snapshot().queued
    }

    /// Returns how long one caller may wait, if that is bounded.
    #[must_use]
    pub fn admission_timeout(&self) -> Option<Duration> {
        self.admission_timeout
    }

    /// Returns the metric attributes this limit reports under.
    ///
    /// # Off build
    ///
    /// Empty: the names are not stored.
    #[must_use]
    pub fn attributes(&self) -> Vec<(&'static str, String)> {
        self.slots.meter.key().attributes()
    }

    pub(crate) fn slots(&self) -> &Slots<SlotMeter> {
        &self.slots
    }

    async fn wait_for_one(&self) -> Result<Taken, AcquireError> {
        if self.admission_timeout.is_none() {
            // The most common wait by far, and in this future itself: each future around a wait costs as much as a
            // part of the wait.
            let mut waiting = self.slots.waiting(1);
            let acquire = pin!(self.slots.acquire());
            match self.slots.queue(&mut waiting, acquire).await {
                WaitEnd::Overtaken => {}
                end => return waiting.end(end).map_err(AcquireError::new),
            }
        }
        let waited = self.slots.wait_for_one(self.admission_timeout);
        OutOfLine(pin!(waited)).await.map_err(AcquireError::new)
    }

    async fn take_many(&self, slots: u32) -> Result<Taken, AcquireError> {
        self.slots.check(slots).map_err(AcquireError::new)?;
        match self.slots.take_free(slots).await {
            Ok(taken) => Ok(taken),
            Err(TryAcquireError::NoPermits) => {
                let bound = self.admission_timeout;
                self.slots.wait_for_many(slots, bound).await
            }
            Err(TryAcquireError::Closed) => Err(AcquireErrorKind::Closed),
        }
        .map_err(AcquireError::new)
    }

    fn try_take(&self) -> Result<Taken, AcquireError> {
        self.slots.try_take(1).map_err(|why| {
            AcquireError::new(match why {
                TryAcquireError::NoPermits => AcquireErrorKind::Full,
                TryAcquireError::Closed => AcquireErrorKind::Closed,
            })
        })
    }

    fn build(limit: Limit, key: LimitKey, admission_timeout: Option<Duration>) -> Self {
        Self {
            slots: Registered::new(limit, key, admission_timeout.is_some()),
            admission_timeout,
        }
    }

    fn configured(&self) -> Limit {
        Limit::new(self.slots.limit()).expect("the limit came from a Limit")
    }
}
