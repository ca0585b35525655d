//! The waits of one limit between two collections.
//!
//! A limit under load can see a million waits between two exports. Instead of keeping each of them the log
//! keeps, for every bucket of the exported histogram, how many there were and their sum: memory is fixed,
//! nothing is lost, and the exported counts and sums are exact.
//!
//! Whoever waited adds to one word, and the collecting thread takes it: neither waits for the other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use gym_telemetry_api::__private::Histogram;
use gym_telemetry_core::metric::WAIT_BOUNDS_MS;

use crate::slots::WaitOutcome;

const OUTCOMES: [WaitOutcome; 4] =
    [WaitOutcome::Granted, WaitOutcome::Timeout, WaitOutcome::Cancelled, WaitOutcome::Closed];
const BUCKETS: usize = WAIT_BOUNDS_MS.len() + 1;
/// The upper bounds of all buckets but the last, in nanoseconds.
const BOUNDS: [u64; BUCKETS - 1] = bounds();

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive")]
const fn bounds() -> [u64; BUCKETS - 1] {
    let mut bounds = [0; BUCKETS - 1];
    let mut index = 0;
    while index < bounds.len() {
        bounds[index] = (WAIT_BOUNDS_MS[index] * 1e6) as u64;
        index += 1;
    }
    bounds
}

/// How long callers waited, by outcome and bucket.
#[derive(Debug, Default)]
pub(super) struct WaitLog {
    outcomes: [OnceLock<Box<Buckets>>; OUTCOMES.len()],
}

#[derive(Debug, Default)]
struct Buckets {
    buckets: [Bucket; BUCKETS],
    /// What the words of the buckets have no room for.
    rest: Mutex<[Total; BUCKETS]>,
}

/// The waits of one bucket: how many in the low bits, the sum of their nanoseconds above.
///
/// In one word, so that whoever reads it finds the sum of just the waits that are counted.
#[derive(Debug)]
struct Bucket {
    word: AtomicU64,
    least: AtomicU64,
    most: AtomicU64,
}

const COUNT_BITS: u32 = 20;
/// A word that has this many waits is emptied, and one whose sum is this long, in nanoseconds: with the upper half or more
/// of its room left for those who come before that is done.
const MANY: u64 = 1 << (COUNT_BITS - 1);
const LONG: u64 = 1 << 40;
/// A wait of more than a minute goes past the word.
const LONGEST: u64 = 1 << 36;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Total {
    count: u64,
    sum: u64,
}

impl WaitLog {
    pub(super) fn add(&self, nanoseconds: u64, outcome: WaitOutcome) {
        self.outcomes[outcome as usize].get_or_init(Box::default).add(nanoseconds);
    }

    /// Takes everything out and records it in the histograms that `histogram` returns for an outcome.
    pub(super) fn record(&self, mut histogram: impl FnMut(WaitOutcome, &dyn Fn(&Histogram))) {
        for (outcome, buckets) in OUTCOMES.into_iter().zip(&self.outcomes) {
            let Some(buckets) = buckets.get() else { continue };
            let taken = buckets.take();
            if taken.iter().any(|bucket| bucket.total.count > 0) {
                histogram(outcome, &|histogram| {
                    for bucket in &taken {
                        bucket.record(|nanoseconds| histogram.record(nanoseconds / 1e6));
                    }
                });
            }
        }
    }
}

impl Buckets {
    fn add(&self, nanoseconds: u64) {
        // A bound belongs to the bucket below it.
        let index = BOUNDS.partition_point(|&bound| bound < nanoseconds);
        let bucket = &self.buckets[index];
        // Before the word: whoever takes a wait from there finds its length here.
        bucket.stretch(nanoseconds);
        if nanoseconds > LONGEST {
            self.move_to_rest(index, Total { count: 1, sum: nanoseconds });
            return;
        }
        let total = Total::from_word(bucket.word.fetch_add(nanoseconds << COUNT_BITS | 1, Ordering::Release));
        if total.count >= MANY || total.sum >= LONG {
            self.move_to_rest(index, bucket.take());
        }
    }

    #[cold]
    fn move_to_rest(&self, index: usize, total: Total) {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)[index].add(total);
    }

    fn take(&self) -> [Taken; BUCKETS] {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        std::array::from_fn(|index| {
            let bucket = &self.buckets[index];
            let mut total = std::mem::take(&mut rest[index]);
            total.add(bucket.take());
            if total.count == 0 {
                return Taken::default();
            }
            Taken {
                total,
                least: bucket.least.swap(u64::MAX, Ordering::Relaxed),
                most: bucket.most.swap(0, Ordering::Relaxed),
            }
        })
    }
}

impl Default for Bucket {
    fn default() -> Self {
        Self { word: AtomicU64::new(0), least: AtomicU64::new(u64::MAX), most: AtomicU64::new(0) }
    }
}

impl Bucket {
    /// Keeps the shortest and the longest wait; most waits are neither.
    #[inline]
    fn stretch(&self, nanoseconds: u64) {
        if nanoseconds < self.least.load(Ordering::Relaxed) {
            self.least.fetch_min(nanoseconds, Ordering::Relaxed);
        }
        if nanoseconds > self.most.load(Ordering::Relaxed) {
            self.most.fetch_max(nanoseconds, Ordering::Relaxed);
        }
    }

    fn take(&self) -> Total {
        Total::from_word(self.word.swap(0, Ordering::Acquire))
    }
}

impl Total {
    #[inline]
    fn from_word(word: u64) -> Self {
        Self { count: word & ((1 << COUNT_BITS) - 1), sum: word >> COUNT_BITS }
    }

    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.sum += other.sum;
    }
}

/// What one bucket had, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    total: Total,
    least: u64,
    most: u64,
}

impl Taken {
    /// Records as many values as there were waits, with the same sum and, unless a wait was being added just now, the same
    /// least and most.
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 waits, and nanoseconds of three months")]
    fn record(&self, mut record: impl FnMut(f64)) {
        let Total { count, sum } = self.total;
        let (number, sum) = (count as f64, sum as f64);
        let mean = sum / number;
        // The bounds of a wait that is not counted yet may be here, and those of one that is counted may have been taken.
        let (least, most) = ((self.least as f64).min(mean), (self.most as f64).max(mean));
        match count {
            0 => {}
            1 => record(sum),
            2 => [least, sum - least].into_iter().for_each(record),
            _ => {
                let inner = (sum - least - most) / (number - 2.0);
                let (least, most, inner) =
                    if (least..=most).contains(&inner) { (least, most, inner) } else { (mean, mean, mean) };
                record(least);
                record(most);
                (2..count).for_each(|_| record(inner));
            }
        }
    }
}

impl WaitOutcome {
    /// Returns the outcome's name on the wire.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Closed => "closed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(log: &WaitLog, outcome: WaitOutcome) -> Total {
        let buckets = log.outcomes[outcome as usize].get().expect("somebody waited");
        let mut sum = Total::default();
        buckets.take().iter().for_each(|taken| sum.add(taken.total));
        sum
    }

    fn recorded(waits: &[u64]) -> Vec<f64> {
        let buckets = Buckets::default();
        for &wait in waits {
            buckets.add(wait);
        }
        let mut values = Vec::new();
        buckets.take().iter().for_each(|taken| taken.record(|value| values.push(value)));
        values.sort_by(f64::total_cmp);
        values
    }

    #[test]
    fn values_have_the_count_the_sum_and_both_ends_of_the_waits() {
        assert_eq!(recorded(&[7]), [7.0]);
        assert_eq!(recorded(&[3, 8]), [3.0, 8.0]);
        assert_eq!(recorded(&[1, 2, 6, 6, 10]), [1.0, 14.0 / 3.0, 14.0 / 3.0, 14.0 / 3.0, 10.0]);
        // A bound belongs to the bucket below it.
        assert_eq!(recorded(&[900_000, 1_000_000, 1_000_001]), [900_000.0, 1_000_000.0, 1_000_001.0]);
        let day = 86_400_000_000_000;
        assert_eq!(recorded(&[day, day]), [86_400e9, 86_400e9]);
    }

    #[test]
    fn a_wait_that_is_not_counted_yet_does_not_change_a_sum() {
        let mut values = Vec::new();
        let total = Total { count: 3, sum: 30 };
        Taken { total, least: 1, most: 900 }.record(|value| values.push(value));
        assert_eq!(values, [10.0, 10.0, 10.0]);
        values.clear();
        Taken { total, least: u64::MAX, most: 0 }.record(|value| values.push(value));
        assert_eq!(values, [10.0, 10.0, 10.0]);
    }

    #[test]
    fn nothing_is_lost_when_a_word_is_full() {
        let log = WaitLog::default();
        let (count, minute) = (3 * MANY, 60_000_000_000);
        for _ in 0..count {
            log.add(1_000, WaitOutcome::Granted);
        }
        assert_eq!(total(&log, WaitOutcome::Granted), Total { count, sum: 1_000 * count });
        for _ in 0..1_000 {
            log.add(minute, WaitOutcome::Timeout);
        }
        assert_eq!(total(&log, WaitOutcome::Timeout), Total { count: 1_000, sum: 1_000 * minute });
    }

    #[test]
    fn what_is_added_while_it_is_taken_is_counted_once() {
        const WAITS: u64 = 200_000;
        let log = WaitLog::default();
        log.add(1, WaitOutcome::Granted);
        let mut sum = Total::default();
        std::thread::scope(|scope| {
            let threads = [(); 2].map(|()| {
                scope.spawn(|| (0..WAITS).for_each(|wait| log.add(wait, WaitOutcome::Granted)))
            });
            while threads.iter().any(|thread| !thread.is_finished()) {
                sum.add(total(&log, WaitOutcome::Granted));
            }
        });
        sum.add(total(&log, WaitOutcome::Granted));
        assert_eq!(sum, Total { count: 2 * WAITS + 1, sum: WAITS * (WAITS - 1) + 1 });
    }
}
