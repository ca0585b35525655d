//! Which sandbox is read when.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::{Duration, Instant};

/// The readings that are due, and those that are waiting for room.
///
/// Each sandbox has a time of its own in every interval. A reading that cannot start when it is due waits; when the
/// next is due it is left out.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    slots: HashMap<u64, Slot>,
    /// May hold times that no longer count: removing from the middle would be slow.
    due: BinaryHeap<Reverse<(Instant, u64)>>,
    /// Readings that are due and wait for room, in the order of their times.
    late: VecDeque<(Instant, u64)>,
}

#[derive(Debug)]
struct Slot {
    interval: Duration,
    /// When the reading that is next, waiting or under way was due.
    due: Instant,
    is_reading: bool,
}

impl Schedule {
    /// Adds a sandbox that is first read at `first`.
    pub(super) fn add(&mut self, id: u64, interval: Duration, first: Instant) {
        let slot = Slot {
            interval,
            due: first,
            is_reading: false,
        };
        self.slots.insert(id, slot);
        self.due.push(Reverse((first, id)));
    }

    pub(super) fn remove(&mut self, id: u64) {
        self.slots.remove(&id);
        if self.slots.is_empty() {
            self.due = BinaryHeap::new();
            self.late = VecDeque::new();
        }
    }

    /// When there is something to do next, if nothing ends before.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let late = self.late.front().map(|(due, id)| {
            let interval = self
                .slots
                .get(id)
                .map_or(Duration::ZERO, |slot| slot.interval);
            *due + interval
        });
        due.into_iter().chain(late).min()
    }

    /// Starts what is due, as long as there is room for `free` readings, and skips what has waited too long.
    pub(super) fn turn(
        &mut self,
        now: Instant,
        mut free: usize,
        mut start: impl FnMut(u64),
        mut skip: impl FnMut(u64),
    ) {
        while let Some(Reverse((at, id))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            self.late.push_back((at, id));
        }
        while let Some((at, id)) = self.late.front().copied() {
            let Some(slot) = self.slots.get_mut(&id).filter(|slot| slot.due == at) else {
                self.late.pop_front();
                continue;
            };
            if at + slot.interval <= now {
                slot.due = at + slot.interval;
                let next = slot.due;
                self.late.pop_front();
                skip(id);
                self.enqueue(now, next, id);
            } else if free > 0 {
                slot.is_reading = true;
                self.late.pop_front();
                free -= 1;
                start(id);
            } else {
                break;
            }
        }
    }

    /// A reading has ended: returns how many have been missed meanwhile.
    pub(super) fn done(&mut self, id: u64, now: Instant) -> u64 {
        let Some(slot) = self.slots.get_mut(&id).filter(|slot| slot.is_reading) else {
            return 0;
        };
        slot.is_reading = false;
        let passed = now.saturating_duration_since(slot.due).as_nanos() / slot.interval.as_nanos();
        // The last time that has passed is not missed yet: its interval still runs.
        let passed = u32::try_from(passed).unwrap_or(u32::MAX).max(1);
        slot.due += slot.interval.saturating_mul(passed);
        let next = slot.due;
        self.enqueue(now, next, id);
        u64::from(passed) - 1
    }

    fn enqueue(&mut self, now: Instant, at: Instant, id: u64) {
        if at <= now {
            self.late.push_back((at, id));
        } else {
            self.due.push(Reverse((at, id)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Schedule;

    const SECOND: Duration = Duration::from_secs(1);

    /// What one turn starts and skips.
    fn turn(schedule: &mut Schedule, now: Instant, free: usize) -> (Vec<u64>, Vec<u64>) {
        let (mut started, mut skipped) = (Vec::new(), Vec::new());
        schedule.turn(now, free, |id| started.push(id), |id| skipped.push(id));
        (started, skipped)
    }

    fn with_sandboxes(count: u64, origin: Instant) -> Schedule {
        let mut schedule = Schedule::default();
        for id in 0..count {
            schedule.add(id, SECOND, origin);
        }
        schedule
    }

    #[test]
    fn each_sandbox_keeps_its_own_time_in_the_interval() {
        let origin = Instant::now();
        let mut schedule = Schedule::default();
        schedule.add(1, SECOND, origin + SECOND / 4);
        schedule.add(2, SECOND, origin + SECOND / 2);
        assert_eq!(turn(&mut schedule, origin, 9), (vec![], vec![]));
        assert_eq!(schedule.wake_at(), Some(origin + SECOND / 4));
        assert_eq!(turn(&mut schedule, origin + SECOND / 4, 9).0, [1]);
        assert_eq!(schedule.done(1, origin + SECOND / 3), 0);
        assert_eq!(schedule.wake_at(), Some(origin + SECOND / 2));
        assert_eq!(turn(&mut schedule, origin + SECOND / 2, 9).0, [2]);
        assert_eq!(schedule.done(2, origin + SECOND), 0);
        assert_eq!(schedule.wake_at(), Some(origin + SECOND + SECOND / 4));
    }

    #[test]
    fn a_reading_that_finds_no_room_starts_when_there_is_some() {
        let origin = Instant::now();
        let mut schedule = with_sandboxes(3, origin);
        assert_eq!(turn(&mut schedule, origin, 2), (vec![0, 1], vec![]));
        assert_eq!(
            turn(&mut schedule, origin + SECOND / 2, 0),
            (vec![], vec![])
        );
        assert_eq!(schedule.done(0, origin + SECOND / 2), 0);
        assert_eq!(
            turn(&mut schedule, origin + SECOND / 2, 1),
            (vec![2], vec![])
        );
    }

    #[test]
    fn a_reading_that_cannot_start_within_its_interval_is_skipped_once() {
        let origin = Instant::now();
        let mut schedule = with_sandboxes(2, origin);
        assert_eq!(turn(&mut schedule, origin, 1), (vec![0], vec![]));
        assert_eq!(schedule.wake_at(), Some(origin + SECOND));
        // The next one is due at that very moment, and waits.
        assert_eq!(turn(&mut schedule, origin + SECOND, 0), (vec![], vec![1]));
        assert_eq!(turn(&mut schedule, origin + SECOND, 1), (vec![1], vec![]));
    }

    #[test]
    fn a_reading_that_outlasts_its_interval_skips_what_it_covers() {
        let origin = Instant::now();
        let mut schedule = with_sandboxes(1, origin);
        assert_eq!(turn(&mut schedule, origin, 1).0, [0]);
        // Due at 1, 2 and 3 s; the last of them can still be read.
        assert_eq!(schedule.done(0, origin + 3 * SECOND + SECOND / 2), 2);
        assert_eq!(
            turn(&mut schedule, origin + 3 * SECOND + SECOND / 2, 1).0,
            [0]
        );
        assert_eq!(schedule.done(0, origin + 3 * SECOND + SECOND / 2), 0);
        assert_eq!(schedule.wake_at(), Some(origin + 4 * SECOND));
    }

    #[test]
    fn a_removed_sandbox_is_never_read_again() {
        let origin = Instant::now();
        let mut schedule = with_sandboxes(3, origin);
        assert_eq!(turn(&mut schedule, origin, 1).0, [0]);
        schedule.remove(1);
        schedule.remove(0);
        assert_eq!(schedule.done(0, origin + SECOND / 2), 0);
        assert_eq!(turn(&mut schedule, origin + SECOND / 2, 9).0, [2]);
        schedule.remove(2);
        assert_eq!(schedule.wake_at(), None);
    }
}
