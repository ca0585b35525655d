//! Records 200,000 spans a second for ten minutes, while the collector is restarted, slowed and made to refuse in turn.
//!
//! ```sh
//! cargo run --release --package gym-benches --features telemetry,peers --example soak [-- SECONDS]
//! ```
//!
//! It fails unless every span is accounted for: those made are those exported, dropped for a stated reason, failed or
//! truncated. It also reports how memory develops, and how long a piece of work of the application's own takes in the
//! slowest hundredth of cases, with telemetry and in an equal process without.

#![expect(clippy::print_stdout, reason = "it reports to people")]

use std::fs;
use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gym_benches::collector::{Collector, serve_if_asked};
use gym_benches::recorder::ours;
use gym_telemetry_api::{ServerIdentity, init_telemetry, managed_span};
use gym_telemetry_core::{env, group};

const RATE: u64 = 200_000;
const DURATION: Duration = Duration::from_mins(10);
/// The run without telemetry, for comparison.
const COMPARED: Duration = Duration::from_mins(1);
/// From then on memory should not grow.
const WARM: Duration = Duration::from_mins(1);
/// How long each kind of trouble lasts, with as long a time without trouble after it.
const TROUBLE: Duration = Duration::from_secs(20);
/// Spans that stay open to the end.
const LEFT_OPEN: u64 = 10;
const SHUTDOWN: Duration = Duration::from_secs(10);
/// How much longer than without telemetry the application's own work may take, and how much memory may grow.
const SLOWER: f64 = 1.2;
const GROWTH: f64 = 1.05;

/// Set in the process that does the work, to the seconds it lasts.
const WORKER: &str = "GYM_TELEMETRY_SOAK_SECONDS";

fn main() -> ExitCode {
    serve_if_asked();
    if let Ok(seconds) = std::env::var(WORKER) {
        let duration = Duration::from_secs(seconds.parse().expect("the parent gives seconds"));
        return work(duration);
    }
    let duration = std::env::args().nth(1).map_or(DURATION, |seconds| {
        Duration::from_secs(seconds.parse().expect("seconds are a whole number"))
    });
    direct(duration)
}

/// Runs the application without and with telemetry, and the collector beside it.
fn direct(duration: Duration) -> ExitCode {
    let mut collector = Collector::start();
    println!("without telemetry:");
    let without = worker(COMPARED.min(duration), None).wait_with_output();
    let without = p99(&without.expect("the worker can be waited for").stdout);

    println!("with telemetry, for {} s:", duration.as_secs());
    let worker = worker(duration, Some(&collector.endpoint()));
    let end = Instant::now() + duration.saturating_sub(TROUBLE);
    let mut received = 0;
    for kind in 0.. {
        if Instant::now() + 2 * TROUBLE > end {
            break;
        }
        match kind % 3 {
            0 => received += collector.restart(TROUBLE),
            1 => {
                collector.pause(Duration::from_secs(2));
                thread::sleep(TROUBLE);
                collector.pause(Duration::ZERO);
            }
            _ => {
                collector.refuse(true);
                thread::sleep(TROUBLE);
                collector.refuse(false);
            }
        }
        thread::sleep(TROUBLE);
    }
    let output = worker
        .wait_with_output()
        .expect("the worker can be waited for");
    received += collector.count();
    println!("  collectors received {received} spans in all");
    let ratio = p99(&output.stdout) / without;
    println!("  work of its own, p99 : without telemetry = {ratio:.3} (at most {SLOWER})");
    if output.status.success() && ratio <= SLOWER {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn worker(duration: Duration, endpoint: Option<&str>) -> std::process::Child {
    let executable = std::env::current_exe().expect("a program knows where it is");
    let mut command = Command::new(executable);
    command
        .env(WORKER, duration.as_secs().to_string())
        .stdout(Stdio::piped());
    if let Some(endpoint) = endpoint {
        command
            .env(env::ENABLED.gym, "true")
            .env(env::SPAN_GROUPS.gym, "all")
            .env(env::METRICS_ENABLED.gym, "false")
            .env(env::OTEL_EXPORTER_OTLP_ENDPOINT, endpoint);
    }
    command.spawn().expect("this program can be started again")
}

/// Shows what a worker printed; its last line is its 99th percentile in nanoseconds.
fn p99(output: &[u8]) -> f64 {
    let text = String::from_utf8_lossy(output);
    let (report, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", &text));
    println!("{report}");
    last.trim().parse().expect("the worker reports at last")
}

/// The application: one thread makes spans at a steady rate, another does work of its own and times it.
fn work(duration: Duration) -> ExitCode {
    let identity = ServerIdentity::builder().server_name("soak").build();
    let telemetry = init_telemetry(identity);
    let made = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let (slow, resident) = thread::scope(|scope| {
        scope.spawn(|| make_spans(&made, &is_over));
        let timer = scope.spawn(|| time_own_work(&is_over));
        let warm = WARM.min(duration / 2);
        thread::sleep(warm);
        let first = resident_kib();
        thread::sleep(duration.saturating_sub(warm));
        let last = resident_kib();
        is_over.store(true, Ordering::Relaxed);
        (
            timer.join().expect("the work does not panic"),
            (first, last),
        )
    });
    let mut is_good = true;
    if let Some(telemetry) = telemetry {
        let open: Vec<_> = (0..LEFT_OPEN)
            .map(|_| managed_span!(group::ROLLOUT, "left open"))
            .collect();
        let receipt = telemetry.shutdown(SHUTDOWN);
        drop(open);
        let traces = &receipt.traces;
        let made = made.load(Ordering::Relaxed) + LEFT_OPEN;
        let accounted = traces.exported + traces.dropped_total() + traces.failed + traces.truncated;
        println!(
            "  made {made}, accounted for {accounted}: exported {}, dropped {:?}, failed {}, truncated {}",
            traces.exported, traces.dropped, traces.failed, traces.truncated
        );
        let (first, last) = resident;
        #[expect(clippy::cast_precision_loss, reason = "memory in KiB fits")]
        let growth = last as f64 / first as f64;
        println!("  resident {first} KiB after the first part, {last} KiB at the end: {growth:.3}");
        is_good = made == accounted && growth <= GROWTH;
    }
    println!("{}", slow.as_nanos());
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn make_spans(made: &AtomicU64, is_over: &AtomicBool) {
    const CHILDREN: u64 = 100;
    /// How many roots follow each other without a pause.
    const BURST: u64 = 10;
    let spans = BURST * (CHILDREN + 1);
    let start = Instant::now();
    let mut total = 0;
    while !is_over.load(Ordering::Relaxed) {
        for _ in 0..BURST {
            ours(CHILDREN.cast_signed());
        }
        total += spans;
        made.store(total, Ordering::Relaxed);
        let due = start + Duration::from_nanos(total * 1_000_000_000 / RATE);
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
}

/// Does the same work over and over; returns how long the slowest hundredth takes at least.
fn time_own_work(is_over: &AtomicBool) -> Duration {
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let start = Instant::now();
        let mut sum = 0_u64;
        for number in 0..100_000_u64 {
            sum = black_box(sum.wrapping_mul(31).wrapping_add(number));
        }
        black_box(sum);
        times.push(start.elapsed());
        thread::sleep(Duration::from_millis(2));
    }
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

/// What of this process is in memory.
fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
