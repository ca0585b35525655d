//! From Rust values to attribute values.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use super::Value;
use super::array::ArrayItem;

/// A type whose values can be attribute values.
///
/// Implemented for `bool`, the integers up to 64 bits, the floats, text, references, smart pointers and options
/// of these, and for slices, arrays and vectors of `bool`, `i64`, `f64`, `String` and `&str`. Maps, objects and
/// mixed lists cannot be attribute values. `None` skips the attribute.
pub trait ToValue {
    /// Shows this value, or `None` to leave the attribute out.
    fn to_value(&self) -> Option<Value<'_>>;
}

/// Text that lives as long as the program and is therefore recorded without a copy.
///
/// `&'static str` alone is recorded as any other `&str`, because the type system cannot tell them apart.
///
/// ```
/// use gym_telemetry_core::{ToValue, Value, value::StaticStr};
///
/// assert_eq!(StaticStr("ok").to_value(), Some(Value::Static("ok")));
/// assert_eq!("ok".to_value(), Some(Value::Str("ok")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StaticStr(pub &'static str);

impl ToValue for StaticStr {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(Value::Static(self.0))
    }
}

impl ToValue for Value<'_> {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(*self)
    }
}

impl ToValue for bool {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(Value::Bool(*self))
    }
}

macro_rules! small_integers {
    ($($type:ty)*) => {$(
        impl ToValue for $type {
            fn to_value(&self) -> Option<Value<'_>> {
                Some(Value::I64(i64::from(*self)))
            }
        }
    )*};
}

small_integers!(i8 i16 i32 i64 u8 u16 u32);

impl ToValue for u64 {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(i64::try_from(*self).map_or(Value::U64(*self), Value::I64))
    }
}

impl ToValue for usize {
    fn to_value(&self) -> Option<Value<'_>> {
        // No supported target has pointers wider than 64 bits.
        Some(i64::try_from(*self).map_or(Value::U64(*self as u64), Value::I64))
    }
}

impl ToValue for isize {
    fn to_value(&self) -> Option<Value<'_>> {
        // No supported target has pointers wider than 64 bits.
        Some(Value::I64(*self as i64))
    }
}

impl ToValue for f32 {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(Value::F64(f64::from(*self)))
    }
}

impl ToValue for f64 {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(Value::F64(*self))
    }
}

impl ToValue for str {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(Value::Str(self))
    }
}

impl ToValue for String {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(Value::Str(self))
    }
}

impl<T: ArrayItem> ToValue for [T] {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(T::array_value(self))
    }
}

impl<T: ArrayItem, const N: usize> ToValue for [T; N] {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(T::array_value(self))
    }
}

impl<T: ArrayItem> ToValue for Vec<T> {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(T::array_value(self))
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Option<Value<'_>> {
        self.as_ref().and_then(ToValue::to_value)
    }
}

macro_rules! pointers {
    ($($type:ty)*) => {$(
        impl<T: ToValue + ?Sized> ToValue for $type {
            fn to_value(&self) -> Option<Value<'_>> {
                (**self).to_value()
            }
        }
    )*};
}

pointers!(&T &mut T Box<T> Rc<T> Arc<T>);

impl<T: ToValue + ToOwned + ?Sized> ToValue for Cow<'_, T> {
    fn to_value(&self) -> Option<Value<'_>> {
        (**self).to_value()
    }
}

#[cfg(test)]
mod tests {
    use super::super::StrArray;
    use super::*;

    #[test]
    fn integers_keep_their_value() {
        assert_eq!(i8::MIN.to_value(), Some(Value::I64(-128)));
        assert_eq!(i64::MIN.to_value(), Some(Value::I64(i64::MIN)));
        assert_eq!(u32::MAX.to_value(), Some(Value::I64(4_294_967_295)));
        assert_eq!(isize::MIN.to_value(), Some(Value::I64(i64::MIN)));
        assert_eq!(7_usize.to_value(), Some(Value::I64(7)));
    }

    #[test]
    fn only_integers_above_the_signed_range_stay_unsigned() {
        let largest = i64::MAX.unsigned_abs();
        assert_eq!(largest.to_value(), Some(Value::I64(i64::MAX)));
        assert_eq!((largest + 1).to_value(), Some(Value::U64(largest + 1)));
        assert_eq!(u64::MAX.to_value(), Some(Value::U64(u64::MAX)));
        assert_eq!(usize::MAX.to_value(), Some(Value::U64(u64::MAX)));
    }

    #[test]
    fn floats_keep_their_value() {
        assert_eq!(0.5_f32.to_value(), Some(Value::F64(0.5)));
        assert_eq!(f64::INFINITY.to_value(), Some(Value::F64(f64::INFINITY)));
        assert!(matches!(f64::NAN.to_value(), Some(Value::F64(number)) if number.is_nan()));
    }

    #[test]
    fn text_of_every_type_is_text() {
        let expected = Some(Value::Str("text"));
        assert_eq!("text".to_value(), expected);
        assert_eq!(String::from("text").to_value(), expected);
        assert_eq!(Box::<str>::from("text").to_value(), expected);
        assert_eq!(Arc::<str>::from("text").to_value(), expected);
        assert_eq!(Rc::<str>::from("text").to_value(), expected);
        assert_eq!(Cow::Borrowed("text").to_value(), expected);
        assert_eq!(Cow::<str>::Owned(String::from("text")).to_value(), expected);
        assert_eq!(ToValue::to_value(&&"text"), expected);
        assert_eq!(ToValue::to_value(&&mut String::from("text")), expected);
    }

    #[test]
    fn absent_options_are_skipped_at_any_depth() {
        assert_eq!(None::<i64>.to_value(), None);
        assert_eq!(Some(None::<&str>).to_value(), None);
        assert_eq!(ToValue::to_value(&&None::<String>), None);
        assert_eq!(Some(&Some(5_u8)).to_value(), Some(Value::I64(5)));
    }

    #[test]
    fn lists_of_scalars_are_lists() {
        assert_eq!([true, false].to_value(), Some(Value::Bools(&[true, false])));
        assert_eq!(vec![1_i64, 2].to_value(), Some(Value::I64s(&[1, 2])));
        assert_eq!([1.5].as_slice().to_value(), Some(Value::F64s(&[1.5])));
        let expected = StrArray::from(&["a", "b"][..]);
        assert_eq!(["a", "b"].to_value(), Some(Value::Strs(expected)));
        assert_eq!(
            vec![String::from("a"), String::from("b")].to_value(),
            Some(Value::Strs(expected))
        );
        assert_eq!(Vec::<i64>::new().to_value(), Some(Value::I64s(&[])));
    }

    #[test]
    fn values_leave_no_drop_code_behind() {
        assert!(!std::mem::needs_drop::<Value<'_>>());
        assert!(!std::mem::needs_drop::<Option<Value<'_>>>());
    }

    #[test]
    fn a_value_is_its_own_value() {
        assert_eq!(Value::Static("x").to_value(), Some(Value::Static("x")));
    }
}
