//! What a semaphore is built from: tokio's semaphore, its clock and its budget, and the standard library's locks.
//!
//! They are named in this one place so that the models can put others there that try every interleaving.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use tokio::sync::{AcquireError, Notify, Semaphore, SemaphorePermit, TryAcquireError};
pub(crate) use tokio::task::coop::poll_proceed;
pub(crate) use tokio::time::timeout;
