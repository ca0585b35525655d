//! One caller's way from its first unsuccessful try to its slots.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::callers::Taken;
use crate::error::AcquireErrorKind;
use crate::slots::{Meter, Slots, WaitOutcome};
use crate::sync::{AcquireError, SemaphorePermit, poll_proceed};

/// A caller that may have to wait; dropped before its [`end`](Self::end), it gave up.
pub(crate) struct Waiting<'a, M: Meter> {
    of: &'a Slots<M>,
    slots: u32,
    place: Place<M::Arrival<'a>>,
}

#[derive(Clone, Copy)]
enum Place<Arrival> {
    /// It has not been told to wait.
    None,
    /// It waits and is counted; where waits are measured, it has left when it came.
    Counted(Option<Arrival>),
    /// It waits and is listed.
    Listed { ticket: u64 },
}

impl<'a, M: Meter> Waiting<'a, M> {
    pub(crate) fn new(of: &'a Slots<M>, slots: u32) -> Self {
        Self {
            of,
            slots,
            place: Place::None,
        }
    }

    /// Whether the caller has not been told to wait so far.
    pub(crate) fn is_new(&self) -> bool {
        matches!(self.place, Place::None)
    }

    /// Polls `acquire` for one slot for the first time; counts or lists the caller when it has to wait.
    pub(crate) fn begin<'p, F>(
        &mut self,
        acquire: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<WaitEnd>
    where
        F: Future<Output = Result<SemaphorePermit<'p>, AcquireError>>,
    {
        if self.of.lists() {
            return self.poll(acquire, cx);
        }
        let polled = acquire.poll(cx);
        if polled.is_ready() {
            return polled.map(WaitEnd::of);
        }
        if self.of.lists() {
            // Others have been listed since, perhaps ahead of this caller in the queue.
            return Poll::Ready(WaitEnd::Overtaken);
        }
        let counts = self.of.callers.add(Taken::AFTER_WAITING);
        let meter = &self.of.meter;
        self.place = Place::Counted(meter.measures_waits().then(|| {
            meter.queued(counts.waited, || self.of.sort(counts).queued);
            meter.arrived(counts.waited)
        }));
        Poll::Pending
    }

    /// Polls `acquire`; lists the caller when it has to wait.
    pub(crate) fn poll<'p, F>(
        &mut self,
        acquire: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<WaitEnd>
    where
        F: Future<Output = Result<SemaphorePermit<'p>, AcquireError>>,
    {
        if !self.is_new() {
            return acquire.poll(cx).map(WaitEnd::of);
        }
        // Without budget the semaphore would have the caller come again before it lets it in its queue.
        let _ = ready!(poll_proceed(cx));
        let since = self.of.meter.now();
        // Under the lock, so that the list has the order of the semaphore's queue.
        let mut waiters = self.of.lock();
        let polled = acquire.poll(cx);
        if polled.is_pending() {
            let ticket = waiters.join(self.slots, since);
            self.place = Place::Listed { ticket };
            let most = waiters.len() + self.of.callers.read().waited;
            self.of.meter.queued(most, || self.of.look(&waiters).queued);
        }
        polled.map(WaitEnd::of)
    }

    /// Ends the wait, if there was one.
    #[inline]
    pub(crate) fn end(mut self, end: WaitEnd) -> Result<Taken, AcquireErrorKind> {
        match end {
            WaitEnd::Granted => {
                if let Place::Counted(None) = self.place {
                    // Already counted, and from now on for the slot that it holds.
                    self.place = Place::None;
                    return Ok(Taken::AFTER_WAITING);
                }
                Ok(self.leave(WaitOutcome::Granted))
            }
            WaitEnd::Timeout => {
                let _ = self.leave(WaitOutcome::Timeout);
                Err(AcquireErrorKind::Timeout)
            }
            WaitEnd::Closed | WaitEnd::Overtaken => {
                let _ = self.leave(WaitOutcome::Closed);
                Err(AcquireErrorKind::Closed)
            }
        }
    }

    /// Takes the caller out of wherever it is, and counts what it was granted.
    fn leave(&mut self, outcome: WaitOutcome) -> Taken {
        let is_granted = outcome == WaitOutcome::Granted;
        match std::mem::replace(&mut self.place, Place::None) {
            Place::None => {
                match outcome {
                    WaitOutcome::Granted => self.of.count_free(self.slots),
                    // The bound can pass while the task has no budget left to come so far as to wait.
                    WaitOutcome::Timeout => self.of.meter.waited(None, outcome),
                    WaitOutcome::Cancelled | WaitOutcome::Closed => {}
                }
                Taken::free(self.slots)
            }
            Place::Counted(arrival) => {
                let since = arrival.map(|arrival| self.of.meter.departed(arrival));
                // If it holds a slot now, it is counted for that from now on.
                if !is_granted {
                    self.of.callers.remove(Taken::AFTER_WAITING);
                }
                self.of.meter.waited(since, outcome);
                Taken::AFTER_WAITING
            }
            Place::Listed { ticket } => {
                let mut waiters = self.of.lock();
                if is_granted {
                    self.of.count_free(self.slots);
                }
                let since = waiters.leave(ticket);
                drop(waiters);
                self.of.meter.waited(since, outcome);
                Taken::free(self.slots)
            }
        }
    }
}

impl<M: Meter> Drop for Waiting<'_, M> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_new() {
            let _ = self.leave(WaitOutcome::Cancelled);
        }
    }
}

/// What a wait comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    Granted,
    Timeout,
    /// There is nothing to wait for any more.
    Closed,
    /// The caller has to go to the end of the queue; it has not been told to wait yet.
    Overtaken,
}

impl WaitEnd {
    /// What the semaphore granted is counted here, not by its permit.
    #[inline]
    pub(crate) fn of(result: Result<SemaphorePermit<'_>, AcquireError>) -> Self {
        match result {
            Ok(permit) => {
                permit.forget();
                Self::Granted
            }
            Err(_) => Self::Closed,
        }
    }
}
