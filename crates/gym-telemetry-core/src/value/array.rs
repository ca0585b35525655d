//! Lists in attribute values.

use super::Value;

/// A borrowed list of texts, whatever type the texts have.
///
/// ```
/// use gym_telemetry_core::value::StrArray;
///
/// let tools = vec![String::from("search"), String::from("weather")];
/// let list = StrArray::from(tools.as_slice());
/// assert_eq!(list.len(), 2);
/// assert!(list.iter().eq(["search", "weather"]));
/// ```
#[derive(Clone, Copy)]
pub struct StrArray<'a>(Repr<'a>);

#[derive(Clone, Copy)]
enum Repr<'a> {
    Owned(&'a [String]),
    Borrowed(&'a [&'a str]),
    Repeated { text: &'static str, len: usize },
}

impl<'a> StrArray<'a> {
    /// A list of `len` times the same text.
    #[must_use]
    pub const fn repeated(text: &'static str, len: usize) -> Self {
        Self(Repr::Repeated { text, len })
    }

    /// The number of texts.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.0 {
            Repr::Owned(texts) => texts.len(),
            Repr::Borrowed(texts) => texts.len(),
            Repr::Repeated { len, .. } => len,
        }
    }

    /// Whether there is no text.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text at `index`, counted from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&'a str> {
        match self.0 {
            Repr::Owned(texts) => texts.get(index).map(String::as_str),
            Repr::Borrowed(texts) => texts.get(index).copied(),
            Repr::Repeated { text, len } => (index < len).then_some(text),
        }
    }

    /// Goes through the texts in order.
    #[must_use]
    pub const fn iter(&self) -> StrArrayIter<'a> {
        StrArrayIter {
            array: *self,
            next: 0,
        }
    }
}

impl<'a> From<&'a [String]> for StrArray<'a> {
    fn from(texts: &'a [String]) -> Self {
        Self(Repr::Owned(texts))
    }
}

impl<'a> From<&'a [&'a str]> for StrArray<'a> {
    fn from(texts: &'a [&'a str]) -> Self {
        Self(Repr::Borrowed(texts))
    }
}

impl PartialEq for StrArray<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for StrArray<'_> {}

impl std::fmt::Debug for StrArray<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> IntoIterator for StrArray<'a> {
    type Item = &'a str;
    type IntoIter = StrArrayIter<'a>;

    fn into_iter(self) -> StrArrayIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &StrArray<'a> {
    type Item = &'a str;
    type IntoIter = StrArrayIter<'a>;

    fn into_iter(self) -> StrArrayIter<'a> {
        self.iter()
    }
}

/// The texts of a [`StrArray`] in order.
#[derive(Clone, Debug)]
pub struct StrArrayIter<'a> {
    array: StrArray<'a>,
    next: usize,
}

impl<'a> Iterator for StrArrayIter<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.array.get(self.next)?;
        self.next += 1;
        Some(text)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.array.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for StrArrayIter<'_> {}

/// A type whose slices are list values: `bool`, `i64`, `f64`, `String` and `&str`.
pub trait ArrayItem: Sized {
    /// Shows a slice as a value.
    fn array_value(items: &[Self]) -> Value<'_>;
}

impl ArrayItem for bool {
    fn array_value(items: &[Self]) -> Value<'_> {
        Value::Bools(items)
    }
}

impl ArrayItem for i64 {
    fn array_value(items: &[Self]) -> Value<'_> {
        Value::I64s(items)
    }
}

impl ArrayItem for f64 {
    fn array_value(items: &[Self]) -> Value<'_> {
        Value::F64s(items)
    }
}

impl ArrayItem for String {
    fn array_value(items: &[Self]) -> Value<'_> {
        Value::Strs(StrArray::from(items))
    }
}

impl ArrayItem for &str {
    fn array_value(items: &[Self]) -> Value<'_> {
        Value::Strs(StrArray::from(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_equal_texts_are_equal_whatever_their_type() {
        let owned = [String::from("x"), String::from("x")];
        let borrowed = ["x", "x"];
        let owned = StrArray::from(&owned[..]);
        assert_eq!(owned, StrArray::from(&borrowed[..]));
        assert_eq!(owned, StrArray::repeated("x", 2));
        assert_ne!(owned, StrArray::repeated("x", 3));
        assert_ne!(owned, StrArray::repeated("y", 2));
    }

    #[test]
    fn iteration_ends_at_the_length() {
        let list = StrArray::repeated("x", 3);
        let mut iter = list.iter();
        assert_eq!(iter.len(), 3);
        assert_eq!(iter.by_ref().count(), 3);
        assert_eq!(iter.next(), None);
        assert_eq!(iter.len(), 0);
        assert!(StrArray::repeated("x", 0).is_empty());
    }

    #[test]
    fn debug_shows_the_texts() {
        assert_eq!(
            format!("{:?}", StrArray::from(&["a", "b"][..])),
            r#"["a", "b"]"#
        );
    }
}
