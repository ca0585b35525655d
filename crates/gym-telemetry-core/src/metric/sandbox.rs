//! Metrics of sandboxes.

use super::{MetricDescriptor, MetricKind};
use crate::attribute;

/// Bounds of sandbox durations in milliseconds, from a quarter of a second to half an hour.
pub const SANDBOX_BOUNDS_MS: &[f64] = &[
    250.0,
    500.0,
    1_000.0,
    2_000.0,
    5_000.0,
    10_000.0,
    30_000.0,
    60_000.0,
    120_000.0,
    300_000.0,
    600_000.0,
    1_800_000.0,
];

/// Describes a metric of sandboxes; all of them are told apart by provider alone.
const fn of_sandboxes(
    name: &'static str,
    kind: MetricKind,
    unit: &'static str,
    description: &'static str,
    bounds: &'static [f64],
) -> MetricDescriptor {
    MetricDescriptor {
        name,
        kind,
        unit,
        description,
        attributes: &[attribute::sandbox::PROVIDER],
        bounds,
    }
}

/// The sandboxes that this process has started and not stopped.
pub static SANDBOX_ACTIVE: MetricDescriptor = of_sandboxes(
    "gym.sandbox.active",
    MetricKind::UpDownCounter,
    "{sandbox}",
    "Sandboxes that were created and not stopped yet",
    &[],
);

/// How long sandboxes took to start.
pub static SANDBOX_STARTUP_DURATION: MetricDescriptor = of_sandboxes(
    "gym.sandbox.startup_duration_ms",
    MetricKind::Histogram,
    "ms",
    "Duration of successful starts of sandboxes",
    SANDBOX_BOUNDS_MS,
);

/// How long commands in sandboxes took.
pub static SANDBOX_EXEC_DURATION: MetricDescriptor = of_sandboxes(
    "gym.sandbox.exec_duration_ms",
    MetricKind::Histogram,
    "ms",
    "Duration of commands in sandboxes, failed ones included",
    SANDBOX_BOUNDS_MS,
);

/// How often a provider had to try again to create a sandbox.
pub static SANDBOX_CREATE_RETRY: MetricDescriptor = of_sandboxes(
    "gym.sandbox.create_retry_total",
    MetricKind::Counter,
    "1",
    "Further tries of a provider to create a sandbox",
    &[],
);

/// How many readings of sandboxes were left out because they could not start in time.
pub static SANDBOX_SAMPLE_SKIPPED: MetricDescriptor = of_sandboxes(
    "gym.sandbox.sample_skipped_total",
    MetricKind::Counter,
    "1",
    "Readings that could not start within their interval",
    &[],
);

/// The newest reading of the number of CPUs.
pub static SANDBOX_CPU_COUNT: MetricDescriptor = of_sandboxes(
    "gym.sandbox.cpu_count",
    MetricKind::Gauge,
    "{cpu}",
    "CPUs in the newest reading of a live sandbox",
    &[],
);

/// The newest reading of the use of the CPUs.
pub static SANDBOX_CPU_USED_PERCENTAGE: MetricDescriptor = of_sandboxes(
    "gym.sandbox.cpu_used_percentage",
    MetricKind::Gauge,
    "%",
    "Busy share of the CPUs in the newest reading of a live sandbox",
    &[],
);

/// The newest reading of the memory that there is.
pub static SANDBOX_MEMORY_TOTAL: MetricDescriptor = of_sandboxes(
    "gym.sandbox.memory_total_mib",
    MetricKind::Gauge,
    "MiBy",
    "Total memory in the newest reading of a live sandbox",
    &[],
);

/// The newest reading of the memory in use.
pub static SANDBOX_MEMORY_USED: MetricDescriptor = of_sandboxes(
    "gym.sandbox.memory_used_mib",
    MetricKind::Gauge,
    "MiBy",
    "Memory in use in the newest reading of a live sandbox",
    &[],
);
