//! Callbacks that report metrics and misbehave, in a process that exports.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use gym_telemetry_core::metric;
use gym_telemetry_core::receipt::Outcome;

use super::PATIENCE;
use super::lifecycle::{init, on, start};
use crate::collector::Collector;
use crate::test_process::alone;
use crate::{are_metrics_exporting, observe, shutdown_telemetry};

const BUDGET: Duration = Duration::from_secs(5);

/// What the last request that arrived had in it.
fn last_metrics(collector: &Collector) -> Vec<String> {
    let received = collector.received();
    let last = received.metrics.last().expect("a request");
    let scopes = last.body.resource_metrics.iter();
    scopes
        .flat_map(|resource| &resource.scope_metrics)
        .flat_map(|scope| &scope.metrics)
        .map(|metric| metric.name.clone())
        .collect()
}

fn contains(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

#[test]
fn a_callback_that_panics_costs_nobody_else_anything_and_comes_back() {
    alone(&[("OTEL_METRIC_EXPORT_INTERVAL", "3600000")], || {
        let collector = Collector::start();
        let handle = init(&on(&collector.endpoint()));
        let panics = Arc::new(AtomicBool::new(true));
        let _bad = observe({
            let panics = Arc::clone(&panics);
            move |observer| {
                observer.report(&metric::SERVERS_ACTIVE, 1_i64, &[]);
                assert!(!panics.load(Ordering::Relaxed), "as the test wants");
            }
        });
        let _good = observe(|observer| observer.report(&metric::VERIFY_SUCCESS_RATE, 0.5, &[]));
        for bad in [true, true, false, true] {
            panics.store(bad, Ordering::Relaxed);
            assert_eq!(handle.flush(PATIENCE), Outcome::Complete);
            let names = last_metrics(&collector);
            assert_eq!(
                !contains(&names, metric::SERVERS_ACTIVE.name),
                bad,
                "{names:?}"
            );
            for other in [&metric::VERIFY_SUCCESS_RATE, &metric::PROCESS_CPU_TIME] {
                assert!(contains(&names, other.name), "{names:?}");
            }
        }
        start("work").end();
        let receipt = shutdown_telemetry(BUDGET);
        assert!(receipt.is_complete(), "{receipt:?}");
        assert!(receipt.elapsed < BUDGET);
        assert!(!are_metrics_exporting());
    });
}

#[test]
fn a_callback_that_does_not_return_costs_nobody_else_anything_and_comes_back() {
    alone(&[("OTEL_METRIC_EXPORT_INTERVAL", "3600000")], || {
        let collector = Collector::start();
        let handle = init(&on(&collector.endpoint()));
        let _early = observe(|observer| observer.report(&metric::VERIFY_SUCCESS_RATE, 0.5, &[]));
        let (go_on, held_up) = mpsc::channel::<()>();
        let held_up = Mutex::new(held_up);
        let _slow = observe(move |observer| {
            // Returns for good when the other end is gone.
            let _ = held_up.lock().expect("nobody panics").recv();
            observer.report(&metric::SERVERS_ACTIVE, 1_i64, &[]);
        });
        let _late = observe(|observer| observer.report(&metric::HOST_MEMORY_TOTAL, 1_i64, &[]));
        for _ in 0..2 {
            start("work").end();
            assert_eq!(handle.flush(PATIENCE), Outcome::Complete);
            let names = last_metrics(&collector);
            assert!(!contains(&names, metric::SERVERS_ACTIVE.name), "{names:?}");
            for other in [&metric::VERIFY_SUCCESS_RATE, &metric::HOST_MEMORY_TOTAL] {
                assert!(contains(&names, other.name), "{names:?}");
            }
        }
        drop(go_on);
        let deadline = std::time::Instant::now() + PATIENCE;
        while !contains(&last_metrics(&collector), metric::SERVERS_ACTIVE.name) {
            assert!(std::time::Instant::now() < deadline, "it never comes back");
            assert_eq!(handle.flush(PATIENCE), Outcome::Complete);
        }
    });
}

#[test]
fn a_callback_that_never_returns_leaves_the_shutdown_its_budget_and_a_good_receipt() {
    alone(&[("OTEL_METRIC_EXPORT_INTERVAL", "3600000")], || {
        let collector = Collector::start();
        let _handle = init(&on(&collector.endpoint()));
        let (_go_on, held_up) = mpsc::channel::<()>();
        let held_up = Mutex::new(held_up);
        let _slow = observe(move |_| {
            let _ = held_up.lock().expect("nobody panics").recv();
        });
        start("work").end();
        let receipt = shutdown_telemetry(BUDGET);
        assert!(receipt.is_complete(), "{receipt:?}");
        assert!(receipt.elapsed < BUDGET);
        let names = last_metrics(&collector);
        assert!(contains(&names, metric::PROCESS_CPU_TIME.name), "{names:?}");
    });
}
