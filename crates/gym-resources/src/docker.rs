//! Sizes as the Docker command line reads them.
//!
//! A decimal number, an optional space, and an optional suffix of any case: `b`, or one of `k m g t p`
//! followed by nothing, `b` or `ib`. Every step is 1024. This is not Kubernetes' language: there `m` is a
//! thousandth and `M` a million.

use crate::decimal::Decimal;
use crate::error::{QuantityError, QuantityErrorKind};
use crate::quantity::MAX_QUANTITY_LEN;

/// Reads a size in units of `2^unit_log2` bytes.
pub(crate) fn size(text: &str, unit_log2: i32) -> Result<f64, QuantityError> {
    let error = |kind| QuantityError::new(kind, text);
    let (mut number, two) = parse(text).map_err(error)?;
    number.scale_two(two - unit_log2);
    number
        .to_f64()
        .ok_or_else(|| error(QuantityErrorKind::OutOfRange))
}

fn parse(text: &str) -> Result<(Decimal, i32), QuantityErrorKind> {
    if text.is_empty() {
        return Err(QuantityErrorKind::Empty);
    }
    if text.len() > MAX_QUANTITY_LEN {
        return Err(QuantityErrorKind::TooLong);
    }
    let (negative, unsigned) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let end = unsigned
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    if integer.is_empty() || fraction.contains('.') {
        return Err(QuantityErrorKind::Syntax);
    }
    let suffix = suffix
        .strip_prefix(' ')
        .unwrap_or(suffix)
        .to_ascii_lowercase();
    let two = match suffix.as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        "p" | "pb" | "pib" => 50,
        _ => return Err(QuantityErrorKind::Suffix),
    };
    let number = Decimal::from_ascii(integer.as_bytes(), fraction.as_bytes(), 0);
    if negative && !number.is_zero() {
        Err(QuantityErrorKind::Negative)
    } else {
        Ok((number, two))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_docker_suffix_is_a_power_of_1024() {
        for (text, mebibytes) in [
            ("1048576", 1.0),
            ("1048576b", 1.0),
            ("512m", 512.0),
            ("512M", 512.0),
            ("512 MiB", 512.0),
            ("2g", 2048.0),
            ("1.5GB", 1536.0),
            ("2048kb", 2.0),
            ("0", 0.0),
        ] {
            assert_eq!(size(text, 20), Ok(mebibytes), "{text}");
        }
    }

    #[test]
    fn what_docker_refuses_is_an_error() {
        for text in ["", "m", "1x", "1 0m", "1.2.3m", "-1m", ".5g", "1e3", "1  m"] {
            assert!(size(text, 20).is_err(), "{text}");
        }
    }
}
