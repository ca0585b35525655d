//! Handles.

use gym_telemetry_core::Value;
use opentelemetry_sdk::metrics::Temporality;

use super::super::handle::{Counter, Gauge, UpDownCounter};
use super::super::provider::{Provider, are_metrics_exporting};
use super::{COUNTER, GAUGE, KEY, UP_DOWN, collect};
use crate::test_process::alone;

#[test]
fn a_handle_works_before_during_and_after_and_with_the_next_provider() {
    alone(&[], || {
        static HANDLE: Counter = Counter::new(&COUNTER);
        let mut bound = Counter::with_attributes(&COUNTER, &[(KEY, Value::Static("local"))]);
        let add = |bound: &Counter, amount| {
            HANDLE.add(amount);
            bound.add(amount);
        };
        assert!(!are_metrics_exporting());
        add(&bound, 1);

        let first = Provider::install(Temporality::Cumulative);
        assert!(are_metrics_exporting());
        assert_eq!(
            collect(&first, COUNTER.name),
            None,
            "nothing was measured yet"
        );
        add(&bound, 2);
        add(&bound, 3);
        let both = |value| Some(vec![(String::new(), value), ("local".to_owned(), value)]);
        assert_eq!(collect(&first, COUNTER.name), both(5.0));
        assert_eq!(
            collect(&first, COUNTER.name),
            both(5.0),
            "sums are cumulative"
        );

        first.uninstall();
        add(&bound, 4);
        assert_eq!(collect(&first, COUNTER.name), both(5.0));

        let second = Provider::install(Temporality::Cumulative);
        for provider in [&second, &Provider::install(Temporality::Cumulative)] {
            assert_eq!(
                provider.generation, second.generation,
                "one provider at a time"
            );
        }
        add(&bound, 6);
        add(&bound, 7);
        assert_eq!(collect(&second, COUNTER.name), both(13.0));
        assert_eq!(collect(&first, COUNTER.name), both(5.0));

        // Uninstalling what is not installed changes nothing.
        first.uninstall();
        assert!(are_metrics_exporting());
        bound = Counter::with_attributes(&COUNTER, &[(KEY, Value::Static("local"))]);
        bound.add(1);
        assert_eq!(
            collect(&second, COUNTER.name).map(|points| points[1].1),
            Some(14.0),
            "equal handles share a series"
        );
    });
}

#[test]
fn a_series_appears_with_its_first_value() {
    alone(&[], || {
        let provider = Provider::install(Temporality::Cumulative);
        let gauge = Gauge::with_attributes(&GAUGE, &[(KEY, Value::Str("local"))]);
        let unused = Gauge::with_attributes(&GAUGE, &[(KEY, Value::Str("unused"))]);
        assert_eq!(collect(&provider, GAUGE.name), None);
        gauge.record(0.5);
        assert_eq!(
            collect(&provider, GAUGE.name),
            Some(vec![("local".to_owned(), 0.5)])
        );
        gauge.record(0.25);
        unused.record(f64::NAN);
        assert_eq!(
            collect(&provider, GAUGE.name).map(|points| points[0].1),
            Some(0.25)
        );
    });
}

#[test]
fn threads_that_record_at_once_lose_nothing() {
    const THREADS: i64 = 8;
    const EACH: i64 = 1_000;
    alone(&[], || {
        static HANDLE: UpDownCounter = UpDownCounter::new(&UP_DOWN);
        let provider = Provider::install(Temporality::Cumulative);
        let barrier = std::sync::Barrier::new(usize::try_from(THREADS).expect("small"));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..EACH {
                        HANDLE.add(3);
                        HANDLE.add_with(-1, &[(KEY, Value::Static("local"))]);
                    }
                });
            }
        });
        let total = f64::from(i32::try_from(THREADS * EACH).expect("small"));
        let expected = vec![(String::new(), total * 3.0), ("local".to_owned(), -total)];
        assert_eq!(collect(&provider, UP_DOWN.name), Some(expected));
    });
}

#[test]
#[expect(unsafe_code, reason = "there is no safe way to fork")]
fn a_forked_child_leaves_the_parents_provider_alone() {
    alone(&[], || {
        static HANDLE: Counter = Counter::new(&COUNTER);
        crate::fork::watch();
        let provider = Provider::install(Temporality::Cumulative);
        HANDLE.add(1);
        // SAFETY: the child only runs code that takes no lock which another thread could have held, and leaves.
        let child = unsafe { libc::fork() };
        if child == 0 {
            HANDLE.add(2);
            let is_off = !are_metrics_exporting();
            let own = Provider::install(Temporality::Cumulative);
            HANDLE.add(4);
            let points = collect(&own, COUNTER.name);
            let is_fresh =
                own.generation != provider.generation && points == Some(vec![(String::new(), 4.0)]);
            // SAFETY: it ends the process without running what the parent will run.
            unsafe { libc::_exit(i32::from(!(is_off && is_fresh))) };
        }
        let mut status = 0;
        // SAFETY: the child is ours and the pointer is valid.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, status), (child, 0));
        assert_eq!(
            collect(&provider, COUNTER.name),
            Some(vec![(String::new(), 1.0)])
        );
    });
}
