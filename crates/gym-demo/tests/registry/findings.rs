//! The comparison of what was exported with the registry.

use std::collections::BTreeSet;

use gym_telemetry_core::SpanKind;
use gym_telemetry_core::metric::{MetricDescriptor, MetricKind};
use gym_telemetry_core::registry::{
    self, ATTRIBUTES, AttributeDescriptor, EVENTS, EventDescriptor, LOG, METRICS, RESOURCE, SPANS,
    SpanDescriptor, ValueKind,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind as ProtoKind;

use super::super::collector::Received;

/// The registry, as far as these tests look at it.
#[derive(Clone)]
pub(super) struct Registry {
    spans: Vec<&'static SpanDescriptor>,
    events: Vec<&'static EventDescriptor>,
    attributes: Vec<&'static AttributeDescriptor>,
    metrics: Vec<&'static MetricDescriptor>,
}

impl Registry {
    pub(super) fn whole() -> Self {
        Self {
            spans: SPANS.iter().collect(),
            events: EVENTS.iter().collect(),
            attributes: ATTRIBUTES.iter().collect(),
            metrics: METRICS.to_vec(),
        }
    }

    /// The names of all entries.
    pub(super) fn names(&self) -> BTreeSet<&'static str> {
        let spans = self.spans.iter().map(|span| span.name);
        let events = self.events.iter().map(|event| event.name);
        let attributes = self.attributes.iter().map(|attribute| attribute.key);
        let metrics = self.metrics.iter().map(|metric| metric.name);
        spans
            .chain(events)
            .chain(attributes)
            .chain(metrics)
            .collect()
    }

    pub(super) fn without(&self, name: &str) -> Self {
        let mut rest = self.clone();
        rest.spans.retain(|span| span.name != name);
        rest.events.retain(|event| event.name != name);
        rest.attributes.retain(|attribute| attribute.key != name);
        rest.metrics.retain(|metric| metric.name != name);
        rest
    }
}

/// What was compared.
#[derive(Default)]
pub(super) struct Findings {
    /// What was exported otherwise than the registry says, or is not in it.
    pub(super) wrong: BTreeSet<String>,
    /// The entries that something was exported of.
    pub(super) met: BTreeSet<&'static str>,
}

impl Findings {
    pub(super) fn of(received: &Received, registry: &Registry) -> Self {
        let mut findings = Self::default();
        for (resource, _, span) in received.scoped_spans() {
            findings.resource(registry, &resource.attributes);
            findings.span(registry, span);
        }
        let requests = received.metrics.iter();
        for metrics in requests.flat_map(|request| &request.body.resource_metrics) {
            let resource = metrics.resource.as_ref().expect("metrics have a resource");
            findings.resource(registry, &resource.attributes);
        }
        for metric in received.metrics() {
            findings.metric(registry, metric);
        }
        let requests = received.logs.iter();
        for logs in requests.flat_map(|request| &request.body.resource_logs) {
            let resource = logs.resource.as_ref().expect("log records have a resource");
            findings.resource(registry, &resource.attributes);
            for record in logs.scope_logs.iter().flat_map(|logs| &logs.log_records) {
                // All others are the application's.
                let ours = record.attributes.iter();
                let ours: Vec<_> = ours
                    .filter(|pair| LOG.contains(&&*pair.key))
                    .cloned()
                    .collect();
                findings.attributes(registry, "log records", &ours, LOG);
            }
        }
        findings
    }

    fn complain(&mut self, about: String) {
        self.wrong.insert(about);
    }

    fn resource(&mut self, registry: &Registry, attributes: &[KeyValue]) {
        self.attributes(registry, "the resource", attributes, RESOURCE);
    }

    fn span(&mut self, registry: &Registry, span: &Span) {
        let name = &*span.name;
        let kind = match span.kind() {
            ProtoKind::Server => SpanKind::Server,
            ProtoKind::Client => SpanKind::Client,
            ProtoKind::Internal => SpanKind::Internal,
            other => return self.complain(format!("span {name} is {other:?}")),
        };
        let listed =
            |entry: &&SpanDescriptor| registry.spans.iter().any(|it| it.name == entry.name);
        let Some(entry) = registry::span(name, kind).filter(listed) else {
            return self.complain(format!("span {name} ({kind:?}) is not registered"));
        };
        self.met.insert(entry.name);
        let keys: Vec<_> = entry.attributes().collect();
        self.attributes(registry, entry.name, &span.attributes, &keys);
        for event in &span.events {
            match registry
                .events
                .iter()
                .find(|entry| entry.name == event.name)
            {
                None => self.complain(format!("event {} is not registered", event.name)),
                Some(entry) => {
                    self.met.insert(entry.name);
                    self.attributes(registry, entry.name, &event.attributes, entry.attributes);
                }
            }
        }
    }

    fn metric(&mut self, registry: &Registry, metric: &Metric) {
        let name = &*metric.name;
        let Some(entry) = registry.metrics.iter().find(|entry| entry.name == name) else {
            return self.complain(format!("metric {name} is not registered"));
        };
        self.met.insert(entry.name);
        if (&*metric.unit, &*metric.description) != (entry.unit, entry.description) {
            self.complain(format!(
                "metric {name} has the unit {:?} and is described as {:?}",
                metric.unit, metric.description
            ));
        }
        let data = metric.data.as_ref().expect("metrics have data");
        let (is_right, points): (bool, Vec<&[KeyValue]>) = match data {
            Data::Gauge(gauge) => (
                matches!(entry.kind, MetricKind::Gauge | MetricKind::ObservableGauge),
                gauge
                    .data_points
                    .iter()
                    .map(|point| &*point.attributes)
                    .collect(),
            ),
            Data::Sum(sum) => (
                match entry.kind {
                    MetricKind::Counter | MetricKind::ObservableCounter => sum.is_monotonic,
                    MetricKind::UpDownCounter | MetricKind::ObservableUpDownCounter => {
                        !sum.is_monotonic
                    }
                    _ => false,
                },
                sum.data_points
                    .iter()
                    .map(|point| &*point.attributes)
                    .collect(),
            ),
            Data::Histogram(histogram) => {
                for point in &histogram.data_points {
                    if point.explicit_bounds != entry.bounds {
                        self.complain(format!(
                            "metric {name} has the bounds {:?}",
                            point.explicit_bounds
                        ));
                    }
                }
                (
                    entry.kind == MetricKind::Histogram,
                    histogram
                        .data_points
                        .iter()
                        .map(|point| &*point.attributes)
                        .collect(),
                )
            }
            _ => (false, Vec::new()),
        };
        if !is_right {
            self.complain(format!("metric {name} is no {:?}: {data:?}", entry.kind));
        }
        for attributes in points {
            self.attributes(registry, entry.name, attributes, entry.attributes);
        }
    }

    fn attributes(
        &mut self,
        registry: &Registry,
        place: &str,
        attributes: &[KeyValue],
        keys: &[&str],
    ) {
        for pair in attributes {
            let key = registry::shape(&pair.key);
            if !keys.contains(&&*key) {
                self.complain(format!(
                    "attribute {key} of {place} is not registered there"
                ));
            }
            let Some(entry) = registry.attributes.iter().find(|entry| entry.key == key) else {
                self.complain(format!("attribute {key} is not registered"));
                continue;
            };
            self.met.insert(entry.key);
            let is_right = match pair.value.as_ref().and_then(|value| value.value.as_ref()) {
                Some(AnyValue::StringValue(_)) => entry.kind == ValueKind::Text,
                Some(AnyValue::BoolValue(_)) => entry.kind == ValueKind::Boolean,
                Some(AnyValue::IntValue(_)) => entry.kind == ValueKind::Integer,
                Some(AnyValue::DoubleValue(_)) => entry.kind == ValueKind::Float,
                _ => false,
            };
            if !is_right {
                self.complain(format!(
                    "attribute {key} of {place} is no {:?}: {:?}",
                    entry.kind, pair.value
                ));
            }
        }
    }
}
