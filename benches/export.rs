//! What a span costs its process end to end: recorded, batched and sent over OTLP gRPC to a collector that listens in a
//! process of its own, beside the SDK with its batch processor and `opentelemetry-otlp`.
//!
//! ```sh
//! cargo bench --package gym-benches --features telemetry,peers --bench export
//! ```
//!
//! Each figure is of a process of its own; the stacks take turns. Shown are medians of the CPU time of all threads, from the
//! first span to the end of the shutdown.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use gym_benches::clock::process_time;
use gym_benches::collector::{Collector, serve_if_asked};
use gym_benches::recorder::{ours, sdk};
use gym_telemetry_api::{DEFAULT_SHUTDOWN_BUDGET, ServerIdentity, init_telemetry};
use gym_telemetry_core::env;
use opentelemetry_otlp::WithExportConfig as _;

/// Set in a process that is measured, to its stack.
const STACK: &str = "GYM_TELEMETRY_BENCH_STACK";
const OURS: &str = "gym-telemetry";
const SDK: &str = "opentelemetry-otlp";
const ENDPOINT: &str = env::OTEL_EXPORTER_OTLP_ENDPOINT;

/// Roots with 100 children each, and a pause after so many of them: about 100,000 spans a second.
const ROOTS: u64 = 2_000;
const ROOTS_BETWEEN_PAUSES: u64 = 10;
const PAUSE: Duration = Duration::from_millis(10);
const SPANS: u64 = ROOTS * 101;
/// Processes of each stack.
const PROCESSES: usize = 9;

fn main() {
    serve_if_asked();
    match std::env::var(STACK).as_deref() {
        Ok(OURS) => measured_ours(),
        Ok(_) => measured_sdk(),
        Err(_) => compare(),
    }
}

fn record(root: fn(i64)) {
    for number in 1..=ROOTS {
        root(100);
        if number % ROOTS_BETWEEN_PAUSES == 0 {
            sleep(PAUSE);
        }
    }
}

fn measured_ours() {
    let identity = ServerIdentity::builder().server_name("bench").build();
    let telemetry = init_telemetry(identity).expect("telemetry is on");
    let before = process_time();
    record(ours);
    let receipt = telemetry.shutdown(DEFAULT_SHUTDOWN_BUDGET);
    assert_eq!(receipt.traces.exported, SPANS, "{receipt:?}");
    report(before);
}

fn measured_sdk() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let _inside = runtime.enter();
    let endpoint = std::env::var(ENDPOINT).expect("the parent names the collector");
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_tonic()
        .with_endpoint(endpoint)
        .build()
        .expect("the endpoint is an address");
    sdk::install(exporter);
    let before = process_time();
    record(sdk::root);
    sdk::shut_down();
    report(before);
}

fn report(before: Duration) {
    println!("{}", process_time().saturating_sub(before).as_nanos());
}

/// Nanoseconds per span of one process.
fn measure(stack: &str, collector: &mut Collector) -> f64 {
    let before = collector.count();
    let executable = std::env::current_exe().expect("a program knows where it is");
    let output = Command::new(executable)
        .env(STACK, stack)
        .env(ENDPOINT, collector.endpoint())
        .env(env::ENABLED.gym, "true")
        .env(env::SPAN_GROUPS.gym, "all")
        .env(env::METRICS_ENABLED.gym, "false")
        // The SDK's queue overflows with its default in a burst of this size.
        .env(env::OTEL_BSP_MAX_QUEUE_SIZE, "65536")
        .stderr(Stdio::inherit())
        .output()
        .expect("this program can be started again");
    assert!(output.status.success(), "{stack} failed");
    let received = collector.count() - before;
    assert_eq!(received, SPANS, "{stack} lost spans");
    let text = String::from_utf8_lossy(&output.stdout);
    let nanoseconds: f64 = text.trim().parse().expect("the process says what it took");
    #[expect(clippy::cast_precision_loss, reason = "the number of spans fits")]
    let spans = SPANS as f64;
    nanoseconds / spans
}

fn compare() {
    // `cargo test` runs benches to see whether they work.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let processes = if is_bench { PROCESSES } else { 1 };
    let mut collector = Collector::start();
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    for _ in 0..processes {
        ours.push(measure(OURS, &mut collector));
        peer.push(measure(SDK, &mut collector));
    }
    let [ours, peer] = [ours, peer].map(|mut values| {
        values.sort_by(f64::total_cmp);
        (
            values[values.len() / 2],
            values[0],
            values[values.len() - 1],
        )
    });
    println!("| end to end over OTLP gRPC | CPU ns per span | least | most | : {SDK} |");
    println!("|---|---:|---:|---:|---:|");
    for (name, (median, least, most)) in [(OURS, ours), (SDK, peer)] {
        println!(
            "| {name} | {median:.0} | {least:.0} | {most:.0} | {:.3} |",
            median / peer.0
        );
    }
}
