//! Every live limit of the process, and what outlives it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use gym_telemetry_api::__private::{Histogram, Observation, Observer, are_metrics_exporting, observe, ticks};
use gym_telemetry_core::{Value, attribute, metric};

use super::clock::Moment;
use super::waits::WaitLog;
use super::{LimitKey, Registered, SlotMeter, oldest_wait};
use crate::slots::{Slots, WaitOutcome};

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { next_id: 0, limits: BTreeMap::new(), totals: BTreeMap::new(), observation: None });

struct Registry {
    next_id: u64,
    limits: BTreeMap<u64, Weak<Slots<SlotMeter>>>,
    totals: BTreeMap<LimitKey, Arc<Totals>>,
    /// The one callback of the process, while there is a limit.
    observation: Option<Observation>,
}

/// What is counted for a key as long as the process lives.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    timeouts: AtomicU64,
    cancelled: AtomicU64,
    waits: WaitLog,
    histograms: Mutex<BTreeMap<&'static str, Histogram>>,
}

impl Totals {
    pub(super) fn count(&self, outcome: WaitOutcome) {
        match outcome {
            WaitOutcome::Timeout => self.timeouts.fetch_add(1, Ordering::Relaxed),
            WaitOutcome::Cancelled => self.cancelled.fetch_add(1, Ordering::Relaxed),
            WaitOutcome::Granted | WaitOutcome::Closed => return,
        };
    }

    pub(super) fn log(&self, nanoseconds: u64, outcome: WaitOutcome) {
        if are_metrics_exporting() {
            self.waits.add(nanoseconds, outcome);
        }
    }

    /// Records the logged waits.
    fn export_waits(&self, key: &LimitKey) {
        let mut histograms = lock(&self.histograms);
        self.waits.record(|outcome, record| {
            let histogram = histograms.entry(outcome.as_str()).or_insert_with(|| {
                let mut attributes = key.values();
                attributes.push((attribute::CONCURRENCY_WAIT_OUTCOME, Value::Static(outcome.as_str())));
                Histogram::with_attributes(&metric::CONCURRENCY_WAIT_DURATION, &attributes)
            });
            record(histogram);
        });
    }
}

/// Registers what `make` makes for `key`.
pub(super) fn add(
    key: LimitKey,
    make: impl FnOnce(LimitKey, Arc<Totals>) -> Slots<SlotMeter>,
) -> Registered {
    let mut registry = lock(&REGISTRY);
    let totals = Arc::clone(registry.totals.entry(key.clone()).or_default());
    let slots = Arc::new(make(key, totals));
    let id = registry.next_id;
    registry.next_id += 1;
    registry.limits.insert(id, Arc::downgrade(&slots));
    registry.observation.get_or_insert_with(|| observe(report));
    Registered { id, slots }
}

/// Forgets a limit: its series end with the next collection.
pub(super) fn remove(id: u64) {
    let mut registry = lock(&REGISTRY);
    registry.limits.remove(&id);
    let unused = if registry.limits.is_empty() { registry.observation.take() } else { None };
    drop(registry);
    // The callback takes the lock that is now free.
    drop(unused);
}

/// The state of all limits that share a key.
#[derive(Default)]
struct Sum {
    limit: usize,
    active: usize,
    available: usize,
    queued: usize,
    /// In nanoseconds.
    oldest: u64,
    peak_active: usize,
    peak_queued: usize,
    can_time_out: bool,
}

impl Sum {
    fn add(&mut self, slots: &Slots<SlotMeter>, now: Moment) {
        let snapshot = slots.snapshot();
        let meter = &slots.meter;
        self.limit += snapshot.limit;
        self.active += snapshot.active;
        self.available += snapshot.limit.saturating_sub(snapshot.active);
        self.queued += snapshot.queued;
        self.oldest = self.oldest.max(oldest_wait(slots, &snapshot, now));
        // The next period begins with what is there now.
        self.peak_active += meter.peak_active.swap(snapshot.active, Ordering::Relaxed).max(snapshot.active);
        self.peak_queued += meter.peak_queued.swap(snapshot.queued, Ordering::Relaxed).max(snapshot.queued);
        self.can_time_out |= meter.can_time_out;
    }
}

/// Reports every limit; called on the collecting thread.
fn report(observer: &mut Observer<'_>) {
    let (limits, totals) = {
        let registry = lock(&REGISTRY);
        let limits: Vec<_> = registry.limits.values().filter_map(Weak::upgrade).collect();
        (limits, registry.totals.clone())
    };
    ticks::measure();
    let now = Moment::now();
    let mut sums: BTreeMap<&LimitKey, Sum> = BTreeMap::new();
    for slots in &limits {
        sums.entry(&slots.meter.key).or_default().add(slots, now);
    }
    for (key, totals) in &totals {
        totals.export_waits(key);
        if let Some(sum) = sums.get(key) {
            sum.report(totals, &key.values(), observer);
        }
    }
}

impl Sum {
    fn report(&self, totals: &Totals, attributes: &[(&'static str, Value<'_>)], observer: &mut Observer<'_>) {
        observer.report(&metric::CONCURRENCY_LIMIT, self.limit, attributes);
        observer.report(&metric::CONCURRENCY_ACTIVE, self.active, attributes);
        observer.report(&metric::CONCURRENCY_AVAILABLE, self.available, attributes);
        observer.report(&metric::CONCURRENCY_QUEUE_DEPTH, self.queued, attributes);
        observer.report(&metric::CONCURRENCY_PEAK_ACTIVE, self.peak_active, attributes);
        observer.report(&metric::CONCURRENCY_PEAK_QUEUE_DEPTH, self.peak_queued, attributes);
        let oldest = Duration::from_nanos(self.oldest).as_secs_f64() * 1_000.0;
        observer.report(&metric::CONCURRENCY_OLDEST_WAIT, oldest, attributes);
        let cancelled = totals.cancelled.load(Ordering::Relaxed);
        observer.report(&metric::CONCURRENCY_ADMISSION_CANCELLED, cancelled, attributes);
        if self.can_time_out {
            let timeouts = totals.timeouts.load(Ordering::Relaxed);
            observer.report(&metric::CONCURRENCY_ADMISSION_TIMEOUTS, timeouts, attributes);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these locks guard is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::{REGISTRY, lock};
    use crate::{ConcurrencyComponent, MeteredSemaphore};

    #[test]
    fn a_thousand_dropped_limits_leave_no_callback_and_no_entry() {
        let limits: Vec<_> = (0..1_000)
            .map(|number| {
                MeteredSemaphore::new(1, ConcurrencyComponent::ModelServer, "registry")
                    .expect("a valid limit")
                    .with_server_name(format!("a{number}"))
            })
            .collect();
        let entries: Vec<Weak<_>> = {
            let registry = lock(&REGISTRY);
            assert!(registry.observation.is_some());
            registry.limits.values().cloned().collect()
        };
        assert_eq!(entries.len(), limits.len());
        drop(limits);
        let registry = lock(&REGISTRY);
        assert!(registry.observation.is_none());
        assert!(registry.limits.is_empty());
        assert!(entries.iter().all(|entry| entry.strong_count() == 0));
    }
}
