//! Metrics through a meter provider that the host program has set up for itself.

mod foreign;
mod lives;
mod observing;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use gym_telemetry_core::metric::{MetricDescriptor, MetricKind};
use gym_telemetry_core::receipt::Outcome;
use gym_telemetry_core::{Value, attribute, metric, scope};
use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, Metric, MetricData, ResourceMetrics, ScopeMetrics,
};
use opentelemetry_sdk::metrics::reader::MetricReader;
use opentelemetry_sdk::metrics::{
    InstrumentKind, ManualReader, Pipeline, SdkMeterProvider, Temporality,
};

use super::PATIENCE;
use super::lifecycle::identity;
use crate::test_process::alone;
use crate::{
    Counter, IntegerGauge, Providers, TelemetryHandle, are_metrics_exporting,
    init_telemetry_with_providers, record_rollout,
};

const ON: (&str, &str) = ("NEMO_GYM_OTEL_ENABLED", "1");
const NO_TRACES: (&str, &str) = ("OTEL_TRACES_EXPORTER", "none");
const NEVER_DUE: (&str, &str) = ("OTEL_METRIC_EXPORT_INTERVAL", "3600000");
const METRICS: [(&str, &str); 3] = [ON, NO_TRACES, NEVER_DUE];

static CALLS: MetricDescriptor = descriptor("test.calls", MetricKind::Counter);
static LEVEL: MetricDescriptor = descriptor("test.level", MetricKind::Gauge);
static OTHER: MetricDescriptor = descriptor("test.other", MetricKind::Gauge);

const fn descriptor(name: &'static str, kind: MetricKind) -> MetricDescriptor {
    MetricDescriptor {
        name,
        kind,
        unit: "{thing}",
        description: "things",
        attributes: &[attribute::sandbox::PROVIDER],
        bounds: &[],
    }
}

/// The host's provider with a reader that counts what else is asked of it.
#[derive(Clone, Debug)]
struct Reader {
    manual: Arc<ManualReader>,
    disturbed: Arc<AtomicU32>,
}

impl MetricReader for Reader {
    fn register_pipeline(&self, pipeline: Weak<Pipeline>) {
        self.manual.register_pipeline(pipeline);
    }

    fn collect(&self, metrics: &mut ResourceMetrics) -> OTelSdkResult {
        self.manual.collect(metrics)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.disturbed.fetch_add(1, Ordering::Relaxed);
        self.manual.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.disturbed.fetch_add(1, Ordering::Relaxed);
        self.manual.shutdown_with_timeout(timeout)
    }

    fn temporality(&self, kind: InstrumentKind) -> Temporality {
        self.manual.temporality(kind)
    }
}

impl Reader {
    fn collected(&self) -> ResourceMetrics {
        let mut metrics = ResourceMetrics::default();
        self.collect(&mut metrics)
            .expect("the host's provider lives");
        metrics
    }

    /// The points of a metric of ours as text, sorted; none if it is absent.
    fn points(&self, descriptor: &MetricDescriptor) -> Vec<String> {
        find(&self.collected(), descriptor.name).map_or_else(Vec::new, points_of)
    }

    fn disturbed(&self) -> u32 {
        self.disturbed.load(Ordering::Relaxed)
    }
}

fn find<'a>(metrics: &'a ResourceMetrics, name: &str) -> Option<&'a Metric> {
    let ours = metrics
        .scope_metrics()
        .filter(|metrics| metrics.scope().name() == scope::LENS);
    ours.flat_map(ScopeMetrics::metrics)
        .find(|metric| metric.name() == name)
}

fn points_of(metric: &Metric) -> Vec<String> {
    fn point<'a>(value: &impl ToString, attributes: impl Iterator<Item = &'a KeyValue>) -> String {
        let value = value.to_string();
        attributes.fold(value, |text, attribute| {
            format!("{text} {}", attribute.value)
        })
    }
    fn texts<T: ToString + Copy>(data: &MetricData<T>) -> Vec<String> {
        match data {
            MetricData::Gauge(gauge) => gauge
                .data_points()
                .map(|it| point(&it.value(), it.attributes()))
                .collect(),
            MetricData::Sum(sum) => sum
                .data_points()
                .map(|it| point(&it.value(), it.attributes()))
                .collect(),
            _ => panic!("no single numbers"),
        }
    }
    let mut points = match metric.data() {
        AggregatedMetrics::F64(data) => texts(data),
        AggregatedMetrics::U64(data) => texts(data),
        AggregatedMetrics::I64(data) => texts(data),
    };
    points.sort();
    points
}

fn host() -> (SdkMeterProvider, Reader) {
    let reader = Reader {
        manual: Arc::new(ManualReader::builder().build()),
        disturbed: Arc::default(),
    };
    let resource = Resource::builder_empty().with_service_name("the-host");
    let provider = SdkMeterProvider::builder()
        .with_reader(reader.clone())
        .with_resource(resource.build())
        .build();
    (provider, reader)
}

fn init(provider: impl MeterProvider + Send + Sync + 'static) -> TelemetryHandle {
    init_telemetry_with_providers(identity(), Providers::new().meter(provider)).expect("is on")
}

#[track_caller]
fn flush(telemetry: TelemetryHandle) {
    assert_eq!(telemetry.flush(PATIENCE), Outcome::Complete);
}

#[test]
fn counters_and_histograms_are_the_hosts_with_our_units_bounds_and_scope() {
    alone(&METRICS, || {
        let (provider, reader) = host();
        let telemetry = init(provider);
        assert!(telemetry.is_exporting() && are_metrics_exporting());
        let local = [(attribute::sandbox::PROVIDER, Value::Static("local"))];
        let (plain, series) = (
            Counter::new(&CALLS),
            Counter::with_attributes(&CALLS, &local),
        );
        let record = || {
            plain.add(1);
            series.add(2);
            plain.add_with(3, &local);
            record_rollout(Duration::from_secs(2));
        };
        // Before and after there are instruments.
        record();
        flush(telemetry);
        assert_eq!(reader.points(&CALLS), ["1", "5 local"]);
        record();
        record();

        let metrics = reader.collected();
        let calls = find(&metrics, CALLS.name).expect("is recorded");
        assert_eq!(points_of(calls), ["15 local", "3"]);
        assert_eq!((calls.unit(), calls.description()), ("{thing}", "things"));
        let rollouts = find(&metrics, metric::ROLLOUT_DURATION.name).expect("is recorded");
        assert_eq!(rollouts.unit(), metric::ROLLOUT_DURATION.unit);
        let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = rollouts.data() else {
            panic!("{rollouts:?}");
        };
        let point = histogram.data_points().next().expect("a point");
        assert!(
            point
                .bounds()
                .eq(metric::DURATION_BOUNDS_MS.iter().copied())
        );
        assert_eq!((point.count(), point.max()), (3, Some(2_000.0)));
        assert_eq!(metrics.resource().len(), 1, "{:?}", metrics.resource());
    });
}

#[test]
fn values_keep_their_order_while_the_instrument_is_made() {
    alone(&METRICS, || {
        let (provider, reader) = host();
        let telemetry = init(provider);
        let gauge = IntegerGauge::new(&LEVEL);
        let mut last = 0;
        // Until well after there is an instrument.
        while reader.points(&LEVEL).is_empty() || last % 100 != 0 {
            last += 1;
            gauge.record(last);
        }
        flush(telemetry);
        assert_eq!(reader.points(&LEVEL), [last.to_string()]);
    });
}
