//! Random ids.
//!
//! Each thread has a state of its own, seeded by the operating system and never by the host's generators, so
//! ids differ whatever the host seeds. Each draw also mixes in the clock: two copies of one state, as a snapshot
//! of a machine leaves behind, part with the first draw.

use std::cell::Cell;

use gym_telemetry_core::{SpanId, TraceId};

use super::clock::Tick;
use crate::{fork, random};

thread_local! {
    // Without drop code, so that destructors of other thread locals can still start spans.
    static STATE: State = const {
        State { lanes: [const { Cell::new(0) }; 2], seeded_in: Cell::new(NEVER) }
    };
}

struct State {
    /// Two independent generators: a trace id takes one draw of each, so it has 128 random bits.
    lanes: [Cell<u64>; 2],
    /// The fork generation it was seeded in.
    seeded_in: Cell<u32>,
}

/// No generation, since none forks so often.
const NEVER: u32 = u32::MAX;

impl State {
    #[cold]
    #[inline(never)]
    fn seed(&self, generation: u32) {
        for lane in &self.lanes {
            lane.set(random::word());
        }
        self.seeded_in.set(generation);
    }
}

/// Draws a new trace id.
pub(crate) fn trace_id(now: Tick) -> TraceId {
    draw(|[first, second]| {
        loop {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&next(first, now).to_be_bytes());
            bytes[8..].copy_from_slice(&next(second, now).to_be_bytes());
            if let Some(id) = TraceId::from_bytes(bytes) {
                return id;
            }
        }
    })
}

/// Draws a new span id.
#[inline]
pub(crate) fn span_id(now: Tick) -> SpanId {
    let word = draw(|[lane, _]| next(lane, now));
    SpanId::from_bytes(word.to_be_bytes()).unwrap_or_else(|| span_id_again(now))
}

#[cold]
#[inline(never)]
fn span_id_again(now: Tick) -> SpanId {
    span_id(now)
}

#[inline]
fn draw<T>(from: impl FnOnce(&[Cell<u64>; 2]) -> T) -> T {
    STATE.with(|state| {
        let generation = fork::generation();
        if state.seeded_in.get() != generation {
            state.seed(generation);
        }
        from(&state.lanes)
    })
}

/// One step of the splitmix64 generator, with the clock mixed into its state.
#[inline]
fn next(lane: &Cell<u64>, now: Tick) -> u64 {
    let mut word = lane
        .get()
        .wrapping_add(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(now.raw());
    lane.set(word);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_of_several_threads_are_unique_and_never_zero() {
        let ids: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        (0..10_000)
                            .map(|n| (trace_id(Tick::from_raw(n)), span_id(Tick::from_raw(n))))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().expect("draws ids"))
                .collect()
        });
        let traces: HashSet<_> = ids.iter().map(|(trace, _)| trace.to_bytes()).collect();
        let spans: HashSet<_> = ids.iter().map(|(_, span)| span.to_bytes()).collect();
        assert_eq!((traces.len(), spans.len()), (40_000, 40_000));
        assert!(!traces.contains(&[0; 16]) && !spans.contains(&[0; 8]));
    }

    /// Gives this thread the state that another one has, too.
    fn become_copy(generation: u32) {
        STATE.with(|state| {
            state.lanes[0].set(1);
            state.lanes[1].set(2);
            state.seeded_in.set(generation);
        });
    }

    #[test]
    fn two_copies_of_one_state_part_as_soon_as_their_clocks_differ() {
        let draw_all = |clock: u64| {
            become_copy(fork::generation());
            (0..10_000)
                .map(|n| span_id(Tick::from_raw(clock + n * 50)))
                .collect::<Vec<_>>()
        };
        let first: HashSet<_> = draw_all(1_000).into_iter().map(SpanId::to_bytes).collect();
        let second = draw_all(1_001);
        assert!(second.iter().all(|id| !first.contains(&id.to_bytes())));
    }

    #[test]
    fn a_state_of_before_a_fork_is_not_continued() {
        let [first, second] = [0, 1].map(|_| {
            become_copy(fork::generation() + 1);
            trace_id(Tick::from_raw(7))
        });
        assert_ne!(first, second);
    }

    #[test]
    fn each_bit_of_an_id_is_set_about_half_of_the_time() {
        let mut set = [0_u32; 64];
        for n in 0..10_000 {
            let word = u64::from_be_bytes(span_id(Tick::from_raw(n)).to_bytes());
            for (bit, count) in set.iter_mut().enumerate() {
                *count += u32::from(word >> bit & 1 == 1);
            }
        }
        assert!(
            set.iter().all(|count| (4_500..5_500).contains(count)),
            "{set:?}"
        );
    }
}
