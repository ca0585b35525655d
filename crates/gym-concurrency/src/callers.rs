//! How many slots are held and how many callers wait, in one word.
//!
//! Both change together when a waiting caller is granted its slot, at the price of one atomic addition.

use std::sync::atomic::{AtomicU64, Ordering};

/// Held slots in the low half, waiting callers in the high half.
///
/// Neither half overflows: a [`Limit`](crate::Limit) fits 32 bits, and so do the callers a machine can hold.
#[derive(Debug, Default)]
pub(crate) struct Callers(AtomicU64);

const ONE_WAITING: u64 = 1 << 32;

impl Callers {
    /// Counts `slots` held slots and returns how many are held now.
    #[inline]
    pub(crate) fn take(&self, slots: u32) -> usize {
        let slots = u64::from(slots);
        held(self.0.fetch_add(slots, Ordering::Relaxed) + slots)
    }

    #[inline]
    pub(crate) fn give_back(&self, slots: u32) {
        self.0.fetch_sub(u64::from(slots), Ordering::Relaxed);
    }

    /// Counts a caller that waits for one slot and returns how many wait now.
    pub(crate) fn join(&self) -> usize {
        waiting(self.0.fetch_add(ONE_WAITING, Ordering::Relaxed) + ONE_WAITING)
    }

    /// Turns a waiting caller into a held slot and returns how many are held now.
    pub(crate) fn grant(&self) -> usize {
        held(self.0.fetch_sub(ONE_WAITING - 1, Ordering::Relaxed) - (ONE_WAITING - 1))
    }

    pub(crate) fn give_up(&self) {
        self.0.fetch_sub(ONE_WAITING, Ordering::Relaxed);
    }

    /// Returns how many slots are held and how many callers wait.
    pub(crate) fn read(&self) -> (usize, usize) {
        let word = self.0.load(Ordering::Relaxed);
        (held(word), waiting(word))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
fn held(word: u64) -> usize {
    word as u32 as usize
}

fn waiting(word: u64) -> usize {
    held(word >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_counts_do_not_touch() {
        let callers = Callers::default();
        assert_eq!(callers.take(u32::MAX), u32::MAX as usize);
        assert_eq!(callers.join(), 1);
        assert_eq!(callers.read(), (u32::MAX as usize, 1));
        callers.give_back(u32::MAX);
        assert_eq!(callers.grant(), 1);
        assert_eq!(callers.read(), (1, 0));
        assert_eq!(callers.join(), 1);
        callers.give_up();
        assert_eq!(callers.read(), (1, 0));
    }
}
