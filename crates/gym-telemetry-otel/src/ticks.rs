//! A clock for durations that are measured where every nanosecond counts, such as the waits for a limit.
//!
//! It counts the ticks of the processor's time stamp counter where that can be trusted, which takes a third of the time that
//! the operating system's clock does; elsewhere, nanoseconds. What a tick lasts is measured against the system's monotonic
//! clock: when it is first needed, over and over until that was over a long enough time, and whenever somebody has it
//! measured again. So a machine that was suspended is wrong about one period at most.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

use crate::recorder::tsc;

static TICKS: LazyLock<Ticks> = LazyLock::new(|| Ticks::new(tsc::is_reliable()));

/// A tick that was measured over so many nanoseconds is measured well.
const BASELINE: u64 = 1_000_000_000;

/// Returns the present moment, in ticks; never zero.
#[inline]
#[must_use]
pub fn now() -> u64 {
    TICKS.now()
}

/// Returns how many nanoseconds there are from one moment to a later one; zero if it is not later.
#[inline]
#[must_use]
pub fn nanoseconds(earlier: u64, later: u64) -> u64 {
    TICKS.nanoseconds(earlier, later)
}

/// Measures anew what a tick lasts. To be called now and then, by somebody who has time.
pub fn measure() {
    TICKS.measure(true);
}

#[derive(Debug)]
struct Ticks {
    is_counter: bool,
    origin: Instant,
    /// Nanoseconds per tick: the bits of a floating point number.
    length: AtomicU64,
    /// From which moment on it is to be measured by whoever needs it.
    due: AtomicU64,
    last: Mutex<Last>,
}

/// The last measurement.
#[derive(Debug)]
struct Last {
    at: Reading,
    /// Over how many nanoseconds ticks were measured; zero: not at all.
    baseline: u64,
}

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    tick: u64,
    nanoseconds: u64,
    /// How long the reading took, in ticks.
    width: u64,
}

impl Ticks {
    fn new(is_counter: bool) -> Self {
        let mut this = Self {
            is_counter,
            origin: Instant::now(),
            length: AtomicU64::new(1.0_f64.to_bits()),
            due: AtomicU64::new(if is_counter { 0 } else { u64::MAX }),
            last: Mutex::new(Last {
                at: Reading {
                    tick: 0,
                    nanoseconds: 0,
                    width: 0,
                },
                baseline: 0,
            }),
        };
        let at = this.read();
        this.last = Mutex::new(Last { at, baseline: 0 });
        this
    }

    #[inline]
    fn now(&self) -> u64 {
        if self.is_counter {
            tsc::read()
        } else {
            self.since_origin() + 1
        }
    }

    #[cold]
    fn since_origin(&self) -> u64 {
        // 64 bits of nanoseconds last for 584 years.
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    #[inline]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the ticks of a month fit the 53 bits, and what does not loses nanoseconds; the cast saturates"
    )]
    fn nanoseconds(&self, earlier: u64, later: u64) -> u64 {
        if later >= self.due.load(Ordering::Relaxed) {
            self.measure(false);
        }
        let length = f64::from_bits(self.length.load(Ordering::Relaxed));
        (later.saturating_sub(earlier) as f64 * length) as u64
    }

    #[cold]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio of two long times needs no more than the 53 bits"
    )]
    fn measure(&self, is_unasked: bool) {
        if !self.is_counter {
            return;
        }
        // Whoever finds somebody at it, or a lock that a fork has left locked, takes what was measured before.
        let Ok(mut last) = self.last.try_lock() else {
            return;
        };
        let now = self.read();
        let passed = now.nanoseconds.saturating_sub(last.at.nanoseconds);
        let ticks = now.tick.saturating_sub(last.at.tick);
        if is_unasked && passed < last.baseline.min(BASELINE) || passed == 0 || ticks == 0 {
            return;
        }
        let length = passed as f64 / ticks as f64;
        self.length.store(length.to_bits(), Ordering::Relaxed);
        let due = if passed < BASELINE {
            // Again over twice the time.
            now.tick.saturating_add(2 * ticks)
        } else {
            u64::MAX
        };
        self.due.store(due, Ordering::Relaxed);
        *last = Last {
            at: now,
            baseline: passed,
        };
    }

    /// The one of several readings that was interrupted least.
    fn read(&self) -> Reading {
        let reading = || {
            let before = self.now();
            let nanoseconds = self.since_origin();
            let width = self.now().saturating_sub(before);
            Reading {
                tick: before + width / 2,
                nanoseconds,
                width,
            }
        };
        let (first, second, third) = (reading(), reading(), reading());
        let better = if second.width < first.width {
            second
        } else {
            first
        };
        if third.width < better.width {
            third
        } else {
            better
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn clocks() -> impl Iterator<Item = Ticks> {
        let counter = tsc::is_reliable().then(|| Ticks::new(true));
        counter.into_iter().chain([Ticks::new(false)])
    }

    #[test]
    fn a_duration_in_ticks_is_what_the_monotonic_clock_says() {
        for clock in clocks() {
            for unasked in 0..3 {
                let (outer, earlier, inner) = (Instant::now(), clock.now(), Instant::now());
                std::thread::sleep(Duration::from_millis(30));
                let inner = inner.elapsed();
                let later = clock.now();
                let outer = outer.elapsed();
                let measured = Duration::from_nanos(clock.nanoseconds(earlier, later));
                // Whoever is interrupted between two readings is off by that much, and by a little.
                let off = outer / 20;
                assert!(measured + off >= inner, "{measured:?} of {inner:?}");
                assert!(measured <= outer + off, "{measured:?} of {outer:?}");
                if unasked > 0 {
                    clock.measure(true);
                }
            }
        }
    }

    #[test]
    fn moments_are_in_order_and_never_zero() {
        for clock in clocks() {
            let mut last = 0;
            for _ in 0..10_000 {
                let now = clock.now();
                assert!(now >= last && now > 0);
                last = now;
            }
            assert_eq!(clock.nanoseconds(last, last), 0);
            assert_eq!(clock.nanoseconds(last + 1, last), 0);
        }
    }

    #[test]
    fn a_good_measure_is_not_replaced_by_one_over_an_instant() {
        let clock = Ticks::new(true);
        let now = clock.read();
        let well = 2 * BASELINE;
        *clock.last.lock().expect("not poisoned") = Last {
            at: now,
            baseline: well,
        };
        clock.length.store(0.5_f64.to_bits(), Ordering::Relaxed);
        clock.due.store(u64::MAX, Ordering::Relaxed);
        clock.measure(true);
        assert_eq!(clock.nanoseconds(0, 1_000), 500);
        // Over a longer time it is.
        clock.last.lock().expect("not poisoned").at.nanoseconds = 0;
        clock.last.lock().expect("not poisoned").baseline = 0;
        clock.measure(true);
        assert_ne!(clock.length.load(Ordering::Relaxed), 0.5_f64.to_bits());
    }
}
