//! Concurrency limits that say why work waits.
//!
//! A wait for a slot tells that work waited, not why. "Limit 100, active 100, queued 75" tells why: the limit is
//! full and work piles up behind it. [`MeteredSemaphore`] is `tokio::sync::Semaphore` for limits that somebody
//! configured, and keeps these numbers: for its owner at any time, and for a collector whenever metrics are
//! exported.
//!
//! ```
//! use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};
//!
//! let rollouts = MeteredSemaphore::new(2, ConcurrencyComponent::RolloutDriver, "rollouts")?;
//! let (first, second) = (rollouts.try_acquire()?, rollouts.try_acquire()?);
//! assert!(rollouts.try_acquire().is_err_and(|error| error.is_full()));
//! assert_eq!((rollouts.limit(), rollouts.active(), rollouts.available()), (2, 2, 0));
//! # drop((first, second));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is exported
//!
//! | metric | what it says |
//! |---|---|
//! | `gym.concurrency.limit`, `.active`, `.available`, `.queue_depth` | the state now |
//! | `gym.concurrency.oldest_wait_ms` | how long the first in line has waited so far |
//! | `gym.concurrency.peak_active`, `.peak_queue_depth` | the most since the last export |
//! | `gym.concurrency.wait_duration_ms` | how long callers waited, by how it ended |
//! | `gym.concurrency.admission_timeouts_total`, `.admission_cancelled_total` | waits that ended without a slot |
//!
//! Every point carries the component, the limit's name and, where a server owns the limit, the server's name.
//! Limits that share all three are summed; of their oldest waits the oldest counts. A dropped limit is gone with
//! the next export; its counters go on where they were when a limit of the same names comes back.
//!
//! Taking, waiting for and giving back a slot makes no OpenTelemetry call and takes no lock of this crate. Callers of a
//! limit that somebody ever waited for several slots of at once take one when they have to wait.
//!
//! # Features
//!
//! - `telemetry`: exports the state of every limit. Without it a semaphore still limits, times out and answers,
//!   and holds nothing beyond its counters.
#![forbid(unsafe_code)]

mod callers;
mod component;
mod error;
mod limit;
mod metering;
mod permit;
mod semaphore;
mod slots;
mod sync;
mod waiters;
mod waiting;

pub use component::ConcurrencyComponent;
pub use error::AcquireError;
pub use limit::{Limit, LimitError};
pub use permit::{OwnedPermit, Permit};
pub use semaphore::MeteredSemaphore;
