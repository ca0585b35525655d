//! From the thread that ends a span to the telemetry thread, and free slots back.
//!
//! Each thread has a lane: free slots, and a list of ended ones to which only that thread appends. The list is linked
//! through the slots themselves. Its last slot must stay in place, because the thread will write the address of the next
//! one into it: when it is taken out, what it holds moves to another slot.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::super::Recorder;
use super::super::clock::Tick;
use super::pool::{Chain, Pool};
use super::slot::{Owned, Part, Record, Slot, next_part, recorder_of, relocate};

/// How many free slots a thread takes at first, and at most.
const FIRST: usize = 4;
const MOST: usize = 64;
/// Beyond so many slots each growth of the pool wakes the telemetry thread.
const LARGE: usize = 4_096;
/// So many threads that have died wake the telemetry thread.
const MANY_DEAD: usize = 64;

thread_local! {
    // Without a destructor, so that it is reached without a check and works in destructors of other thread locals.
    static CURRENT: Cell<*const Lane> = const { Cell::new(null()) };
    static NOTICE: Notice = const { Notice(RefCell::new(Vec::new())) };
}

/// What one thread has to do with one recorder.
pub(super) struct Lane {
    recorder: &'static Recorder,
    // The thread's own.
    free: Cell<*mut Slot>,
    free_parts: Cell<*mut Part>,
    wanted: Cell<usize>,
    tail: Cell<*const AtomicPtr<Slot>>,
    until_wake: Cell<usize>,
    // Read by others.
    started: Count,
    unsampled: Count,
    head: AtomicPtr<Slot>,
    is_dead: AtomicBool,
}

// SAFETY: the cells are used by the thread that made the lane alone, the rest is atomic.
unsafe impl Send for Lane {}
// SAFETY: as above.
unsafe impl Sync for Lane {}

/// A number that one thread changes and others read.
#[derive(Default)]
struct Count(AtomicU64);

impl Count {
    #[inline]
    fn bump(&self) {
        let count = self.0.load(Ordering::Relaxed);
        self.0.store(count.wrapping_add(1), Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Lane {
    fn new(recorder: &'static Recorder) -> Arc<Self> {
        let lane = Arc::new(Self {
            recorder,
            free: Cell::new(null_mut()),
            free_parts: Cell::new(null_mut()),
            wanted: Cell::new(FIRST),
            tail: Cell::new(null()),
            until_wake: Cell::new(recorder.batch_size().max(1)),
            started: Count::default(),
            unsampled: Count::default(),
            head: AtomicPtr::new(null_mut()),
            is_dead: AtomicBool::new(false),
        });
        lane.tail.set(&raw const lane.head);
        lane
    }

    /// Gets more free slots.
    #[cold]
    #[inline(never)]
    fn refill(&self) -> Option<NonNull<Slot>> {
        let wanted = self.wanted.get();
        self.wanted.set((wanted * 4).min(MOST));
        let (chain, grown) = self.recorder.lanes.slots.take(wanted);
        if grown.is_some_and(|size| size > LARGE) {
            self.recorder.wake.notify_one();
        }
        NonNull::new(chain.head)
    }

    /// Hands an ended span over.
    #[inline]
    fn push(&self, slot: NonNull<Slot>) {
        // SAFETY: slots are never unmapped. This one has ended and is this thread's until it is in the list.
        let next = unsafe { &raw const slot.as_ref().next };
        // SAFETY: as above.
        unsafe { &*next }.store(null_mut(), Ordering::Relaxed);
        // SAFETY: the tail is the head of the list or the `next` of the last slot in it, which stays in place until
        // there is one behind it.
        unsafe { &*self.tail.get() }.store(slot.as_ptr(), Ordering::Release);
        self.tail.set(next);
        let left = self.until_wake.get() - 1;
        self.until_wake.set(left);
        if left == 0 || !self.recorder.is_awake() {
            self.wake(left);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self, left: usize) {
        if left == 0 {
            self.until_wake.set(self.recorder.batch_size().max(1));
        }
        self.recorder.wake_up(left == 0);
    }
}

/// Tells that the thread dies.
struct Notice(RefCell<Vec<Arc<Lane>>>);

impl Drop for Notice {
    fn drop(&mut self) {
        CURRENT.set(null());
        for lane in self.0.get_mut().drain(..) {
            // The pool of before a fork is the parent's, and may have been locked when the process was forked.
            if !lane.recorder.is_of_this_process() {
                continue;
            }
            let lanes = &lane.recorder.lanes;
            lanes.slots.give(counted(lane.free.replace(null_mut())));
            lanes
                .parts
                .give(counted(lane.free_parts.replace(null_mut())));
            lane.is_dead.store(true, Ordering::Release);
            if lanes.note_death() {
                lane.recorder.wake.notify_one();
            }
        }
    }
}

fn counted<T: super::pool::Block>(head: *mut T) -> Chain<T> {
    let mut len = 0;
    let mut block = head;
    while let Some(known) = NonNull::new(block) {
        len += 1;
        // SAFETY: blocks are never unmapped, and free ones are linked to each other.
        block = unsafe { known.as_ref() }.next().load(Ordering::Relaxed);
    }
    Chain { head, len }
}

/// Makes this thread, the only one of a forked process, look for its lane anew. Safe to call in a fork handler.
pub(crate) fn forget_lane() {
    CURRENT.set(null());
}

/// The lane of this thread; `None` if the thread is dying.
#[inline]
fn lane(recorder: &'static Recorder) -> Option<NonNull<Lane>> {
    let current = CURRENT.get();
    // SAFETY: lanes that are current are kept by the notice, which clears the pointer before it lets go.
    if !current.is_null() && std::ptr::eq(unsafe { (*current).recorder }, recorder) {
        return NonNull::new(current.cast_mut());
    }
    find_lane(recorder)
}

#[cold]
#[inline(never)]
fn find_lane(recorder: &'static Recorder) -> Option<NonNull<Lane>> {
    let lane = NOTICE
        .try_with(|notice| {
            let mut mine = notice.0.borrow_mut();
            let known = mine
                .iter()
                .find(|lane| std::ptr::eq(lane.recorder, recorder));
            if let Some(lane) = known {
                return Arc::as_ptr(lane);
            }
            mine.retain(|lane| lane.recorder.is_of_this_process());
            let lane = Lane::new(recorder);
            let pointer = Arc::as_ptr(&lane);
            recorder.lanes.consumers.lock().lanes.push(Consumer {
                link: &raw const lane.head,
                last: None,
                lane: Arc::clone(&lane),
            });
            mine.push(lane);
            pointer
        })
        .ok()?;
    CURRENT.set(lane);
    NonNull::new(lane.cast_mut())
}

/// Takes a free slot; `None` if there is none.
#[inline]
pub(super) fn take(recorder: &'static Recorder) -> Option<NonNull<Slot>> {
    let Some(lane) = lane(recorder) else {
        return take_alone(recorder);
    };
    // SAFETY: the lane lives as long as it is current, and nothing in here ends that.
    let lane = unsafe { lane.as_ref() };
    let slot = match NonNull::new(lane.free.get()) {
        Some(slot) => slot,
        None => lane.refill()?,
    };
    // SAFETY: slots are never unmapped, and this one is the thread's.
    let next = unsafe { slot.as_ref() }.next.load(Ordering::Relaxed);
    prefetch(next);
    lane.free.set(next);
    lane.started.bump();
    Some(slot)
}

/// Takes a slot for a thread that is dying.
#[cold]
fn take_alone(recorder: &'static Recorder) -> Option<NonNull<Slot>> {
    let (chain, _) = recorder.lanes.slots.take(1);
    let slot = NonNull::new(chain.head)?;
    recorder.lanes.started.fetch_add(1, Ordering::Relaxed);
    Some(slot)
}

/// Brings the first lines of the next span's slot near before they are needed.
#[inline]
fn prefetch(slot: *mut Slot) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no effect that a program can see, whatever the address; a processor that does not know the
    // instruction does nothing.
    unsafe {
        std::arch::asm!(
            "prefetchw [{slot}]",
            "prefetchw [{slot} + 64]",
            slot = in(reg) slot,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slot;
}

/// Takes a continuation of a log; `None` if there is none.
pub(super) fn take_part(recorder: &'static Recorder) -> Option<NonNull<Part>> {
    if !recorder.is_of_this_process() {
        return None;
    }
    // SAFETY: as in `take`.
    let lane = unsafe { lane(recorder)?.as_ref() };
    let part = match NonNull::new(lane.free_parts.get()) {
        Some(part) => part,
        None => NonNull::new(recorder.lanes.parts.take(FIRST).0.head)?,
    };
    // SAFETY: parts are never unmapped, and this one is the thread's.
    lane.free_parts.set(unsafe { next_part(part.as_ptr()) });
    Some(part)
}

/// Counts a span that is not recorded because its trace is not sampled.
#[inline]
pub(crate) fn count_unsampled(recorder: &'static Recorder) {
    match lane(recorder) {
        // SAFETY: as in `take`.
        Some(lane) => unsafe { lane.as_ref() }.unsampled.bump(),
        None => {
            recorder.lanes.unsampled.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Hands an ended span over to the telemetry thread.
#[inline]
#[expect(
    clippy::needless_pass_by_value,
    reason = "the handle of a span that has ended must not stay behind"
)]
pub(super) fn push(span: Owned) {
    let slot = span.address();
    let recorder = recorder_of(slot);
    let current = CURRENT.get();
    // SAFETY: as in `lane`.
    if !current.is_null() && std::ptr::eq(unsafe { (*current).recorder }, recorder) {
        // SAFETY: as in `take`.
        unsafe { &*current }.push(slot);
    } else {
        push_elsewhere(recorder, slot);
    }
}

#[cold]
#[inline(never)]
fn push_elsewhere(recorder: &'static Recorder, slot: NonNull<Slot>) {
    // A span of before a fork is the parent's to export; the child has a mere copy of it.
    if !recorder.is_of_this_process() {
        return;
    }
    if let Some(lane) = lane(recorder) {
        // SAFETY: as in `take`.
        unsafe { lane.as_ref() }.push(slot);
    } else {
        recorder.lanes.orphans.lock().0.push(slot);
        recorder.wake_up(false);
    }
}

/// The lanes of all threads.
pub(crate) struct Lanes {
    slots: Pool<Slot>,
    parts: Pool<Part>,
    consumers: Mutex<Consumers>,
    /// Spans of dying threads.
    orphans: Mutex<Orphans>,
    dead: AtomicU64,
    /// Counts of threads that are dying or dead.
    started: AtomicU64,
    unsampled: AtomicU64,
}

struct Orphans(Vec<NonNull<Slot>>);

// SAFETY: the slots in it belong to nobody else.
unsafe impl Send for Orphans {}

/// The other ends of the lanes.
struct Consumers {
    lanes: Vec<Consumer>,
    /// Slots whose spans were exported by a shutdown before they came through a list. Their owners may still use them.
    early: HashSet<usize>,
}

// SAFETY: what the pointers point at is used under the lock only.
unsafe impl Send for Consumers {}

struct Consumer {
    lane: Arc<Lane>,
    /// Where the address of the next ended slot is to be found.
    link: *const AtomicPtr<Slot>,
    /// The slot that `link` is in; nothing else in it is in use.
    last: Option<NonNull<Slot>>,
}

impl Lanes {
    /// Lanes of a recorder that has to tell its address before it starts spans.
    pub(crate) fn new(max_spans: usize) -> Self {
        Self {
            slots: Pool::new(max_spans),
            parts: Pool::new(max_spans),
            consumers: Mutex::new(Consumers {
                lanes: Vec::new(),
                early: HashSet::new(),
            }),
            orphans: Mutex::new(Orphans(Vec::new())),
            dead: AtomicU64::new(0),
            started: AtomicU64::new(0),
            unsampled: AtomicU64::new(0),
        }
    }

    /// Says whose these lanes are.
    pub(crate) fn belong_to(&self, recorder: &'static Recorder) {
        self.slots.belong_to(std::ptr::from_ref(recorder).cast());
    }

    fn note_death(&self) -> bool {
        let dead = self.dead.fetch_add(1, Ordering::Relaxed) + 1;
        dead.is_multiple_of(MANY_DEAD as u64)
    }

    /// How many spans were started, and how many were not because their traces are not sampled.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let consumers = self.consumers.lock();
        let counts = consumers
            .lanes
            .iter()
            .map(|consumer| (consumer.lane.started.get(), consumer.lane.unsampled.get()));
        let gone = (
            self.started.load(Ordering::Relaxed),
            self.unsampled.load(Ordering::Relaxed),
        );
        counts.fold(gone, |(started, unsampled), (more, less)| {
            (started + more, unsampled + less)
        })
    }

    /// Threads that have made or ended spans and were not seen dead.
    #[cfg(test)]
    pub(crate) fn thread_count(&self) -> usize {
        self.consumers.lock().lanes.len()
    }

    /// Takes all spans that were handed over, in the order in which each thread ended them.
    pub(crate) fn drain(&self, into: &mut impl Extend<Record>) {
        let mut consumers = self.consumers.lock();
        let Consumers { lanes, early } = &mut *consumers;
        lanes.retain_mut(|consumer| {
            // Before the list is read, so that nothing can come after what is found in it.
            let is_dead = consumer.lane.is_dead.load(Ordering::Acquire);
            consumer.drain(&self.slots, early, into);
            if is_dead {
                self.bury(consumer, early);
            }
            !is_dead
        });
        let orphans = std::mem::take(&mut self.orphans.lock().0);
        for slot in orphans {
            if !early.contains(&slot.addr().get()) {
                // SAFETY: its owner has given it up, and it is in no list.
                into.extend([unsafe { Record::of_ended(slot) }]);
            }
        }
    }

    fn bury(&self, consumer: &mut Consumer, early: &HashSet<usize>) {
        let lane = &consumer.lane;
        self.started
            .fetch_add(lane.started.get(), Ordering::Relaxed);
        self.unsampled
            .fetch_add(lane.unsampled.get(), Ordering::Relaxed);
        if let Some(last) = consumer.last.take() {
            retire(last, &self.slots, early);
        }
        self.dead.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes all spans that are left: those that are open, and those that have ended and were not handed over yet. When
    /// they come through a list later, they are ignored.
    pub(crate) fn take_remaining(&self, now: Tick) -> Vec<Record> {
        let mut consumers = self.consumers.lock();
        let slots = self.slots.blocks();
        let remaining: Vec<_> = slots
            .into_iter()
            .filter_map(|slot| Record::of_remaining(slot, now))
            .collect();
        let addresses = remaining.iter().map(|record| record.address().addr().get());
        consumers.early.extend(addresses);
        remaining
    }

    /// Makes the slots of exported spans free.
    pub(crate) fn recycle(&self, records: impl IntoIterator<Item = Record>) {
        let mut free = Chain {
            head: null_mut(),
            len: 0,
        };
        for record in records {
            if record.is_early() {
                continue;
            }
            // SAFETY: the record was taken from a list, and there is no other one of it.
            let (slot, parts) = unsafe { record.clear() };
            if !parts.is_null() {
                self.parts.give(counted(parts));
            }
            // SAFETY: nobody uses it any more.
            unsafe { free.push(slot) };
            if free.len == MOST {
                let full = std::mem::replace(
                    &mut free,
                    Chain {
                        head: null_mut(),
                        len: 0,
                    },
                );
                self.slots.give(full);
            }
        }
        self.slots.give(free);
    }
}

impl Consumer {
    fn drain(
        &mut self,
        slots: &Pool<Slot>,
        early: &HashSet<usize>,
        into: &mut impl Extend<Record>,
    ) {
        loop {
            // SAFETY: the link is in the lane or in the last slot, both of which this keeps.
            let next = unsafe { &*self.link }.load(Ordering::Acquire);
            let Some(slot) = NonNull::new(next) else {
                return;
            };
            // SAFETY: slots are never unmapped.
            let link = unsafe { &raw const slot.as_ref().next };
            let is_early = early.contains(&slot.addr().get());
            // SAFETY: as above.
            let is_last = unsafe { &*link }.load(Ordering::Acquire).is_null();
            if !is_early {
                let slot = if is_last {
                    let instead = slots.take_spare();
                    // SAFETY: the span has ended and is in no other hands, but for its link.
                    unsafe { relocate(slot, instead) };
                    instead
                } else {
                    slot
                };
                // SAFETY: the span has ended, and its thread has moved on to the slot behind.
                into.extend([unsafe { Record::of_ended(slot) }]);
            }
            if let Some(before) = self.last.take() {
                retire(before, slots, early);
            }
            if is_last || is_early {
                // Its link is still needed.
                self.last = Some(slot);
                self.link = link;
            } else {
                // SAFETY: the record of this slot is not used before this returns, since its receiver only keeps it; so
                // the link is still the one that was written.
                self.link = link;
            }
        }
    }
}

/// A slot that was kept for its link has done its service.
fn retire(slot: NonNull<Slot>, slots: &Pool<Slot>, early: &HashSet<usize>) {
    // The export of an early one may not be over, and there is no recording after it anyway.
    if !early.contains(&slot.addr().get()) {
        // SAFETY: what it held was moved elsewhere, and its list has gone on to another slot.
        unsafe { slots.give_spare(slot) };
    }
}
