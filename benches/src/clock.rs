//! The time a thread or a process spends on processors.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How long the calling thread has run.
#[must_use]
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// How long all threads of the process have run, one after the other.
#[must_use]
pub fn process_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
