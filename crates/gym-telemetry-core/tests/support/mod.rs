//! A small deterministic generator, so that a failing case can be run again.

/// `SplitMix64`: every seed gives a different, repeatable sequence.
#[derive(Debug)]
pub(crate) struct Generator(u64);

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("is below a usize")
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Text of a length up to `max`, of the given bytes.
    pub(crate) fn text(&mut self, min: usize, max: usize, from: &[u8]) -> String {
        let len = min + self.below(max - min + 1);
        (0..len).map(|_| char::from(self.pick(from))).collect()
    }
}
