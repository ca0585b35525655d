//! Metrics of the memory of servers and of their machine.

use super::{MetricDescriptor, MetricKind};
use crate::attribute;

/// Describes a gauge that is read when metrics are collected.
const fn gauge(
    name: &'static str,
    unit: &'static str,
    description: &'static str,
    attributes: &'static [&'static str],
) -> MetricDescriptor {
    MetricDescriptor {
        name,
        kind: MetricKind::ObservableGauge,
        unit,
        description,
        attributes,
        bounds: &[],
    }
}

/// What tells the memory of one server from another's.
const MEMORY_ATTRIBUTES: &[&str] = &[
    attribute::SERVER_NAME,
    attribute::SERVER_TYPE,
    attribute::PROCESS_PID,
    attribute::MEMORY_TYPE,
];

/// The memory of a server and of all that it has started, in the newest sample.
pub static SERVER_MEMORY_USAGE: MetricDescriptor = gauge(
    "gym.server.memory.usage",
    "By",
    "Memory of the processes of a server, in the newest sample",
    MEMORY_ATTRIBUTES,
);

/// The highest [`SERVER_MEMORY_USAGE`] of any sample.
pub static SERVER_MEMORY_SAMPLED_PEAK: MetricDescriptor = gauge(
    "gym.server.memory.sampled_peak",
    "By",
    "Highest sample of the memory of a server's processes so far",
    MEMORY_ATTRIBUTES,
);

/// How many processes a server is, in the newest sample.
pub static SERVER_PROCESSES: MetricDescriptor = gauge(
    "gym.server.processes",
    "{process}",
    "Processes of a server, itself included, in the newest sample",
    &[
        attribute::SERVER_NAME,
        attribute::SERVER_TYPE,
        attribute::PROCESS_PID,
    ],
);

/// The memory of the machine that is in use, in the newest sample.
pub static HOST_MEMORY_USAGE: MetricDescriptor = gauge(
    "gym.host.memory.usage",
    "By",
    "Memory of the machine that is not available, in the newest sample",
    &[],
);

/// The memory of the machine that programs could still get, in the newest sample.
pub static HOST_MEMORY_AVAILABLE: MetricDescriptor = gauge(
    "gym.host.memory.available",
    "By",
    "Memory of the machine that is available, in the newest sample",
    &[],
);

/// The memory of the machine.
pub static HOST_MEMORY_TOTAL: MetricDescriptor =
    gauge("gym.host.memory.total", "By", "Memory of the machine", &[]);

/// The highest [`HOST_MEMORY_USAGE`] of any sample.
pub static HOST_MEMORY_SAMPLED_PEAK: MetricDescriptor = gauge(
    "gym.host.memory.sampled_peak",
    "By",
    "Highest sample of the memory of the machine that is not available so far",
    &[],
);
