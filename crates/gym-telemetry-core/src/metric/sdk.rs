//! Metrics of telemetry itself, by the names of the OpenTelemetry conventions for SDKs.

use super::{MetricDescriptor, MetricKind};
use crate::attribute;

/// Bounds of the durations of exports and collections in seconds, from a millisecond to a minute.
pub const SDK_DURATION_BOUNDS_S: &[f64] = &[
    0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0,
];

const COMPONENT: &[&str] = &[
    attribute::OTEL_COMPONENT_NAME,
    attribute::OTEL_COMPONENT_TYPE,
];
const COMPONENT_AND_ERROR: &[&str] = &[
    attribute::ERROR_TYPE,
    attribute::OTEL_COMPONENT_NAME,
    attribute::OTEL_COMPONENT_TYPE,
];

const fn counter(
    name: &'static str,
    unit: &'static str,
    description: &'static str,
    attributes: &'static [&'static str],
) -> MetricDescriptor {
    MetricDescriptor {
        name,
        kind: MetricKind::ObservableCounter,
        unit,
        description,
        attributes,
        bounds: &[],
    }
}

const fn level(
    name: &'static str,
    unit: &'static str,
    description: &'static str,
) -> MetricDescriptor {
    MetricDescriptor {
        name,
        kind: MetricKind::ObservableUpDownCounter,
        unit,
        description,
        attributes: COMPONENT,
        bounds: &[],
    }
}

const fn duration(name: &'static str, description: &'static str) -> MetricDescriptor {
    MetricDescriptor {
        name,
        kind: MetricKind::Histogram,
        unit: "s",
        description,
        attributes: COMPONENT_AND_ERROR,
        bounds: SDK_DURATION_BOUNDS_S,
    }
}

/// The spans that were started, and those that were not because their traces are not sampled.
pub static SDK_SPAN_STARTED: MetricDescriptor = counter(
    "otel.sdk.span.started",
    "{span}",
    "Spans that were started or, because their traces are not sampled, were not recorded",
    &[attribute::OTEL_SPAN_SAMPLING_RESULT],
);

/// The spans that an exporter was given, and those that were dropped before.
pub static SDK_PROCESSOR_SPAN_PROCESSED: MetricDescriptor = counter(
    "otel.sdk.processor.span.processed",
    "{span}",
    "Spans that were handed to the exporter or, with an error, dropped before",
    COMPONENT_AND_ERROR,
);

/// The spans that take up room.
pub static SDK_PROCESSOR_SPAN_QUEUE_SIZE: MetricDescriptor = level(
    "otel.sdk.processor.span.queue.size",
    "{span}",
    "Spans that take up room: open ones, those that wait for an export and those in one",
);

/// The room that there is for spans.
pub static SDK_PROCESSOR_SPAN_QUEUE_CAPACITY: MetricDescriptor = level(
    "otel.sdk.processor.span.queue.capacity",
    "{span}",
    "Spans that there is room for, open ones included",
);

/// The spans that an exporter delivered, and those that it could not.
pub static SDK_EXPORTER_SPAN_EXPORTED: MetricDescriptor = counter(
    "otel.sdk.exporter.span.exported",
    "{span}",
    "Spans that were exported or, with an error, lost in an export",
    &[
        attribute::ERROR_TYPE,
        attribute::OTEL_COMPONENT_NAME,
        attribute::OTEL_COMPONENT_TYPE,
        attribute::SPAN_TRUNCATED,
    ],
);

/// The points that an exporter delivered, and those that it could not.
pub static SDK_EXPORTER_METRIC_EXPORTED: MetricDescriptor = counter(
    "otel.sdk.exporter.metric_data_point.exported",
    "{data_point}",
    "Metric points that were exported or, with an error, not; their values come again with the next export",
    COMPONENT_AND_ERROR,
);

/// The log records that an exporter was given, and those that were dropped before.
pub static SDK_PROCESSOR_LOG_PROCESSED: MetricDescriptor = counter(
    "otel.sdk.processor.log.processed",
    "{log_record}",
    "Log records that were handed to the exporter or, with an error, dropped before",
    COMPONENT_AND_ERROR,
);

/// The log records that wait.
pub static SDK_PROCESSOR_LOG_QUEUE_SIZE: MetricDescriptor = level(
    "otel.sdk.processor.log.queue.size",
    "{log_record}",
    "Log records that wait for an export",
);

/// The room that there is for log records.
pub static SDK_PROCESSOR_LOG_QUEUE_CAPACITY: MetricDescriptor = level(
    "otel.sdk.processor.log.queue.capacity",
    "{log_record}",
    "Log records that there is room for",
);

/// The log records that an exporter delivered, and those that it could not.
pub static SDK_EXPORTER_LOG_EXPORTED: MetricDescriptor = counter(
    "otel.sdk.exporter.log.exported",
    "{log_record}",
    "Log records that were exported or, with an error, lost in an export",
    COMPONENT_AND_ERROR,
);

/// How long exports took.
pub static SDK_EXPORTER_OPERATION_DURATION: MetricDescriptor = duration(
    "otel.sdk.exporter.operation.duration",
    "Duration of exports, failed ones included",
);

/// How long it took to read all instruments.
pub static SDK_METRIC_READER_COLLECTION_DURATION: MetricDescriptor = duration(
    "otel.sdk.metric_reader.collection.duration",
    "Duration of readings of all metrics, those with a callback that panicked included",
);
