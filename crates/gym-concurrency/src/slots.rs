//! The slots of one semaphore: who holds them, who waits for them, how many there are.
//!
//! tokio's semaphore decides who gets a slot. Around it stand
//!
//! - `limit`: configured slots, and `debt`: slots that a smaller limit still has to take back from their
//!   holders. `limit + debt` slots exist.
//! - `callers`: callers that are only counted. What the semaphore has handed out and nobody is counted for who
//!   came without waiting is what it has granted to callers that waited, or set aside for the first in line.
//! - `waiters`: waiting callers one by one, with what they asked for and since when, in the order of the
//!   semaphore's queue. Callers are listed only where that matters: once somebody waits for several slots.
//!
//! Taking and giving back a free slot costs one atomic addition each beyond tokio's own work; waiting for one
//! costs no more than that, unless the wait is measured. Then the meter keeps when the caller came.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;

use crate::callers::{Callers, Counts, Taken};
use crate::error::{AcquireError, AcquireErrorKind};
use crate::limit::Limit;
use crate::sync::{
    AcquireError as QueueClosed, AtomicBool, AtomicUsize, Mutex, MutexGuard, Notify, Ordering,
    PoisonError, Semaphore, SemaphorePermit, TryAcquireError, poll_proceed, timeout,
};
use crate::waiters::Waiters;
use crate::waiting::{WaitEnd, Waiting};

/// What a semaphore tells of itself while it works.
pub(crate) trait Meter {
    /// A moment; nothing where time is not measured.
    type Moment: Copy;
    /// Where a caller that is only counted has left when it came.
    type Arrival<'a>: Copy
    where
        Self: 'a;

    /// Returns whether waits are measured.
    fn measures_waits(&self) -> bool;
    /// Returns the present moment.
    fn now(&self) -> Self::Moment;
    /// `active` slots are held now.
    fn active(&self, active: impl FnOnce() -> usize);
    /// At most `most` callers wait now, one of them new; `queued` tells how many.
    fn queued(&self, most: usize, queued: impl FnOnce() -> usize);
    /// A caller that is only counted begins to wait, as one of `counted` that wait or waited and hold a slot.
    fn arrived(&self, counted: usize) -> Self::Arrival<'_>;
    /// It waits no longer. Returns when it came.
    fn departed(&self, arrival: Self::Arrival<'_>) -> Self::Moment;
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
    /// Of the queued, those that are only counted; they came first.
    pub(crate) counted: usize,
    /// When the first of the others came.
    pub(crate) oldest_listed: Option<Moment>,
}

/// What is handed out, and to whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sorted {
    /// Slots that are not free.
    taken: usize,
    /// Of these, slots for callers that are listed.
    for_listed: usize,
    /// Callers that are only counted, wait, and have not been granted a slot.
    pub(crate) queued: usize,
}

#[derive(Debug)]
pub(crate) struct Slots<M: Meter> {
    semaphore: Semaphore,
    limit: AtomicUsize,
    debt: AtomicUsize,
    pub(crate) callers: Callers,
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
        self.look(&self.lock())
    }

    /// Returns the state; the list of waiting callers is locked.
    pub(crate) fn look(&self, waiters: &MutexGuard<'_, Waiters<M::Moment>>) -> Snapshot<M::Moment> {
        self.settle(waiters);
        let sorted = self.sort(self.callers.read());
        let split = waiters.split(sorted.for_listed);
        Snapshot {
            limit: self.limit.load(Ordering::Relaxed),
            active: sorted.taken - split.parked,
            queued: sorted.queued + split.queued,
            counted: sorted.queued,
            oldest_listed: split.oldest,
        }
    }

    /// Tells for whom the slots are that the semaphore has handed out.
    pub(crate) fn sort(&self, Counts { free, waited }: Counts) -> Sorted {
        let exist = self.limit.load(Ordering::Relaxed) + self.debt.load(Ordering::Relaxed);
        let taken = exist.saturating_sub(self.semaphore.available_permits());
        let aside = taken.saturating_sub(free);
        // Whoever is only counted came before the first that is listed, and is served before it.
        let served = waited.min(aside);
        Sorted {
            taken,
            for_listed: aside - served,
            queued: waited - served,
        }
    }

    /// Takes `slots` free slots, or says why not.
    #[inline]
    pub(crate) fn try_take(&self, slots: u32) -> Result<Taken, TryAcquireError> {
        self.semaphore
            .try_acquire_many(slots)
            .map(SemaphorePermit::forget)?;
        self.count_free(slots);
        Ok(Taken::free(slots))
    }

    /// Takes `slots` free slots as a task does. When they are not free, wait next.
    #[inline]
    pub(crate) fn take_free(&self, slots: u32) -> TakeFree<'_, M> {
        TakeFree { of: self, slots }
    }

    /// A caller that may have to wait.
    #[inline]
    pub(crate) fn waiting(&self, slots: u32) -> Waiting<'_, M> {
        Waiting::new(self, slots)
    }

    /// What to wait for in the semaphore's queue for one slot.
    #[inline]
    pub(crate) fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, QueueClosed>> {
        self.semaphore.acquire()
    }

    /// Waits for one slot with `acquire`, once.
    #[inline]
    #[expect(clippy::unused_self, reason = "it is this semaphore's queue")]
    pub(crate) fn queue<'w, 'a, F>(
        &self,
        waiting: &'w mut Waiting<'a, M>,
        acquire: Pin<&'w mut F>,
    ) -> OneWait<'w, 'a, M, F> {
        OneWait { waiting, acquire }
    }

    /// Waits for one slot.
    ///
    /// Dropping the future gives up the wait and gives back what was granted.
    pub(crate) async fn wait_for_one(
        &self,
        bound: Option<Duration>,
    ) -> Result<Taken, AcquireErrorKind> {
        let mut waiting = self.waiting(1);
        let end = loop {
            // It leaves the semaphore's queue before the caller leaves the list.
            let acquire = pin!(self.acquire());
            let end = self.queue(&mut waiting, acquire);
            // Without a function around these two: every layer is passed through on every poll.
            let end = match bound {
                None => end.await,
                Some(bound) => timeout(bound, end).await.unwrap_or(WaitEnd::Timeout),
            };
            if end != WaitEnd::Overtaken {
                break end;
            }
        };
        waiting.end(end)
    }

    /// Waits for `slots` slots.
    ///
    /// Dropping the future gives up the wait and gives back what was granted.
    pub(crate) async fn wait_for_many(
        &self,
        slots: u32,
        bound: Option<Duration>,
    ) -> Result<Taken, AcquireErrorKind> {
        // Before it is in the semaphore's queue: everybody behind it is to be listed, too.
        self.listing.store(true, Ordering::SeqCst);
        let mut waiting = self.waiting(slots);
        let end = {
            let mut acquire = pin!(self.semaphore.acquire_many(slots));
            let end = async {
                loop {
                    let mut shrunk = pin!(self.shrunk.notified());
                    // Listen before looking, or a limit that shrinks in between is missed.
                    shrunk.as_mut().enable();
                    if self.check(slots).is_err() {
                        return WaitEnd::Closed;
                    }
                    let end = poll_fn(|cx| match waiting.poll(acquire.as_mut(), cx) {
                        Poll::Ready(end) => Poll::Ready(Some(end)),
                        Poll::Pending => shrunk.as_mut().poll(cx).map(|()| None),
                    });
                    if let Some(end) = end.await {
                        return end;
                    }
                }
            };
            match bound {
                None => end.await,
                Some(bound) => timeout(bound, end).await.unwrap_or(WaitEnd::Timeout),
            }
        };
        // A limit that shrank below what was asked for tells more than a semaphore that is closed.
        waiting.end(end).map_err(|kind| match kind {
            AcquireErrorKind::Closed => self.check(slots).err().unwrap_or(kind),
            kind => kind,
        })
    }

    /// Gives slots back.
    #[inline]
    pub(crate) fn give_back(&self, taken: Taken) {
        self.callers.remove(taken);
        let slots = taken.slots() as usize;
        if self.debt.load(Ordering::Relaxed) == 0 {
            self.semaphore.add_permits(slots);
            // The limit may have shrunk in between: then these slots, free now, are what it takes.
            if self.debt.load(Ordering::SeqCst) > 0 {
                self.settle_late();
            }
        } else {
            self.pay(slots);
        }
    }

    #[cold]
    fn settle_late(&self) {
        self.settle(&self.lock());
    }

    /// Gives slots back while the limit has too many.
    #[cold]
    fn pay(&self, slots: usize) {
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
            // Callers that wait have been granted slots, and do not say so themselves.
            let active = self.look(&waiters).active;
            self.meter.active(|| active);
        }
    }

    pub(crate) fn close(&self) {
        self.semaphore.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.semaphore.is_closed()
    }

    /// Counts slots that were taken without waiting, or for which the caller was listed.
    #[inline]
    pub(crate) fn count_free(&self, slots: u32) {
        let counts = self.callers.add(Taken::free(slots));
        self.meter.active(|| {
            if counts.waited == 0 {
                return counts.free;
            }
            // Callers that still wait hold nothing; but when somebody waits, all slots are held.
            let exist = self.limit.load(Ordering::Relaxed) + self.debt.load(Ordering::Relaxed);
            exist.min(counts.free + counts.waited)
        });
    }

    /// Whether callers that wait are listed.
    #[inline]
    pub(crate) fn lists(&self) -> bool {
        self.listing.load(Ordering::SeqCst)
    }

    /// Refuses more slots than there ever are.
    #[inline]
    pub(crate) fn check(&self, slots: u32) -> Result<(), AcquireErrorKind> {
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
    pub(crate) fn lock(&self) -> MutexGuard<'_, Waiters<M::Moment>> {
        // Nothing panics while it holds this lock.
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A try at free slots, at the price of one unit of the task's cooperative budget.
///
/// Without the budget a task that always finds a free slot would never yield.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct TakeFree<'a, M: Meter> {
    of: &'a Slots<M>,
    slots: u32,
}

impl<M: Meter> Future for TakeFree<'_, M> {
    type Output = Result<Taken, TryAcquireError>;

    // The whole cost of a free slot: worth a copy at each of its few callers.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see above")]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.of.semaphore.available_permits() < self.slots as usize {
            return Poll::Ready(Err(TryAcquireError::NoPermits));
        }
        let budget = ready!(poll_proceed(cx));
        let result = self.of.try_take(self.slots);
        if result.is_ok() {
            budget.made_progress();
        }
        Poll::Ready(result)
    }
}

/// A wait for one slot.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct OneWait<'w, 'a, M: Meter, F> {
    waiting: &'w mut Waiting<'a, M>,
    acquire: Pin<&'w mut F>,
}

impl<'a, M: Meter, F> Future for OneWait<'_, 'a, M, F>
where
    F: Future<Output = Result<SemaphorePermit<'a>, QueueClosed>>,
{
    type Output = WaitEnd;

    // Passed through on every poll.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see above")]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<WaitEnd> {
        let this = self.get_mut();
        if this.waiting.is_new() {
            return this.waiting.begin(this.acquire.as_mut(), cx);
        }
        this.acquire.as_mut().poll(cx).map(WaitEnd::of)
    }
}

pin_project! {
    /// Takes a free slot, or else does what `waited` does.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct FreeOr<'a, M: Meter, N, F> {
        slots: &'a Slots<M>,
        // Whether to look for a free slot first; not once there was none.
        is_new: bool,
        // What to make of a slot.
        make: N,
        #[pin]
        waited: F,
    }
}

impl<'a, M: Meter, N, F> FreeOr<'a, M, N, F> {
    #[inline]
    pub(crate) fn new(slots: &'a Slots<M>, make: N, waited: F) -> Self {
        Self {
            slots,
            is_new: true,
            make,
            waited,
        }
    }
}

impl<M: Meter, N, T, F> Future for FreeOr<'_, M, N, F>
where
    N: Fn(Taken) -> T,
    F: Future<Output = Result<Taken, AcquireError>>,
{
    type Output = Result<T, AcquireError>;

    // Small: a try, and a call.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see above")]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if *this.is_new {
            let result = ready!(Pin::new(&mut this.slots.take_free(1)).poll(cx));
            *this.is_new = false;
            // A closed semaphore says so when it is waited for.
            if let Ok(taken) = result {
                return Poll::Ready(Ok((this.make)(taken)));
            }
        }
        poll_apart(this.waited, cx).map_ok(this.make)
    }
}

/// Keeps the polls of a wait out of the code of those whose own task is to take what is free.
#[inline(never)]
fn poll_apart<F: Future>(future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
    future.poll(cx)
}

/// As [`poll_apart`], for a wait inside another.
pub(crate) struct OutOfLine<'a, F>(pub(crate) Pin<&'a mut F>);

impl<F: Future> Future for OutOfLine<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        poll_apart(self.get_mut().0.as_mut(), cx)
    }
}
