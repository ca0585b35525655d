//! What a semaphore tells of itself here: how its waits ended. Whether it measures waits, as an
//! exported one does, is up to its name.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::arrivals::{Arrival, Arrivals};
use crate::component::ConcurrencyComponent;
use crate::limit::Limit;
use crate::slots::{Meter, Slots, WaitOutcome};

/// The limit name of semaphores that behave as if they were exported.
pub const EXPORTED: &str = "exported";

#[derive(Debug)]
pub(crate) struct SlotMeter {
    key: LimitKey,
    timeouts: AtomicUsize,
    cancelled: AtomicUsize,
    arrivals: Arrivals,
    /// Moments are counted.
    moments: AtomicU64,
}

impl SlotMeter {
    pub(crate) fn key(&self) -> LimitKey {
        self.key
    }
}

impl Meter for SlotMeter {
    type Moment = u64;
    type Arrival<'a> = Arrival<'a>;

    fn measures_waits(&self) -> bool {
        self.key.0 == EXPORTED
    }

    fn now(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn active(&self, active: impl FnOnce() -> usize) {
        active();
    }

    fn queued(&self, _: usize, queued: impl FnOnce() -> usize) {
        queued();
    }

    fn arrived(&self, counted: usize) -> Arrival<'_> {
        self.arrivals.arrive(counted, self.now())
    }

    fn departed(&self, arrival: Arrival<'_>) -> u64 {
        arrival.depart()
    }

    fn waited(&self, since: Option<u64>, outcome: WaitOutcome) {
        assert_ne!(since, Some(0), "somebody else has cleared its place");
        match outcome {
            WaitOutcome::Timeout => self.timeouts.fetch_add(1, Ordering::Relaxed),
            WaitOutcome::Cancelled => self.cancelled.fetch_add(1, Ordering::Relaxed),
            WaitOutcome::Granted | WaitOutcome::Closed => return,
        };
    }
}

#[derive(Debug)]
pub(crate) struct Registered(Slots<SlotMeter>);

impl Registered {
    pub(crate) fn new(limit: Limit, key: LimitKey, _can_time_out: bool) -> Self {
        let meter = SlotMeter {
            key,
            timeouts: AtomicUsize::new(0),
            cancelled: AtomicUsize::new(0),
            arrivals: Arrivals::default(),
            moments: AtomicU64::new(0),
        };
        Self(Slots::new(limit, meter))
    }
}

impl Deref for Registered {
    type Target = Slots<SlotMeter>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// What a limit is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LimitKey(&'static str);

impl LimitKey {
    pub(crate) fn new(_: ConcurrencyComponent, limit_name: &'static str) -> Self {
        Self(limit_name)
    }

    pub(crate) fn server_name(self, _: &str) -> Self {
        self
    }

    #[expect(clippy::unused_self, reason = "the shape of the exported one")]
    pub(crate) fn attributes(self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

impl crate::MeteredSemaphore {
    /// Returns how many waits ended by the admission timeout, and how many because the caller gave up.
    pub fn failed_waits(&self) -> (usize, usize) {
        let meter = &self.slots().meter;
        (
            meter.timeouts.load(Ordering::Relaxed),
            meter.cancelled.load(Ordering::Relaxed),
        )
    }

    /// Returns whether no caller has left behind when it came.
    pub fn has_no_arrivals(&self) -> bool {
        self.slots()
            .meter
            .arrivals
            .first_of_last(usize::MAX)
            .is_none()
    }
}
