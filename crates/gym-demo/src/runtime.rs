//! The application's runtime; telemetry has its own.

use tokio::runtime::{Builder, Runtime};

use crate::failure::Failure;

/// A process of this fleet does little but wait: two threads are plenty.
pub(crate) fn build() -> Result<Runtime, Failure> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::run(format!("cannot start the runtime: {error}")))
}
