//! The comparison of what was exported with the registry. The tests of other crates use it, too.

use std::collections::BTreeSet;

use gym_telemetry_core::metric::MetricKind;
use gym_telemetry_core::registry::{self, EVENTS, LOG, METRICS, RESOURCE, SPANS, ValueKind};
use gym_telemetry_core::{SpanKind, attribute, scope};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, Metric};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind as ProtoKind;

use crate::collector::{Received, text};

/// What the registry says of one place: that it may be there, or that an attribute may stand on it.
///
/// The first text is the name of a span, event or metric, or one of the places below; the second is the key of the
/// attribute, or empty for the place itself.
pub(crate) type Entry = (&'static str, &'static str);

const ANY_SPAN: &str = "any span";
const RESOURCES: &str = "the resource";
const LOG_RECORDS: &str = "log records";

/// What may stand on every span, whatever it is.
const OF_ANY_SPAN: &[&str] = &[attribute::SPAN_TRUNCATED];

/// What the servers of the demo themselves log of a request.
const OF_THE_APPLICATION: &[&str] = &[
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "reward",
];

/// The registry, as far as these tests look at it.
#[derive(Clone)]
pub(crate) struct Registry {
    pub(crate) entries: BTreeSet<Entry>,
}

impl Registry {
    pub(crate) fn whole() -> Self {
        let mut entries = BTreeSet::new();
        let mut add = |place, keys: &[&'static str]| {
            entries.insert((place, ""));
            entries.extend(keys.iter().map(|key| (place, *key)));
        };
        for span in SPANS {
            let keys = span.attributes();
            let keys: Vec<_> = keys.filter(|key| !OF_ANY_SPAN.contains(key)).collect();
            add(span.name, &keys);
        }
        for event in EVENTS {
            add(event.name, event.attributes);
        }
        for metric in METRICS {
            add(metric.name, metric.attributes);
        }
        add(ANY_SPAN, OF_ANY_SPAN);
        add(RESOURCES, RESOURCE);
        add(LOG_RECORDS, LOG);
        Self { entries }
    }

    fn find(&self, place: &str, key: &str) -> Option<Entry> {
        let mut entries = self.entries.iter().copied();
        entries.find(|entry| *entry == (place, key))
    }
}

/// What was compared.
#[derive(Default)]
pub(crate) struct Findings {
    /// What was exported otherwise than the registry says, or is not in it.
    pub(crate) wrong: BTreeSet<String>,
    /// The entries that something was exported of.
    pub(crate) met: BTreeSet<Entry>,
}

impl Findings {
    pub(crate) fn of(received: &Received, registry: &Registry) -> Self {
        let mut findings = Self::default();
        for (resource, scope, span) in received.scoped_spans() {
            findings.meet(registry, ANY_SPAN);
            findings.attributes(registry, RESOURCES, &resource.attributes);
            let scopes: &[&str] = match span.kind() {
                ProtoKind::Internal => &[scope::LENS, scope::HELPERS],
                _ => &[scope::GYM],
            };
            if !scopes.contains(&&*scope.name) {
                findings.complain(format!("span {} has the scope {}", span.name, scope.name));
            }
            findings.span(registry, span);
        }
        let requests = received.metrics.iter();
        for metrics in requests.flat_map(|request| &request.body.resource_metrics) {
            let resource = metrics.resource.as_ref().expect("metrics have a resource");
            findings.meet(registry, RESOURCES);
            findings.attributes(registry, RESOURCES, &resource.attributes);
            for metrics in &metrics.scope_metrics {
                let scope = metrics.scope.as_ref().map(|scope| &*scope.name);
                for metric in &metrics.metrics {
                    if scope != Some(scope::LENS) {
                        findings
                            .complain(format!("metric {} has the scope {scope:?}", metric.name));
                    }
                    findings.metric(registry, metric);
                }
            }
        }
        for (resource, _, record) in received.scoped_logs() {
            findings.meet(registry, LOG_RECORDS);
            findings.attributes(registry, RESOURCES, &resource.attributes);
            let ours = record.attributes.iter();
            let ours = ours.filter(|pair| !OF_THE_APPLICATION.contains(&&*pair.key));
            findings.attributes(registry, LOG_RECORDS, ours);
        }
        findings
    }

    fn meet(&mut self, registry: &Registry, place: &str) {
        match registry.find(place, "") {
            Some(entry) => {
                self.met.insert(entry);
            }
            None => self.complain(format!("{place} is not registered")),
        }
    }

    fn complain(&mut self, about: String) {
        self.wrong.insert(about);
    }

    fn span(&mut self, registry: &Registry, span: &Span) {
        let name = &*span.name;
        let kind = match span.kind() {
            ProtoKind::Server => SpanKind::Server,
            ProtoKind::Client => SpanKind::Client,
            ProtoKind::Internal => SpanKind::Internal,
            other => return self.complain(format!("span {name} is {other:?}")),
        };
        let Some(entry) = registry::span(name, kind) else {
            return self.complain(format!("span {name} ({kind:?}) is not registered"));
        };
        self.meet(registry, entry.name);
        if kind == SpanKind::Server {
            // A name has as many values as there are routes; a path would have one for each request.
            let route = text(&span.attributes, attribute::HTTP_ROUTE);
            if name.split_once(' ').map(|(_, rest)| rest) != route.as_deref() {
                self.complain(format!(
                    "span {name} is not called after its route {route:?}"
                ));
            }
        }
        let is_common = |pair: &&KeyValue| OF_ANY_SPAN.contains(&&*pair.key);
        let (common, own): (Vec<_>, Vec<_>) = span.attributes.iter().partition(is_common);
        self.attributes(registry, ANY_SPAN, common);
        self.attributes(registry, entry.name, own);
        for event in &span.events {
            self.meet(registry, &event.name);
            if let Some(entry) = registry::event(&event.name) {
                self.attributes(registry, entry.name, &event.attributes);
            }
        }
    }

    fn metric(&mut self, registry: &Registry, metric: &Metric) {
        let name = &*metric.name;
        let Some(entry) = registry::metric(name) else {
            return self.complain(format!("metric {name} is not registered"));
        };
        self.meet(registry, entry.name);
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
        let temporality = match data {
            Data::Sum(sum) => sum.aggregation_temporality(),
            Data::Histogram(histogram) => histogram.aggregation_temporality(),
            _ => AggregationTemporality::Cumulative,
        };
        if temporality != AggregationTemporality::Cumulative {
            self.complain(format!("metric {name} is {temporality:?}"));
        }
        for attributes in points {
            self.attributes(registry, entry.name, attributes);
        }
    }

    fn attributes<'a>(
        &mut self,
        registry: &Registry,
        place: &str,
        attributes: impl IntoIterator<Item = &'a KeyValue>,
    ) {
        for pair in attributes {
            let key = registry::shape(&pair.key);
            let Some(entry) = registry::attribute(&pair.key) else {
                self.complain(format!("attribute {key} of {place} is not registered"));
                continue;
            };
            match registry.find(place, &key) {
                Some(entry) => {
                    self.met.insert(entry);
                }
                None => self.complain(format!(
                    "attribute {key} of {place} is not registered there"
                )),
            }
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
