//! Marks attribute values that are written as literals.

use gym_telemetry_core::ToValue;
use gym_telemetry_core::value::StaticStr;

/// A value that the macros found to be a literal.
///
/// The type of `"text"` is the type of every borrowed string. Only the macro sees that it lives as long as the program
/// and so can be recorded without a copy.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no attribute value",
    label = "an attribute value is text, a number, a truth value, or a list of one of them"
)]
pub trait Literal {
    /// What the literal is recorded as.
    type Value: ToValue;

    /// Marks the literal.
    fn literal(self) -> Self::Value;
}

impl Literal for &'static str {
    type Value = StaticStr;

    #[inline]
    fn literal(self) -> StaticStr {
        StaticStr(self)
    }
}

macro_rules! as_they_are {
    ($($type:ty)*) => {$(
        impl Literal for $type {
            type Value = $type;

            #[inline]
            fn literal(self) -> $type {
                self
            }
        }
    )*};
}

as_they_are!(bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);

/// Marks a literal.
#[inline]
pub fn literal<L: Literal>(literal: L) -> L::Value {
    literal.literal()
}
