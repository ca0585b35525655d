//! Lower-case hexadecimal digits.

use super::error::{ParseError, ParseErrorKind};

/// Reads exactly `2 * N` lower-case digits.
pub(super) fn decode<const N: usize>(text: &[u8]) -> Result<[u8; N], ParseError> {
    if text.len() != 2 * N {
        return Err(ParseError::new(ParseErrorKind::Length));
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Ok(bytes)
}

/// Writes two lower-case digits per byte; `text` is twice as long as `bytes`.
pub(super) fn encode(bytes: &[u8], text: &mut [u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (byte, pair) in bytes.iter().zip(text.chunks_exact_mut(2)) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 0xf)];
    }
}

fn digit(character: u8) -> Result<u8, ParseError> {
    match character {
        b'0'..=b'9' => Ok(character - b'0'),
        b'a'..=b'f' => Ok(character - b'a' + 10),
        _ => Err(ParseError::new(ParseErrorKind::Character)),
    }
}
