//! Handles.

use gym_telemetry_core::metric::MetricKind;
use gym_telemetry_core::{MetricDescriptor, Value};
use opentelemetry::KeyValue;
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ScopeMetrics};

use super::super::handle::{Counter, Gauge, UpDownCounter};
use super::super::provider::{Provider, are_metrics_exporting};
use super::{COUNTER, GAUGE, KEY, UP_DOWN, collect, descriptor};
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
        let with = |value| Gauge::with_attributes(&GAUGE, &[(KEY, Value::Str(value))]);
        let (gauge, unused) = (with("local"), with("unused"));
        let points = |value| Some(vec![("local".to_owned(), value)]);
        // Neither is a value, so neither makes a series, let alone one of zero.
        unused.record(f64::NAN);
        assert_eq!(collect(&provider, GAUGE.name), None);
        unused.record_with(f64::INFINITY, &[]);
        gauge.record(0.5);
        assert_eq!(collect(&provider, GAUGE.name), points(0.5));
        gauge.record(0.25);
        gauge.record(f64::NAN);
        assert_eq!(collect(&provider, GAUGE.name), points(0.25));
    });
}

#[test]
fn more_attributes_make_another_series_and_none_for_the_handles_own() {
    alone(&[], || {
        static DESCRIPTOR: MetricDescriptor = MetricDescriptor {
            attributes: &[KEY, OTHER_KEY],
            ..descriptor("test.two", MetricKind::Counter)
        };
        const OTHER_KEY: &str = "nemo.gym.server.name";
        let provider = Provider::install(Temporality::Cumulative);
        let counter = Counter::with_attributes(&DESCRIPTOR, &[(KEY, Value::Static("local"))]);
        for _ in 0..2 {
            counter.add_with(
                1,
                &[
                    (OTHER_KEY, Value::Static("a")),
                    ("nemo.gym.rollout.id", Value::Static("7-0")),
                ],
            );
        }
        let metrics = provider.collect().expect("metrics can be collected");
        let metric = metrics
            .scope_metrics()
            .flat_map(ScopeMetrics::metrics)
            .next()
            .expect("one metric");
        let AggregatedMetrics::U64(MetricData::Sum(sum)) = metric.data() else {
            panic!("{metric:?}")
        };
        let [point] = sum.data_points().collect::<Vec<_>>()[..] else {
            panic!("{sum:?}")
        };
        let mut attributes: Vec<_> = point.attributes().cloned().collect();
        attributes.sort_by(|one, other| one.key.cmp(&other.key));
        assert_eq!(
            attributes,
            [KeyValue::new(KEY, "local"), KeyValue::new(OTHER_KEY, "a")]
        );
        assert_eq!(point.value(), 2);
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
