//! Time of spans.
//!
//! A span keeps ticks of a clock that never goes backwards; the telemetry thread turns them into wall time. Both
//! ends of a span are turned with one and the same anchor, so a step of the wall clock cannot make a span end
//! before it started.
//!
//! The clock is the processor's time stamp counter where that can be trusted, which takes a caller a third of the time
//! that the operating system's clock does. What a tick lasts is measured by the telemetry thread, against the operating
//! system's monotonic clock and over the whole time since the recorder was made; nothing is measured before that, and
//! nothing is waited for.

use std::time::{Duration, Instant, SystemTime};

use super::raw::tsc;

/// How far the wall clock may wander from the anchor before a new one is taken.
const TOLERANCE: u64 = 1_000_000;
/// A tick that was measured over this time is measured well.
const BASELINE: Duration = Duration::from_millis(100);

/// A moment on the recorder's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(u64);

impl Tick {
    #[inline]
    pub(crate) fn raw(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) fn from_raw(ticks: u64) -> Self {
        Self(ticks)
    }
}

/// The clock that callers read.
#[derive(Debug)]
pub(crate) struct Clock {
    /// Whether ticks are those of the processor's counter; else they are nanoseconds since `origin`.
    is_counter: bool,
    origin: Instant,
    origin_tick: Tick,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self::with(tsc::is_reliable())
    }

    fn with(is_counter: bool) -> Self {
        let mut clock = Self {
            is_counter,
            origin: Instant::now(),
            origin_tick: Tick(0),
        };
        let reading = Reading::best_of(&clock);
        clock.origin_tick = reading.tick;
        if is_counter {
            clock.origin = reading.instant;
        }
        clock
    }

    #[inline]
    pub(crate) fn now(&self) -> Tick {
        if self.is_counter {
            Tick(tsc::read())
        } else {
            self.nanoseconds()
        }
    }

    #[cold]
    fn nanoseconds(&self) -> Tick {
        // 64 bits of nanoseconds last for 584 years.
        Tick(nanoseconds(self.origin.elapsed()))
    }
}

/// All clocks at one moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// How long the reading took, in ticks.
    width: u64,
    tick: Tick,
    instant: Instant,
    /// Nanoseconds since the epoch.
    wall: u64,
}

impl Reading {
    fn take(clock: &Clock) -> Self {
        let before = clock.now().0;
        let instant = Instant::now();
        let wall = SystemTime::now();
        let width = clock.now().0.saturating_sub(before);
        Self {
            width,
            tick: Tick(before + width / 2),
            instant,
            wall: wall
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, nanoseconds),
        }
    }

    /// The one of several that was interrupted least.
    fn best_of(clock: &Clock) -> Self {
        let mut best = Self::take(clock);
        for _ in 1..5 {
            let next = Self::take(clock);
            if next.width < best.width {
                best = next;
            }
        }
        best
    }
}

/// What the wall clock showed at one tick, and how long a tick lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anchor {
    tick: Tick,
    /// Nanoseconds since the epoch.
    wall: u64,
    /// Nanoseconds per tick.
    slope: f64,
    /// Since when the slope is measured.
    since: (Tick, Instant),
    /// Over which time it was measured.
    baseline: Duration,
}

impl Anchor {
    pub(crate) fn take(clock: &Clock) -> Self {
        let reading = Reading::best_of(clock);
        let since = (clock.origin_tick, clock.origin);
        Self {
            tick: reading.tick,
            wall: reading.wall,
            slope: slope(clock, since, &reading).unwrap_or(1.0),
            since,
            baseline: reading.instant.duration_since(since.1),
        }
    }

    /// Measures the ticks better, and takes a new anchor if the wall clock was set or has drifted.
    pub(crate) fn refresh(&mut self, clock: &Clock) {
        self.follow(clock, &Reading::best_of(clock));
    }

    fn follow(&mut self, clock: &Clock, reading: &Reading) {
        let baseline = reading.instant.duration_since(self.since.1);
        if baseline >= self.baseline.min(BASELINE) {
            self.slope = slope(clock, self.since, reading).unwrap_or(self.slope);
            self.baseline = baseline;
        }
        if self.wall_nanos(reading.tick).abs_diff(reading.wall) > TOLERANCE {
            self.tick = reading.tick;
            self.wall = reading.wall;
            // After a suspension of the machine, say, the old measure is worth nothing.
            self.since = (reading.tick, reading.instant);
        }
    }

    /// Turns a tick into nanoseconds since the epoch.
    #[inline]
    pub(crate) fn wall_nanos(&self, tick: Tick) -> u64 {
        if tick >= self.tick {
            self.wall.saturating_add(self.span(tick.0 - self.tick.0))
        } else {
            self.wall.saturating_sub(self.span(self.tick.0 - tick.0))
        }
    }

    /// Turns a tick into wall time.
    pub(crate) fn wall_time(&self, tick: Tick) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(self.wall_nanos(tick))
    }

    #[inline]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the clocks of a month fit the 53 bits, and what does not loses nanoseconds; the cast saturates"
    )]
    fn span(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.slope) as u64
    }
}

/// Nanoseconds per tick; `None` if too little time has passed to tell.
#[expect(
    clippy::cast_precision_loss,
    reason = "a ratio of two long times needs no more than the 53 bits"
)]
fn slope(clock: &Clock, since: (Tick, Instant), reading: &Reading) -> Option<f64> {
    if !clock.is_counter {
        return Some(1.0);
    }
    let ticks = reading.tick.0.checked_sub(since.0.0)?;
    let nanos = nanoseconds(reading.instant.checked_duration_since(since.1)?);
    (ticks > 0 && nanos > 0).then(|| nanos as f64 / ticks as f64)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: u64 = 1_700_000_000_000_000_000;

    fn clocks() -> impl Iterator<Item = Clock> {
        let counter = tsc::is_reliable().then(|| Clock::with(true));
        counter.into_iter().chain([Clock::with(false)])
    }

    #[test]
    fn wall_time_follows_the_ticks_in_both_directions() {
        let anchor = Anchor {
            tick: Tick(1_000),
            wall: EPOCH,
            slope: 0.5,
            since: (Tick(0), Instant::now()),
            baseline: BASELINE,
        };
        assert_eq!(anchor.wall_nanos(Tick(1_500)), EPOCH + 250);
        assert_eq!(anchor.wall_nanos(Tick(200)), EPOCH - 400);
        let far = anchor.wall_time(Tick(u64::MAX));
        assert!(far > anchor.wall_time(Tick(1_000)));
    }

    #[test]
    fn a_measured_tick_lasts_what_the_monotonic_clock_says() {
        for clock in clocks() {
            let (start, instant) = (clock.now(), Instant::now());
            std::thread::sleep(Duration::from_millis(120));
            let (end, elapsed) = (clock.now(), instant.elapsed());
            let anchor = Anchor::take(&clock);
            let measured = anchor.wall_nanos(end) - anchor.wall_nanos(start);
            let off = measured.abs_diff(nanoseconds(elapsed));
            // Of 120 milliseconds; whoever waits between the readings makes it more, so be generous.
            assert!(off < 20_000_000, "{off} ns off, {clock:?}");
        }
    }

    #[test]
    fn an_anchor_is_kept_while_it_is_right_and_replaced_when_the_wall_clock_was_set() {
        for clock in clocks() {
            let mut right = Anchor::take(&clock);
            let kept = right;
            let reading = Reading {
                tick: Tick(kept.tick.0 + 1_000),
                wall: kept.wall + kept.span(1_000) + TOLERANCE / 2,
                ..Reading::best_of(&clock)
            };
            right.follow(&clock, &reading);
            assert_eq!((right.tick, right.wall), (kept.tick, kept.wall));

            let mut wrong = Anchor {
                wall: right.wall - 3_600_000_000_000,
                ..right
            };
            wrong.refresh(&clock);
            assert!(wrong.wall >= kept.wall);
        }
    }

    #[test]
    fn the_measure_grows_better_with_time_and_is_not_taken_over_an_instant() {
        let clock = Clock {
            is_counter: true,
            origin: Instant::now(),
            origin_tick: Tick(0),
        };
        let reading = |ticks: u64, millis: u64| Reading {
            width: 0,
            tick: Tick(ticks),
            instant: clock.origin + Duration::from_millis(millis),
            wall: EPOCH + millis * 1_000_000,
        };
        let mut anchor = Anchor {
            tick: Tick(0),
            wall: EPOCH,
            slope: 0.5,
            since: (Tick(0), clock.origin),
            baseline: BASELINE,
        };
        anchor.follow(&clock, &reading(4_000_000, 1));
        assert!((anchor.slope - 0.5).abs() < 1e-9);
        anchor.follow(&clock, &reading(800_000_000, 200));
        assert!((anchor.slope - 0.25).abs() < 1e-9, "{anchor:?}");
    }

    #[test]
    fn ticks_never_go_backwards() {
        for clock in clocks() {
            let mut last = clock.now();
            for _ in 0..10_000 {
                let now = clock.now();
                assert!(now >= last);
                last = now;
            }
        }
    }
}
