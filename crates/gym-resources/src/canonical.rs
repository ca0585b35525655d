//! Kubernetes' canonical form: a whole number and the largest suffix that needs no fraction.

use crate::decimal::Decimal;

const DECIMAL_SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Largest amount of bytes that is written with a binary suffix; Kubernetes stores those as 64-bit integers.
const MAX_BINARY: f64 = 9_223_372_036_854_775_808.0;

/// Writes `amount` with a decimal suffix, rounded up to a billionth.
pub(crate) fn decimal(amount: f64) -> String {
    let digits = shortest(amount).to_nano_digits();
    if digits.is_empty() {
        return "0".to_owned();
    }
    let zeros = digits.iter().rev().take_while(|&&digit| digit == 0).count();
    let group = (zeros / 3).min(DECIMAL_SUFFIXES.len() - 1);
    let mut text: String = digits[..digits.len() - 3 * group]
        .iter()
        .map(|digit| char::from(digit + b'0'))
        .collect();
    text.push_str(DECIMAL_SUFFIXES[group]);
    text
}

/// Writes `amount * 2^unit_log2` bytes with a binary suffix, or with a decimal one when the bytes are few or
/// have a fraction.
pub(crate) fn binary(amount: f64, unit_log2: i32) -> String {
    // A power of two scales a float exactly, up to where there are no more bytes that a float can count.
    let bytes = (amount * 2_f64.powi(unit_log2)).min(f64::MAX);
    if bytes.fract() != 0.0 || !(1024.0..MAX_BINARY).contains(&bytes) {
        return decimal(bytes);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number between 1024 and 2^63"
    )]
    let mut whole = bytes as u64;
    let mut suffix = 0;
    while whole.is_multiple_of(1024) && suffix + 1 < BINARY_SUFFIXES.len() {
        whole /= 1024;
        suffix += 1;
    }
    format!("{whole}{}", BINARY_SUFFIXES[suffix])
}

/// Returns the shortest decimal number that reads back as `amount`.
fn shortest(amount: f64) -> Decimal {
    let text = amount.to_string();
    let (integer, fraction) = text.split_once('.').unwrap_or((&text, ""));
    Decimal::from_ascii(integer.as_bytes(), fraction.as_bytes(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_with_the_largest_suffix_that_needs_no_fraction() {
        for (amount, text) in [
            (0.0, "0"),
            (0.1, "100m"),
            (1.5, "1500m"),
            (2.0, "2"),
            (1000.0, "1k"),
            (1_234_000.0, "1234k"),
            (0.000_000_000_1, "1n"),
            (1e21, "1000E"),
        ] {
            assert_eq!(decimal(amount), text, "{amount}");
        }
        for (mebibytes, text) in [
            (0.0, "0"),
            (0.5 / 1024.0, "512"),
            (1.5, "1536Ki"),
            (8192.0, "8Gi"),
            (100.0, "100Mi"),
            (0.3, "314572800m"),
        ] {
            assert_eq!(binary(mebibytes, 20), text, "{mebibytes}");
        }
    }

    #[test]
    fn an_amount_beyond_what_a_float_can_count_in_bytes_is_still_a_number() {
        let text = binary(9.5e304, 20);
        assert!(text.ends_with('E') && text.len() > 200, "{text}");
        assert_eq!(text, binary(f64::MAX, 20));
    }
}
