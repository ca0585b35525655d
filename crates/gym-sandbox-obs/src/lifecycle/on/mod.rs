//! Compiled in: every step is a span, sandboxes are counted, and readers are sampled.

mod identity;
mod provider;
mod records;
mod request;
mod sampler;
mod sandbox;
mod start;

pub use self::request::{RequestBuilder, SandboxRequest};
pub use self::sampler::set_max_reads_in_flight;
pub use self::sandbox::{BorrowedSandbox, SandboxObservation};
pub use self::start::SandboxStart;
