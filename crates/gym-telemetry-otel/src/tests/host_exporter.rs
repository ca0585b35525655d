//! Spans through an exporter of the host program's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gym_telemetry_core::metric;
use gym_telemetry_core::receipt::Outcome;
use opentelemetry::Key;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use parking_lot::Mutex;

use super::PATIENCE;
use super::lifecycle::{identity, start};
use crate::collector::Collector;
use crate::test_process::alone;
use crate::{init_telemetry_with_exporter, record_rollout};

/// Keeps each span's name and the service name that came with it.
#[derive(Clone, Debug, Default)]
struct Kept {
    names: Arc<Mutex<Vec<(String, String)>>>,
    service: String,
}

impl SpanExporter for Kept {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let pairs = batch
            .iter()
            .map(|span| (span.name.to_string(), self.service.clone()));
        self.names.lock().extend(pairs);
        Ok(())
    }

    fn set_resource(&mut self, resource: &Resource) {
        let service = resource.get(&Key::from_static_str("service.name"));
        self.service = service.expect("a service name").to_string();
    }
}

const ON: (&str, &str) = ("NEMO_GYM_OTEL_ENABLED", "1");

#[test]
fn spans_go_to_the_hosts_exporter_and_metrics_where_the_settings_say() {
    let collector = Collector::start();
    let endpoint = collector.endpoint();
    alone(&[ON, ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)], || {
        let kept = Kept::default();
        let names = Arc::clone(&kept.names);
        let telemetry = init_telemetry_with_exporter(identity(), move || kept.clone());
        let telemetry = telemetry.expect("is on");
        start("work").end();
        record_rollout(Duration::from_secs(1));
        let receipt = telemetry.shutdown(PATIENCE);
        assert_eq!(receipt.traces.exported, 1);
        assert!(receipt.is_complete(), "{receipt:?}");
        let pair = ("work".to_owned(), "nemo-gym/policy_model".to_owned());
        assert_eq!(*names.lock(), [pair]);
    });
    let received = collector.received();
    assert_eq!(received.spans().count(), 0);
    assert!(received.metric(metric::ROLLOUT_DURATION.name).is_some());
}

#[test]
fn an_exporter_that_cannot_be_made_costs_the_spans_and_nothing_else() {
    let collector = Collector::start();
    let endpoint = collector.endpoint();
    alone(&[ON, ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)], || {
        let telemetry =
            init_telemetry_with_exporter(identity(), || -> Kept { panic!("as the test wants") });
        let telemetry = telemetry.expect("is on");
        record_rollout(Duration::from_secs(1));
        let receipt = telemetry.shutdown(PATIENCE);
        assert_eq!(receipt.metrics.outcome, Outcome::Complete);
        assert!(
            matches!(&receipt.traces.outcome, Outcome::Failed(why) if why.contains("as the test wants"))
        );
    });
    assert!(
        collector
            .received()
            .metric(metric::ROLLOUT_DURATION.name)
            .is_some()
    );
}

#[test]
fn no_exporter_is_made_where_the_settings_want_no_spans() {
    for variables in [
        vec![],
        vec![
            ON,
            ("NEMO_GYM_OTEL_TRACES_ENABLED", "0"),
            ("OTEL_METRICS_EXPORTER", "console"),
        ],
        vec![
            ON,
            ("OTEL_TRACES_EXPORTER", "none"),
            ("OTEL_METRICS_EXPORTER", "console"),
        ],
    ] {
        alone(&variables, || {
            let made = Arc::new(AtomicU32::new(0));
            let counter = Arc::clone(&made);
            let telemetry = init_telemetry_with_exporter(identity(), move || {
                counter.fetch_add(1, Ordering::Relaxed);
                Kept::default()
            });
            let receipt = telemetry.map(|telemetry| telemetry.shutdown(PATIENCE));
            assert!(receipt.is_none_or(|receipt| receipt.traces.outcome == Outcome::NotConfigured));
            assert_eq!(made.load(Ordering::Relaxed), 0);
        });
    }
}
