//! The time a thread spends on a processor.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How long the calling thread has run.
#[must_use]
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
