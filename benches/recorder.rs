//! What a span costs from its start to the bytes of an OTLP request, beside the SDK with its batch processor and the
//! conversion of `opentelemetry-proto`; nothing is sent. And what a thread and an open span take of memory.
//!
//! ```sh
//! cargo bench --package gym-benches --features telemetry,peers --bench recorder
//! ```
//!
//! Rounds of the stacks take turns, so that whatever else the machine does meets all of them; shown are medians of CPU
//! time: of the thread that makes the spans, and of all threads to the end of the flush.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fs;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use gym_benches::clock::{process_time, thread_time};
use gym_benches::recorder::{Stack, ours, stacks};
use gym_telemetry_api::{Span, managed_span};
use gym_telemetry_core::group;

struct Workload {
    title: &'static str,
    of: fn(&Stack) -> fn(),
    /// Spans that one run makes.
    spans: u64,
    /// Runs of one round.
    runs: u64,
}

const WORKLOADS: [Workload; 3] = [
    Workload {
        title: "(a) a root and 100 children",
        of: |stack| stack.sequential,
        spans: 101,
        runs: 100,
    },
    Workload {
        title: "(e) rich",
        of: |stack| stack.rich,
        spans: 1,
        runs: 2_000,
    },
    Workload {
        title: "(p) 21 spans and a pause",
        of: |stack| stack.paused,
        spans: 21,
        runs: 100,
    },
];
const ROUNDS: usize = 31;
/// Threads and open spans whose memory is measured.
const THREADS: usize = 1_000;
const OPEN: usize = 20_000;

fn main() {
    // `cargo test` runs benches to see whether they work.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let stacks = stacks();
    // First, because the slots of spans that were recorded before are used again.
    let memory = [
        ("open span", open_span_memory()),
        ("thread that made one span", thread_memory()),
    ];
    println!("| workload | stack | on-path ns | total CPU ns | on-path : SDK | total : SDK |");
    println!("|---|---|---:|---:|---:|---:|");
    for workload in &WORKLOADS {
        compare(workload, &stacks, if is_bench { ROUNDS } else { 1 });
    }
    println!();
    println!("| memory | bytes |");
    println!("|---|---:|");
    for (what, bytes) in memory {
        println!("| {what} | {bytes} |");
    }
}

#[derive(Clone, Copy)]
struct Cost {
    on_path: f64,
    total: f64,
}

fn compare(workload: &Workload, stacks: &[Stack], rounds: usize) {
    let mut costs = vec![Vec::new(); stacks.len()];
    for round in 0..=rounds {
        for (stack, costs) in stacks.iter().zip(&mut costs) {
            let cost = measure(workload, stack);
            // The first round warms up.
            if round > 0 {
                costs.push(cost);
            }
        }
    }
    let medians = costs.iter().map(|costs| Cost {
        on_path: median(costs.iter().map(|cost| cost.on_path)),
        total: median(costs.iter().map(|cost| cost.total)),
    });
    let medians: Vec<_> = medians.collect();
    let peer = medians[medians.len() - 1];
    for (stack, cost) in stacks.iter().zip(&medians) {
        println!(
            "| {} | {} | {:.1} | {:.1} | {:.3} | {:.3} |",
            workload.title,
            stack.name,
            cost.on_path,
            cost.total,
            cost.on_path / peer.on_path,
            cost.total / peer.total
        );
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What a span of one round costs.
fn measure(workload: &Workload, stack: &Stack) -> Cost {
    let spans = workload.spans * workload.runs;
    let run = (workload.of)(stack);
    let exported = (stack.exported)();
    let (thread, process) = (thread_time(), process_time());
    for _ in 0..workload.runs {
        black_box(run)();
    }
    let on_path = thread_time().saturating_sub(thread);
    (stack.flush)();
    let total = process_time().saturating_sub(process);
    // A span that was dropped costs less than one that was kept.
    let exported = (stack.exported)() - exported;
    assert_eq!(exported, spans, "{} lost spans", stack.name);
    let share = |time: Duration| {
        #[expect(clippy::cast_precision_loss, reason = "the numbers of a round fit")]
        let share = time.as_nanos() as f64 / spans as f64;
        share
    };
    Cost {
        on_path: share(on_path),
        total: share(total),
    }
}

/// Bytes that a thread takes because it made a span once.
fn thread_memory() -> usize {
    let idle_threads = |work: fn()| {
        let (before, made, seen) = (
            resident(),
            Barrier::new(THREADS + 1),
            Barrier::new(THREADS + 1),
        );
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    work();
                    made.wait();
                    seen.wait();
                });
            }
            made.wait();
            let after = resident();
            seen.wait();
            after.saturating_sub(before)
        })
    };
    // The stacks of the first threads are used again by later ones.
    idle_threads(|| ());
    let without = idle_threads(|| ());
    idle_threads(|| ours(0)).saturating_sub(without) / THREADS
}

/// Bytes that a span takes as long as it is open.
fn open_span_memory() -> usize {
    let mut open: Vec<Span> = Vec::with_capacity(OPEN);
    // Touches the memory of the list itself.
    open.resize_with(OPEN, Span::none);
    open.clear();
    let before = resident();
    open.extend((0..OPEN).map(|_| managed_span!(group::ROLLOUT, "open")));
    let after = resident();
    after.saturating_sub(before) / OPEN
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * rustix::param::page_size()
}
