//! Text for people on standard output, in the words of OpenTelemetry's own exporter.
//!
//! That exporter prints, and printing to a reader that has gone panics. So the reader is looked for first, and a panic
//! that comes all the same is caught here.

use std::pin::pin;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter as _;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};

use super::console::is_stdout_closed;
use super::report::{Cause, ExportReport};
use crate::contain::Contained;

/// Writes spans. The resource stands before the first of them.
pub(crate) struct ReadableSpans(opentelemetry_stdout::SpanExporter);

impl ReadableSpans {
    pub(crate) fn new(resource: &Resource) -> Self {
        let mut exporter = opentelemetry_stdout::SpanExporter::default();
        exporter.set_resource(resource);
        Self(exporter)
    }

    pub(crate) async fn export(&self, batch: Vec<SpanData>) -> ExportReport {
        let items = batch.len() as u64;
        written(items, self.0.export(batch)).await
    }
}

/// Writes metrics. Their resource is not told: the SDK's data has room for that of the provider only, which is made
/// before the resource is known.
#[derive(Default)]
pub(crate) struct ReadableMetrics(opentelemetry_stdout::MetricExporter);

impl ReadableMetrics {
    pub(crate) async fn export(&self, metrics: &ResourceMetrics, points: u64) -> ExportReport {
        written(points, self.0.export(metrics)).await
    }
}

async fn written(items: u64, writing: impl Future<Output = OTelSdkResult>) -> ExportReport {
    if is_stdout_closed() {
        return ExportReport::lost(items, Cause::OutputClosed);
    }
    match Contained(pin!(writing)).await {
        Ok(Ok(())) => ExportReport::delivered(items),
        Ok(Err(_)) | Err(_) => ExportReport::lost(items, Cause::OutputClosed),
    }
}
