//! When callers that are only counted came, a word for each.
//!
//! A caller leaves its moment in a place that is free, and clears the place once it waits no longer. No lock is needed and
//! no order is kept: moments have an order of their own.

use std::sync::OnceLock;

use crate::sync::{AtomicU64, AtomicUsize, Ordering};

/// Places of the first block; each further one has eight times as many.
const FIRST: usize = 64;
/// Enough for as many callers as [`Callers`](crate::callers::Callers) counts.
const BLOCKS: usize = 10;

/// The moments at which waiting callers came.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    blocks: [OnceLock<Box<Block>>; BLOCKS],
}

#[derive(Debug)]
struct Block {
    /// Where to look for a free place first: behind the one that was taken last, because callers leave in the order in
    /// which they came.
    next: AtomicUsize,
    /// Moments; zero where the place is free.
    places: Box<[AtomicU64]>,
}

/// Where a caller left its moment.
#[derive(Clone, Copy, Debug)]
#[must_use = "the place is taken until it is cleared"]
pub(crate) struct Arrival<'a>(&'a AtomicU64);

impl Arrivals {
    /// Keeps the moment of a caller that has to wait. `counted` is how many callers there were when it was counted,
    /// itself among them; it stays counted until its place is clear.
    ///
    /// A moment is not zero.
    pub(crate) fn arrive(&self, counted: usize, moment: u64) -> Arrival<'_> {
        let number = block_for(counted);
        let block = self.blocks[number].get_or_init(|| Box::new(Block::new(number)));
        let mut at = block.next.load(Ordering::Relaxed);
        // Whoever has a place in this block and was counted last was counted when the others already were, and chose a
        // block of twice as many places: at least half of them are free.
        loop {
            let place = &block.places[at & (block.places.len() - 1)];
            at = at.wrapping_add(1);
            if place.load(Ordering::Relaxed) == 0
                && place
                    .compare_exchange(0, moment, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
            {
                block.next.store(at, Ordering::Relaxed);
                return Arrival(place);
            }
        }
    }

    /// Returns when the first of the last `queued` callers came; `None` if there is none or its moment is not known.
    ///
    /// The callers that came before these have been granted a slot and have not run since.
    pub(crate) fn first_of_last(&self, queued: usize) -> Option<u64> {
        if queued == 0 {
            return None;
        }
        let blocks = self.blocks.iter().filter_map(OnceLock::get);
        let mut moments: Vec<u64> = blocks
            .flat_map(|block| &block.places)
            .map(|place| place.load(Ordering::Relaxed))
            .filter(|&moment| moment != 0)
            .collect();
        if moments.is_empty() {
            return None;
        }
        let granted = moments.len().saturating_sub(queued);
        Some(*moments.select_nth_unstable(granted).1)
    }
}

impl Arrival<'_> {
    /// Clears the place and returns the moment.
    #[inline]
    pub(crate) fn depart(self) -> u64 {
        let moment = self.0.load(Ordering::Relaxed);
        self.0.store(0, Ordering::Relaxed);
        moment
    }
}

impl Block {
    fn new(number: usize) -> Self {
        let places = FIRST << (3 * number);
        Self {
            next: AtomicUsize::new(0),
            places: (0..places).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

/// Which block has at least twice as many places as there are callers.
#[inline]
fn block_for(callers: usize) -> usize {
    match callers {
        0..=32 => 0,
        _ => ((callers - 1).ilog2() as usize - 5) / 3 + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_at_most_half_full() {
        for callers in [
            1,
            32,
            33,
            256,
            257,
            2_048,
            2_049,
            1 << 20,
            u32::MAX as usize,
        ] {
            let number = block_for(callers);
            assert!(
                number < BLOCKS && FIRST << (3 * number) >= 2 * callers,
                "{callers}"
            );
            assert!(
                number == 0 || FIRST << (3 * number) < 32 * callers,
                "{callers}"
            );
        }
    }

    #[test]
    fn callers_at_the_front_that_were_granted_a_slot_wait_no_longer() {
        let arrivals = Arrivals::default();
        let places: Vec<_> = (1..=3)
            .map(|moment| arrivals.arrive(3, 10 * moment))
            .collect();
        assert_eq!(arrivals.first_of_last(3), Some(10));
        assert_eq!(arrivals.first_of_last(2), Some(20));
        assert_eq!(arrivals.first_of_last(0), None);
        // Some that wait came before anybody kept moments.
        assert_eq!(arrivals.first_of_last(5), Some(10));
        assert_eq!(places[1].depart(), 20);
        assert_eq!(arrivals.first_of_last(1), Some(30));
        assert_eq!(arrivals.first_of_last(2), Some(10));
    }

    #[test]
    fn places_are_used_again_around_those_that_stay() {
        let arrivals = Arrivals::default();
        let stuck: Vec<_> = (1..=31).map(|moment| arrivals.arrive(32, moment)).collect();
        for moment in 100..10_000 {
            assert_eq!(arrivals.arrive(32, moment).depart(), moment);
        }
        assert!(arrivals.blocks[1].get().is_none());
        assert_eq!(arrivals.first_of_last(31), Some(1));
        for (place, moment) in stuck.into_iter().zip(1..) {
            assert_eq!(place.depart(), moment);
        }
        assert_eq!(arrivals.first_of_last(1), None);
    }

    #[test]
    fn a_place_is_one_callers_alone() {
        let arrivals = Arrivals::default();
        std::thread::scope(|scope| {
            for first in [1, 2] {
                let arrivals = &arrivals;
                scope.spawn(move || {
                    for moment in (first..200_000).step_by(2) {
                        assert_eq!(arrivals.arrive(2, moment).depart(), moment);
                    }
                });
            }
        });
        assert_eq!(arrivals.first_of_last(1), None);
    }

    #[test]
    fn many_callers_have_a_place_each() {
        let arrivals = Arrivals::default();
        for callers in 1..=3_000 {
            let _ = arrivals.arrive(callers, callers as u64);
        }
        assert_eq!(arrivals.first_of_last(3_000), Some(1));
        assert_eq!(arrivals.first_of_last(1), Some(3_000));
    }
}
