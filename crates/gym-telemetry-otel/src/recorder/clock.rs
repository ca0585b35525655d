//! Time of spans.
//!
//! A span keeps ticks of a clock that never goes backwards; the telemetry thread turns them into wall time. Both
//! ends of a span are turned with one and the same anchor, so a step of the wall clock cannot make a span end
//! before it started.

use std::time::{Duration, Instant, SystemTime};

/// How far the wall clock may wander from the anchor before a new one is taken.
const TOLERANCE: Duration = Duration::from_millis(1);

/// A moment, in nanoseconds since the recorder's clock was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(u64);

impl Tick {
    pub(crate) fn nanos(self) -> u64 {
        self.0
    }

    #[cfg(test)]
    pub(crate) fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }
}

/// The clock that callers read.
#[derive(Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> Tick {
        self.tick_of(Instant::now())
    }

    fn tick_of(&self, moment: Instant) -> Tick {
        // 64 bits of nanoseconds last for 584 years.
        Tick(
            u64::try_from(moment.saturating_duration_since(self.origin).as_nanos())
                .unwrap_or(u64::MAX),
        )
    }
}

/// What the wall clock showed at one tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anchor {
    tick: Tick,
    wall: SystemTime,
}

impl Anchor {
    /// Reads both clocks, several times, and keeps the reading that was interrupted least.
    pub(crate) fn take(clock: &Clock) -> Self {
        let read = || {
            let before = Instant::now();
            let wall = SystemTime::now();
            let width = before.elapsed();
            (
                width,
                Self {
                    tick: clock.tick_of(before + width / 2),
                    wall,
                },
            )
        };
        let mut best = read();
        for _ in 1..5 {
            let next = read();
            if next.0 < best.0 {
                best = next;
            }
        }
        best.1
    }

    /// Takes a new anchor if the wall clock was set or has drifted.
    pub(crate) fn refresh(&mut self, clock: &Clock) {
        let fresh = Self::take(clock);
        let expected = self.wall_time(fresh.tick);
        let off = match fresh.wall.duration_since(expected) {
            Ok(ahead) => ahead,
            Err(behind) => behind.duration(),
        };
        if off > TOLERANCE {
            *self = fresh;
        }
    }

    /// Turns a tick into wall time.
    pub(crate) fn wall_time(&self, tick: Tick) -> SystemTime {
        let shifted = if tick >= self.tick {
            self.wall
                .checked_add(Duration::from_nanos(tick.0 - self.tick.0))
        } else {
            self.wall
                .checked_sub(Duration::from_nanos(self.tick.0 - tick.0))
        };
        shifted.unwrap_or(self.wall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_follows_the_ticks_in_both_directions() {
        let anchor = Anchor {
            tick: Tick(1_000),
            wall: SystemTime::UNIX_EPOCH + Duration::from_secs(10),
        };
        assert_eq!(
            anchor.wall_time(Tick(1_500)),
            anchor.wall + Duration::from_nanos(500)
        );
        assert_eq!(
            anchor.wall_time(Tick(200)),
            anchor.wall - Duration::from_nanos(800)
        );
    }

    #[test]
    fn an_anchor_is_kept_while_it_is_right_and_replaced_when_the_wall_clock_was_set() {
        let clock = Clock::new();
        let mut right = Anchor::take(&clock);
        let kept = right.wall;
        right.refresh(&clock);
        assert_eq!(right.wall, kept);

        let mut wrong = Anchor {
            wall: right.wall - Duration::from_hours(1),
            ..right
        };
        wrong.refresh(&clock);
        assert!(wrong.wall >= kept);
    }

    #[test]
    fn ticks_never_go_backwards() {
        let clock = Clock::new();
        let mut last = clock.now();
        for _ in 0..10_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }
}
