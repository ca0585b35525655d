//! What happens to a span, in words of 64 bits.
//!
//! An entry is a header, a pointer to its static key or name, if it has one, and its value. Only what needs no
//! destructor has an entry: numbers, static texts, and short texts, which are copied. All else goes to the heap, see
//! [`Owned::spilled`](super::Owned).

use gym_telemetry_core::Value;

use super::super::clock::Tick;

/// The longest text that is copied into a log, in bytes.
const LONGEST: usize = 96;
/// The most words of one entry.
pub(super) const MAX_ENTRY: usize = 31;

/// Nothing follows in this part of the log.
const END: u8 = 1;
const ATTRIBUTE: u8 = 2;
/// An attribute of the event before it.
const EVENT_ATTRIBUTE: u8 = 3;
const EVENT: u8 = 4;
const STATUS: u8 = 5;
const NAME: u8 = 6;
const SCOPE: u8 = 7;

const BOOL: u8 = 0;
const I64: u8 = 1;
const F64: u8 = 2;
const U64: u8 = 3;
const STATIC: u8 = 4;
const INLINE: u8 = 5;
const OK: u8 = 6;
/// The value is shown as it is, whatever the rules of redaction say.
const CLEAR: u8 = 0x80;

/// A text that the log can hold, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text<'a> {
    Static(&'static str),
    Copied(&'a str),
}

/// What a log says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Entry<'a> {
    /// Belongs to the event before it if `of_event`.
    Attribute {
        key: &'static str,
        value: Value<'a>,
        of_event: bool,
        /// Whether redaction leaves it alone.
        is_clear: bool,
    },
    Event {
        name: &'static str,
        at: Tick,
    },
    StatusOk,
    StatusError(Text<'a>),
    Name(Text<'a>),
    Scope(&'static str),
}

/// The header of a part of the log that ends early.
pub(super) const END_OF_PART: u64 = END as u64;

const fn header(tag: u8, kind: u8, key: usize, value: usize) -> u64 {
    // The lengths were checked.
    tag as u64 | (kind as u64) << 8 | (key as u64 & 0xffff) << 16 | (value as u64) << 32
}

#[inline]
fn address(text: &'static str) -> u64 {
    text.as_ptr().expose_provenance() as u64
}

/// How many words an entry takes, which is known before it is written; `None` if a log cannot hold it.
#[inline]
pub(super) fn size_of_attribute(key: &str, value: &Value<'_>) -> Option<usize> {
    if u16::try_from(key.len()).is_err() {
        return None;
    }
    match value {
        Value::Bool(_) | Value::I64(_) | Value::F64(_) | Value::U64(_) => Some(3),
        Value::Static(text) if fits(text) => Some(3),
        Value::Str(text) if text.len() <= LONGEST => Some(2 + text.len().div_ceil(8)),
        _ => None,
    }
}

fn fits(text: &str) -> bool {
    u32::try_from(text.len()).is_ok()
}

/// Writes an attribute.
///
/// # Safety
///
/// There must be room for as many words as [`size_of_attribute`] says.
#[inline]
pub(super) unsafe fn write_attribute(
    to: *mut u64,
    key: &'static str,
    value: &Value<'_>,
    is_clear: bool,
    of_event: bool,
) {
    let tag = if of_event { EVENT_ATTRIBUTE } else { ATTRIBUTE };
    let (kind, word, len) = match *value {
        Value::Bool(value) => (BOOL, u64::from(value), 0),
        Value::I64(value) => (I64, value.cast_unsigned(), 0),
        Value::F64(value) => (F64, value.to_bits(), 0),
        Value::U64(value) => (U64, value, 0),
        Value::Static(text) => (STATIC, address(text), text.len()),
        Value::Str(text) => {
            // SAFETY: the caller promises room for the text behind two words.
            unsafe { copy(text, to.add(2)) };
            let kind = INLINE | if is_clear { CLEAR } else { 0 };
            // SAFETY: the caller promises room for two words and more.
            unsafe {
                to.write(header(tag, kind, key.len(), text.len()));
                to.add(1).write(address(key));
            }
            return;
        }
        _ => return,
    };
    let kind = kind | if is_clear { CLEAR } else { 0 };
    // SAFETY: the caller promises room for three words.
    unsafe {
        to.write(header(tag, kind, key.len(), len));
        to.add(1).write(address(key));
        to.add(2).write(word);
    }
}

/// # Safety
///
/// There must be room for the text.
#[inline]
unsafe fn copy(text: &str, to: *mut u64) {
    // SAFETY: the caller promises room; a text cannot lie in a log that somebody writes to.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast::<u8>(), text.len()) };
}

/// How many words an event takes without its attributes.
pub(super) const EVENT_WORDS: usize = 3;

pub(super) fn can_name_event(name: &str) -> bool {
    u16::try_from(name.len()).is_ok()
}

/// Writes an event, whose attributes follow.
///
/// # Safety
///
/// There must be room for [`EVENT_WORDS`].
pub(super) unsafe fn write_event(to: *mut u64, name: &'static str, at: Tick) {
    // SAFETY: the caller promises room.
    unsafe {
        to.write(header(EVENT, 0, name.len(), 0));
        to.add(1).write(address(name));
        to.add(2).write(at.raw());
    }
}

/// What an entry with one text is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum About {
    Status,
    Name,
    Scope,
}

impl About {
    const fn tag(self) -> u8 {
        match self {
            Self::Status => STATUS,
            Self::Name => NAME,
            Self::Scope => SCOPE,
        }
    }
}

pub(super) fn size_of_text(text: Text<'_>) -> Option<usize> {
    match text {
        Text::Static(text) => fits(text).then_some(2),
        Text::Copied(text) => (text.len() <= LONGEST).then(|| 1 + text.len().div_ceil(8)),
    }
}

/// Writes an entry with one text.
///
/// # Safety
///
/// There must be room for as many words as [`size_of_text`] says.
pub(super) unsafe fn write_text(to: *mut u64, about: About, text: Text<'_>) {
    // SAFETY: the caller promises room.
    unsafe {
        match text {
            Text::Static(text) => {
                to.write(header(about.tag(), STATIC, 0, text.len()));
                to.add(1).write(address(text));
            }
            Text::Copied(text) => {
                to.write(header(about.tag(), INLINE, 0, text.len()));
                copy(text, to.add(1));
            }
        }
    }
}

/// The header of the entry that makes the status `Ok`.
pub(super) const STATUS_OK: u64 = header(STATUS, OK, 0, 0);

/// Reads the entry at `from` and tells its size; `None` at the end of a part.
///
/// # Safety
///
/// An entry must have been written there, and it must stay as it is for `'a`.
pub(super) unsafe fn read<'a>(from: *const u64) -> Option<(Entry<'a>, usize)> {
    // SAFETY: the caller promises an entry, which begins with a header.
    let header = unsafe { from.read() };
    #[expect(clippy::cast_possible_truncation, reason = "this takes the word apart")]
    let (tag, kind, key_len, len) = (
        header as u8,
        (header >> 8) as u8,
        usize::from((header >> 16) as u16),
        (header >> 32) as usize,
    );
    // SAFETY: each arm reads as many words as its entry was written with, and texts come from whole texts.
    unsafe {
        let text = |at: usize| {
            if kind & !CLEAR == STATIC {
                (Text::Static(static_text(from.add(at), len)), at + 1)
            } else {
                let text = text(from.add(at).cast(), len);
                (Text::Copied(text), at + len.div_ceil(8))
            }
        };
        Some(match tag {
            ATTRIBUTE | EVENT_ATTRIBUTE => {
                let key = static_text(from.add(1), key_len);
                let (value, size) = match kind & !CLEAR {
                    BOOL => (Value::Bool(from.add(2).read() != 0), 3),
                    I64 => (Value::I64(from.add(2).read().cast_signed()), 3),
                    F64 => (Value::F64(f64::from_bits(from.add(2).read())), 3),
                    U64 => (Value::U64(from.add(2).read()), 3),
                    _ => match text(2) {
                        (Text::Static(text), size) => (Value::Static(text), size),
                        (Text::Copied(text), size) => (Value::Str(text), size),
                    },
                };
                let entry = Entry::Attribute {
                    key,
                    value,
                    of_event: tag == EVENT_ATTRIBUTE,
                    is_clear: kind & CLEAR != 0,
                };
                (entry, size)
            }
            EVENT => {
                let name = static_text(from.add(1), key_len);
                let at = Tick::from_raw(from.add(2).read());
                (Entry::Event { name, at }, EVENT_WORDS)
            }
            STATUS if kind == OK => (Entry::StatusOk, 1),
            STATUS => {
                let (text, size) = text(1);
                (Entry::StatusError(text), size)
            }
            NAME => {
                let (text, size) = text(1);
                (Entry::Name(text), size)
            }
            SCOPE => (Entry::Scope(static_text(from.add(1), len)), 2),
            _ => return None,
        })
    }
}

/// # Safety
///
/// At `from` the address of a static text of `len` bytes must have been written.
#[inline]
unsafe fn static_text(from: *const u64, len: usize) -> &'static str {
    // SAFETY: as the caller promises.
    #[expect(clippy::cast_possible_truncation, reason = "it was an address")]
    unsafe {
        text(std::ptr::with_exposed_provenance((*from) as usize), len)
    }
}

/// # Safety
///
/// At `from` there must be a text of `len` bytes that stays as it is for `'a`.
#[inline]
unsafe fn text<'a>(from: *const u8, len: usize) -> &'a str {
    // SAFETY: as the caller promises.
    unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(from, len)) }
}

/// Attributes of an event before there is an event: a log of its own.
#[derive(Debug)]
pub(crate) struct Scratch {
    words: [u64; MAX_ENTRY - EVENT_WORDS],
    len: usize,
}

impl Scratch {
    pub(crate) const fn new() -> Self {
        Self {
            words: [0; MAX_ENTRY - EVENT_WORDS],
            len: 0,
        }
    }

    /// Adds an attribute; whether it could be.
    pub(crate) fn attribute(
        &mut self,
        key: &'static str,
        value: &Value<'_>,
        is_clear: bool,
    ) -> bool {
        let Some(size) = size_of_attribute(key, value) else {
            return false;
        };
        let Some(to) = self.words.get_mut(self.len..self.len + size) else {
            return false;
        };
        // SAFETY: there are as many words as it takes.
        unsafe { write_attribute(to.as_mut_ptr(), key, value, is_clear, true) };
        self.len += size;
        true
    }

    /// The attributes so far.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            if at == self.len {
                return None;
            }
            // SAFETY: entries were written one behind the other up to `len`, and the borrow keeps them as they are.
            let (entry, size) = unsafe { read(self.words[at..].as_ptr()) }?;
            at += size;
            Some(entry)
        })
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words[..self.len]
    }
}
