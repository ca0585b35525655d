//! Metrics of the process itself and of the runtime that it works on.

use super::{MetricDescriptor, MetricKind};
use crate::attribute;

/// Bounds of scheduling delays in milliseconds, from a tenth of one to five seconds.
pub const LAG_BOUNDS_MS: &[f64] = &[
    0.1, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 5_000.0,
];

/// Describes a metric without buckets.
const fn observed(
    name: &'static str,
    kind: MetricKind,
    unit: &'static str,
    description: &'static str,
    attributes: &'static [&'static str],
) -> MetricDescriptor {
    MetricDescriptor {
        name,
        kind,
        unit,
        description,
        attributes,
        bounds: &[],
    }
}

/// How long a task that was woken waited until it ran.
pub static EVENT_LOOP_LAG: MetricDescriptor = MetricDescriptor {
    name: "gym.event_loop.lag_ms",
    kind: MetricKind::Histogram,
    unit: "ms",
    description: "Time from when a task is woken to when it runs",
    attributes: &[],
    bounds: LAG_BOUNDS_MS,
};

/// The longest [`EVENT_LOOP_LAG`] since the last export, one that is still going on included.
pub static EVENT_LOOP_LAG_MAX: MetricDescriptor = observed(
    "gym.event_loop.lag_max_ms",
    MetricKind::ObservableGauge,
    "ms",
    "Longest time from when a task was woken to when it ran, since the last export",
    &[],
);

/// The tasks that have not ended.
pub static EVENT_LOOP_TASKS: MetricDescriptor = observed(
    "gym.event_loop.tasks",
    MetricKind::ObservableGauge,
    "{task}",
    "Tasks that have not ended",
    &[],
);

/// The share of the time since the last export in which the workers were busy.
pub static EVENT_LOOP_BUSY_RATIO: MetricDescriptor = observed(
    "gym.event_loop.busy_ratio",
    MetricKind::ObservableGauge,
    "1",
    "Share of the workers' time since the last export that was spent on tasks",
    &[],
);

/// The CPU time of the process.
pub static PROCESS_CPU_TIME: MetricDescriptor = observed(
    "process.cpu.time",
    MetricKind::ObservableCounter,
    "s",
    "CPU time of the process",
    &[attribute::CPU_MODE],
);

/// The memory of the process.
pub static PROCESS_MEMORY_USAGE: MetricDescriptor = observed(
    "process.memory.usage",
    MetricKind::ObservableUpDownCounter,
    "By",
    "Resident memory of the process",
    &[],
);

/// The file descriptors of the process.
pub static PROCESS_OPEN_FILE_DESCRIPTOR_COUNT: MetricDescriptor = observed(
    "process.open_file_descriptor.count",
    MetricKind::ObservableUpDownCounter,
    "{file_descriptor}",
    "File descriptors that the process has open",
    &[],
);

/// The threads of the process.
pub static PROCESS_THREAD_COUNT: MetricDescriptor = observed(
    "process.thread.count",
    MetricKind::ObservableUpDownCounter,
    "{thread}",
    "Threads of the process",
    &[],
);
