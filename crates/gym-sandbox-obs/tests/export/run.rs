//! Telemetry that goes to a collector of the test, and questions about what it received.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use gym_telemetry_api::{
    ServerIdentity, TelemetryConfig, TelemetryHandle, configure_telemetry_env, init_telemetry,
    shutdown_telemetry,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::trace::v1::Span;

use crate::collector::{Collector, Received, text};
use crate::findings::{Findings, Registry};
use crate::sandboxes::BY_SANDBOX_TESTS;

/// How long anything may take before it counts as a hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A point's attributes and its value: a gauge's or sum's number, a histogram's count.
pub(crate) type Points = Vec<(BTreeMap<String, String>, f64)>;

pub(crate) struct Run {
    collector: Collector,
    telemetry: TelemetryHandle,
}

impl Run {
    pub(crate) fn start() -> Self {
        let collector = Collector::start();
        let mut config = TelemetryConfig::default();
        config.enabled = true;
        "default,sandbox".clone_into(&mut config.span_groups);
        config.otlp_endpoint = Some(collector.endpoint());
        configure_telemetry_env(Some(&config)).expect("telemetry is on");
        let telemetry = init_telemetry(ServerIdentity::default()).expect("telemetry is on");
        Self {
            collector,
            telemetry,
        }
    }

    /// Ends telemetry and looks once at everything that came.
    pub(crate) fn end(self) {
        assert!(shutdown_telemetry(PATIENCE).is_complete());
        let received = self.collector.received();
        assert!(received.metrics().count() > 0);
        let Findings { wrong, met } = Findings::of(&received, &Registry::whole());
        assert_eq!(wrong, BTreeSet::new());
        // The demo relies on these.
        for (place, keys) in BY_SANDBOX_TESTS {
            for key in *keys {
                assert!(met.contains(&(*place, *key)), "{place} has no {key:?}");
            }
        }
        for metric in received.metrics() {
            for (attributes, _) in points(metric.data.as_ref().expect("a metric has data")) {
                let is_id = |key: &String| key.split('.').next_back() == Some("id");
                assert!(
                    !attributes.keys().any(is_id),
                    "{}: {attributes:?}",
                    metric.name
                );
            }
        }
    }

    fn export(&self) -> Received {
        let before = self.collector.received().metrics.len();
        let _ = self.telemetry.flush(PATIENCE);
        self.collector
            .wait_until("an export", |received| received.metrics.len() > before)
    }

    /// All spans of one provider, in the order in which they started.
    pub(crate) fn spans(&self, provider: &str) -> Vec<Span> {
        let received = self.export();
        let of_provider = |span: &&Span| attribute(span, "provider").as_deref() == Some(provider);
        let mut spans: Vec<_> = received.spans().filter(of_provider).cloned().collect();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        spans
    }

    /// The spans of one name and provider.
    pub(crate) fn named(&self, provider: &str, name: &str) -> Vec<Span> {
        let mut spans = self.spans(provider);
        spans.retain(|span| span.name == name);
        spans
    }

    /// The one span of a name and provider.
    pub(crate) fn one(&self, provider: &str, name: &str) -> Span {
        let mut spans = self.named(provider, name);
        assert_eq!(spans.len(), 1, "{name}: {spans:?}");
        spans.remove(0)
    }

    /// The span of that name, whoever it belongs to.
    pub(crate) fn span(&self, name: &str) -> Span {
        let received = self.export();
        let mut spans = received.spans().filter(|span| span.name == name);
        spans.next().expect("the span is there").clone()
    }

    /// The value of a metric for one provider in an export that happens now.
    pub(crate) fn value(&self, provider: &str, name: &str) -> Option<f64> {
        let received = self.export();
        let last = received.metrics.last().expect("one has arrived");
        let metrics = last.body.resource_metrics.iter();
        let mut metrics = metrics
            .flat_map(|metrics| &metrics.scope_metrics)
            .flat_map(|metrics| &metrics.metrics);
        let metric = metrics.find(|metric| metric.name == name)?;
        let points = points(metric.data.as_ref().expect("a metric has data"));
        let of_provider = |(attributes, _): &&(BTreeMap<String, String>, f64)| {
            attributes.len() == 1 && attributes["nemo.gym.sandbox.provider"] == provider
        };
        points.iter().find(of_provider).map(|(_, value)| *value)
    }
}

/// An attribute of a sandbox span, by what its key has after the common beginning.
pub(crate) fn attribute(span: &Span, key: &str) -> Option<String> {
    text(&span.attributes, &format!("nemo.gym.sandbox.{key}"))
}

/// Any attribute.
pub(crate) fn foreign(span: &Span, key: &str) -> Option<String> {
    text(&span.attributes, key)
}

/// Whether the status is an error.
pub(crate) fn has_failed(span: &Span) -> bool {
    span.status.as_ref().is_some_and(|status| status.code == 2)
}

/// Waits for something that happens on another thread.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn points(data: &Data) -> Points {
    let numbers = match data {
        Data::Gauge(gauge) => &gauge.data_points,
        Data::Sum(sum) => &sum.data_points,
        Data::Histogram(histogram) => {
            return histogram
                .data_points
                .iter()
                .map(|point| (attributes(&point.attributes), as_float(point.count)))
                .collect();
        }
        other => panic!("unexpected {other:?}"),
    };
    let value = |value| match value {
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        Value::AsInt(value) => value as f64,
        Value::AsDouble(value) => value,
    };
    numbers
        .iter()
        .map(|point| {
            let number = point.value.expect("a point has a value");
            (attributes(&point.attributes), value(number))
        })
        .collect()
}

fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    attributes
        .iter()
        .map(|pair| {
            let value = text(attributes, &pair.key).expect("an attribute has a value");
            (pair.key.clone(), value)
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn as_float(number: u64) -> f64 {
    number as f64
}
