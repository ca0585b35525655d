//! The callers of a semaphore that are not listed one by one, in one word.
//!
//! A caller that found a free slot is counted by its slots, from then until it gives them back. A caller that has
//! to wait for its one slot is counted as a caller, from when it comes until it gives the slot back: whether it
//! has the slot yet follows from how many slots the semaphore has handed out, so the grant need not be counted.

use crate::sync::{AtomicU64, Ordering};

/// Slots taken without waiting in the low half, callers that waited or wait in the high half.
///
/// Neither half overflows: a [`Limit`](crate::Limit) fits 32 bits, and so do the callers a machine can hold.
#[derive(Debug, Default)]
pub(crate) struct Callers(AtomicU64);

/// What a caller has taken, as it is counted.
#[must_use = "what is taken must be given back"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken(u64);

impl Taken {
    /// One slot that was waited for.
    pub(crate) const AFTER_WAITING: Self = Self(1 << 32);

    /// Slots that were free.
    #[inline]
    pub(crate) fn free(slots: u32) -> Self {
        Self(u64::from(slots))
    }

    /// How many slots it is.
    #[inline]
    pub(crate) fn slots(self) -> u32 {
        low(self.0) + low(self.0 >> 32)
    }
}

/// The counts of [`Callers`] at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Slots held by callers that did not wait.
    pub(crate) free: usize,
    /// Callers that wait for a slot, and callers that waited and hold one.
    pub(crate) waited: usize,
}

impl Callers {
    /// Counts a caller and returns the counts with it.
    #[inline]
    pub(crate) fn add(&self, taken: Taken) -> Counts {
        Counts::from_word(self.0.fetch_add(taken.0, Ordering::Relaxed) + taken.0)
    }

    /// Counts a caller no longer.
    #[inline]
    pub(crate) fn remove(&self, taken: Taken) {
        self.0.fetch_sub(taken.0, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Counts {
        Counts::from_word(self.0.load(Ordering::Relaxed))
    }
}

impl Counts {
    #[inline]
    fn from_word(word: u64) -> Self {
        Self {
            free: low(word) as usize,
            waited: low(word >> 32) as usize,
        }
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
fn low(word: u64) -> u32 {
    word as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(free: usize, waited: usize) -> Counts {
        Counts { free, waited }
    }

    #[test]
    fn the_two_counts_do_not_touch() {
        let callers = Callers::default();
        let all = Taken::free(u32::MAX);
        assert_eq!(callers.add(all), counts(u32::MAX as usize, 0));
        assert_eq!(
            callers.add(Taken::AFTER_WAITING),
            counts(u32::MAX as usize, 1)
        );
        callers.remove(all);
        assert_eq!(callers.read(), counts(0, 1));
        callers.remove(Taken::AFTER_WAITING);
        assert_eq!(callers.read(), counts(0, 0));
    }

    #[test]
    fn what_was_taken_knows_its_slots() {
        assert_eq!(Taken::free(7).slots(), 7);
        assert_eq!(Taken::AFTER_WAITING.slots(), 1);
    }
}
