//! Who decides about the provider, and for how long.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use gym_telemetry_core::metric;
use gym_telemetry_core::receipt::Outcome;
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::trace::Sampler;

use super::super::host_provider;
use super::super::lifecycle::{identity, start};
use super::{CALLS, LEVEL, METRICS, ON, PATIENCE, flush, host, init};
use crate::test_process::alone;
use crate::{
    Counter, Providers, are_metrics_exporting, init_telemetry_with_providers, observe,
    record_verify,
};

#[test]
fn nothing_is_recorded_while_telemetry_is_off() {
    alone(&[], || {
        let (provider, reader) = host();
        let providers = Providers::new().meter(provider.clone());
        assert_eq!(init_telemetry_with_providers(identity(), providers), None);
        let _observation = observe(|observer| observer.report(&LEVEL, 1.0, &[]));
        Counter::new(&CALLS).add(1);
        assert_eq!(reader.collected().scope_metrics().count(), 0);
        assert_eq!(reader.disturbed(), 0);
    });
}

#[test]
fn no_metric_is_recorded_if_the_settings_want_none() {
    alone(&[ON, ("OTEL_METRICS_EXPORTER", "none")], || {
        let (provider, reader) = host();
        let (tracers, exporter) = host_provider::host(Sampler::AlwaysOn);
        let providers = Providers::new().tracer(tracers).meter(provider.clone());
        let telemetry = init_telemetry_with_providers(identity(), providers).expect("is on");
        let _observation = observe(|observer| observer.report(&LEVEL, 1.0, &[]));
        Counter::new(&CALLS).add(1);
        start("work").end();
        flush(telemetry);
        assert!(!are_metrics_exporting());
        Counter::new(&CALLS).add(1);
        let receipt = telemetry.shutdown(PATIENCE);
        assert_eq!(receipt.metrics.outcome, Outcome::NotConfigured);
        assert_eq!(reader.collected().scope_metrics().count(), 0);
        exporter.span("work");
    });
}

#[test]
fn tracer_and_meter_providers_serve_side_by_side() {
    alone(&[ON], || {
        let (provider, reader) = host();
        let (tracers, exporter) = host_provider::host(Sampler::AlwaysOn);
        let providers = Providers::new().meter(provider).tracer(tracers);
        let telemetry = init_telemetry_with_providers(identity(), providers).expect("is on");
        start("work").end();
        Counter::new(&CALLS).add(1);
        assert!(telemetry.shutdown(PATIENCE).is_complete());
        assert_eq!(reader.points(&CALLS), ["1"]);
        exporter.span("work");
    });
}

#[test]
fn the_provider_is_never_flushed_or_shut_down_and_keeps_what_was_recorded() {
    alone(&METRICS, || {
        let (provider, reader) = host();
        let telemetry = init(provider.clone());
        let counter = Counter::new(&CALLS);
        let level = Arc::new(AtomicI64::new(1));
        let observation = observe({
            let level = Arc::clone(&level);
            move |observer| observer.report(&LEVEL, level.load(Ordering::Relaxed), &[])
        });
        record_verify(Duration::from_secs(1), true);
        counter.add(4);
        let receipt = telemetry.shutdown(PATIENCE);
        assert_eq!(receipt.metrics.outcome, Outcome::Complete);
        assert_eq!((receipt.metrics.exported, receipt.metrics.failed), (0, 0));
        assert!(receipt.is_complete(), "{receipt:?}");

        // Nothing is ours any more.
        assert!(!are_metrics_exporting());
        counter.add(10);
        level.store(9, Ordering::Relaxed);
        drop(observation);
        assert_eq!(reader.points(&CALLS), ["4"]);
        assert_eq!(reader.points(&LEVEL), ["1"]);
        assert_eq!(reader.points(&metric::VERIFY_SUCCESS_RATE), ["1"]);

        provider
            .meter("host")
            .u64_counter("own")
            .build()
            .add(1, &[]);
        let metrics = reader.collected();
        let scopes: Vec<_> = metrics
            .scope_metrics()
            .map(|it| it.scope().name())
            .collect();
        assert!(scopes.contains(&"host"), "{scopes:?}");
        assert_eq!(reader.disturbed(), 0);
        assert!(provider.shutdown().is_ok(), "is the first");
    });
}

#[test]
fn a_forked_child_uses_the_provider_again() {
    alone(&METRICS, || {
        let (provider, reader) = host();
        let telemetry = init(provider);
        let counter = Counter::new(&CALLS);
        let _observation = observe(|observer| observer.report(&LEVEL, 3_i64, &[]));
        counter.add(1);
        flush(telemetry);
        assert_eq!(reader.points(&CALLS), ["1"]);
        let in_child = || {
            counter.add(10);
            flush(telemetry);
            assert_eq!(reader.points(&CALLS), ["11"]);
            assert_eq!(reader.points(&LEVEL), ["3"]);
            assert!(telemetry.shutdown(PATIENCE).is_complete());
            assert_eq!(reader.disturbed(), 0);
        };
        fork(in_child);
        counter.add(2);
        assert_eq!(reader.points(&CALLS), ["3"]);
        assert!(telemetry.shutdown(PATIENCE).is_complete());
    });
}

/// Runs `body` in a forked child, which has to succeed.
#[expect(unsafe_code, reason = "only the C library can fork a process")]
fn fork(body: impl FnOnce()) {
    // SAFETY: the child uses what the test is about and leaves without returning to the harness.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "cannot fork");
    if child == 0 {
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        // SAFETY: ends this process without running the exit handlers of the harness.
        unsafe { libc::_exit(i32::from(failed.is_err())) };
    }
    let mut status = 0;
    // SAFETY: the child is ours and `status` outlives the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child failed");
}
