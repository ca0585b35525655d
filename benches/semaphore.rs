//! `MeteredSemaphore` beside tokio's own: `cargo bench -p gym-benches --bench semaphore`, and with `--features telemetry`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};
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

fn tokios() -> Semaphore {
    Semaphore::new(LIMIT as usize)
}

fn ours() -> MeteredSemaphore {
    MeteredSemaphore::new(LIMIT, ConcurrencyComponent::AgentServer, "bench").expect("a valid limit")
}

fn semaphore(criterion: &mut Criterion) {
    let one: Runtime = Builder::new_current_thread().build().expect("a runtime");
    let two: Runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    let mut group = criterion.benchmark_group("semaphore");
    group.measurement_time(Duration::from_secs(3));
    group.bench_function("uncontended/tokio", |bencher| {
        bencher.iter_custom(|iterations| uncontended!(one, tokios(), iterations));
    });
    group.bench_function("uncontended/metered", |bencher| {
        bencher.iter_custom(|iterations| uncontended!(one, ours(), iterations));
    });
    for (runtime, threads) in [(&one, "one thread"), (&two, "two threads")] {
        group.bench_function(format!("contended, {threads}/tokio"), |bencher| {
            bencher.iter_custom(|iterations| contended!(runtime, tokios(), iterations));
        });
        group.bench_function(format!("contended, {threads}/metered"), |bencher| {
            bencher.iter_custom(|iterations| contended!(runtime, ours(), iterations));
        });
    }
    group.finish();
}

criterion_group!(benches, semaphore);
criterion_main!(benches);
