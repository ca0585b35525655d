//! The `tracestate` header.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::error::{ParseError, ParseErrorKind};
use super::ows::trim;

/// What tracing systems add to `traceparent`, passed on with the trace.
///
/// Entries keep their order. Space around entries, empty entries and repetitions of a key are removed. At most
/// 32 entries are accepted. At most 512 bytes are kept: of a longer list, whole entries are removed, first those
/// above 128 bytes and then from the end, as the specification advises.
///
/// ```
/// use gym_telemetry_core::TraceState;
///
/// let state: TraceState = "rojo=1, congo=t61".parse()?;
/// assert_eq!(state.as_str(), "rojo=1,congo=t61");
/// assert_eq!(state.get("congo"), Some("t61"));
/// # Ok::<(), gym_telemetry_core::ParseError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct TraceState(Option<Arc<str>>);

/// The largest number of entries.
const MAX_MEMBERS: usize = 32;
/// The largest number of bytes that is passed on.
const MAX_LEN: usize = 512;
/// Entries above this length are the first to go when the list is too long.
const LARGE_MEMBER: usize = 128;

impl TraceState {
    /// No entry.
    pub const EMPTY: Self = Self(None);

    /// The entries as text, empty if there is none.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether there is no entry.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The entries in order, most recent first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.as_str()
            .split(',')
            .filter_map(|member| member.split_once('='))
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter()
            .find_map(|(known, value)| (known == key).then_some(value))
    }

    /// Reads the values of one or more headers as one list, in order.
    pub(super) fn from_headers<'a>(
        headers: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Self, ParseError> {
        let mut members: Vec<&[u8]> = Vec::new();
        let mut count = 0;
        for member in headers.flat_map(|header| header.split(|byte| *byte == b',')) {
            let member = trim(member);
            if member.is_empty() {
                continue;
            }
            count += 1;
            if count > MAX_MEMBERS {
                return Err(ParseError::new(ParseErrorKind::TooManyMembers));
            }
            let key = key_of(member)?;
            // The bound on the count keeps this search short.
            if !members
                .iter()
                .any(|known| known.starts_with(key) && known[key.len()] == b'=')
            {
                members.push(member);
            }
        }
        fit(&mut members);
        if members.is_empty() {
            return Ok(Self::EMPTY);
        }
        let text = members.join(&b',');
        let text = str::from_utf8(&text).expect("the grammar allows ASCII only");
        Ok(Self(Some(text.into())))
    }
}

/// Checks an entry and returns its key.
fn key_of(member: &[u8]) -> Result<&[u8], ParseError> {
    let error = |kind| Err(ParseError::new(kind));
    let Some(equals) = member.iter().position(|byte| *byte == b'=') else {
        return error(ParseErrorKind::Character);
    };
    let (key, value) = (&member[..equals], &member[equals + 1..]);
    check_key(key)?;
    if value.is_empty() || value.len() > 256 {
        return error(ParseErrorKind::Length);
    }
    // Space inside is allowed; space at the end was removed with what surrounds the entry.
    if !value
        .iter()
        .all(|byte| matches!(byte, b' '..=b'~') && *byte != b'=')
    {
        return error(ParseErrorKind::Character);
    }
    Ok(key)
}

/// A key is a name, or the name of a tenant, an at sign and the name of a system.
fn check_key(key: &[u8]) -> Result<(), ParseError> {
    match key.iter().position(|byte| *byte == b'@') {
        None => check_name(key, 256),
        Some(at) => check_name(&key[..at], 241).and_then(|()| check_name(&key[at + 1..], 14)),
    }
}

fn check_name(name: &[u8], max: usize) -> Result<(), ParseError> {
    if name.is_empty() || name.len() > max {
        return Err(ParseError::new(ParseErrorKind::Length));
    }
    let starts = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let goes_on = |byte: u8| starts(byte) || matches!(byte, b'_' | b'-' | b'*' | b'/');
    if starts(name[0]) && name.iter().copied().all(goes_on) {
        Ok(())
    } else {
        Err(ParseError::new(ParseErrorKind::Character))
    }
}

/// Removes whole entries until the list is short enough.
fn fit(members: &mut Vec<&[u8]>) {
    // Each entry counts with the comma after it; the last has none.
    const LIMIT: usize = MAX_LEN + 1;
    let mut len: usize = members.iter().map(|member| member.len() + 1).sum();
    for index in (0..members.len()).rev() {
        if len > LIMIT && members[index].len() > LARGE_MEMBER {
            len -= members.remove(index).len() + 1;
        }
    }
    while len > LIMIT {
        len -= members.pop().map_or(len, |member| member.len() + 1);
    }
}

impl FromStr for TraceState {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::from_headers(std::iter::once(text.as_bytes()))
    }
}

impl fmt::Display for TraceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for TraceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TraceState").field(&self.as_str()).finish()
    }
}
