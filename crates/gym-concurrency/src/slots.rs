//! The slots of one semaphore: who holds them, who waits for them, how many there are.
//!
//! tokio's semaphore decides who gets a slot. Around it stand
//!
//! - `limit`: configured slots, and `debt`: slots that a smaller limit still has to take back from their
//!   holders. `limit + debt` slots exist.
//! - `callers`: the slots of callers that were told so, and the callers that wait. A slot that the semaphore
//!   has set aside for a caller which has not run since is in none of the semaphore's counts and not held
//!   either: it is the difference.
//! - `waiters`: the waiting callers one by one, with what they asked for and since when. Callers are listed
//!   only where that matters: once the limit is exported, or once somebody waits for several slots.
//!
//! Taking and giving back a free slot costs one atomic addition each beyond tokio's own work; waiting for one
//! costs another.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::{AcquireError, Notify, Semaphore, SemaphorePermit, TryAcquireError};

use crate::callers::Callers;
use crate::error::AcquireErrorKind;
use crate::limit::Limit;
use crate::waiters::Waiters;

/// What a semaphore tells of itself while it works.
pub(crate) trait Meter {
    /// A moment; nothing where time is not measured.
    type Moment: Copy;

    /// Returns whether waits are measured.
    fn measures_waits(&self) -> bool;
    /// Returns the present moment.
    fn now(&self) -> Self::Moment;
    /// `active` slots are held now.
    fn active(&self, active: usize);
    /// `queued` callers wait now, one of them new.
    fn queued(&self, queued: usize);
    /// A caller waits no longer; where waits are measured, it came at `since`.
    fn waited(&self, since: Option<Self::Moment>, outcome: WaitOutcome);
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    /// The caller holds its slots.
    Granted,
    /// The admission timeout passed.
    Timeout,
    /// The caller gave up.
    Cancelled,
    /// The semaphore was closed, or its limit shrank below what the caller asked for.
    Closed,
}

/// The state of a semaphore at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot<Moment> {
    pub(crate) limit: usize,
    pub(crate) active: usize,
    pub(crate) queued: usize,
    pub(crate) oldest: Option<Moment>,
}

#[derive(Debug)]
pub(crate) struct Slots<M: Meter> {
    semaphore: Semaphore,
    limit: AtomicUsize,
    debt: AtomicUsize,
    callers: Callers,
    /// Set once, when the first caller has to be listed.
    listing: AtomicBool,
    waiters: Mutex<Waiters<M::Moment>>,
    /// Tells callers that wait for several slots that the limit shrank.
    shrunk: Notify,
    pub(crate) meter: M,
}

impl<M: Meter> Slots<M> {
    pub(crate) fn new(limit: Limit, meter: M) -> Self {
        Self {
            semaphore: Semaphore::new(limit.get()),
            limit: AtomicUsize::new(limit.get()),
            debt: AtomicUsize::new(0),
            callers: Callers::default(),
            listing: AtomicBool::new(false),
            waiters: Mutex::new(Waiters::new()),
            shrunk: Notify::new(),
            meter,
        }
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    pub(crate) fn snapshot(&self) -> Snapshot<M::Moment> {
        let waiters = self.lock();
        self.settle(&waiters);
        let limit = self.limit.load(Ordering::Relaxed);
        let exist = limit + self.debt.load(Ordering::Relaxed);
        let taken = exist.saturating_sub(self.semaphore.available_permits());
        let (held, counted) = self.callers.read();
        let aside = taken.saturating_sub(held);
        // Whoever is only counted came before the first that is listed, and is served before it.
        let served = counted.min(aside);
        let split = waiters.split(aside - served);
        Snapshot {
            limit,
            active: taken - split.parked,
            queued: counted - served + split.queued,
            oldest: split.oldest,
        }
    }

    /// Takes `slots` free slots, or says why not.
    #[inline]
    pub(crate) fn try_take(&self, slots: u32) -> Result<(), AcquireErrorKind> {
        self.check(slots)?;
        self.semaphore
            .try_acquire_many(slots)
            .map(SemaphorePermit::forget)
            .map_err(|error| match error {
                TryAcquireError::NoPermits => AcquireErrorKind::Full,
                TryAcquireError::Closed => AcquireErrorKind::Closed,
            })?;
        self.meter.active(self.callers.take(slots));
        Ok(())
    }

    /// Takes one slot, waiting for it if none is free.
    ///
    /// Dropping the future gives up the wait and gives back what was granted.
    #[inline]
    pub(crate) async fn take_one(&self, timeout: Option<Duration>) -> Result<(), AcquireErrorKind> {
        match poll_fn(|cx| self.poll_try_take(1, cx)).await {
            Err(AcquireErrorKind::Full) => {}
            result => return result,
        }
        let waiting = Waiting::join(self, 1);
        // tokio's own future, not one around it: every layer is passed through on every poll.
        let result = match timeout {
            None => self.semaphore.acquire().await.map_err(closed),
            Some(timeout) => match tokio::time::timeout(timeout, self.semaphore.acquire()).await {
                Ok(result) => result.map_err(closed),
                Err(_) => Err(AcquireErrorKind::Timeout),
            },
        };
        waiting.end(result.map(SemaphorePermit::forget))
    }

    /// Takes `slots` slots, waiting until all of them are free. Dropping the future is as for one slot.
    pub(crate) async fn take_many(
        &self,
        slots: u32,
        timeout: Option<Duration>,
    ) -> Result<(), AcquireErrorKind> {
        match poll_fn(|cx| self.poll_try_take(slots, cx)).await {
            Err(AcquireErrorKind::Full) => {}
            result => return result,
        }
        let waiting = Waiting::join(self, slots);
        let result = match timeout {
            None => self.granted_many(slots).await,
            Some(timeout) => match tokio::time::timeout(timeout, self.granted_many(slots)).await {
                Ok(result) => result,
                Err(_) => Err(AcquireErrorKind::Timeout),
            },
        };
        waiting.end(result)
    }

    /// Gives `slots` slots back.
    #[inline]
    pub(crate) fn give_back(&self, slots: u32) {
        self.callers.give_back(slots);
        let slots = slots as usize;
        if self.debt.load(Ordering::Relaxed) == 0 {
            self.semaphore.add_permits(slots);
            // The limit may have shrunk in between: then these slots, free now, are what it takes.
            if self.debt.load(Ordering::SeqCst) > 0 {
                self.settle(&self.lock());
            }
            return;
        }
        let waiters = self.lock();
        let debt = self.debt.load(Ordering::Relaxed);
        let paid = debt.min(slots);
        self.debt.store(debt - paid, Ordering::Relaxed);
        drop(waiters);
        self.semaphore.add_permits(slots - paid);
    }

    /// Changes the limit. A smaller one takes free slots at once and the others as they are given back.
    pub(crate) fn resize(&self, limit: Limit) {
        let waiters = self.lock();
        let (old, new) = (self.limit.load(Ordering::Relaxed), limit.get());
        let debt = self.debt.load(Ordering::Relaxed);
        self.limit.store(new, Ordering::Relaxed);
        if new < old {
            self.debt.store(debt + (old - new), Ordering::SeqCst);
            self.settle(&waiters);
            drop(waiters);
            self.shrunk.notify_waiters();
        } else {
            let forgiven = debt.min(new - old);
            self.debt.store(debt - forgiven, Ordering::Relaxed);
            // Under the lock, so that no reader finds the new limit without its slots. This wakes callers:
            // a waker schedules, it does not run what it wakes.
            self.semaphore.add_permits(new - old - forgiven);
        }
    }

    pub(crate) fn close(&self) {
        self.semaphore.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.semaphore.is_closed()
    }

    /// Tries once, at the price of one unit of the task's cooperative budget.
    ///
    /// Without the budget a task that always finds a free slot would never yield.
    #[inline]
    fn poll_try_take(
        &self,
        slots: u32,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), AcquireErrorKind>> {
        let budget = ready!(tokio::task::coop::poll_proceed(cx));
        let result = self.try_take(slots);
        if result.is_ok() {
            budget.made_progress();
        }
        Poll::Ready(result)
    }

    /// Resolves when the semaphore has granted `slots` slots, or when the limit no longer has as many.
    async fn granted_many(&self, slots: u32) -> Result<(), AcquireErrorKind> {
        let mut acquire = pin!(self.semaphore.acquire_many(slots));
        loop {
            let mut shrunk = pin!(self.shrunk.notified());
            // Listen before looking, or a limit that shrinks in between is missed.
            shrunk.as_mut().enable();
            self.check(slots)?;
            let granted = poll_fn(|cx| match acquire.as_mut().poll(cx) {
                Poll::Ready(result) => Poll::Ready(Some(result)),
                Poll::Pending => shrunk.as_mut().poll(cx).map(|()| None),
            });
            if let Some(result) = granted.await {
                return result.map(SemaphorePermit::forget).map_err(closed);
            }
        }
    }

    #[inline]
    fn check(&self, slots: u32) -> Result<(), AcquireErrorKind> {
        let limit = self.limit();
        // Every limit has one slot.
        if slots > 1 && slots as usize > limit {
            return Err(AcquireErrorKind::ExceedsLimit {
                asked: slots,
                limit,
            });
        }
        Ok(())
    }

    /// Takes free slots that the limit no longer has.
    fn settle(&self, _locked: &MutexGuard<'_, Waiters<M::Moment>>) {
        let debt = self.debt.load(Ordering::Relaxed);
        if debt > 0 {
            self.debt.store(
                debt - self.semaphore.forget_permits(debt),
                Ordering::Relaxed,
            );
        }
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Waiters<M::Moment>> {
        // Nothing panics while it holds this lock.
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closed(_: AcquireError) -> AcquireErrorKind {
    AcquireErrorKind::Closed
}

/// A caller's place among those that wait; a wait that is dropped was cancelled.
struct Waiting<'a, M: Meter> {
    of: &'a Slots<M>,
    place: Place,
    slots: u32,
    outcome: WaitOutcome,
}

#[derive(Clone, Copy)]
enum Place {
    Counted,
    Listed { ticket: u64 },
}

impl<'a, M: Meter> Waiting<'a, M> {
    fn join(of: &'a Slots<M>, slots: u32) -> Self {
        let place = if slots > 1 || of.meter.measures_waits() || of.listing.load(Ordering::Relaxed)
        {
            of.listing.store(true, Ordering::Relaxed);
            let since = of.meter.now();
            let mut waiters = of.lock();
            let ticket = waiters.join(slots, since);
            let queued = waiters.len();
            drop(waiters);
            of.meter.queued(queued);
            Place::Listed { ticket }
        } else {
            of.callers.join();
            Place::Counted
        };
        Self {
            of,
            place,
            slots,
            outcome: WaitOutcome::Cancelled,
        }
    }

    #[inline]
    fn end(mut self, result: Result<(), AcquireErrorKind>) -> Result<(), AcquireErrorKind> {
        self.outcome = match result {
            Ok(()) => WaitOutcome::Granted,
            Err(AcquireErrorKind::Timeout) => WaitOutcome::Timeout,
            Err(_) => WaitOutcome::Closed,
        };
        result
    }
}

impl<M: Meter> Drop for Waiting<'_, M> {
    #[inline]
    fn drop(&mut self) {
        let granted = self.outcome == WaitOutcome::Granted;
        let Place::Listed { ticket } = self.place else {
            if granted {
                self.of.meter.active(self.of.callers.grant());
            } else {
                self.of.callers.give_up();
            }
            self.of.meter.waited(None, self.outcome);
            return;
        };
        let mut waiters = self.of.lock();
        if granted {
            self.of.meter.active(self.of.callers.take(self.slots));
        }
        let since = waiters.leave(ticket);
        drop(waiters);
        self.of.meter.waited(since, self.outcome);
    }
}
