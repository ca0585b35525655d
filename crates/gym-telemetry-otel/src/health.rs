//! What telemetry tells about itself: metrics by the names of the OpenTelemetry conventions for SDKs.
//!
//! Everything is read from counters that are kept anyway, or measured on the telemetry thread: nothing of it costs the
//! application's threads anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gym_telemetry_core::receipt::SignalReceipt;
use gym_telemetry_core::{MetricDescriptor, Value, attribute, metric};

use crate::fork;
use crate::logs::LogQueue;
use crate::metrics::{Histogram, Observation, Observer, observe};
use crate::recorder::Recorder;

type Pair = (&'static str, Value<'static>);

/// What an export failed with is a matter of the warnings: it has no class of its own.
const FAILED: Pair = (attribute::ERROR_TYPE, Value::Static("_OTHER"));
const TIMED_OUT: Pair = (attribute::ERROR_TYPE, Value::Static("timeout"));
const CALLBACK_PANIC: Pair = (attribute::ERROR_TYPE, Value::Static("callback_panic"));

/// A part of telemetry, of which there is one in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    pub kind: &'static str,
    pub name: &'static str,
}

/// A component of that kind.
macro_rules! component {
    ($kind:literal) => {
        $crate::health::Component {
            kind: $kind,
            name: concat!($kind, "/0"),
        }
    };
}
pub(crate) use component;

const READER: Component = component!("periodic_metric_reader");

impl Component {
    const fn attributes(self) -> [Pair; 2] {
        [
            (attribute::OTEL_COMPONENT_TYPE, Value::Static(self.kind)),
            (attribute::OTEL_COMPONENT_NAME, Value::Static(self.name)),
        ]
    }

    const fn with(self, more: Pair) -> [Pair; 3] {
        let [kind, name] = self.attributes();
        [kind, name, more]
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Success,
    Failure,
    TimeOut,
    CallbackPanic,
}

/// Measures the operations of one component.
pub(crate) struct Durations(Histogram);

impl Durations {
    /// Of the exports through `component`.
    pub(crate) fn of_exports(component: Component) -> Self {
        Self(Histogram::with_attributes(
            &metric::SDK_EXPORTER_OPERATION_DURATION,
            &component.attributes(),
        ))
    }

    /// Of the readings of all metrics.
    pub(crate) fn of_collections() -> Self {
        Self(Histogram::with_attributes(
            &metric::SDK_METRIC_READER_COLLECTION_DURATION,
            &READER.attributes(),
        ))
    }

    /// Notes one operation.
    pub(crate) fn note(&self, took: Duration, ending: Ending) {
        let error = match ending {
            Ending::Success => return self.0.record_duration(took),
            Ending::Failure => FAILED,
            Ending::TimeOut => TIMED_OUT,
            Ending::CallbackPanic => CALLBACK_PANIC,
        };
        self.0.record_duration_with(took, &[error]);
    }
}

/// The metrics of one signal's way out.
struct Way {
    processor: Component,
    processed: &'static MetricDescriptor,
    queue_size: &'static MetricDescriptor,
    queue_capacity: &'static MetricDescriptor,
    exported: &'static MetricDescriptor,
}

const SPANS: Way = Way {
    processor: component!("batching_span_processor"),
    processed: &metric::SDK_PROCESSOR_SPAN_PROCESSED,
    queue_size: &metric::SDK_PROCESSOR_SPAN_QUEUE_SIZE,
    queue_capacity: &metric::SDK_PROCESSOR_SPAN_QUEUE_CAPACITY,
    exported: &metric::SDK_EXPORTER_SPAN_EXPORTED,
};

const LOGS: Way = Way {
    processor: component!("batching_log_processor"),
    processed: &metric::SDK_PROCESSOR_LOG_PROCESSED,
    queue_size: &metric::SDK_PROCESSOR_LOG_QUEUE_SIZE,
    queue_capacity: &metric::SDK_PROCESSOR_LOG_QUEUE_CAPACITY,
    exported: &metric::SDK_EXPORTER_LOG_EXPORTED,
};

impl Way {
    fn report(
        &self,
        observer: &mut Observer<'_>,
        exporter: Component,
        receipt: &SignalReceipt,
        (size, capacity): (u64, u64),
    ) {
        let processor = self.processor;
        let given = receipt.exported + receipt.truncated + receipt.failed;
        observer.report(self.processed, given, &processor.attributes());
        for (reason, count) in &receipt.dropped {
            let reason = (attribute::ERROR_TYPE, Value::Static(reason.as_str()));
            observer.report(self.processed, *count, &processor.with(reason));
        }
        observer.report(self.queue_size, size, &processor.attributes());
        observer.report(self.queue_capacity, capacity, &processor.attributes());
        observer.report(self.exported, receipt.exported, &exporter.attributes());
        if receipt.truncated > 0 {
            let truncated = (attribute::SPAN_TRUNCATED, Value::Bool(true));
            observer.report(self.exported, receipt.truncated, &exporter.with(truncated));
        }
        if receipt.failed > 0 {
            observer.report(self.exported, receipt.failed, &exporter.with(FAILED));
        }
    }
}

/// Reports what becomes of the spans of `recorder`, which `exporter` exports.
pub(crate) fn observe_spans(recorder: &'static Recorder, exporter: Component) -> Observation {
    observe(move |observer| {
        if !recorder.is_of_this_process() {
            // A forked child has telemetry of its own.
            return;
        }
        let (created, capacity) = (recorder.created(), recorder.capacity());
        let receipt = recorder.receipt();
        let started = |result| (attribute::OTEL_SPAN_SAMPLING_RESULT, Value::Static(result));
        let sampled = [started("RECORD_AND_SAMPLE")];
        observer.report(&metric::SDK_SPAN_STARTED, created, &sampled);
        if receipt.unsampled > 0 {
            let dropped = [started("DROP")];
            observer.report(&metric::SDK_SPAN_STARTED, receipt.unsampled, &dropped);
        }
        SPANS.report(observer, exporter, &receipt, (recorder.held(), capacity));
    })
}

/// Reports what becomes of the log records in `queue`, which `exporter` exports.
pub(crate) fn observe_logs(queue: &Arc<LogQueue>, exporter: Component) -> Observation {
    let (queue, generation) = (Arc::clone(queue), fork::generation());
    observe(move |observer| {
        // The queue's lock may be locked for ever in a forked child, which has a queue of its own.
        if generation == fork::generation() {
            let room = (queue.len() as u64, queue.capacity() as u64);
            LOGS.report(observer, exporter, &queue.receipt(), room);
        }
    })
}

/// What became of metric points.
#[derive(Debug, Default)]
pub(crate) struct Points {
    exported: AtomicU64,
    failed: AtomicU64,
}

impl Points {
    /// Counts the points of one export.
    pub(crate) fn add(&self, exported: u64, failed: u64) {
        self.exported.fetch_add(exported, Ordering::Relaxed);
        self.failed.fetch_add(failed, Ordering::Relaxed);
    }
}

/// Reports what became of `points`, which `exporter` exports; as an export reads them, it is not among them yet.
pub(crate) fn observe_points(points: &Arc<Points>, exporter: Component) -> Observation {
    let points = Arc::clone(points);
    observe(move |observer| {
        let metric = &metric::SDK_EXPORTER_METRIC_EXPORTED;
        let arrived = points.exported.load(Ordering::Relaxed);
        observer.report(metric, arrived, &exporter.attributes());
        let failed = points.failed.load(Ordering::Relaxed);
        if failed > 0 {
            observer.report(metric, failed, &exporter.with(FAILED));
        }
    })
}
