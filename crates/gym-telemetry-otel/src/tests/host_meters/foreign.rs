//! Meter providers that are not the SDK's, and broken ones.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use gym_telemetry_core::receipt::Outcome;
use opentelemetry::metrics::{
    Counter as OtelCounter, InstrumentBuilder, InstrumentProvider, Meter, MeterProvider,
    SyncInstrument,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::Sampler;
use parking_lot::Mutex;

use super::super::host_provider;
use super::super::lifecycle::{identity, start};
use super::{CALLS, METRICS, ON, OTHER, PATIENCE, init};
use crate::test_process::alone;
use crate::{Counter, Providers, are_metrics_exporting, init_telemetry_with_providers};

/// A provider of another library: its counters know nothing of bound instruments, and its meters come late.
struct Foreign {
    meters: Mutex<mpsc::Receiver<Meter>>,
}

impl MeterProvider for Foreign {
    fn meter_with_scope(&self, _scope: InstrumentationScope) -> Meter {
        let meter = self.meters.lock().recv_timeout(PATIENCE);
        meter.expect("the host has one")
    }
}

struct Sums(Arc<AtomicU64>);

impl InstrumentProvider for Sums {
    fn u64_counter(&self, builder: InstrumentBuilder<'_, OtelCounter<u64>>) -> OtelCounter<u64> {
        assert_ne!(builder.name, OTHER.name, "meant to fail");
        OtelCounter::new(Arc::new(Sum(Arc::clone(&self.0))))
    }
}

struct Sum(Arc<AtomicU64>);

impl SyncInstrument<u64> for Sum {
    fn measure(&self, value: u64, _attributes: &[KeyValue]) {
        self.0.fetch_add(value, Ordering::Relaxed);
    }
}

#[test]
fn counters_of_other_libraries_lose_nothing_and_their_panics_stay_where_they_are() {
    alone(&METRICS, || {
        let (give, meters) = mpsc::channel();
        let meters = Mutex::new(meters);
        let telemetry = init(Foreign { meters });
        let (counter, broken) = (Counter::new(&CALLS), Counter::new(&OTHER));
        // While the host has not come up with a meter: what fits waits.
        for _ in 0..8_192 + 3 {
            counter.add(1);
        }
        broken.add(1);
        let sum = Arc::new(AtomicU64::new(0));
        let meter = Meter::new(Arc::new(Sums(Arc::clone(&sum))));
        give.send(meter).expect("somebody waits");
        let outcome = telemetry.flush(PATIENCE);
        assert!(!matches!(outcome, Outcome::TimedOut), "{outcome:?}");
        assert_eq!(sum.load(Ordering::Relaxed), 8_192);
        counter.add(1);
        counter.add(1);
        broken.add(1);
        assert_eq!(sum.load(Ordering::Relaxed), 8_194);
        let receipt = telemetry.shutdown(PATIENCE);
        assert_eq!(receipt.metrics.failed, 3);
        assert_eq!(receipt.metrics.outcome, Outcome::Complete);
    });
}

#[test]
fn a_provider_that_panics_turns_metrics_off_and_nothing_else() {
    alone(&[ON], || {
        struct Bad;
        impl MeterProvider for Bad {
            fn meter_with_scope(&self, _scope: InstrumentationScope) -> Meter {
                panic!("meant to fail");
            }
        }
        let (tracers, exporter) = host_provider::host(Sampler::AlwaysOn);
        let providers = Providers::new().meter(Bad).tracer(tracers);
        let telemetry = init_telemetry_with_providers(identity(), providers).expect("is on");
        start("work").end();
        let receipt = telemetry.shutdown(PATIENCE);
        let expected = "the host's meter provider panicked: meant to fail".to_owned();
        assert_eq!(receipt.metrics.outcome, Outcome::Failed(expected));
        assert!(!are_metrics_exporting());
        exporter.span("work");
    });
}
