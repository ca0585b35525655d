//! Kubernetes quantity texts.
//!
//! The grammar is `[+-]digits[.digits]` and then nothing, a decimal suffix (`n u m k M G T P E`), a binary
//! suffix (`Ki Mi Gi Ti Pi Ei`) or an exponent (`e` or `E` and a signed integer). Reading takes linear time,
//! and the result is the `f64` nearest to the exact amount.

use crate::decimal::{Decimal, WholeNumberError};
use crate::error::{QuantityError, QuantityErrorKind};

/// Longest text, in bytes, that is read as an amount.
pub const MAX_QUANTITY_LEN: usize = 1024;

/// Exponents beyond this are out of every range; the bound keeps later sums far from overflow.
const MAX_EXPONENT: i64 = 1_000_000;

/// Reads a Kubernetes quantity as a number of whole devices.
///
/// # Errors
///
/// As [`Cores::from_quantity`](crate::Cores::from_quantity), and
/// [`NotInteger`](QuantityErrorKind::NotInteger) for a fraction of a device.
pub fn gpu_count_from_quantity(text: &str) -> Result<u64, QuantityError> {
    let error = |kind| QuantityError::new(kind, text);
    let (number, two) = parse(text).map_err(error)?;
    scaled(number, two).to_u64().map_err(|why| {
        error(match why {
            WholeNumberError::Fraction => QuantityErrorKind::NotInteger,
            WholeNumberError::TooLarge => QuantityErrorKind::OutOfRange,
        })
    })
}

/// Reads a Kubernetes quantity in units of `2^unit_log2`.
pub(crate) fn amount(text: &str, unit_log2: i32) -> Result<f64, QuantityError> {
    let error = |kind| QuantityError::new(kind, text);
    let (number, two) = parse(text).map_err(error)?;
    scaled(number, two - unit_log2)
        .to_f64()
        .ok_or_else(|| error(QuantityErrorKind::OutOfRange))
}

fn scaled(mut number: Decimal, two: i32) -> Decimal {
    number.scale_two(two);
    number
}

/// Splits a text into its decimal number and a power of two to multiply it by.
fn parse(text: &str) -> Result<(Decimal, i32), QuantityErrorKind> {
    if text.is_empty() {
        return Err(QuantityErrorKind::Empty);
    }
    if text.len() > MAX_QUANTITY_LEN {
        return Err(QuantityErrorKind::TooLong);
    }
    let (sign, unsigned) = split_sign(text.as_bytes());
    let (integer, rest) = split_digits(unsigned);
    let (fraction, suffix) = match rest {
        [b'.', rest @ ..] => split_digits(rest),
        rest => (&rest[..0], rest),
    };
    if integer.is_empty() && fraction.is_empty() || suffix.starts_with(b".") {
        return Err(QuantityErrorKind::Syntax);
    }
    let (ten, two) = scale(suffix)?;
    let mut number = Decimal::from_ascii(integer, fraction, 0);
    number.scale_ten(ten);
    if sign == Sign::Minus && !number.is_zero() {
        return Err(QuantityErrorKind::Negative);
    }
    if ten.abs() > MAX_EXPONENT && !number.is_zero() {
        return Err(QuantityErrorKind::OutOfRange);
    }
    Ok((number, two))
}

/// Returns the powers of ten and of two that a suffix stands for.
fn scale(suffix: &[u8]) -> Result<(i64, i32), QuantityErrorKind> {
    Ok(match suffix {
        b"" => (0, 0),
        b"n" => (-9, 0),
        b"u" => (-6, 0),
        b"m" => (-3, 0),
        b"k" => (3, 0),
        b"M" => (6, 0),
        b"G" => (9, 0),
        b"T" => (12, 0),
        b"P" => (15, 0),
        b"E" => (18, 0),
        b"Ki" => (0, 10),
        b"Mi" => (0, 20),
        b"Gi" => (0, 30),
        b"Ti" => (0, 40),
        b"Pi" => (0, 50),
        b"Ei" => (0, 60),
        [b'e' | b'E', exponent @ ..] => (parse_exponent(exponent)?, 0),
        _ => return Err(QuantityErrorKind::Suffix),
    })
}

fn parse_exponent(text: &[u8]) -> Result<i64, QuantityErrorKind> {
    let (sign, unsigned) = split_sign(text);
    let (digits, rest) = split_digits(unsigned);
    if digits.is_empty() || !rest.is_empty() {
        return Err(QuantityErrorKind::Suffix);
    }
    let magnitude = digits.iter().fold(0_i64, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(i64::from(digit - b'0'))
    });
    Ok(match sign {
        Sign::Plus => magnitude,
        Sign::Minus => -magnitude,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

fn split_sign(text: &[u8]) -> (Sign, &[u8]) {
    match text {
        [b'-', rest @ ..] => (Sign::Minus, rest),
        [b'+', rest @ ..] | rest => (Sign::Plus, rest),
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_texts_are_answered_at_once() {
        let digits = "9".repeat(10_000);
        for text in [
            "1e999999999",
            "1.5e-2147483647",
            "1e-99999999999999999999",
            digits.as_str(),
        ] {
            assert!(amount(text, 20).is_err(), "{text:.30}");
        }
        assert_eq!(amount("0e999999999", 20), Ok(0.0));
    }

    #[test]
    fn errors_shorten_and_escape_the_text() {
        let text = format!("5{}\n", "x".repeat(100));
        let message = amount(&text, 0).expect_err("x is no suffix").to_string();
        assert!(
            message.chars().count() < 130 && !message.contains('\n'),
            "{message}"
        );
    }
}
