//! Trace flags.

use std::fmt;

/// The flags of a trace that are passed on: sampled, and whether the trace id is random.
///
/// Other bits have no meaning yet and are dropped.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TraceFlags(u8);

impl TraceFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The caller may have recorded the trace.
    pub const SAMPLED: Self = Self(1);
    /// At least the last seven bytes of the trace id are random.
    pub const RANDOM: Self = Self(2);

    /// Keeps the two bits that have a meaning.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 3)
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether the caller may have recorded the trace.
    #[must_use]
    pub const fn is_sampled(self) -> bool {
        self.0 & Self::SAMPLED.0 != 0
    }

    /// Whether the trace id is random.
    #[must_use]
    pub const fn is_random(self) -> bool {
        self.0 & Self::RANDOM.0 != 0
    }

    /// These flags with or without the sampled one.
    #[must_use]
    pub const fn with_sampled(self, sampled: bool) -> Self {
        Self(self.0 & !Self::SAMPLED.0 | if sampled { Self::SAMPLED.0 } else { 0 })
    }
}

impl std::ops::BitOr for TraceFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for TraceFlags {
    /// Writes two hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}", self.0)
    }
}

impl fmt::Debug for TraceFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceFlags({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_two_known_bits_are_kept() {
        for bits in 0..=u8::MAX {
            let flags = TraceFlags::from_bits(bits);
            assert_eq!(flags.bits(), bits & 3);
            assert_eq!(flags.is_sampled(), bits & 1 == 1);
            assert_eq!(flags.is_random(), bits & 2 == 2);
        }
    }

    #[test]
    fn sampled_is_set_without_touching_random() {
        assert_eq!(
            TraceFlags::RANDOM.with_sampled(true),
            TraceFlags::RANDOM | TraceFlags::SAMPLED
        );
        assert_eq!(
            (TraceFlags::RANDOM | TraceFlags::SAMPLED).with_sampled(false),
            TraceFlags::RANDOM
        );
        assert_eq!(TraceFlags::NONE.with_sampled(false), TraceFlags::NONE);
    }
}
