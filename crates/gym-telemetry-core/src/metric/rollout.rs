//! Metrics of rollouts.

use super::{DURATION_BOUNDS_MS, MetricDescriptor, MetricKind};
use crate::attribute;

/// How long each rollout took, failed ones included.
pub static ROLLOUT_DURATION: MetricDescriptor = MetricDescriptor {
    name: "gym.rollout.duration_ms",
    kind: MetricKind::Histogram,
    unit: "ms",
    description: "Duration of rollouts, failed ones included",
    attributes: &[],
    bounds: DURATION_BOUNDS_MS,
};

/// What came of each rollout.
pub static ROLLOUT_COMPLETED: MetricDescriptor = MetricDescriptor {
    name: "gym.rollout.completed_total",
    kind: MetricKind::Counter,
    unit: "{rollout}",
    description: "Rollouts that ended, by what came of them",
    attributes: &[
        attribute::FAILURE_CLASS,
        attribute::FAILURE_REASON,
        attribute::ROLLOUT_OUTCOME,
    ],
    bounds: &[],
};
