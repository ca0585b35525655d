//! Durations that only telemetry needs.

use std::time::{Duration, Instant};

use gym_telemetry_otel::facade::is_exporting_process;

/// A clock for durations that only telemetry needs; [`stopwatch!`](crate::stopwatch) starts one.
///
/// It runs only if the process exported telemetry when it was started.
///
/// # Off build
///
/// It never runs.
#[derive(Clone, Debug)]
#[must_use = "a stopwatch measures nothing unless it is read"]
pub struct Stopwatch(Option<Instant>);

impl Stopwatch {
    /// Starts the clock if the process exports telemetry.
    pub fn start() -> Stopwatch {
        Stopwatch(is_exporting_process().then(Instant::now))
    }

    /// Returns the time since the start, or `None` if the clock does not run.
    #[must_use]
    pub fn elapsed(&self) -> Option<Duration> {
        self.0.map(|start| start.elapsed())
    }
}
