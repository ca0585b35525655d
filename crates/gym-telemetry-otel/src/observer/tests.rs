//! What a collector would see of a runtime that is observed. Each test has a process of its own.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use gym_telemetry_core::ServerIdentity;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ScopeMetrics};
use tokio::runtime::{Builder, Runtime};

use crate::metrics::{collect_installed, single_values};
use crate::test_process::alone;
use crate::{init_telemetry, observe_current_runtime, observe_runtime, shutdown_telemetry};

const DEADLINE: Duration = Duration::from_secs(30);

/// Telemetry is on, and nobody but the test collects.
const ON: [(&str, &str); 2] = [
    ("NEMO_GYM_OTEL_ENABLED", "1"),
    ("OTEL_METRIC_EXPORT_INTERVAL", "3600000"),
];

fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).enable_all().build();
    runtime.expect("a runtime can be built")
}

fn init() {
    let telemetry = init_telemetry(ServerIdentity::default());
    assert!(telemetry.is_some());
}

/// The value of a metric without attributes, if it is reported.
fn value(name: &str) -> Option<f64> {
    let values = single_values(&collect_installed());
    let found = values.into_iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value)
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How many delays took longer than 250 ms.
fn long_delays() -> u64 {
    let metrics = collect_installed();
    let mut metrics = metrics.scope_metrics().flat_map(ScopeMetrics::metrics);
    let lag = metrics.find(|metric| metric.name() == "gym.event_loop.lag_ms");
    let Some(AggregatedMetrics::F64(MetricData::Histogram(histogram))) =
        lag.map(opentelemetry_sdk::metrics::data::Metric::data)
    else {
        return 0;
    };
    let points = histogram.data_points();
    // Above the eighth bound.
    points.flat_map(|point| point.bucket_counts().skip(8)).sum()
}

#[test]
fn a_stall_is_seen_while_it_lasts_and_once_when_it_is_over() {
    alone(&ON, || {
        let runtime = runtime();
        runtime.block_on(async { init() });
        wait_until("the runtime is observed", || {
            value("gym.event_loop.lag_max_ms").is_some()
        });
        let (go_on, stalled) = mpsc::channel::<()>();
        runtime.spawn(async move { stalled.recv() });
        let begun = Instant::now();
        let mut seen = 0.0;
        wait_until("the stall is seen while it lasts", || {
            seen = value("gym.event_loop.lag_max_ms").unwrap_or(0.0);
            seen >= 600.0
        });
        assert!(seen <= begun.elapsed().as_secs_f64() * 1_000.0);
        assert_eq!(long_delays(), 0, "it is not over");
        go_on.send(()).expect("the task waits");
        wait_until("the stall is in the histogram", || long_delays() > 0);
        wait_until("the stall is not seen for ever", || {
            value("gym.event_loop.lag_max_ms").is_some_and(|lag| lag < 600.0)
        });
    });
}

#[test]
fn a_stall_between_two_exports_is_in_the_second() {
    alone(&ON, || {
        let runtime = runtime();
        runtime.block_on(async { init() });
        wait_until("the runtime is observed", || {
            value("gym.event_loop.lag_max_ms").is_some()
        });
        let stall = runtime.spawn(async { std::thread::sleep(Duration::from_millis(800)) });
        runtime.block_on(stall).expect("it does not panic");
        // Later ones are short again.
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(300)).await });
        let longest = value("gym.event_loop.lag_max_ms");
        assert!(longest.is_some_and(|lag| lag >= 250.0), "{longest:?}");
    });
}

#[test]
fn tasks_are_the_applications_and_workers_are_busy_for_a_share_of_the_time() {
    alone(&ON, || {
        init();
        let runtime = runtime();
        assert_eq!(value("gym.event_loop.tasks"), None);
        runtime.block_on(async { observe_current_runtime() });
        observe_runtime(runtime.handle());
        wait_until("the runtime is observed", || {
            value("gym.event_loop.lag_max_ms").is_some()
        });
        assert_eq!(value("gym.event_loop.tasks"), Some(0.0), "our own is none");
        let tasks: Vec<_> = (0..3)
            .map(|_| runtime.spawn(std::future::pending::<()>()))
            .collect();
        assert_eq!(value("gym.event_loop.tasks"), Some(3.0));
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
        wait_until("the tasks end", || {
            value("gym.event_loop.tasks") == Some(0.0)
        });

        wait_until("an idle runtime", || {
            value("gym.event_loop.busy_ratio").is_some_and(|ratio| ratio < 0.5)
        });
        runtime.spawn(async {
            loop {
                std::thread::sleep(Duration::from_millis(10));
                tokio::task::yield_now().await;
            }
        });
        wait_until("a busy runtime", || {
            let ratio = value("gym.event_loop.busy_ratio").unwrap_or(0.0);
            assert!(ratio <= 1.0, "{ratio}");
            ratio > 0.5
        });
    });
}

#[test]
fn an_observed_runtime_ends_as_it_would_and_so_do_its_series() {
    alone(&ON, || {
        init();
        for _ in 0..2 {
            let runtime = runtime();
            observe_runtime(runtime.handle());
            wait_until("the runtime is observed", || {
                value("gym.event_loop.tasks").is_some()
            });
            drop(runtime);
            wait_until("its series end", || value("gym.event_loop.tasks").is_none());
        }
    });
}

#[test]
fn nothing_is_left_on_the_runtime_when_telemetry_has_ended() {
    alone(&ON, || {
        let runtime = runtime();
        runtime.block_on(async { init() });
        let alive = || runtime.metrics().num_alive_tasks();
        wait_until("a task of ours", || alive() == 1);
        let _receipt = shutdown_telemetry(Duration::from_millis(500));
        wait_until("the end of that task", || alive() == 0);
        observe_runtime(runtime.handle());
        assert_eq!(alive(), 0);
    });
}
