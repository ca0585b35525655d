//! The `traceparent` header.

use std::fmt;
use std::ops::Deref;

use super::error::{ParseError, ParseErrorKind};
use super::{SpanContext, SpanId, TraceFlags, TraceId, TraceState, hex};

/// The length of a `traceparent` of version 00: `00-`, 32 digits, `-`, 16 digits, `-`, 2 digits.
const LEN: usize = 55;

impl SpanContext {
    /// Reads a `traceparent`. The context is remote and has no trace state.
    ///
    /// Versions after 00 are read as the specification says: the known parts count, and what follows them after a
    /// hyphen is ignored.
    ///
    /// # Errors
    ///
    /// If the text is anything but a valid `traceparent`: upper-case digits, signs, surrounding space, ids of zeros
    /// only, the version `ff`, or anything after the flags in version 00.
    pub fn from_traceparent(text: &str) -> Result<Self, ParseError> {
        parse(text.as_bytes())
    }

    /// Writes the `traceparent` of version 00 without allocating.
    #[must_use]
    pub fn to_traceparent(&self) -> TraceparentBuf {
        let mut text = [b'-'; LEN];
        hex::encode(&[0], &mut text[0..2]);
        hex::encode(&self.trace_id().to_bytes(), &mut text[3..35]);
        hex::encode(&self.span_id().to_bytes(), &mut text[36..52]);
        hex::encode(&[self.flags().bits()], &mut text[53..55]);
        TraceparentBuf(text)
    }
}

/// Reads a `traceparent` from the bytes of a header.
pub(super) fn parse(text: &[u8]) -> Result<SpanContext, ParseError> {
    let error = |kind| Err(ParseError::new(kind));
    let Some((known, rest)) = text.split_at_checked(LEN) else {
        return error(ParseErrorKind::Length);
    };
    if [known[2], known[35], known[52]] != [b'-'; 3] {
        return error(ParseErrorKind::Length);
    }
    let [version] = hex::decode(&known[0..2])?;
    match (version, rest) {
        (0xff, _) => return error(ParseErrorKind::Version),
        // A later version may go on, but only after a separator.
        (_, []) | (1.., [b'-', ..]) => {}
        _ => return error(ParseErrorKind::Length),
    }
    let zero = ParseError::new(ParseErrorKind::ZeroId);
    let trace_id = TraceId::from_bytes(hex::decode(&known[3..35])?).ok_or(zero)?;
    let span_id = SpanId::from_bytes(hex::decode(&known[36..52])?).ok_or(zero)?;
    let [flags] = hex::decode(&known[53..55])?;
    Ok(SpanContext::new(
        trace_id,
        span_id,
        TraceFlags::from_bits(flags),
        TraceState::EMPTY,
        true,
    ))
}

/// The text of a `traceparent` of version 00, on the stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceparentBuf([u8; LEN]);

impl Deref for TraceparentBuf {
    type Target = str;

    fn deref(&self) -> &str {
        str::from_utf8(&self.0).expect("hexadecimal digits and hyphens are ASCII")
    }
}

impl AsRef<str> for TraceparentBuf {
    fn as_ref(&self) -> &str {
        self
    }
}

impl AsRef<[u8]> for TraceparentBuf {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for TraceparentBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for TraceparentBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
