//! What a span costs from its start to the bytes of an OTLP request, beside the SDK with its batch processor and the
//! conversion of `opentelemetry-proto`. Nothing is sent.
//!
//! Rounds of the stacks take turns, so that whatever else the machine does meets all of them; shown are medians.

use std::hint::black_box;
use std::time::Duration;

use gym_benches::clock::{process_time, thread_time};
use gym_benches::recorder::{Stack, stacks};

/// Workloads, with the number of spans of one run and the runs of one round.
const WORKLOADS: [(&str, fn(&Stack) -> fn(), u64, u64); 3] = [
    (
        "(a) a root and 100 children",
        |stack| stack.sequential,
        101,
        100,
    ),
    ("(e) rich", |stack| stack.rich, 1, 2_000),
    ("(p) 21 spans and a pause", |stack| stack.paused, 21, 100),
];
const ROUNDS: usize = 31;

struct Costs {
    on_path: Vec<f64>,
    total: Vec<f64>,
}

fn nanoseconds(time: Duration, spans: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "the numbers of a round fit")]
    let share = time.as_nanos() as f64 / spans as f64;
    share
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn round(stack: &Stack, workload: fn(), runs: u64) -> (Duration, Duration) {
    let (thread, process) = (thread_time(), process_time());
    for _ in 0..runs {
        black_box(workload)();
    }
    let on_path = thread_time().saturating_sub(thread);
    (stack.flush)();
    (on_path, process_time().saturating_sub(process))
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn main() {
    // `cargo test` runs benches to see whether they work.
    let rounds = if std::env::args().any(|argument| argument == "--bench") {
        ROUNDS
    } else {
        1
    };
    let stacks = stacks();
    println!("| workload | stack | on-path ns | total CPU ns | on-path : SDK | total : SDK |");
    println!("|---|---|---:|---:|---:|---:|");
    for (name, workload, spans, runs) in WORKLOADS {
        let mut costs: Vec<_> = stacks
            .iter()
            .map(|_| Costs {
                on_path: Vec::new(),
                total: Vec::new(),
            })
            .collect();
        for number in 0..=rounds {
            for (stack, costs) in stacks.iter().zip(&mut costs) {
                let before = (stack.exported)();
                let (on_path, total) = round(stack, workload(stack), runs);
                assert_eq!(
                    (stack.exported)() - before,
                    spans * runs,
                    "{} lost spans",
                    stack.name
                );
                // The first round warms up.
                if number > 0 || rounds == 1 {
                    costs.on_path.push(nanoseconds(on_path, spans * runs));
                    costs.total.push(nanoseconds(total, spans * runs));
                }
            }
        }
        let medians: Vec<_> = costs
            .iter_mut()
            .map(|costs| (median(&mut costs.on_path), median(&mut costs.total)))
            .collect();
        let (peer_path, peer_total) = medians[medians.len() - 1];
        for (stack, (on_path, total)) in stacks.iter().zip(medians) {
            println!(
                "| {name} | {} | {on_path:.1} | {total:.1} | {:.3} | {:.3} |",
                stack.name,
                on_path / peer_path,
                total / peer_total
            );
        }
    }
}
