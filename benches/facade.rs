//! The facade: `cargo bench` measures it compiled out, `cargo bench --features telemetry` compiled in, beside other
//! stacks.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use gym_benches::clock::thread_time;
use gym_benches::{SPANS, Stack, stacks};

/// Time of the calling thread on a processor: what other threads and programs do is not in it.
struct ThreadTime;

impl Measurement for ThreadTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        thread_time()
    }

    fn end(&self, start: Duration) -> Duration {
        thread_time().saturating_sub(start)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "nanoseconds of a measurement fit"
    )]
    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// Runs `work`, without the flushes between chunks, which keep every queue from overflowing.
fn chunked(runs: u64, chunk: u64, work: fn(), flush: impl Fn(u64)) -> Duration {
    let mut total = Duration::ZERO;
    let mut left = runs;
    while left > 0 {
        let now = left.min(chunk);
        let start = thread_time();
        for _ in 0..now {
            work();
        }
        total += thread_time().saturating_sub(start);
        flush(now);
        left -= now;
    }
    total
}

/// The mean of two threads that run `work` at once.
fn on_two_threads(runs: u64, chunk: u64, work: fn(), flush: impl Fn(u64) + Sync) -> Duration {
    let barrier = Barrier::new(2);
    let run = || {
        let mut total = Duration::ZERO;
        let mut left = runs;
        while left > 0 {
            let now = left.min(chunk);
            barrier.wait();
            total += chunked(now, now, work, |_| {});
            if barrier.wait().is_leader() {
                flush(2 * now);
            }
            left -= now;
        }
        total
    };
    thread::scope(|scope| {
        let other = scope.spawn(run);
        let own = run();
        (own + other.join().expect("the workload does not panic")) / 2
    })
}

/// Exports what was recorded. A span that was dropped costs less than one that was kept: there must be none.
fn flush(stack: &Stack, spans: u64, before: &AtomicU64) {
    (stack.flush)();
    if let Some(exported) = stack.exported {
        let now = exported();
        let delivered = now - before.swap(now, Ordering::Relaxed);
        assert_eq!(delivered, spans, "{} lost spans", stack.name);
    }
}

/// One workload on every stack; `measure` is given how often to run it and what to do after so many runs.
fn workload(
    criterion: &mut Criterion<ThreadTime>,
    name: &str,
    spans: u64,
    stacks: &[Stack],
    measure: impl Fn(&Stack, u64, &(dyn Fn(u64) + Sync)) -> Duration,
) {
    let mut group: BenchmarkGroup<'_, ThreadTime> = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(spans));
    for stack in stacks {
        group.bench_function(stack.name, |bencher| {
            bencher.iter_custom(|runs| {
                (stack.flush)();
                let before = AtomicU64::new(stack.exported.map_or(0, |exported| exported()));
                measure(stack, runs, &|runs| flush(stack, runs * spans, &before))
            });
        });
    }
    group.finish();
}

fn facade(criterion: &mut Criterion<ThreadTime>) {
    let stacks = stacks();
    workload(
        criterion,
        "a sequential",
        SPANS,
        &stacks,
        |stack, runs, flush| chunked(runs, 100, stack.sequential, flush),
    );
    workload(
        criterion,
        "b asynchronous",
        SPANS,
        &stacks,
        |stack, runs, flush| chunked(runs, 100, stack.asynchronous, flush),
    );
    workload(
        criterion,
        "c two threads",
        SPANS,
        &stacks,
        |stack, runs, flush| on_two_threads(runs, 100, stack.sequential, flush),
    );
    workload(criterion, "d empty", 1, &stacks, |stack, runs, flush| {
        chunked(runs, 10_000, stack.empty, flush)
    });
}

fn settings() -> Criterion<ThreadTime> {
    Criterion::default()
        .with_measurement(ThreadTime)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(30)
        .without_plots()
}

criterion_group! {
    name = benches;
    config = settings();
    targets = facade
}
criterion_main!(benches);
