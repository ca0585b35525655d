//! Metric descriptors.
//!
//! One static per metric holds all that is fixed about it, so that instruments, documentation and tests cannot
//! disagree. A descriptor costs nothing until the back end makes an instrument of it.

use crate::attribute;

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

/// How long each rollout took, failed ones included.
pub static ROLLOUT_DURATION: MetricDescriptor = MetricDescriptor {
    name: "gym.rollout.duration_ms",
    kind: MetricKind::Histogram,
    unit: "ms",
    description: "Duration of rollouts, failed ones included",
    attributes: &[],
    bounds: DURATION_BOUNDS_MS,
};

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

/// Always 1, and only sent to try whether metrics arrive.
pub static PROBE: MetricDescriptor = MetricDescriptor {
    name: "gym.telemetry.probe",
    kind: MetricKind::Gauge,
    unit: "",
    description: "Sent to try whether metrics arrive",
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

/// Every metric, sorted by name.
pub static ALL: [&MetricDescriptor; 6] = [
    &ROLLOUT_DURATION,
    &SERVERS_ACTIVE,
    &PROBE,
    &VERIFY_DURATION,
    &VERIFY_SUCCESS_RATE,
    &HTTP_SERVER_REQUEST_DURATION,
];
