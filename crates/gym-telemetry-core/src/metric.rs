//! Metric descriptors.
//!
//! One static per metric holds all that is fixed about it, so that instruments, documentation and tests cannot
//! disagree. A descriptor costs nothing until the back end makes an instrument of it.

mod memory;
mod model_call;
mod process;
mod rollout;
mod sandbox;
mod sdk;

use crate::attribute;

pub use self::memory::{
    HOST_MEMORY_AVAILABLE, HOST_MEMORY_SAMPLED_PEAK, HOST_MEMORY_TOTAL, HOST_MEMORY_USAGE,
    SERVER_MEMORY_SAMPLED_PEAK, SERVER_MEMORY_USAGE, SERVER_PROCESSES,
};
pub use self::model_call::{
    MODEL_CALL_BOUNDS_MS, MODEL_CALL_DURATION, MODEL_CALL_FINISH, MODEL_CALL_TOKEN_BOUNDS,
    MODEL_CALL_TOKENS, MODEL_CALL_TTFT, MODEL_CALL_TTFT_BOUNDS_MS,
};
pub use self::process::{
    EVENT_LOOP_BUSY_RATIO, EVENT_LOOP_LAG, EVENT_LOOP_LAG_MAX, EVENT_LOOP_TASKS, LAG_BOUNDS_MS,
    PROCESS_CPU_TIME, PROCESS_MEMORY_USAGE, PROCESS_OPEN_FILE_DESCRIPTOR_COUNT,
    PROCESS_THREAD_COUNT,
};
pub use self::rollout::{ROLLOUT_COMPLETED, ROLLOUT_DURATION};
pub use self::sandbox::{
    SANDBOX_ACTIVE, SANDBOX_BOUNDS_MS, SANDBOX_CPU_COUNT, SANDBOX_CPU_USED_PERCENTAGE,
    SANDBOX_CREATE_RETRY, SANDBOX_EXEC_DURATION, SANDBOX_MEMORY_TOTAL, SANDBOX_MEMORY_USED,
    SANDBOX_SAMPLE_SKIPPED, SANDBOX_STARTUP_DURATION,
};
pub use self::sdk::{
    SDK_DURATION_BOUNDS_S, SDK_EXPORTER_LOG_EXPORTED, SDK_EXPORTER_METRIC_EXPORTED,
    SDK_EXPORTER_OPERATION_DURATION, SDK_EXPORTER_SPAN_EXPORTED,
    SDK_METRIC_READER_COLLECTION_DURATION, SDK_PROCESSOR_LOG_PROCESSED,
    SDK_PROCESSOR_LOG_QUEUE_CAPACITY, SDK_PROCESSOR_LOG_QUEUE_SIZE, SDK_PROCESSOR_SPAN_PROCESSED,
    SDK_PROCESSOR_SPAN_QUEUE_CAPACITY, SDK_PROCESSOR_SPAN_QUEUE_SIZE, SDK_SPAN_STARTED,
};

/// What kind of instrument a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetricKind {
    /// A sum that only grows.
    Counter,
    /// A sum that grows and shrinks.
    UpDownCounter,
    /// A distribution.
    Histogram,
    /// The latest value.
    Gauge,
    /// A [`MetricKind::Counter`] that is read when metrics are collected.
    ObservableCounter,
    /// An [`MetricKind::UpDownCounter`] that is read when metrics are collected.
    ObservableUpDownCounter,
    /// A [`MetricKind::Gauge`] that is read when metrics are collected.
    ObservableGauge,
}

/// All that is fixed about one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricDescriptor {
    /// The name, with dots between the words.
    pub name: &'static str,
    /// The kind of instrument.
    pub kind: MetricKind,
    /// The unit in UCUM notation; empty for a number without one.
    pub unit: &'static str,
    /// One sentence without a full stop.
    pub description: &'static str,
    /// The only attribute keys that its points may carry.
    pub attributes: &'static [&'static str],
    /// Upper bounds of a histogram's buckets, ascending, in `unit`; empty for the other kinds.
    pub bounds: &'static [f64],
}

/// Bounds of durations in milliseconds from a tenth of a second to an hour.
pub const DURATION_BOUNDS_MS: &[f64] = &[
    100.0,
    250.0,
    500.0,
    1_000.0,
    2_500.0,
    5_000.0,
    10_000.0,
    30_000.0,
    60_000.0,
    120_000.0,
    300_000.0,
    600_000.0,
    1_200_000.0,
    1_800_000.0,
    3_600_000.0,
];

/// Bounds of HTTP request durations in seconds, as the OpenTelemetry conventions advise.
pub const HTTP_DURATION_BOUNDS_S: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
];

/// How long each verify call took, failed ones included.
pub static VERIFY_DURATION: MetricDescriptor = MetricDescriptor {
    name: "gym.verify.duration_ms",
    kind: MetricKind::Histogram,
    unit: "ms",
    description: "Duration of verify calls, failed ones included",
    attributes: &[],
    bounds: DURATION_BOUNDS_MS,
};

/// The share of verify calls since the start of the process that completed; says nothing about the reward.
pub static VERIFY_SUCCESS_RATE: MetricDescriptor = MetricDescriptor {
    name: "gym.verify.success_rate",
    kind: MetricKind::Gauge,
    unit: "",
    description: "Share of verify calls that completed since the process started",
    attributes: &[],
    bounds: &[],
};

/// How many servers of the run are up; reported by the orchestrator only.
pub static SERVERS_ACTIVE: MetricDescriptor = MetricDescriptor {
    name: "gym.servers.active",
    kind: MetricKind::Gauge,
    unit: "",
    description: "Number of servers that are up",
    attributes: &[],
    bounds: &[],
};

/// How long each inbound HTTP request took.
pub static HTTP_SERVER_REQUEST_DURATION: MetricDescriptor = MetricDescriptor {
    name: "http.server.request.duration",
    kind: MetricKind::Histogram,
    unit: "s",
    description: "Duration of HTTP server requests",
    attributes: &[
        attribute::HTTP_REQUEST_METHOD,
        attribute::HTTP_RESPONSE_STATUS_CODE,
        attribute::HTTP_ROUTE,
    ],
    bounds: HTTP_DURATION_BOUNDS_S,
};

/// Bounds of waits for a slot in milliseconds, from one millisecond to an hour.
pub const WAIT_BOUNDS_MS: &[f64] = &[
    1.0,
    5.0,
    10.0,
    50.0,
    100.0,
    250.0,
    500.0,
    1_000.0,
    2_500.0,
    5_000.0,
    10_000.0,
    30_000.0,
    60_000.0,
    120_000.0,
    300_000.0,
    600_000.0,
    1_200_000.0,
    1_800_000.0,
    3_600_000.0,
];

/// What tells one concurrency limit from another.
const LIMIT_ATTRIBUTES: &[&str] = &[
    attribute::CONCURRENCY_COMPONENT,
    attribute::CONCURRENCY_LIMIT_NAME,
    attribute::SERVER_NAME,
];

/// Describes a metric of concurrency limits that is read when metrics are collected.
const fn of_limits(
    name: &'static str,
    kind: MetricKind,
    unit: &'static str,
    description: &'static str,
) -> MetricDescriptor {
    MetricDescriptor {
        name,
        kind,
        unit,
        description,
        attributes: LIMIT_ATTRIBUTES,
        bounds: &[],
    }
}

/// The configured slots of concurrency limits.
pub static CONCURRENCY_LIMIT: MetricDescriptor = of_limits(
    "gym.concurrency.limit",
    MetricKind::ObservableGauge,
    "{slot}",
    "Configured slots of concurrency limits",
);

/// The slots that are held.
pub static CONCURRENCY_ACTIVE: MetricDescriptor = of_limits(
    "gym.concurrency.active",
    MetricKind::ObservableGauge,
    "{slot}",
    "Slots held now",
);

/// The slots that are free.
pub static CONCURRENCY_AVAILABLE: MetricDescriptor = of_limits(
    "gym.concurrency.available",
    MetricKind::ObservableGauge,
    "{slot}",
    "Slots free now",
);

/// The callers that wait for a slot.
pub static CONCURRENCY_QUEUE_DEPTH: MetricDescriptor = of_limits(
    "gym.concurrency.queue_depth",
    MetricKind::ObservableGauge,
    "{caller}",
    "Callers waiting for a slot now",
);

/// The waits that ran out of their limit's admission timeout.
pub static CONCURRENCY_ADMISSION_TIMEOUTS: MetricDescriptor = of_limits(
    "gym.concurrency.admission_timeouts_total",
    MetricKind::ObservableCounter,
    "1",
    "Waits that outlived the admission timeout; only where a timeout is configured",
);

/// The waits that their callers gave up.
pub static CONCURRENCY_ADMISSION_CANCELLED: MetricDescriptor = of_limits(
    "gym.concurrency.admission_cancelled_total",
    MetricKind::ObservableCounter,
    "1",
    "Waits that their callers cancelled",
);

/// How long the caller that has waited longest has waited so far.
pub static CONCURRENCY_OLDEST_WAIT: MetricDescriptor = of_limits(
    "gym.concurrency.oldest_wait_ms",
    MetricKind::ObservableGauge,
    "ms",
    "Age of the oldest wait that is still going on",
);

/// The most slots that were held at once since the last export.
pub static CONCURRENCY_PEAK_ACTIVE: MetricDescriptor = of_limits(
    "gym.concurrency.peak_active",
    MetricKind::ObservableGauge,
    "{slot}",
    "Most slots held at once since the last export",
);

/// The most callers that waited at once since the last export.
pub static CONCURRENCY_PEAK_QUEUE_DEPTH: MetricDescriptor = of_limits(
    "gym.concurrency.peak_queue_depth",
    MetricKind::ObservableGauge,
    "{caller}",
    "Most callers waiting at once since the last export",
);

/// How long callers waited that found no free slot.
pub static CONCURRENCY_WAIT_DURATION: MetricDescriptor = MetricDescriptor {
    name: "gym.concurrency.wait_duration_ms",
    kind: MetricKind::Histogram,
    unit: "ms",
    description: "Duration of waits for a slot, by how they ended",
    attributes: &[
        attribute::CONCURRENCY_COMPONENT,
        attribute::CONCURRENCY_LIMIT_NAME,
        attribute::CONCURRENCY_WAIT_OUTCOME,
        attribute::SERVER_NAME,
    ],
    bounds: WAIT_BOUNDS_MS,
};

/// Every metric, sorted by name.
pub static ALL: &[&MetricDescriptor] = &[
    &CONCURRENCY_ACTIVE,
    &CONCURRENCY_ADMISSION_CANCELLED,
    &CONCURRENCY_ADMISSION_TIMEOUTS,
    &CONCURRENCY_AVAILABLE,
    &CONCURRENCY_LIMIT,
    &CONCURRENCY_OLDEST_WAIT,
    &CONCURRENCY_PEAK_ACTIVE,
    &CONCURRENCY_PEAK_QUEUE_DEPTH,
    &CONCURRENCY_QUEUE_DEPTH,
    &CONCURRENCY_WAIT_DURATION,
    &EVENT_LOOP_BUSY_RATIO,
    &EVENT_LOOP_LAG_MAX,
    &EVENT_LOOP_LAG,
    &EVENT_LOOP_TASKS,
    &HOST_MEMORY_AVAILABLE,
    &HOST_MEMORY_SAMPLED_PEAK,
    &HOST_MEMORY_TOTAL,
    &HOST_MEMORY_USAGE,
    &MODEL_CALL_DURATION,
    &MODEL_CALL_FINISH,
    &MODEL_CALL_TOKENS,
    &MODEL_CALL_TTFT,
    &ROLLOUT_COMPLETED,
    &ROLLOUT_DURATION,
    &SANDBOX_ACTIVE,
    &SANDBOX_CPU_COUNT,
    &SANDBOX_CPU_USED_PERCENTAGE,
    &SANDBOX_CREATE_RETRY,
    &SANDBOX_EXEC_DURATION,
    &SANDBOX_MEMORY_TOTAL,
    &SANDBOX_MEMORY_USED,
    &SANDBOX_SAMPLE_SKIPPED,
    &SANDBOX_STARTUP_DURATION,
    &SERVER_MEMORY_SAMPLED_PEAK,
    &SERVER_MEMORY_USAGE,
    &SERVER_PROCESSES,
    &SERVERS_ACTIVE,
    &VERIFY_DURATION,
    &VERIFY_SUCCESS_RATE,
    &HTTP_SERVER_REQUEST_DURATION,
    &SDK_EXPORTER_LOG_EXPORTED,
    &SDK_EXPORTER_METRIC_EXPORTED,
    &SDK_EXPORTER_OPERATION_DURATION,
    &SDK_EXPORTER_SPAN_EXPORTED,
    &SDK_METRIC_READER_COLLECTION_DURATION,
    &SDK_PROCESSOR_LOG_PROCESSED,
    &SDK_PROCESSOR_LOG_QUEUE_CAPACITY,
    &SDK_PROCESSOR_LOG_QUEUE_SIZE,
    &SDK_PROCESSOR_SPAN_PROCESSED,
    &SDK_PROCESSOR_SPAN_QUEUE_CAPACITY,
    &SDK_PROCESSOR_SPAN_QUEUE_SIZE,
    &SDK_SPAN_STARTED,
    &PROCESS_CPU_TIME,
    &PROCESS_MEMORY_USAGE,
    &PROCESS_OPEN_FILE_DESCRIPTOR_COUNT,
    &PROCESS_THREAD_COUNT,
];
