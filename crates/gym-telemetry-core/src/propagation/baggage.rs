//! The `baggage` header.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::error::{ParseError, ParseErrorKind};
use super::ows::trim;

/// What the application passes along a trace, unchanged byte for byte.
///
/// Up to 8192 bytes and 180 entries are accepted. The current specification makes everybody pass on 8192 bytes and
/// 64 entries; its earlier version, which OpenTelemetry's other implementations follow, allowed 180, and what they
/// send must pass. A longer or malformed baggage is dropped as a whole: part of it could mean something else.
///
/// `Debug` shows the size only, because baggage belongs to the application.
///
/// ```
/// use gym_telemetry_core::Baggage;
///
/// let baggage: Baggage = "team=rl,user=a%20b;ttl=5".parse()?;
/// assert_eq!(baggage.as_str(), "team=rl,user=a%20b;ttl=5");
/// assert!("team rl".parse::<Baggage>().is_err());
/// # Ok::<(), gym_telemetry_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Baggage(Arc<str>);

/// The largest number of bytes.
const MAX_LEN: usize = 8192;
/// The largest number of entries.
const MAX_MEMBERS: usize = 180;

impl Baggage {
    /// The header's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks the bytes of a header, or of several joined with commas.
    pub(super) fn from_bytes(text: &[u8]) -> Result<Self, ParseError> {
        if text.len() > MAX_LEN {
            return Err(ParseError::new(ParseErrorKind::Length));
        }
        let mut count = 0;
        for member in text.split(|byte| *byte == b',') {
            count += 1;
            if count > MAX_MEMBERS {
                return Err(ParseError::new(ParseErrorKind::TooManyMembers));
            }
            check_member(member)?;
        }
        let text = str::from_utf8(text).expect("the grammar allows ASCII only");
        Ok(Self(text.into()))
    }
}

/// Checks `key=value` and the properties after it, each a key or `key=value` after a semicolon.
fn check_member(member: &[u8]) -> Result<(), ParseError> {
    let mut parts = member.split(|byte| *byte == b';');
    let pair = parts.next().unwrap_or_default();
    check_pair(pair, true)?;
    parts.try_for_each(|property| check_pair(property, false))
}

fn check_pair(pair: &[u8], needs_value: bool) -> Result<(), ParseError> {
    let error = Err(ParseError::new(ParseErrorKind::Character));
    let (key, value) = match pair.iter().position(|byte| *byte == b'=') {
        Some(equals) => (&pair[..equals], &pair[equals + 1..]),
        None if needs_value => return error,
        None => (pair, &[][..]),
    };
    let key = trim(key);
    if key.is_empty()
        || !key.iter().copied().all(is_token)
        || !trim(value).iter().copied().all(is_value)
    {
        return error;
    }
    Ok(())
}

/// A character of a token as HTTP defines it.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A printable character but space, double quote, comma, semicolon and backslash.
fn is_value(byte: u8) -> bool {
    matches!(byte, 0x21 | 0x23..=0x2b | 0x2d..=0x3a | 0x3c..=0x5b | 0x5d..=0x7e)
}

impl FromStr for Baggage {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::from_bytes(text.as_bytes())
    }
}

impl fmt::Display for Baggage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Baggage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Baggage(<{} bytes>)", self.0.len())
    }
}
