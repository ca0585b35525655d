//! What limits leave behind. One test, so that the memory of its process is its own.

#[path = "../../gym-telemetry-otel/tests/support/mod.rs"]
mod collector;

use std::fs;
use std::time::Duration;

use collector::Collector;
use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};
use gym_telemetry_api::{
    ServerIdentity, TelemetryConfig, TelemetryHandle, configure_telemetry_env, init_telemetry,
    shutdown_telemetry,
};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;

const BUDGET: Duration = Duration::from_secs(30);
const LIMITS: usize = 1_000;
const ROUNDS: usize = 10;
/// How often memory may still have grown after so many rounds.
const WINDOWS: usize = 5;

/// Resident memory of this process, in KiB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a /proc file system");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.expect("a number").parse().expect("a whole number")
}

/// Creates limits, has them exported while they are there and once they are gone.
fn round(collector: &Collector, telemetry: TelemetryHandle, names: &[String]) {
    let limits: Vec<_> = names
        .iter()
        .map(|name| {
            MeteredSemaphore::new(1, ConcurrencyComponent::ModelServer, "many")
                .expect("a valid limit")
                .with_server_name(name)
        })
        .collect();
    for limit in &limits {
        drop(limit.try_acquire().expect("free"));
    }
    assert_eq!(export(collector, telemetry), LIMITS + 1);
    drop(limits);
    assert_eq!(export(collector, telemetry), 1);
}

/// Exports and returns how many limits the export told of. The collector, which is part of this process, keeps nothing.
fn export(collector: &Collector, telemetry: TelemetryHandle) -> usize {
    drop(collector.take());
    let _ = telemetry.flush(BUDGET);
    let _ = collector.wait_until("an export", |received| !received.metrics.is_empty());
    let received = collector.take();
    let last = received.metrics.last().expect("one has arrived");
    let metrics = last
        .body
        .resource_metrics
        .iter()
        .flat_map(|metrics| &metrics.scope_metrics)
        .flat_map(|metrics| &metrics.metrics);
    let points = metrics
        .filter(|metric| metric.name == "gym.concurrency.limit")
        .filter_map(|metric| match metric.data.as_ref()? {
            Data::Gauge(gauge) => Some(gauge.data_points.len()),
            _ => None,
        });
    points.sum()
}

#[test]
fn a_thousand_limits_made_and_dropped_ten_times_leave_no_memory_behind() {
    let collector = Collector::start();
    let mut config = TelemetryConfig::default();
    config.enabled = true;
    config.otlp_endpoint = Some(collector.endpoint());
    configure_telemetry_env(Some(&config)).expect("telemetry is on");
    let telemetry = init_telemetry(ServerIdentity::default()).expect("telemetry is on");
    // Without anything to tell there is no export to wait for.
    let _always = MeteredSemaphore::new(1, ConcurrencyComponent::ModelServer, "always")
        .expect("a valid limit");
    let names: Vec<_> = (0..LIMITS).map(|number| format!("a{number}")).collect();

    // What is kept for the names is there from the first rounds on. The allocator's own share settles when it likes, once:
    // what leaks would go on growing.
    let mut seen = vec![resident()];
    let has_settled = (0..WINDOWS).any(|_| {
        let before = seen[seen.len() - 1];
        for _ in 0..ROUNDS {
            round(&collector, telemetry, &names);
        }
        let after = resident();
        seen.push(after);
        after * 100 <= before * 105
    });
    assert!(has_settled, "KiB every {ROUNDS} rounds: {seen:?}");
    let _ = shutdown_telemetry(BUDGET);
}
