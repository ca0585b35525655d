//! Observables.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use gym_telemetry_core::Value;
use opentelemetry_sdk::metrics::Temporality;

use super::super::handle::Counter;
use super::super::observe::{Observation, observe};
use super::super::provider::{Own, Provider};
use super::{COUNTER, GAUGE, KEY, UP_DOWN, collect};
use crate::test_process::alone;

#[test]
fn a_panic_costs_its_own_callback_one_collection() {
    alone(&[], || {
        let provider = Provider::install(Temporality::Cumulative);
        let panics = Arc::new(AtomicBool::new(true));
        let _good = observe(|observer| observer.report(&UP_DOWN, 1_i64, &[]));
        let _bad = observe({
            let panics = Arc::clone(&panics);
            move |observer| {
                observer.report(&GAUGE, 0.5, &[]);
                assert!(!panics.load(Ordering::Relaxed), "meant to fail");
                observer.report(&COUNTER, 2_u64, &[]);
            }
        });
        let _also_good =
            observe(|observer| observer.report(&UP_DOWN, 3_i64, &[(KEY, Value::Static("b"))]));
        let metrics = provider.collect().expect("metrics can be collected");
        let up_down = Some(vec![(String::new(), 1.0), ("b".to_owned(), 3.0)]);
        assert_eq!(super::points(&metrics, UP_DOWN.name), up_down);
        assert_eq!(
            super::points(&metrics, GAUGE.name),
            None,
            "half of a report is no report"
        );

        panics.store(false, Ordering::Relaxed);
        let metrics = provider.collect().expect("metrics can be collected");
        assert_eq!(super::points(&metrics, UP_DOWN.name), up_down);
        assert_eq!(
            super::points(&metrics, GAUGE.name),
            Some(vec![(String::new(), 0.5)])
        );
        assert_eq!(
            super::points(&metrics, COUNTER.name),
            Some(vec![(String::new(), 2.0)])
        );
    });
}

#[test]
fn series_end_with_their_owners() {
    alone(&[], || {
        let provider = Provider::install(Temporality::Cumulative);
        let mut owners: Vec<(Weak<()>, Observation)> = (0..1_000)
            .map(|number| {
                let owned = Arc::new(());
                let weak = Arc::downgrade(&owned);
                let name = format!("a{number}");
                let observation = observe(move |observer| {
                    observer.report(
                        &GAUGE,
                        Arc::strong_count(&owned),
                        &[(KEY, Value::Str(&name))],
                    );
                    observer.report(&COUNTER, 1_u64, &[(KEY, Value::Str(&name))]);
                });
                (weak, observation)
            })
            .collect();
        assert_eq!(
            collect(&provider, GAUGE.name).map(|points| points.len()),
            Some(1_000)
        );
        let kept = owners.pop().expect("there are many");
        let dropped: Vec<_> = owners
            .into_iter()
            .map(|(weak, _observation)| weak)
            .collect();
        assert!(dropped.iter().all(|weak| weak.upgrade().is_none()));
        for metric in [&GAUGE, &COUNTER] {
            assert_eq!(
                collect(&provider, metric.name),
                Some(vec![("a999".to_owned(), 1.0)])
            );
        }
        drop(kept);
        assert_eq!(collect(&provider, GAUGE.name), None);
    });
}

#[test]
fn the_last_registered_of_equal_series_counts() {
    alone(&[], || {
        let provider = Provider::install(Temporality::Cumulative);
        let _first = observe(|observer| observer.report(&GAUGE, 1.0, &[]));
        let second = observe(|observer| observer.report(&GAUGE, 2_i64, &[]));
        assert_eq!(
            collect(&provider, GAUGE.name),
            Some(vec![(String::new(), 2.0)])
        );
        drop(second);
        assert_eq!(
            collect(&provider, GAUGE.name),
            Some(vec![(String::new(), 1.0)])
        );
    });
}

#[test]
fn both_providers_report_what_is_registered_once() {
    alone(&[], || {
        let _observation = observe(|observer| observer.report(&COUNTER, 7_u64, &[]));
        for provider in [
            Own::new(Temporality::Cumulative),
            Own::new(Temporality::Cumulative),
        ] {
            for _ in 0..2 {
                assert_eq!(
                    super::points(
                        &provider.collect().expect("metrics can be collected"),
                        COUNTER.name
                    ),
                    Some(vec![(String::new(), 7.0)])
                );
            }
        }
    });
}

#[test]
fn a_callback_may_do_what_its_owner_does_under_the_owners_lock() {
    alone(&[], || {
        static ROUNDS: i64 = 300;
        static COLLECTED: AtomicI64 = AtomicI64::new(0);
        type Registry = Mutex<Vec<(Observation, Counter)>>;
        fn register(registry: &Arc<Registry>) {
            // Everything at once: the owner's lock is held while an observation begins and an instrument is made.
            let mut entries = registry.lock().expect("no panic");
            let observation = observe({
                let registry = Arc::downgrade(registry);
                move |observer| {
                    let Some(registry) = registry.upgrade() else {
                        return;
                    };
                    let entries = registry.lock().expect("no panic");
                    observer.report(&GAUGE, entries.len(), &[]);
                    Counter::new(&COUNTER).add(1);
                }
            });
            let counter = Counter::new(&COUNTER);
            counter.add(1);
            entries.push((observation, counter));
        }
        let provider = Provider::install(Temporality::Cumulative);
        let registry = Arc::new(Registry::default());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while COLLECTED.load(Ordering::Relaxed) < ROUNDS {
                    register(&registry);
                    // Ends under the owner's lock too.
                    registry.lock().expect("no panic").clear();
                }
            });
            for _ in 0..ROUNDS {
                provider.collect().expect("metrics can be collected");
                COLLECTED.fetch_add(1, Ordering::Relaxed);
            }
        });
    });
}

#[test]
fn a_callback_may_end_itself_and_begin_another() {
    alone(&[], || {
        let provider = Provider::install(Temporality::Cumulative);
        let slot: Arc<Mutex<Option<Observation>>> = Arc::default();
        let own = observe({
            let slot = Arc::clone(&slot);
            move |observer| {
                let next = observe(|observer| observer.report(&GAUGE, 2.0, &[]));
                let previous = slot.lock().expect("no panic").replace(next);
                drop(previous);
                observer.report(&GAUGE, 1.0, &[]);
            }
        });
        *slot.lock().expect("no panic") = Some(own);
        assert_eq!(
            collect(&provider, GAUGE.name),
            Some(vec![(String::new(), 1.0)])
        );
        assert_eq!(
            collect(&provider, GAUGE.name),
            Some(vec![(String::new(), 2.0)])
        );
    });
}
