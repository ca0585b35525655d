//! Writes protocol buffers: just what OTLP spans are made of.

/// The types of fields.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;
const FIXED32: u32 = 5;

/// How many bytes a length takes that is written after what it is the length of.
const PADDED: usize = 4;

/// How many bytes `number` takes.
#[inline]
pub(super) const fn len_of(number: u64) -> usize {
    // Seven bits a byte, and one byte for zero.
    (70 - (number | 1).leading_zeros() as usize) / 7
}

/// How many bytes a field takes whose number is below 16 and which holds `len` bytes.
#[inline]
pub(super) const fn len_of_bytes(len: usize) -> usize {
    1 + len_of(len as u64) + len
}

#[inline]
pub(super) fn varint(out: &mut Vec<u8>, mut number: u64) {
    #[expect(clippy::cast_possible_truncation, reason = "seven bits are meant")]
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "seven bits are left")]
    out.push(number as u8);
}

#[inline]
fn key(out: &mut Vec<u8>, field: u32, kind: u32) {
    varint(out, u64::from(field << 3 | kind));
}

/// A field with a number, which is left out if it is zero.
#[inline]
pub(super) fn number(out: &mut Vec<u8>, field: u32, number: u64) {
    if number != 0 {
        one_of_number(out, field, number);
    }
}

/// A field with a number that says something even if it is zero.
#[inline]
pub(super) fn one_of_number(out: &mut Vec<u8>, field: u32, number: u64) {
    key(out, field, VARINT);
    varint(out, number);
}

#[inline]
pub(super) fn fixed64(out: &mut Vec<u8>, field: u32, number: u64) {
    key(out, field, FIXED64);
    out.extend_from_slice(&number.to_le_bytes());
}

#[inline]
pub(super) fn fixed32(out: &mut Vec<u8>, field: u32, number: u32) {
    key(out, field, FIXED32);
    out.extend_from_slice(&number.to_le_bytes());
}

/// A field with bytes or text.
#[inline]
pub(super) fn bytes(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    begin(out, field, bytes.len());
    out.extend_from_slice(bytes);
}

/// The beginning of a field with bytes, of which `len` follow.
#[inline]
pub(super) fn begin(out: &mut Vec<u8>, field: u32, len: usize) {
    key(out, field, BYTES);
    varint(out, len as u64);
}

/// A field with what `write` writes. Its length takes more bytes than it has to, so that nothing has to be moved when it
/// is known.
#[inline]
pub(super) fn message(out: &mut Vec<u8>, field: u32, write: impl FnOnce(&mut Vec<u8>)) {
    key(out, field, BYTES);
    let start = out.len();
    out.extend_from_slice(&[0; PADDED]);
    write(out);
    let len = out.len() - start - PADDED;
    let place = &mut out[start..start + PADDED];
    #[expect(clippy::cast_possible_truncation, reason = "seven bits are meant")]
    for (index, byte) in place.iter_mut().enumerate() {
        let goes_on = if index + 1 < PADDED { 0x80 } else { 0 };
        *byte = (len >> (7 * index)) as u8 & 0x7f | goes_on;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_many_bytes_as_is_said() {
        let mut number = 1_u64;
        for _ in 0..64 {
            for number in [number - 1, number, number + 1, u64::MAX] {
                let mut out = Vec::new();
                varint(&mut out, number);
                assert_eq!(out.len(), len_of(number), "{number}");
                let read = prost::encoding::decode_varint(&mut out.as_slice());
                assert_eq!(read.ok(), Some(number));
            }
            number = number.wrapping_mul(2).max(1);
        }
    }

    #[test]
    fn a_padded_length_is_read_like_any_other() {
        for len in [0, 1, 127, 128, 16_383, 16_384, 3_000_000] {
            let mut out = Vec::new();
            message(&mut out, 1, |out| out.resize(out.len() + len, 7));
            let mut rest = &out[1..];
            let read = prost::encoding::decode_varint(&mut rest).expect("is a length");
            assert_eq!((read, rest.len()), (len as u64, len));
        }
    }
}
