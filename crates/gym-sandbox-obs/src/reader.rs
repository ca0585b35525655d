//! The capability of a provider to be read.

use std::fmt;
use std::pin::Pin;

use crate::allocation::Allocation;
use crate::sample::Sample;
use crate::unavailable::Unavailable;

/// A reading under way.
pub type Reading<'a, T> = Pin<Box<dyn Future<Output = Result<T, Unavailable>> + Send + 'a>>;

/// Reads the resources of one sandbox.
///
/// A provider that cannot be read has no reader: its sandboxes are recorded without resources. A reading never
/// falls back to what was declared. It is polled on the sampler's own thread inside a tokio runtime with
/// networking and timers, must not block that thread, and is dropped when it takes longer than two seconds.
/// A panic in it loses that reading.
///
/// ```
/// use gym_sandbox_obs::{Allocation, Reading, ResourceReader, Sample, Unavailable};
///
/// #[derive(Debug)]
/// struct Fixed;
///
/// impl ResourceReader for Fixed {
///     fn allocation_source(&self) -> &'static str {
///         "fixed"
///     }
///     fn sample_source(&self) -> &'static str {
///         "fixed"
///     }
///     fn allocation(&self) -> Reading<'_, Allocation> {
///         Box::pin(async { Err(Unavailable::NoSupportedResources) })
///     }
///     fn sample(&self) -> Reading<'_, Sample> {
///         Box::pin(async { Ok(Sample { memory_used_mib: Some(12.5), ..Sample::default() }) })
///     }
/// }
/// ```
pub trait ResourceReader: fmt::Debug + Send + Sync + 'static {
    /// Names where allocations come from: the value of `resource.source`.
    fn allocation_source(&self) -> &'static str;

    /// Names where samples come from: the value of `resource.source`.
    fn sample_source(&self) -> &'static str;

    /// Gets ready for samples, such as by finding out where to ask. Called once, before the first sample.
    fn prepare(&self) -> Reading<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Reads what the sandbox was given.
    fn allocation(&self) -> Reading<'_, Allocation>;

    /// Reads what the sandbox uses now.
    fn sample(&self) -> Reading<'_, Sample>;
}
