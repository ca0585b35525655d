//! Text for people on standard output, in the words of OpenTelemetry's own exporter.
//!
//! That exporter prints, and printing to a reader that has gone panics. So the reader is looked for first, and a panic
//! that comes all the same is caught here.

use std::pin::pin;

use opentelemetry::InstrumentationScope;
use opentelemetry::logs::{LogRecord as _, Logger as _, LoggerProvider as _};
use opentelemetry::trace::{SpanId, TraceFlags, TraceId};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{
    LogBatch, LogExporter as _, SdkLogRecord, SdkLogger, SdkLoggerProvider,
};
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter as _;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};

use super::console::is_stdout_closed;
use super::report::{Cause, ExportReport};
use crate::contain::Contained;
use crate::logs::Record;

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

/// Writes log records. The resource stands before the first of them.
pub(crate) struct ReadableLogs {
    exporter: opentelemetry_stdout::LogExporter,
    /// Makes records, which nobody else can, and does nothing with them.
    blank: SdkLogger,
}

impl ReadableLogs {
    pub(crate) fn new(resource: &Resource) -> Self {
        let mut exporter = opentelemetry_stdout::LogExporter::default();
        exporter.set_resource(resource);
        Self {
            exporter,
            blank: SdkLoggerProvider::builder().build().logger(""),
        }
    }

    pub(crate) async fn export(&self, records: Vec<Record>) -> ExportReport {
        let items = records.len() as u64;
        let scope = InstrumentationScope::default();
        let records: Vec<_> = records
            .into_iter()
            .map(|record| self.convert(record))
            .collect();
        let batch: Vec<_> = records.iter().map(|record| (record, &scope)).collect();
        written(items, self.exporter.export(LogBatch::new(&batch))).await
    }

    fn convert(&self, record: Record) -> SdkLogRecord {
        let mut converted = self.blank.create_log_record();
        converted.set_timestamp(record.at);
        converted.set_observed_timestamp(record.at);
        converted.set_target(record.target);
        converted.set_severity_text(record.severity_text);
        if let Some(severity) = record.severity {
            converted.set_severity_number(severity);
        }
        if let Some(name) = record.event_name {
            converted.set_event_name(name);
        }
        if let Some(body) = record.body {
            converted.set_body(body);
        }
        if let Some(span) = record.span {
            converted.set_trace_context(
                TraceId::from_bytes(span.trace_id),
                SpanId::from_bytes(span.span_id),
                Some(TraceFlags::new(span.flags)),
            );
        }
        converted.add_attributes(record.attributes);
        converted
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
