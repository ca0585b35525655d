//! Attribute values.
//!
//! A [`Value`] borrows what it shows and is `Copy`, so that a call site that builds some leaves no drop code
//! behind. [`ToValue`] makes one; implement it for your own types to use them in the macros.
//!
//! ```
//! use gym_telemetry_core::{ToValue, Value};
//!
//! enum Verdict { Pass, Fail }
//!
//! impl ToValue for Verdict {
//!     fn to_value(&self) -> Option<Value<'_>> {
//!         Some(Value::Static(match self {
//!             Verdict::Pass => "pass",
//!             Verdict::Fail => "fail",
//!         }))
//!     }
//! }
//!
//! assert_eq!(Verdict::Pass.to_value(), Some(Value::Static("pass")));
//! assert_eq!(Verdict::Fail.to_value(), Some(Value::Static("fail")));
//! assert_eq!(None::<Verdict>.to_value(), None);
//! ```

mod array;
mod convert;

pub use array::{ArrayItem, StrArray, StrArrayIter};
pub use convert::{StaticStr, ToValue};

/// The value of an attribute: a scalar or a list of scalars of one type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A truth value.
    Bool(bool),
    /// A number that fits the signed integers of OpenTelemetry.
    I64(i64),
    /// A number above [`i64::MAX`]. OpenTelemetry has no such integer, so it is exported as decimal text.
    U64(u64),
    /// A floating-point number; not a number and infinities are allowed.
    F64(f64),
    /// Text that lives as long as the program: kept by reference, never copied.
    Static(&'static str),
    /// Text that is copied when it is recorded.
    Str(&'a str),
    /// A list of truth values.
    Bools(&'a [bool]),
    /// A list of integers.
    I64s(&'a [i64]),
    /// A list of floating-point numbers.
    F64s(&'a [f64]),
    /// A list of texts.
    Strs(StrArray<'a>),
}
