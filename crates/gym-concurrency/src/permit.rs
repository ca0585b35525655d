//! Slots that a caller holds.

use std::sync::Arc;

use crate::callers::Taken;
use crate::semaphore::MeteredSemaphore;

/// Slots of a [`MeteredSemaphore`], held until this is dropped.
///
/// A panic, a cancelled task or an early return gives them back as well.
#[must_use = "a permit that is dropped at once limits nothing"]
#[derive(Debug)]
pub struct Permit<'a> {
    semaphore: &'a MeteredSemaphore,
    taken: Taken,
}

impl<'a> Permit<'a> {
    #[inline]
    pub(crate) fn new(semaphore: &'a MeteredSemaphore, taken: Taken) -> Self {
        Self { semaphore, taken }
    }

    /// Returns how many slots are held.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.taken.slots()
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.slots().give_back(self.taken);
    }
}

/// Slots of a shared [`MeteredSemaphore`], held until this is dropped; it can be moved into a task.
#[must_use = "a permit that is dropped at once limits nothing"]
#[derive(Debug)]
pub struct OwnedPermit {
    semaphore: Arc<MeteredSemaphore>,
    taken: Taken,
}

impl OwnedPermit {
    #[inline]
    pub(crate) fn new(semaphore: Arc<MeteredSemaphore>, taken: Taken) -> Self {
        Self { semaphore, taken }
    }

    /// Returns how many slots are held.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.taken.slots()
    }
}

impl Drop for OwnedPermit {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.slots().give_back(self.taken);
    }
}
