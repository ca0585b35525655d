//! Why a header was refused.

use std::fmt;

/// A text is not what its header allows.
///
/// The message never repeats the text, which comes from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    kind: ParseErrorKind,
}

/// What kind of thing was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// A part has the wrong length or a separator is missing.
    Length,
    /// A character is not allowed where it stands.
    Character,
    /// The version of `traceparent` is the forbidden `ff`.
    Version,
    /// An id has zeros only.
    ZeroId,
    /// A list has too many members.
    TooManyMembers,
    /// A header that may occur once occurs more than once.
    Duplicate,
}

impl ParseError {
    pub(super) const fn new(kind: ParseErrorKind) -> Self {
        Self { kind }
    }

    /// What kind of thing was wrong.
    #[must_use]
    pub const fn kind(&self) -> ParseErrorKind {
        self.kind
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            ParseErrorKind::Length => "a part is too short, too long or missing",
            ParseErrorKind::Character => "a character is not allowed where it stands",
            ParseErrorKind::Version => "the version ff is forbidden",
            ParseErrorKind::ZeroId => "an id has zeros only",
            ParseErrorKind::TooManyMembers => "the list has too many members",
            ParseErrorKind::Duplicate => "the header occurs more than once",
        })
    }
}

impl std::error::Error for ParseError {}
