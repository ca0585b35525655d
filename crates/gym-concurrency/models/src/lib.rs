//! `MeteredSemaphore` over shuttle's scheduler, locks and atomics, for the models in `tests`.
//!
//! The semaphore is the one of `gym-concurrency`: these are its source files. What differs is `sync`, which names
//! what they are built from, and `metering`, which counts for the models instead of exporting. So neither the
//! semaphore's package nor anybody who depends on it knows of shuttle.
//!
//! Shuttle runs tasks one at a time and switches between them wherever they touch an atomic, a lock or tokio's
//! semaphore. It does not reorder memory accesses, and its semaphore does not park a part of what a caller of
//! several slots asked for; the tests of `gym-concurrency` cover that on tokio's own.
#![forbid(unsafe_code)]

#[path = "../../src/metering/on/arrivals.rs"]
mod arrivals;
#[path = "../../src/callers.rs"]
mod callers;
#[path = "../../src/component.rs"]
mod component;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/limit.rs"]
mod limit;
mod metering;
#[path = "../../src/permit.rs"]
mod permit;
#[path = "../../src/semaphore.rs"]
mod semaphore;
#[path = "../../src/slots.rs"]
mod slots;
mod sync;
#[path = "../../src/waiters.rs"]
mod waiters;
#[path = "../../src/waiting.rs"]
mod waiting;

pub use component::ConcurrencyComponent;
pub use error::AcquireError;
pub use limit::{Limit, LimitError};
pub use metering::EXPORTED;
pub use permit::{OwnedPermit, Permit};
pub use semaphore::MeteredSemaphore;
