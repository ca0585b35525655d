//! What this process has settled on about sandboxes, and the runtime their sampler runs on.

use std::sync::OnceLock;
use std::time::Duration;

use crate::settings::Settings;

pub use tokio;

pub use crate::span::HeldError;

static SAMPLE_INTERVAL: OnceLock<Duration> = OnceLock::new();

/// The time between two readings of a sandbox, zero for none; `None` while telemetry is not started.
#[must_use]
pub fn sample_interval() -> Option<Duration> {
    SAMPLE_INTERVAL.get().copied()
}

/// Makes `settings` those of this process, unless it has some.
pub(crate) fn settle(settings: &Settings) {
    let seconds = settings.sandbox_resource_sample_interval_seconds;
    // A finite number beyond what a duration holds is as good as never.
    SAMPLE_INTERVAL.get_or_init(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
}
