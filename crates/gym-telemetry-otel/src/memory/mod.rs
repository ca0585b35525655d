//! Memory profiling: what the machine and the servers of a run hold, sampled on a thread of its own.

mod files;
mod sampler;
#[cfg(test)]
mod tests;
mod tree;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gym_telemetry_core::{MemoryPeaks, ProfiledServer};
use parking_lot::{Condvar, Mutex};

pub(crate) use self::files::Proc;
use self::sampler::{Sample, Sampler};
use crate::contain::contain;
use crate::metrics::{Observation, are_metrics_exporting, observe};
use crate::settings::Settings;
use crate::warn::warn;
use crate::{fork, process};

/// The kernel's directory of processes.
pub(crate) const PROC: &str = "/proc";

/// As Linux shows it, `nemo-gym-memory`.
const THREAD: &str = "nemo-gym-memory-profiler";

/// Samples are never taken more often than this.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// How long [`MemoryProfiler::stop`] waits for the last sample: the kernel may hold up whoever asks about a process.
const LONGEST_STOP: Duration = Duration::from_secs(2);

/// What this process has settled on.
#[derive(Clone, Copy, Debug)]
struct Profiling {
    interval: Duration,
    export_interval: Duration,
}

static SETTLED: OnceLock<Option<Profiling>> = OnceLock::new();

/// The fork generation, plus one, whose sampling thread runs. A forked child has a copy of its parent's number, and no
/// thread.
static RUNNING: AtomicU64 = AtomicU64::new(0);

/// The right to the one sampling thread of a process, until it is dropped.
#[derive(Debug)]
struct Turn;

impl Turn {
    fn take() -> Option<Self> {
        let own = u64::from(fork::generation()) + 1;
        let running = RUNNING.load(Ordering::Relaxed);
        let is_taken = running != own
            && RUNNING
                .compare_exchange(running, own, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        // Not made unless it is taken: its end gives it back.
        is_taken.then(|| Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        RUNNING.store(0, Ordering::Release);
    }
}

/// Makes `settings` those of this process, unless it has some.
pub(crate) fn settle(settings: &Settings) {
    let config = settings.memory_profiling;
    SETTLED.get_or_init(|| {
        config.enabled.then(|| Profiling {
            // A finite number beyond what a duration holds is as good as never.
            interval: Duration::try_from_secs_f64(config.interval_seconds)
                .unwrap_or(Duration::MAX)
                .max(SHORTEST_INTERVAL),
            export_interval: settings.metric_export_interval,
        })
    });
}

/// Samples the memory of the machine and of servers until it is stopped or dropped.
///
/// An orchestrator starts it when its servers are ready and stops it just before it stops them. A sample is taken at
/// the start, after each interval of the settings, and at the end; the metrics `gym.server.memory.*`,
/// `gym.server.processes` and `gym.host.memory.*` show the newest one whenever metrics are exported. The last one is
/// shown for one more export interval, so that it is exported even if the next thing is the end of telemetry.
///
/// A server is the process that was named and all of its descendants. If that process ends, the server's series end,
/// also if another process gets its id.
///
/// There is one at a time. Sampling ends with telemetry, too: once metrics are no longer exported no sample is taken.
///
/// Reading `/proc` happens on a thread of its own, never on the caller's. Linux only.
///
/// # Off build
///
/// It is never started.
///
/// ```
/// use gym_telemetry_core::{ProfiledServer, ServerType};
/// use gym_telemetry_otel::MemoryProfiler;
///
/// let model = ProfiledServer::new("policy_model", ServerType::ResponsesApiModels, std::process::id());
/// let profiler = MemoryProfiler::start([model]);
/// // … rollouts …
/// if let Some(profiler) = profiler {
///     let peaks = profiler.stop();
///     assert_eq!(peaks.servers.len(), 1);
/// }
/// ```
#[derive(Debug)]
#[must_use = "it stops when it is dropped"]
pub struct MemoryProfiler {
    shared: Arc<Shared>,
}

impl MemoryProfiler {
    /// Starts to sample the machine and `servers`, if this process exports metrics and its settings have
    /// `memory_profiling.enabled`.
    ///
    /// Call it after [`init_telemetry`](crate::init_telemetry), which reads the settings. Returns `None` where nothing
    /// is to be sampled; a refused thread is warned about, and so is a system that is not Linux. It also warns and returns
    /// `None` while another profiler of this process samples, which goes on as it was; after that one's end a new one may
    /// be started.
    pub fn start(servers: impl IntoIterator<Item = ProfiledServer>) -> Option<Self> {
        // A forked child starts its own telemetry first.
        process::telemetry()?;
        let settled = SETTLED.get().copied().flatten()?;
        if !are_metrics_exporting() {
            return None;
        }
        if !cfg!(target_os = "linux") {
            warn(
                "memory profiling",
                &"memory cannot be sampled on this system",
            );
            return None;
        }
        let page_size = rustix::param::page_size() as u64;
        let sampler = Sampler::new(Path::new(PROC), page_size, servers);
        Self::start_with(sampler, settled)
    }

    fn start_with(sampler: Sampler, settled: Profiling) -> Option<Self> {
        let Some(turn) = Turn::take() else {
            warn(
                "second memory profiler",
                &"memory is sampled already: a second profiler is not started",
            );
            return None;
        };
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            export_interval: settled.export_interval,
            fork: fork::generation(),
        });
        let thread = std::thread::Builder::new().name(THREAD.to_owned());
        let its = Arc::clone(&shared);
        let started = thread.spawn(move || {
            let _over = Over(&its, Some(turn));
            work(&its, sampler, settled.interval);
        });
        if let Err(error) = started {
            warn(
                "memory profiling",
                &format_args!("memory is not sampled: no thread for it: {error}"),
            );
            return None;
        }
        let read = Arc::clone(&shared);
        let observation = observe(move |observer| {
            if let Some(sample) = read.to_report() {
                sample.report(observer);
            }
        });
        shared.state.lock().observation = Some(observation);
        Some(Self { shared })
    }

    /// Takes a last sample, stops, and returns the highest of all samples. Called again it returns the same.
    ///
    /// That sample goes over all pages of all processes, whatever earlier ones have found. If telemetry was shut down
    /// before, none is taken.
    ///
    /// It blocks the thread for about as long as such a sample takes, milliseconds, and for 2 s at the worst. In a forked
    /// child, which has no such thread, it returns at once and without peaks.
    #[expect(
        clippy::must_use_candidate,
        reason = "that it stops may be all that is wanted"
    )]
    pub fn stop(&self) -> MemoryPeaks {
        if self.shared.fork != fork::generation() {
            return MemoryPeaks::default();
        }
        let deadline = Instant::now() + LONGEST_STOP;
        let mut state = self.shared.state.lock();
        state.stop = true;
        self.shared.changed.notify_all();
        while state.ended.is_none() {
            let waited = self.shared.changed.wait_until(&mut state, deadline);
            if waited.timed_out() {
                break;
            }
        }
        let newest = state.newest.as_ref();
        newest
            .map(|sample| sample.peaks.clone())
            .unwrap_or_default()
    }
}

impl Drop for MemoryProfiler {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What the sampling thread, the owner and the export share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// That it shall stop, or that it has.
    changed: Condvar,
    export_interval: Duration,
    /// A forked child has the numbers of its parent, and no thread that renews them.
    fork: u32,
}

#[derive(Debug, Default)]
struct State {
    newest: Option<Arc<Sample>>,
    stop: bool,
    ended: Option<Ended>,
    observation: Option<Observation>,
}

/// That there will be no more samples.
#[derive(Clone, Copy, Debug)]
struct Ended {
    at: Instant,
    is_reported: bool,
}

impl Shared {
    /// Waits until `due`, for ever if that is never. Returns at once with `true` when it shall stop.
    fn wait_for_stop(&self, due: Option<Instant>) -> bool {
        let mut state = self.state.lock();
        while !state.stop {
            match due {
                None => self.changed.wait(&mut state),
                Some(due) => {
                    if self.changed.wait_until(&mut state, due).timed_out() {
                        break;
                    }
                }
            }
        }
        state.stop
    }

    /// The sample to report, if there is one. After the end the last one is reported once at least, and for an export
    /// interval.
    fn to_report(&self) -> Option<Arc<Sample>> {
        if self.fork != fork::generation() {
            return None;
        }
        let mut state = self.state.lock();
        let mut is_over = false;
        if let Some(ended) = &mut state.ended {
            is_over = ended.is_reported && ended.at.elapsed() >= self.export_interval;
            ended.is_reported = true;
        }
        if is_over {
            let observation = state.observation.take();
            drop(state);
            drop(observation);
            return None;
        }
        state.newest.clone()
    }
}

/// Tells at the end of the sampling thread, however that comes, that it has come.
struct Over<'a>(&'a Shared, Option<Turn>);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        // First, so that whoever waits for the end may start the next.
        drop(self.1.take());
        self.0.state.lock().ended = Some(Ended {
            at: Instant::now(),
            is_reported: false,
        });
        self.0.changed.notify_all();
    }
}

/// Takes a sample now, one after each interval, and an exact one at the end; none after the end of telemetry.
fn work(shared: &Shared, mut sampler: Sampler, interval: Duration) {
    let mut due = Some(Instant::now());
    let mut is_last = false;
    loop {
        let begun = Instant::now();
        match contain(|| sampler.sample(is_last)) {
            Ok(sample) => {
                let previous = shared.state.lock().newest.replace(Arc::new(sample));
                drop(previous);
            }
            Err(panic) => warn("memory sample", &format_args!("a sample of memory {panic}")),
        }
        if is_last {
            return;
        }
        // Samples that were missed are not made up for, and no more than half of a core is spent on them.
        let rested = Instant::now() + begun.elapsed();
        due = due
            .and_then(|due| due.checked_add(interval))
            .map(|due| due.max(rested));
        is_last = shared.wait_for_stop(due);
        if !are_metrics_exporting() {
            return;
        }
    }
}
