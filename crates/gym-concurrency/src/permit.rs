//! Slots that a caller holds.

use std::sync::Arc;

use crate::semaphore::MeteredSemaphore;

/// Slots of a [`MeteredSemaphore`], held until this is dropped.
///
/// A panic, a cancelled task or an early return gives them back as well.
#[must_use = "a permit that is dropped at once limits nothing"]
#[derive(Debug)]
pub struct Permit<'a> {
    semaphore: &'a MeteredSemaphore,
    slots: u32,
}

impl<'a> Permit<'a> {
    pub(crate) fn new(semaphore: &'a MeteredSemaphore, slots: u32) -> Self {
        Self { semaphore, slots }
    }

    /// Returns how many slots are held.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.slots
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.slots().give_back(self.slots);
    }
}

/// Slots of a shared [`MeteredSemaphore`], held until this is dropped; it can be moved into a task.
#[must_use = "a permit that is dropped at once limits nothing"]
#[derive(Debug)]
pub struct OwnedPermit {
    semaphore: Arc<MeteredSemaphore>,
    slots: u32,
}

impl OwnedPermit {
    pub(crate) fn new(semaphore: Arc<MeteredSemaphore>, slots: u32) -> Self {
        Self { semaphore, slots }
    }

    /// Returns how many slots are held.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.slots
    }
}

impl Drop for OwnedPermit {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.slots().give_back(self.slots);
    }
}
