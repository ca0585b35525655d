//! Compiled in: limits are named, registered and read whenever metrics are collected.
//!
//! Taking, waiting for and giving back slots calls nothing of OpenTelemetry and takes no lock of ours. A caller that waited
//! adds its wait to the log of its limit; the collecting thread empties the logs.

mod arrivals;
mod clock;
mod key;
mod registry;
mod waits;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gym_telemetry_api::__private::are_metrics_exporting;

use self::arrivals::{Arrival, Arrivals};
use self::clock::Moment;
use self::registry::Totals;
use crate::limit::Limit;
use crate::slots::{Meter, Slots, Snapshot, WaitOutcome};

pub(crate) use self::key::LimitKey;

/// What one limit tells beyond its present state.
#[derive(Debug)]
pub(crate) struct SlotMeter {
    key: LimitKey,
    can_time_out: bool,
    peak_active: AtomicUsize,
    peak_queued: AtomicUsize,
    /// When those came who wait and are only counted.
    arrivals: Arrivals,
    /// Shared by all limits of the same key, and kept after them: counters never go backwards.
    totals: Arc<Totals>,
}

impl SlotMeter {
    pub(crate) fn key(&self) -> LimitKey {
        self.key.clone()
    }
}

impl Meter for SlotMeter {
    type Moment = Moment;
    type Arrival<'a> = Arrival<'a>;

    #[inline]
    fn measures_waits(&self) -> bool {
        are_metrics_exporting()
    }

    fn now(&self) -> Moment {
        Moment::now()
    }

    #[inline]
    fn active(&self, active: impl FnOnce() -> usize) {
        raise(&self.peak_active, active());
    }

    #[inline]
    fn queued(&self, most: usize, queued: impl FnOnce() -> usize) {
        if most > self.peak_queued.load(Ordering::Relaxed) {
            raise(&self.peak_queued, queued());
        }
    }

    fn arrived(&self, counted: usize) -> Arrival<'_> {
        self.arrivals.arrive(counted, Moment::now().word())
    }

    fn departed(&self, arrival: Arrival<'_>) -> Moment {
        Moment::from_word(arrival.depart())
    }

    fn waited(&self, since: Option<Moment>, outcome: WaitOutcome) {
        self.totals.count(outcome);
        if let Some(since) = since {
            self.totals.log(Moment::now().since(since), outcome);
        }
    }
}

/// Returns for how long the first in line has waited; nothing if nobody waits.
fn oldest_wait(slots: &Slots<SlotMeter>, snapshot: &Snapshot<Moment>, now: Moment) -> u64 {
    let counted = slots.meter.arrivals.first_of_last(snapshot.counted);
    let oldest = counted.map(Moment::from_word).or(snapshot.oldest_listed);
    oldest.map_or(0, |since| now.since(since))
}

/// Raises a peak. The peak of a limit that is often full is not written at all.
#[inline]
fn raise(peak: &AtomicUsize, to: usize) {
    if to > peak.load(Ordering::Relaxed) {
        peak.fetch_max(to, Ordering::Relaxed);
    }
}

/// Slots that are read whenever metrics are collected, until this is dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    id: u64,
    slots: Arc<Slots<SlotMeter>>,
}

impl Registered {
    pub(crate) fn new(limit: Limit, key: LimitKey, can_time_out: bool) -> Self {
        registry::add(key, |key, totals| {
            Slots::new(
                limit,
                SlotMeter {
                    key,
                    can_time_out,
                    peak_active: AtomicUsize::new(0),
                    peak_queued: AtomicUsize::new(0),
                    arrivals: Arrivals::default(),
                    totals,
                },
            )
        })
    }
}

impl Deref for Registered {
    type Target = Slots<SlotMeter>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.slots
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        registry::remove(self.id);
    }
}
