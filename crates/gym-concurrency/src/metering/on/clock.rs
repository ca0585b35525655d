//! Moments in one word, as an atomic can hold them.

use gym_telemetry_api::__private::ticks;

/// A moment; its word is never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(u64);

impl Moment {
    #[inline]
    pub(super) fn now() -> Self {
        Self(ticks::now())
    }

    /// Nanoseconds from `earlier` to this moment.
    #[inline]
    pub(super) fn since(self, earlier: Self) -> u64 {
        ticks::nanoseconds(earlier.0, self.0)
    }

    #[inline]
    pub(super) fn word(self) -> u64 {
        self.0
    }

    #[inline]
    pub(super) fn from_word(word: u64) -> Self {
        Self(word)
    }
}
