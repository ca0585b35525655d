//! One sandbox as the sampler knows it, and the gauges over all of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gym_telemetry_api::__private::Observer;
use gym_telemetry_api::Context;
use gym_telemetry_core::metric::MetricDescriptor;
use gym_telemetry_core::{Value, attribute, metric};

use super::super::identity::Identity;
use super::super::records;
use super::contain::contain;
use crate::allocation::Allocation;
use crate::reader::ResourceReader;
use crate::sample::Sample;
use crate::unavailable::Unavailable;

/// Every sampled sandbox, for the gauges.
static LIVE: Mutex<BTreeMap<u64, Arc<Entry>>> = Mutex::new(BTreeMap::new());

/// A value older than so many intervals says nothing about now.
const INTERVALS_UNTIL_STALE: u32 = 3;

/// The gauges, in the order of the values of an entry.
const GAUGES: [&MetricDescriptor; 4] = [
    &metric::SANDBOX_CPU_COUNT,
    &metric::SANDBOX_CPU_USED_PERCENTAGE,
    &metric::SANDBOX_MEMORY_TOTAL,
    &metric::SANDBOX_MEMORY_USED,
];

/// A value and when it was read.
type Seen = Option<(Instant, f64)>;

#[derive(Debug)]
pub(super) struct Entry {
    id: u64,
    identity: Arc<Identity>,
    context: Context,
    /// `None` once this is being dropped.
    reader: Option<Arc<dyn ResourceReader>>,
    interval: Duration,
    values: Mutex<[Seen; 4]>,
}

impl Entry {
    pub(super) fn new(
        identity: Arc<Identity>,
        context: Context,
        reader: Arc<dyn ResourceReader>,
        interval: Duration,
    ) -> Self {
        static LAST_ID: AtomicU64 = AtomicU64::new(0);
        Self {
            id: LAST_ID.fetch_add(1, Ordering::Relaxed),
            identity,
            context,
            reader: Some(reader),
            interval,
            values: Mutex::new([None; 4]),
        }
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    pub(super) fn reader(&self) -> &dyn ResourceReader {
        let reader = self.reader.as_deref();
        reader.expect("only dropping an entry takes its reader")
    }

    /// Where readings come from; `None` from a reader that panics when it is asked.
    fn source(&self, ask: fn(&dyn ResourceReader) -> &'static str) -> Option<&'static str> {
        contain(|| ask(self.reader()))
    }

    pub(super) fn skipped(&self, readings: u64) {
        self.identity.provider.skipped(readings);
    }

    pub(super) fn record_allocation(&self, outcome: &Result<Allocation, Unavailable>) {
        let source = self.source(<dyn ResourceReader>::allocation_source);
        records::allocation(&self.identity, &self.context, source, outcome);
    }

    pub(super) fn record_sample(&self, outcome: &Result<Sample, Unavailable>) {
        let source = self.source(<dyn ResourceReader>::sample_source);
        records::sample(&self.identity, &self.context, source, outcome);
        let Ok(sample) = outcome else { return };
        let now = Instant::now();
        let values = [
            sample.cpu_count,
            sample.cpu_used_percentage,
            sample.memory_total_mib,
            sample.memory_used_mib,
        ];
        // What a reading does not say leaves the earlier value as it is.
        for (seen, value) in lock(&self.values).iter_mut().zip(values) {
            *seen = value.map(|value| (now, value)).or(*seen);
        }
    }

    /// The values that still say something about now.
    fn fresh(&self, now: Instant) -> [Seen; 4] {
        let oldest = self.interval.saturating_mul(INTERVALS_UNTIL_STALE);
        let is_fresh = |&(at, _): &(Instant, f64)| now.saturating_duration_since(at) < oldest;
        lock(&self.values).map(|seen| seen.filter(is_fresh))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        // Often it is dropped on the sampler's thread, and sometimes while a reading unwinds.
        let reader = self.reader.take();
        contain(|| drop(reader));
    }
}

pub(super) fn add(entry: &Arc<Entry>) {
    lock(&LIVE).insert(entry.id, Arc::clone(entry));
}

pub(super) fn remove(entry: &Entry) {
    let removed = lock(&LIVE).remove(&entry.id);
    // A reader may be dropped with it, which is foreign code: not under the lock.
    drop(removed);
}

/// Reports the newest values of each provider; called on the collecting thread.
pub(in super::super) fn report(observer: &mut Observer<'_>) {
    let entries: Vec<_> = lock(&LIVE).values().cloned().collect();
    let now = Instant::now();
    let mut newest: BTreeMap<&str, [Seen; 4]> = BTreeMap::new();
    for entry in &entries {
        let newest = newest.entry(entry.identity.provider.name()).or_default();
        for (newest, seen) in newest.iter_mut().zip(entry.fresh(now)) {
            if seen.map(|(at, _)| at) > newest.map(|(at, _)| at) {
                *newest = seen;
            }
        }
    }
    for (provider, values) in newest {
        let attributes = [(attribute::sandbox::PROVIDER, Value::Str(provider))];
        for (gauge, seen) in GAUGES.into_iter().zip(values) {
            if let Some((_, value)) = seen {
                observer.report(gauge, value, &attributes);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these locks guard is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
