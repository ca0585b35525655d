//! Metrics that are not recorded.

use std::time::Duration;

use gym_telemetry_core::outcome::{ModelCall, RolloutOutcome};

/// A clock for durations that only telemetry needs; in this build it never runs.
#[derive(Clone, Debug)]
#[must_use = "a stopwatch measures nothing unless it is read"]
pub struct Stopwatch(());

/// A stopwatch, without a call.
pub const STOPPED: Stopwatch = Stopwatch(());

impl Stopwatch {
    /// Returns a stopwatch that does not run.
    #[inline(always)]
    pub fn start() -> Stopwatch {
        STOPPED
    }

    /// Returns `None`.
    #[inline(always)]
    #[must_use]
    pub fn elapsed(&self) -> Option<Duration> {
        None
    }
}

/// Does nothing.
#[inline(always)]
pub fn record_rollout(_duration: Duration) {}

/// Does nothing.
#[inline(always)]
pub fn record_verify(_duration: Duration, _completed: bool) {}

/// Does nothing.
#[inline(always)]
pub fn record_active_servers(_count: u64) {}

/// Does nothing.
#[inline(always)]
pub fn record_model_call(_call: &ModelCall<'_>) {}

/// Does nothing.
#[inline(always)]
pub fn record_rollout_outcome(_outcome: RolloutOutcome<'_>) {}
