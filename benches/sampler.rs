//! What reading ten thousand sandboxes costs: processor time of the sampling thread, memory of each sandbox, readings.
//!
//! `cargo bench -p gym-benches --features telemetry --bench sampler`, on Linux. It takes about two minutes.
#![expect(clippy::print_stdout, reason = "a report for people")]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gym_sandbox_obs::{
    Allocation, Reading, ResourceReader, Sample, SandboxObservation, SandboxRequest, Submitted,
    Unavailable,
};
use gym_telemetry_api::TELEMETRY_COMPILED_IN;

const SANDBOXES: usize = 10_000;
const INTERVAL: Duration = Duration::from_secs(10);
/// Two intervals, after one in which everything starts.
const MEASURED: Duration = Duration::from_secs(20);
/// The kernel counts time in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// What all readers of one run have in common.
#[derive(Debug, Default)]
struct Counts {
    readings: AtomicU64,
    in_flight: AtomicUsize,
    most: AtomicUsize,
}

/// Takes this long for each sample, as the server in a sandbox does; zero: answers at once.
#[derive(Debug)]
struct Fake {
    counts: Arc<Counts>,
    takes: Duration,
}

/// One reading under way.
struct InFlight<'a>(&'a Counts);

impl<'a> InFlight<'a> {
    fn begin(counts: &'a Counts) -> Self {
        let now = counts.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        counts.most.fetch_max(now, Ordering::Relaxed);
        Self(counts)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ResourceReader for Fake {
    fn allocation_source(&self) -> &'static str {
        "fake"
    }

    fn sample_source(&self) -> &'static str {
        "fake"
    }

    fn allocation(&self) -> Reading<'_, Allocation> {
        Box::pin(async { Err(Unavailable::NoSupportedResources) })
    }

    fn sample(&self) -> Reading<'_, Sample> {
        Box::pin(async {
            let _in_flight = InFlight::begin(&self.counts);
            if !self.takes.is_zero() {
                tokio::time::sleep(self.takes).await;
            }
            self.counts.readings.fetch_add(1, Ordering::Relaxed);
            Ok(Sample {
                timestamp_ms: Some(1),
                cpu_count: Some(4.0),
                cpu_used_percentage: Some(12.5),
                memory_total_mib: Some(8192.0),
                memory_used_mib: Some(512.0),
            })
        })
    }
}

/// The processor time of the threads of this name; `None`: of the whole process.
fn processor_time(thread: Option<&str>) -> Duration {
    let stat = |path: String| {
        let text = fs::read_to_string(path).ok()?;
        let (head, rest) = text.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let fields: Vec<u32> = rest
            .split_ascii_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|field| field.parse().ok())
            .collect();
        Some((name, TICK * fields.iter().sum::<u32>()))
    };
    let Some(thread) = thread else {
        return stat("/proc/self/stat".to_owned()).map_or(Duration::ZERO, |(_, time)| time);
    };
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    tasks
        .filter_map(Result::ok)
        .filter_map(|task| stat(task.path().join("stat").display().to_string()))
        .filter(|(name, _)| name == thread)
        .map(|(_, time)| time)
        .sum()
}

/// Resident memory, in bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn start(counts: &Arc<Counts>, takes: Duration) -> Vec<SandboxObservation> {
    let sandbox = |number: usize| {
        let request = SandboxRequest::builder("fake")
            .sample_interval(INTERVAL)
            .record();
        let mut start = request.start();
        start.created(&format!("sandbox-{number}"), &Submitted::default());
        let counts = Arc::clone(counts);
        start.finish(Some(Arc::new(Fake { counts, takes })))
    };
    (0..SANDBOXES).map(sandbox).collect()
}

/// Has what all sandboxes share made first, so that it is not taken for memory of each: the sampling thread, and the
/// records of more spans than a burst of starts needs.
fn warm_up() {
    let counts = Arc::new(Counts::default());
    let request = SandboxRequest::builder("fake").record();
    let mut start = request.start();
    start.created("warm-up", &Submitted::default());
    let sandbox = start.finish(Some(Arc::new(Fake {
        counts,
        takes: Duration::ZERO,
    })));
    for _ in 0..4 * SANDBOXES {
        let _ = SandboxRequest::builder("fake").record();
    }
    std::thread::sleep(Duration::from_secs(2));
    drop(sandbox);
}

fn measure(name: &str, takes: Duration) {
    let counts = Arc::new(Counts::default());
    let before = resident();
    let sandboxes = start(&counts, takes);
    // Everything is read once; what comes and goes with a burst of starts is over.
    std::thread::sleep(INTERVAL + Duration::from_secs(2));
    let memory = resident().saturating_sub(before) / SANDBOXES as u64;
    let (began, earlier) = (Instant::now(), counts.readings.load(Ordering::Relaxed));
    let (sampler, process) = (processor_time(Some("gym-sampler")), processor_time(None));
    std::thread::sleep(MEASURED);
    let elapsed = began.elapsed().as_secs_f64();
    let share = |now: Duration, before: Duration| {
        now.saturating_sub(before).as_secs_f64() / elapsed * 100.0
    };
    let sampler = share(processor_time(Some("gym-sampler")), sampler);
    let process = share(processor_time(None), process);
    let readings = counts.readings.load(Ordering::Relaxed) - earlier;
    let most = counts.most.load(Ordering::Relaxed);
    println!(
        "{name}: {SANDBOXES} sandboxes at {INTERVAL:?}: {readings} readings in {elapsed:.1} s, at most {most} at once; \
         sampling thread {sampler:.1} % of one core, process {process:.1} %, {memory} bytes resident for each sandbox"
    );
    drop(sandboxes);
}

fn main() {
    // `cargo test --benches` only wants to know that it links.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    if !TELEMETRY_COMPILED_IN {
        println!("compiled out: nothing is read; build with --features telemetry");
        return;
    }
    gym_telemetry_api::if_telemetry!({
        let telemetry = gym_telemetry_api::__private::testing::Discard::install();
        assert!(telemetry.is_some(), "nothing else has settled this process");
    });
    warm_up();
    measure("answers at once", Duration::ZERO);
    measure("takes a second", Duration::from_secs(1));
}
