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
    static STATE: Cell<State> = const { Cell::new(State { lanes: [0; 2], generation: None }) };
}

#[derive(Clone, Copy)]
struct State {
    /// Two independent generators: a trace id takes one draw of each, so it has 128 random bits.
    lanes: [u64; 2],
    /// The fork generation it was seeded in.
    generation: Option<u32>,
}

/// Draws a new trace id.
pub(crate) fn trace_id(now: Tick) -> TraceId {
    draw(|state| {
        loop {
            let high = next(&mut state.lanes[0], now);
            let low = next(&mut state.lanes[1], now);
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&high.to_be_bytes());
            bytes[8..].copy_from_slice(&low.to_be_bytes());
            if let Some(id) = TraceId::from_bytes(bytes) {
                return id;
            }
        }
    })
}

/// Draws a new span id.
pub(crate) fn span_id(now: Tick) -> SpanId {
    draw(|state| {
        loop {
            if let Some(id) = SpanId::from_bytes(next(&mut state.lanes[0], now).to_be_bytes()) {
                return id;
            }
        }
    })
}

fn draw<T>(from: impl FnOnce(&mut State) -> T) -> T {
    let mut state = STATE.get();
    let generation = fork::generation();
    if state.generation != Some(generation) {
        state = State {
            lanes: [random::word(), random::word()],
            generation: Some(generation),
        };
    }
    let drawn = from(&mut state);
    STATE.set(state);
    drawn
}

/// One step of the splitmix64 generator, with the clock mixed into its state.
fn next(lane: &mut u64, now: Tick) -> u64 {
    *lane = lane
        .wrapping_add(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(now.raw());
    let mut word = *lane;
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

    #[test]
    fn two_copies_of_one_state_part_as_soon_as_their_clocks_differ() {
        let start = State {
            lanes: [1, 2],
            generation: Some(fork::generation()),
        };
        let draw_all = |clock: u64| {
            STATE.set(start);
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
        let inherited = State {
            lanes: [1, 2],
            generation: Some(fork::generation() + 1),
        };
        let [first, second] = [0, 1].map(|_| {
            STATE.set(inherited);
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
