//! Observables that the host's readers ask for.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Instant;

use gym_telemetry_core::metric::{MetricDescriptor, MetricKind};
use parking_lot::Mutex;

use super::{
    CALLS, LEVEL, METRICS, OTHER, PATIENCE, descriptor, find, flush, host, init, points_of,
};
use crate::test_process::alone;
use crate::{Counter, Observation, observe};

#[test]
fn observables_are_read_when_the_host_collects_and_end_with_their_owner() {
    alone(&METRICS, || {
        let (provider, reader) = host();
        let early = observe(|observer| observer.report(&CALLS, 7_u64, &[]));
        let telemetry = init(provider);
        let level = Arc::new(AtomicI64::new(1));
        let observation = observe({
            let level = Arc::clone(&level);
            move |observer| {
                let level = level.load(Ordering::Relaxed);
                observer.report(&LEVEL, level, &[]);
                if level > 2 {
                    observer.report(&OTHER, level, &[]);
                }
            }
        });
        flush(telemetry);
        assert_eq!(reader.points(&LEVEL), ["1"]);
        level.store(2, Ordering::Relaxed);
        assert_eq!(reader.points(&LEVEL), ["2"]);
        assert_eq!(reader.points(&CALLS), ["7"]);
        // A metric that comes later.
        level.store(3, Ordering::Relaxed);
        assert_eq!(reader.points(&LEVEL), ["3"]);
        flush(telemetry);
        level.store(4, Ordering::Relaxed);
        assert_eq!(reader.points(&OTHER), ["4"]);
        assert_eq!(Arc::strong_count(&level), 2);
        drop(observation);
        assert_eq!(Arc::strong_count(&level), 1);
        for gone in [&LEVEL, &OTHER] {
            assert!(reader.points(gone).is_empty(), "{}", gone.name);
        }
        assert_eq!(reader.points(&CALLS), ["7"]);
        drop(early);
        assert!(reader.points(&CALLS).is_empty());
    });
}

#[test]
fn a_new_observation_reaches_the_host_without_a_flush() {
    alone(&METRICS, || {
        let (provider, reader) = host();
        let telemetry = init(provider);
        flush(telemetry);
        // More often than the start of telemetry alone could account for.
        for _ in 0..4 {
            let (tell, called_on) = mpsc::channel();
            let _observation = observe(move |observer| {
                observer.report(&LEVEL, 1.5, &[]);
                let _ = tell.send(std::thread::current().name().map(str::to_owned));
            });
            let thread = called_on.recv_timeout(PATIENCE).expect("is called at once");
            assert_eq!(thread.as_deref(), Some("gym-telemetry"));
        }
        let _observation = observe(|observer| observer.report(&LEVEL, 1.5, &[]));
        let deadline = Instant::now() + PATIENCE;
        while reader.points(&LEVEL) != ["1.5"] {
            assert!(Instant::now() < deadline, "never arrives");
            std::thread::yield_now();
        }
    });
}

#[test]
fn one_collection_reads_every_callback_once_and_a_panic_costs_no_other() {
    alone(&METRICS, || {
        let (provider, reader) = host();
        let telemetry = init(provider);
        let panics = Arc::new(AtomicBool::new(false));
        let _bad = observe({
            let panics = Arc::clone(&panics);
            move |observer| {
                observer.report(&OTHER, 1_i64, &[]);
                assert!(!panics.load(Ordering::Relaxed), "meant to fail");
            }
        });
        let calls = Arc::new(AtomicU64::new(0));
        let _good = observe({
            let calls = Arc::clone(&calls);
            move |observer| {
                let call = calls.fetch_add(1, Ordering::Relaxed);
                observer.report(&LEVEL, call, &[]);
                observer.report(&CALLS, call, &[]);
            }
        });
        flush(telemetry);
        for panic in [false, true, false] {
            panics.store(panic, Ordering::Relaxed);
            let call = calls.load(Ordering::Relaxed);
            let metrics = reader.collected();
            let points = |descriptor: &MetricDescriptor| {
                find(&metrics, descriptor.name).map_or_else(Vec::new, points_of)
            };
            assert_eq!(points(&LEVEL), [call.to_string()]);
            assert_eq!(points(&CALLS), [call.to_string()]);
            assert_eq!(points(&OTHER).is_empty(), panic);
            assert_eq!(calls.load(Ordering::Relaxed), call + 1);
        }
    });
}

#[test]
fn a_callback_may_do_what_its_owner_does_under_the_owners_lock() {
    alone(&METRICS, || {
        type Registry = Mutex<Vec<Observation>>;
        static BY_HOST: AtomicU32 = AtomicU32::new(0);
        static BY_US: AtomicU32 = AtomicU32::new(0);
        let are_enough =
            || BY_HOST.load(Ordering::Relaxed) >= 100 && BY_US.load(Ordering::Relaxed) >= 20;
        let (provider, reader) = host();
        let telemetry = init(provider);
        let registry = Arc::new(Registry::default());
        // A metric that the provider has never seen each time, on both sides of the lock.
        let observe_one = || {
            let registry = Arc::downgrade(&registry);
            observe(move |observer| {
                let Some(registry) = registry.upgrade() else {
                    return;
                };
                let entries = registry.lock();
                observer.report(&LEVEL, entries.len(), &[]);
                observer.report(new_metric(), 1_i64, &[]);
                Counter::new(new_metric()).add(1);
                let is_ours = std::thread::current().name() == Some("gym-telemetry");
                let calls = if is_ours { &BY_US } else { &BY_HOST };
                calls.fetch_add(1, Ordering::Relaxed);
            })
        };
        let _kept = observe_one();
        flush(telemetry);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !are_enough() {
                    let mut entries = registry.lock();
                    entries.push(observe_one());
                    Counter::new(new_metric()).add(1);
                    entries.clear();
                }
            });
            while !are_enough() {
                reader.collected();
            }
        });
        flush(telemetry);
    });
}

/// A metric that there was not before, or not for long.
fn new_metric() -> &'static MetricDescriptor {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    // More would only make the SDK slow.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed) % 1_000;
    let name = String::leak(format!("test.new{number}"));
    Box::leak(Box::new(descriptor(name, MetricKind::Counter)))
}
