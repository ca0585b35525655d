//! Where metrics go.

use std::sync::Arc;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::resource::v1::Resource as ProtoResource;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, MetricData, ResourceMetrics, ScopeMetrics,
};

use super::gym::observe_success_rate;
use super::observe::{self, Observation};
use super::provider::Provider;
use crate::export::{BuildError, Cause, Console, ExportReport, Otlp, ReadableMetrics};
use crate::health::{Component, Durations, Ending, component};
use crate::settings::{ExporterKind, Protocol, Settings, Signal, SignalKind};
use crate::thread::{Delivery, Job, MetricSink};

/// Turns all instruments on.
///
/// Cheap and without I/O, so that it can run on the caller's thread before [`MetricsPipe::build`] runs elsewhere:
/// nothing recorded in between is lost.
pub(crate) fn install(temporality: Temporality) {
    Provider::install(temporality);
}

/// Turns all instruments off, where no pipe will come.
pub(crate) fn uninstall() {
    if let Some(provider) = super::provider::installed() {
        provider.uninstall();
    }
}

/// Collects and exports metrics. All instruments are off once it is dropped.
pub(crate) struct MetricsPipe {
    provider: Arc<Provider>,
    sink: Sink,
    collections: Durations,
    _success_rate: Observation,
}

enum Sink {
    Otlp {
        otlp: Otlp,
        resource: ProtoResource,
        schema_url: String,
    },
    Console(Console),
    Readable(ReadableMetrics),
}

impl MetricsPipe {
    /// Makes the exporter that `settings` ask for, if they ask for one, and turns all instruments on. It connects when
    /// it first exports.
    ///
    /// # Errors
    ///
    /// If an endpoint or header cannot be used, or outside a tokio runtime.
    ///
    /// Without an exporter all instruments are off afterwards, even if [`install`] had turned them on.
    pub(crate) fn build(
        settings: &Settings,
        resource: &Resource,
    ) -> Result<Option<Self>, BuildError> {
        let sink = Sink::build(&settings.metrics, resource);
        let Ok(Some(sink)) = sink else {
            uninstall();
            return sink.map(|_| None);
        };
        Ok(Some(Self {
            provider: Provider::install(settings.temporality),
            sink,
            collections: Durations::of_collections(),
            _success_rate: observe_success_rate(),
        }))
    }

    /// Where metrics go, for messages; without credentials.
    pub(crate) fn destination(&self) -> &str {
        match &self.sink {
            Sink::Otlp { otlp, .. } => otlp.destination(),
            Sink::Console(_) | Sink::Readable(_) => "standard output",
        }
    }

    /// Collects everything and exports it; the items are points. It takes no longer than the configured timeout.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives this export up; the values come again with the next one.
    pub(crate) async fn collect_and_export(&self) -> ExportReport {
        let (started, panics, given_up) = (Instant::now(), observe::panics(), observe::given_up());
        let metrics = self.provider.collect_in_time().await;
        let ending = match &metrics {
            Ok(_) if observe::panics() > panics => Ending::CallbackPanic,
            Ok(_) if observe::given_up() > given_up => Ending::TimeOut,
            Ok(_) => Ending::Success,
            Err(_) => Ending::Failure,
        };
        self.collections.note(started.elapsed(), ending);
        let Ok(metrics) = metrics else {
            return ExportReport {
                cause: Some(Cause::NotCollected),
                ..ExportReport::default()
            };
        };
        let points = count_points(&metrics);
        if points == 0 {
            return ExportReport::default();
        }
        match &self.sink {
            Sink::Otlp {
                otlp,
                resource,
                schema_url,
            } => {
                let mut request = ExportMetricsServiceRequest::from(&metrics);
                for metrics in &mut request.resource_metrics {
                    metrics.resource = Some(resource.clone());
                    metrics.schema_url.clone_from(schema_url);
                }
                otlp.send(&request, points).await
            }
            Sink::Console(console) => console.metrics(&metrics, points),
            Sink::Readable(readable) => readable.export(&metrics, points).await,
        }
    }
}

impl Sink {
    fn build(signal: &Signal, resource: &Resource) -> Result<Option<Self>, BuildError> {
        Ok(match signal.exporter {
            ExporterKind::Otlp => {
                let ResourceAttributesWithSchema {
                    attributes,
                    schema_url,
                } = resource.into();
                Some(Self::Otlp {
                    otlp: Otlp::build(signal, SignalKind::Metrics)?,
                    resource: ProtoResource {
                        attributes: attributes.0,
                        ..ProtoResource::default()
                    },
                    schema_url: schema_url.unwrap_or_default(),
                })
            }
            ExporterKind::Console => Some(Self::Console(Console::new(resource))),
            ExporterKind::Stdout => Some(Self::Readable(ReadableMetrics::default())),
            ExporterKind::None => None,
        })
    }
}

impl MetricSink for MetricsPipe {
    fn collect_and_export(&self) -> Job<'_, Delivery> {
        Box::pin(async { self.collect_and_export().await.to(self.destination()) })
    }

    fn component(&self) -> Option<Component> {
        Some(match &self.sink {
            Sink::Otlp { otlp, .. } => match otlp.protocol() {
                Protocol::Grpc => component!("otlp_grpc_metric_exporter"),
                Protocol::HttpProtobuf => component!("otlp_http_metric_exporter"),
                Protocol::HttpJson => component!("otlp_http_json_metric_exporter"),
            },
            Sink::Console(_) => component!("console_metric_exporter"),
            Sink::Readable(_) => component!("stdout_metric_exporter"),
        })
    }

    fn shut_down(&self, _budget: Duration) -> Result<(), String> {
        self.provider.uninstall();
        Ok(())
    }
}

impl Drop for MetricsPipe {
    fn drop(&mut self) {
        self.provider.uninstall();
    }
}

fn count_points(metrics: &ResourceMetrics) -> u64 {
    let metrics = metrics.scope_metrics().flat_map(ScopeMetrics::metrics);
    let points = metrics.map(|metric| match metric.data() {
        AggregatedMetrics::F64(data) => points_of(data),
        AggregatedMetrics::U64(data) => points_of(data),
        AggregatedMetrics::I64(data) => points_of(data),
    });
    points.sum::<usize>() as u64
}

fn points_of<T>(data: &MetricData<T>) -> usize {
    match data {
        MetricData::Gauge(gauge) => gauge.data_points().count(),
        MetricData::Sum(sum) => sum.data_points().count(),
        MetricData::Histogram(histogram) => histogram.data_points().count(),
        MetricData::ExponentialHistogram(histogram) => histogram.data_points().count(),
    }
}
