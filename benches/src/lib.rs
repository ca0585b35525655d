//! The same workloads on several stacks.
//!
//! - (a) a root and 100 children one after the other, each with a static string and an integer as attributes;
//! - (b) the same, each child a future that is pending once;
//! - (c) (a) on two threads at once;
//! - (d) one span without attributes.
//!
//! Every exporter counts what it gets and drops it. What is measured is the time of the thread that makes the spans.
#![forbid(unsafe_code)]

pub mod bare;
pub mod clock;
#[cfg(feature = "peers")]
pub mod collector;
pub mod executor;
pub mod ours;
#[cfg(feature = "peers")]
pub mod peers;
#[cfg(feature = "peers")]
gym_telemetry_api::if_telemetry!(items {
    pub mod recorder;
});
pub mod sites;

/// Children of a root in workloads (a), (b) and (c).
pub const CHILDREN: i64 = 100;

/// Spans that one run of workload (a) or (b) makes.
pub const SPANS: u64 = 101;

/// Names and attributes, the same for every stack.
pub mod names {
    /// The span around the children.
    pub const ROOT: &str = "root";
    /// The span of each child.
    pub const CHILD: &str = "child";
    /// The key of the static string.
    pub const WORD: &str = "bench.word";
    /// The key of the integer.
    pub const NUMBER: &str = "bench.number";
}

/// One way to record the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// How reports call it.
    pub name: &'static str,
    /// Workload (a).
    pub sequential: fn(),
    /// Workload (b).
    pub asynchronous: fn(),
    /// Workload (d).
    pub empty: fn(),
    /// Exports what was recorded, so that no queue overflows between measurements.
    pub flush: fn(),
    /// How many spans its exporter has got so far; `None` where nothing is to be exported.
    pub exported: Option<fn() -> u64>,
}

/// Every stack of this build, ready to record.
///
/// # Panics
///
/// If this process records already: the stacks are made once.
#[must_use]
pub fn stacks() -> Vec<Stack> {
    let mut stacks = vec![bare::stack()];
    stacks.extend(ours::stacks());
    #[cfg(feature = "peers")]
    stacks.extend(peers::stacks());
    stacks
}
