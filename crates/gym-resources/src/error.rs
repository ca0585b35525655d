//! Why a text is no amount.

use std::fmt;

/// A text that could not be read as an amount.
///
/// `Display` names the text (shortened and escaped, so that it is safe in a log line) and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    kind: QuantityErrorKind,
    text: String,
}

/// What is wrong with a text that is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuantityErrorKind {
    /// There is no text.
    Empty,
    /// The text is longer than any amount needs to be.
    TooLong,
    /// The text does not start with a decimal number.
    Syntax,
    /// What follows the number is no known suffix and no exponent.
    Suffix,
    /// The amount is below zero.
    Negative,
    /// The amount of devices is not a whole number.
    NotInteger,
    /// The amount is not zero, and too large or too small for its type.
    OutOfRange,
}

/// Longest part of an unreadable text that an error shows.
const SHOWN_CHARS: usize = 40;

impl QuantityError {
    pub(crate) fn new(kind: QuantityErrorKind, text: &str) -> Self {
        let mut shown: String = text
            .chars()
            .take(SHOWN_CHARS)
            .flat_map(char::escape_debug)
            .collect();
        if text.chars().nth(SHOWN_CHARS).is_some() {
            shown.push('…');
        }
        Self { kind, text: shown }
    }

    /// Returns what is wrong.
    #[must_use]
    pub fn kind(&self) -> QuantityErrorKind {
        self.kind
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self.kind {
            QuantityErrorKind::Empty => return f.write_str("the amount is empty"),
            QuantityErrorKind::TooLong => "is longer than an amount may be",
            QuantityErrorKind::Syntax => "does not start with a decimal number",
            QuantityErrorKind::Suffix => {
                "has an unknown suffix or a malformed exponent after its number"
            }
            QuantityErrorKind::Negative => "is below zero",
            QuantityErrorKind::NotInteger => "is not a whole number of devices",
            QuantityErrorKind::OutOfRange => "is too large or too small to represent",
        };
        write!(f, "the amount \"{}\" {problem}", self.text)
    }
}

impl std::error::Error for QuantityError {}
