//! What a sandbox used at one moment.

/// One reading of a sandbox, as its provider took it.
///
/// All values are of one moment: no CPU time, no peak. What the provider did not say is `None`, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// The provider's own time, untouched, in milliseconds since the Unix epoch.
    pub timestamp_ms: Option<i64>,
    /// The CPUs that the reading counts.
    pub cpu_count: Option<f64>,
    /// The busy share of the CPUs, in per cent.
    pub cpu_used_percentage: Option<f64>,
    /// The memory that there is, in MiB.
    pub memory_total_mib: Option<f64>,
    /// The memory in use, in MiB.
    pub memory_used_mib: Option<f64>,
}
