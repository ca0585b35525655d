//! `MeteredSemaphore` beside tokio's own: `cargo bench -p gym-benches --bench semaphore`, and with `--features telemetry`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};
use gym_telemetry_api::if_telemetry;
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};

const LIMIT: u32 = 8;
const TASKS: u64 = 64;

/// Runs the same loop over either semaphore; they have one shape but no trait.
macro_rules! contended {
    ($runtime:expr, $semaphore:expr, $iterations:expr) => {{
        let semaphore = Arc::new($semaphore);
        $runtime.block_on(async {
            let started = Instant::now();
            let mut tasks = JoinSet::new();
            for _ in 0..TASKS {
                let semaphore = Arc::clone(&semaphore);
                tasks.spawn(async move {
                    for _ in 0..$iterations.div_ceil(TASKS) {
                        let permit = semaphore.acquire().await.expect("never closed");
                        yield_now().await;
                        drop(permit);
                    }
                });
            }
            tasks.join_all().await;
            started.elapsed()
        })
    }};
}

macro_rules! uncontended {
    ($runtime:expr, $semaphore:expr, $iterations:expr) => {{
        let semaphore = $semaphore;
        $runtime.block_on(async {
            let started = Instant::now();
            for _ in 0..$iterations {
                drop(black_box(semaphore.acquire().await.expect("never closed")));
            }
            started.elapsed()
        })
    }};
}

/// Rounds of a comparison by turns, and acquires of one round.
const TURNS: usize = 31;
const ACQUIRES: u64 = 1_000 * TASKS;

/// The wall time and the processor time of what `run` does.
fn timed(run: impl FnOnce() -> Duration) -> [f64; 2] {
    let before = process_time();
    let wall = run();
    [
        wall.as_secs_f64(),
        process_time().saturating_sub(before).as_secs_f64(),
    ]
}

/// The processor time of all threads of this process.
fn process_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(now).unwrap_or(Duration::ZERO)
}

/// Runs both by turns, so that whatever else the machine does meets both alike, and prints the ratios of their times: the
/// median of all turns and, in brackets, the quarter below and the quarter above it.
#[expect(clippy::print_stdout, reason = "a report for people")]
fn by_turns(name: &str, tokio: impl Fn() -> Duration, ours: impl Fn() -> Duration) {
    let mut ratios = [const { Vec::new() }; 2];
    for turn in 0..=TURNS {
        let (ours, tokio) = if turn % 2 == 0 {
            (timed(&ours), timed(&tokio))
        } else {
            let tokio = timed(&tokio);
            (timed(&ours), tokio)
        };
        // The first turn only warms up.
        if turn > 0 {
            for (ratios, (ours, tokio)) in ratios.iter_mut().zip(ours.into_iter().zip(tokio)) {
                ratios.push(ours / tokio);
            }
        }
    }
    let [wall, processor] = ratios.map(|mut ratios| {
        ratios.sort_by(f64::total_cmp);
        let [low, middle, high] = [TURNS / 4, TURNS / 2, TURNS * 3 / 4].map(|at| ratios[at]);
        format!("{middle:.2} ({low:.2} to {high:.2})")
    });
    println!("{name}, ours : tokio's: time {wall}, processor time {processor}");
}

/// Ours beside tokio's, by turns, with and without others waiting.
fn compare(state: &str, runtimes: &[(Runtime, &'static str)]) {
    let (one, _) = &runtimes[0];
    by_turns(
        &format!("uncontended, {state}"),
        || uncontended!(one, tokios(), ACQUIRES),
        || uncontended!(one, ours(), ACQUIRES),
    );
    for (runtime, threads) in runtimes {
        by_turns(
            &format!("contended, {threads}, {state}"),
            || contended!(runtime, tokios(), ACQUIRES),
            || contended!(runtime, ours(), ACQUIRES),
        );
    }
}

fn tokios() -> Semaphore {
    Semaphore::new(LIMIT as usize)
}

fn ours() -> MeteredSemaphore {
    MeteredSemaphore::new(LIMIT, ConcurrencyComponent::AgentServer, "bench").expect("a valid limit")
}

fn runtimes() -> [(Runtime, &'static str); 2] {
    let one = Builder::new_current_thread().build();
    let two = Builder::new_multi_thread().worker_threads(2).build();
    [
        (one.expect("a runtime"), "one thread"),
        (two.expect("a runtime"), "two threads"),
    ]
}

/// Nothing is exported: what a semaphore costs that limits, and keeps its counts.
fn semaphore(criterion: &mut Criterion) {
    let runtimes = runtimes();
    compare("nothing exported", &runtimes);
    let mut group = criterion.benchmark_group("semaphore");
    group.measurement_time(Duration::from_secs(3));
    let (one, _) = &runtimes[0];
    group.bench_function("uncontended/tokio", |bencher| {
        bencher.iter_custom(|iterations| uncontended!(one, tokios(), iterations));
    });
    group.bench_function("uncontended/metered", |bencher| {
        bencher.iter_custom(|iterations| uncontended!(one, ours(), iterations));
    });
    for (runtime, threads) in &runtimes {
        group.bench_function(format!("contended, {threads}/tokio"), |bencher| {
            bencher.iter_custom(|iterations| contended!(runtime, tokios(), iterations));
        });
        group.bench_function(format!("contended, {threads}/metered"), |bencher| {
            bencher.iter_custom(|iterations| contended!(runtime, ours(), iterations));
        });
    }
    group.finish();
}

if_telemetry!(items {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use gym_telemetry_api::__private::observe;
    use gym_telemetry_api::{
        ServerIdentity, TelemetryConfig, TelemetryHandle, configure_telemetry_env, init_telemetry,
    };

    /// Live limits that are collected.
    const LIMITS: usize = 10_000;
    const BUDGET: Duration = Duration::from_secs(10);

    /// Has metrics exported, to nobody: what is measured is over before an export fails.
    fn export_metrics() -> TelemetryHandle {
        let mut config = TelemetryConfig::default();
        config.enabled = true;
        config.otlp_endpoint = Some("http://127.0.0.1:9".to_owned());
        configure_telemetry_env(Some(&config)).expect("telemetry is on");
        init_telemetry(ServerIdentity::default()).expect("telemetry is on")
    }

    /// Exported: callers that wait are listed, and their waits measured.
    fn exported(criterion: &mut Criterion) {
        // Callbacks run in the order in which they are registered: this one before that of the limits.
        let began = Arc::new(Mutex::new(None));
        let before = observe({
            let began = Arc::clone(&began);
            move |_| *began.lock().expect("not poisoned") = Some(Instant::now())
        });
        let first = ours();
        let took = Arc::new(Mutex::new(Duration::ZERO));
        let after = observe({
            let (began, took) = (Arc::clone(&began), Arc::clone(&took));
            move |_| {
                let began = began.lock().expect("not poisoned").take();
                *took.lock().expect("not poisoned") = began.map_or(Duration::ZERO, |began| began.elapsed());
            }
        });
        let telemetry = export_metrics();
        let runtimes = runtimes();
        compare("exported", &runtimes);
        let mut group = criterion.benchmark_group("semaphore, exported");
        group.measurement_time(Duration::from_secs(3));
        for (runtime, threads) in &runtimes {
            group.bench_function(format!("contended, {threads}/tokio"), |bencher| {
                bencher.iter_custom(|iterations| contended!(runtime, tokios(), iterations));
            });
            group.bench_function(format!("contended, {threads}/metered"), |bencher| {
                bencher.iter_custom(|iterations| contended!(runtime, ours(), iterations));
            });
        }
        let limits: Vec<_> = (0..LIMITS).map(|_| ours()).collect();
        group.sample_size(10);
        group.bench_function("collecting 10,000 limits", |bencher| {
            bencher.iter_custom(|iterations| {
                (0..iterations)
                    .map(|_| {
                        let _ = telemetry.flush(BUDGET);
                        *took.lock().expect("not poisoned")
                    })
                    .sum()
            });
        });
        let (runtime, _) = &runtimes[0];
        let done = AtomicBool::new(false);
        group.bench_function("contended, one thread/10,000 limits, at rest", |bencher| {
            bencher.iter_custom(|iterations| contended!(runtime, ours(), iterations));
        });
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = telemetry.flush(BUDGET);
                }
            });
            group.bench_function("contended, one thread/10,000 limits, being collected", |bencher| {
                bencher.iter_custom(|iterations| contended!(runtime, ours(), iterations));
            });
            done.store(true, Ordering::Relaxed);
        });
        group.finish();
        drop((limits, first, before, after));
    }
} else {
    /// There is nothing to export.
    fn exported(_: &mut Criterion) {}
});

criterion_group!(benches, semaphore, exported);
criterion_main!(benches);
