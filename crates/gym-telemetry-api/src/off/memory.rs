//! Memory that is not sampled.

use std::convert::Infallible;

use gym_telemetry_core::{MemoryPeaks, ProfiledServer};

/// Samples the memory of servers; in this build it never does.
#[derive(Debug)]
#[must_use = "it stops when it is dropped"]
pub struct MemoryProfiler(Infallible);

impl MemoryProfiler {
    /// Returns `None`, whatever the environment says.
    #[inline(always)]
    pub fn start(_servers: impl IntoIterator<Item = ProfiledServer>) -> Option<Self> {
        None
    }

    /// Takes a last sample and returns the highest of all.
    #[expect(
        clippy::must_use_candidate,
        reason = "that it stops may be all that is wanted"
    )]
    pub fn stop(&self) -> MemoryPeaks {
        match self.0 {}
    }
}
