//! What instruments report, and what never disturbs them. Each test has a process of its own, because the provider is
//! one per process.

mod handles;
mod observations;
mod outcomes;
mod pipes;

use gym_telemetry_core::MetricDescriptor;
use gym_telemetry_core::metric::MetricKind;
use opentelemetry::KeyValue;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, MetricData, ResourceMetrics, ScopeMetrics,
};

use super::provider::Provider;

const KEY: &str = "nemo.gym.sandbox.provider";

static COUNTER: MetricDescriptor = descriptor("test.counter", MetricKind::Counter);
static UP_DOWN: MetricDescriptor = descriptor("test.up_down", MetricKind::UpDownCounter);
static GAUGE: MetricDescriptor = descriptor("test.gauge", MetricKind::Gauge);

const fn descriptor(name: &'static str, kind: MetricKind) -> MetricDescriptor {
    MetricDescriptor {
        name,
        kind,
        unit: "{thing}",
        description: "things",
        attributes: &[KEY],
        bounds: &[],
    }
}

/// The points of a metric as (attribute value, value), sorted; `None` if the metric is absent.
fn points(metrics: &ResourceMetrics, name: &str) -> Option<Vec<(String, f64)>> {
    let mut metrics = metrics.scope_metrics().flat_map(ScopeMetrics::metrics);
    let metric = metrics.find(|metric| metric.name() == name)?;
    let mut points = match metric.data() {
        AggregatedMetrics::F64(data) => points_of(data, |value| value),
        AggregatedMetrics::I64(data) => points_of(data, |value| {
            f64::from(i32::try_from(value).expect("small"))
        }),
        AggregatedMetrics::U64(data) => points_of(data, |value| {
            f64::from(u32::try_from(value).expect("small"))
        }),
    };
    points.sort_by(|one, other| one.0.cmp(&other.0));
    Some(points)
}

fn points_of<T: Copy>(data: &MetricData<T>, number: impl Fn(T) -> f64) -> Vec<(String, f64)> {
    let label = |mut attributes: Vec<&KeyValue>| {
        attributes
            .pop()
            .map_or_else(String::new, |attribute| attribute.value.to_string())
    };
    match data {
        MetricData::Gauge(gauge) => gauge
            .data_points()
            .map(|point| (label(point.attributes().collect()), number(point.value())))
            .collect(),
        MetricData::Sum(sum) => sum
            .data_points()
            .map(|point| (label(point.attributes().collect()), number(point.value())))
            .collect(),
        _ => panic!("no single numbers"),
    }
}

/// Every point of a gauge or a sum: the name of the metric, the values of its attributes, and its value.
#[expect(
    clippy::cast_precision_loss,
    reason = "what the tests measure is small enough"
)]
pub(crate) fn single_values(metrics: &ResourceMetrics) -> Vec<(String, f64)> {
    let metrics = metrics.scope_metrics().flat_map(ScopeMetrics::metrics);
    let points = metrics.flat_map(|metric| {
        let points = match metric.data() {
            AggregatedMetrics::F64(MetricData::Histogram(_)) => Vec::new(),
            AggregatedMetrics::F64(data) => points_of(data, |value| value),
            AggregatedMetrics::I64(data) => points_of(data, |value| value as f64),
            AggregatedMetrics::U64(data) => points_of(data, |value| value as f64),
        };
        points.into_iter().map(|(attribute, value)| {
            let label = format!("{} {attribute}", metric.name());
            (label.trim_end().to_owned(), value)
        })
    });
    points.collect()
}

fn collect(provider: &Provider, name: &str) -> Option<Vec<(String, f64)>> {
    points(&provider.collect().expect("metrics can be collected"), name)
}
