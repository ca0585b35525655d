//! How a runtime of the application keeps up with its tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gym_telemetry_core::metric;
use parking_lot::Mutex;
use tokio::runtime::{Handle, Id, RuntimeMetrics};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::{MissedTickBehavior, interval};

use crate::metrics::{Histogram, Observer};

/// The time between two looks at a runtime. A stall that is this much longer cannot be missed.
const INTERVAL: Duration = Duration::from_millis(250);

static LAG: Histogram = Histogram::new(&metric::EVENT_LOOP_LAG);

/// The runtimes that are observed.
#[derive(Debug, Default)]
pub(super) struct Runtimes(Mutex<Vec<Arc<Watched>>>);

/// A runtime's place among those that are observed, which it has until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    runtimes: Arc<Runtimes>,
    watched: Arc<Watched>,
}

impl Runtimes {
    /// Adds a runtime, unless it is here already.
    pub(super) fn add(self: &Arc<Self>, runtime: &Handle) -> Option<Place> {
        let mut runtimes = self.0.lock();
        let id = runtime.id();
        if runtimes.iter().any(|known| known.id == id) {
            return None;
        }
        let watched = Arc::new(Watched::new(runtime));
        runtimes.push(Arc::clone(&watched));
        Some(Place {
            runtimes: Arc::clone(self),
            watched,
        })
    }

    /// Reports what the runtimes have done since this was called before.
    pub(super) fn report(&self, observer: &mut Observer<'_>) {
        let runtimes = self.0.lock().clone();
        if runtimes.is_empty() {
            return;
        }
        let (mut tasks, mut longest) = (0, None);
        let (mut busy, mut passed) = (Duration::ZERO, Duration::ZERO);
        for watched in &runtimes {
            watched.probe.record();
            tasks += watched.tasks();
            longest = longest.max(watched.probe.take_longest());
            let (its_busy, its_passed) = watched.workload();
            busy += its_busy;
            passed += its_passed;
        }
        observer.report(&metric::EVENT_LOOP_TASKS, tasks, &[]);
        if let Some(longest) = longest {
            let longest = longest.as_secs_f64() * 1_000.0;
            observer.report(&metric::EVENT_LOOP_LAG_MAX, longest, &[]);
        }
        if !passed.is_zero() {
            // A worker tells what it has done when it goes to sleep, also of the time before the last export.
            let ratio = (busy.as_secs_f64() / passed.as_secs_f64()).min(1.0);
            observer.report(&metric::EVENT_LOOP_BUSY_RATIO, ratio, &[]);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut runtimes = self.runtimes.0.lock();
        runtimes.retain(|known| !Arc::ptr_eq(known, &self.watched));
    }
}

/// A runtime that is observed.
#[derive(Debug)]
struct Watched {
    id: Id,
    metrics: RuntimeMetrics,
    probe: Arc<Probe>,
    /// Until when the workload is known, and what the workers had done by then.
    workload: Mutex<(Instant, Duration)>,
}

impl Watched {
    fn new(runtime: &Handle) -> Self {
        let metrics = runtime.metrics();
        let busy = busy(&metrics);
        Self {
            id: runtime.id(),
            metrics,
            probe: Arc::new(Probe::new()),
            workload: Mutex::new((Instant::now(), busy)),
        }
    }

    /// The tasks that have not ended, without our own.
    fn tasks(&self) -> usize {
        self.metrics.num_alive_tasks().saturating_sub(1)
    }

    /// For how long the workers were busy since this was called before, and how much time they had for it.
    fn workload(&self) -> (Duration, Duration) {
        let (now, busy) = (Instant::now(), busy(&self.metrics));
        let mut workload = self.workload.lock();
        let (then, before) = std::mem::replace(&mut *workload, (now, busy));
        let workers = u32::try_from(self.metrics.num_workers()).unwrap_or(u32::MAX);
        (
            busy.saturating_sub(before),
            now.duration_since(then).saturating_mul(workers),
        )
    }
}

/// For how long the workers have been busy since the runtime was made.
fn busy(metrics: &RuntimeMetrics) -> Duration {
    (0..metrics.num_workers())
        .map(|worker| metrics.worker_total_busy_duration(worker))
        .sum()
}

/// Wakes a task of the runtime now and then, until the runtime or telemetry ends.
///
/// While the task does not run it is not woken again: that it waits is known, and for how long.
pub(super) async fn watch(runtime: Handle, place: Place) {
    let probe = Arc::clone(&place.watched.probe);
    let (wake, woken) = channel(1);
    drop(runtime.spawn(answer(woken, Arc::clone(&probe))));
    // Nothing of the runtime is held but what its numbers need.
    drop(runtime);
    let mut due = interval(INTERVAL);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        due.tick().await;
        probe.record();
        match wake.try_reserve() {
            Ok(permit) => permit.send(probe.begin()),
            Err(TrySendError::Full(())) => {}
            Err(TrySendError::Closed(())) => return,
        }
    }
}

/// Runs on the application's runtime; ends when the other end is dropped, and with the runtime.
async fn answer(mut woken: Receiver<u64>, probe: Arc<Probe>) {
    while let Some(since) = woken.recv().await {
        probe.end(since);
    }
}

/// What is known about the waiting of one task. Times are nanoseconds since `start`, delays nanoseconds; 0 is none.
#[derive(Debug)]
struct Probe {
    start: Instant,
    /// Since when the task has been waiting.
    waiting_since: AtomicU64,
    /// How long it has waited last, until that is in the histogram.
    unrecorded: AtomicU64,
    /// How long it has waited at most since the last export.
    longest: AtomicU64,
}

impl Probe {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            waiting_since: AtomicU64::new(0),
            unrecorded: AtomicU64::new(0),
            longest: AtomicU64::new(0),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos())
            .unwrap_or(u64::MAX)
            .max(1)
    }

    /// The task is about to be woken.
    fn begin(&self) -> u64 {
        let now = self.now();
        self.waiting_since.store(now, Ordering::Relaxed);
        now
    }

    /// The task that was woken at `since` runs. No more than a few atomics: this is the application's thread.
    fn end(&self, since: u64) {
        let lag = self.now().saturating_sub(since).max(1);
        self.longest.fetch_max(lag, Ordering::Relaxed);
        self.unrecorded.store(lag, Ordering::Relaxed);
        // By now it may have been woken again.
        let _ = self
            .waiting_since
            .compare_exchange(since, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Takes a delay that is over into the histogram.
    fn record(&self) {
        let lag = self.unrecorded.swap(0, Ordering::Relaxed);
        if lag > 0 {
            LAG.record_duration(Duration::from_nanos(lag));
        }
    }

    /// The longest delay since this was called before, or the one that is going on.
    fn take_longest(&self) -> Option<Duration> {
        let waiting = match self.waiting_since.load(Ordering::Relaxed) {
            0 => 0,
            since => self.now().saturating_sub(since),
        };
        let longest = self.longest.swap(0, Ordering::Relaxed).max(waiting);
        (longest > 0).then(|| Duration::from_nanos(longest))
    }
}
