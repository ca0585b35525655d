//! Exact decimal numbers: `digits * 10^exponent`, scaled by powers of two without rounding.
//!
//! An amount is rounded once, at the very end, by the standard library's correctly rounded parser. Scaling
//! in floating point instead is off by one unit in the last place for texts as plain as `4.1G`.

/// A non-negative decimal number.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    /// Decimal digits, most significant first, without leading zeros; empty for zero.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Builds a number from ASCII digits before and after the decimal point.
    pub(crate) fn from_ascii(integer: &[u8], fraction: &[u8], exponent: i64) -> Self {
        let digits: Vec<u8> = integer
            .iter()
            .chain(fraction)
            .map(|digit| digit - b'0')
            .skip_while(|&digit| digit == 0)
            .collect();
        let fraction_digits = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
        Self {
            digits,
            exponent: exponent.saturating_sub(fraction_digits),
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Multiplies by `10^power`.
    pub(crate) fn scale_ten(&mut self, power: i64) {
        self.exponent = self.exponent.saturating_add(power);
    }

    /// Multiplies by `2^power`, exactly: a negative power is `5^n * 10^-n`. `|power|` is at most 60.
    pub(crate) fn scale_two(&mut self, power: i32) {
        debug_assert!(
            power.abs() <= 60,
            "the carry of a larger factor could overflow"
        );
        if power >= 0 {
            self.multiply(1 << power);
        } else {
            // 5^30 has 70 bits: two factors keep every product within 128 bits.
            let fives = power.unsigned_abs();
            self.multiply(5_u128.pow(fives / 2));
            self.multiply(5_u128.pow(fives - fives / 2));
            self.scale_ten(i64::from(power));
        }
    }

    fn multiply(&mut self, factor: u128) {
        let mut carry = 0;
        for digit in self.digits.iter_mut().rev() {
            let product = u128::from(*digit) * factor + carry;
            *digit = last_digit(product);
            carry = product / 10;
        }
        let mut leading = Vec::new();
        while carry > 0 {
            leading.push(last_digit(carry));
            carry /= 10;
        }
        leading.reverse();
        self.digits.splice(0..0, leading);
    }

    /// Returns the nearest `f64`, ties to even; `None` when that is infinite, or zero for a number that is not.
    pub(crate) fn to_f64(&self) -> Option<f64> {
        if self.is_zero() {
            return Some(0.0);
        }
        let mut text: String = self
            .digits
            .iter()
            .map(|digit| char::from(digit + b'0'))
            .collect();
        text.push('e');
        text.push_str(&self.exponent.to_string());
        let value: f64 = text
            .parse()
            .expect("digits, `e` and an integer are a floating-point literal");
        (value.is_finite() && value > 0.0).then_some(value)
    }

    /// Returns the number as a whole number; `Err(true)` when it has a fraction, `Err(false)` when it is too large.
    pub(crate) fn to_u64(&self) -> Result<u64, WholeNumberError> {
        if self.is_zero() {
            return Ok(0);
        }
        let significant = self.digits.len()
            - self
                .digits
                .iter()
                .rev()
                .take_while(|&&digit| digit == 0)
                .count();
        let trailing_zeros = i64::try_from(self.digits.len() - significant).unwrap_or(i64::MAX);
        let exponent = self.exponent.saturating_add(trailing_zeros);
        if exponent < 0 {
            return Err(WholeNumberError::Fraction);
        }
        let zeros = usize::try_from(exponent).map_err(|_| WholeNumberError::TooLarge)?;
        if significant.saturating_add(zeros) > 20 {
            return Err(WholeNumberError::TooLarge);
        }
        self.digits[..significant]
            .iter()
            .copied()
            .chain(std::iter::repeat_n(0, zeros))
            .try_fold(0_u64, |value, digit| {
                value.checked_mul(10)?.checked_add(u64::from(digit))
            })
            .ok_or(WholeNumberError::TooLarge)
    }

    /// Returns the number in billionths, rounded up, as decimal digits without leading zeros.
    pub(crate) fn to_nano_digits(&self) -> Vec<u8> {
        let shift = self.exponent.saturating_add(9);
        let mut digits = self.digits.clone();
        if shift >= 0 {
            if !digits.is_empty() {
                digits.extend(std::iter::repeat_n(0, usize::try_from(shift).unwrap_or(0)));
            }
            return digits;
        }
        let cut = usize::try_from(-shift)
            .unwrap_or(usize::MAX)
            .min(digits.len());
        let dropped = digits.split_off(digits.len() - cut);
        if dropped.iter().any(|&digit| digit != 0) {
            increment(&mut digits);
        }
        digits
    }
}

/// Why a decimal number is no `u64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WholeNumberError {
    Fraction,
    TooLarge,
}

fn last_digit(number: u128) -> u8 {
    u8::try_from(number % 10).expect("a remainder of ten fits a byte")
}

fn increment(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(integer: &str, fraction: &str, exponent: i64) -> Decimal {
        Decimal::from_ascii(integer.as_bytes(), fraction.as_bytes(), exponent)
    }

    #[test]
    fn scaling_up_and_down_by_a_power_of_two_is_exact() {
        for power in [1, 10, 20, 30, 50, 60] {
            let mut number = decimal("90071992547409929", "0625", 0);
            number.scale_two(power);
            number.scale_two(-power);
            let (digits, exponent) = (number.digits.clone(), number.exponent);
            let significant = digits
                .iter()
                .rposition(|&digit| digit != 0)
                .map_or(0, |last| last + 1);
            let exponent = exponent + i64::try_from(digits.len() - significant).expect("short");
            assert_eq!(
                digits[..significant],
                [
                    9, 0, 0, 7, 1, 9, 9, 2, 5, 4, 7, 4, 0, 9, 9, 2, 9, 0, 6, 2, 5
                ]
            );
            assert_eq!(exponent, -4);
        }
    }

    #[test]
    fn a_number_too_small_for_a_float_is_not_zero() {
        assert_eq!(decimal("5", "", -400).to_f64(), None);
        assert_eq!(decimal("0", "0", -400).to_f64(), Some(0.0));
    }

    #[test]
    fn whole_numbers_tell_a_fraction_from_an_overflow() {
        assert_eq!(
            decimal("18446744073709551615", "", 0).to_u64(),
            Ok(u64::MAX)
        );
        assert_eq!(
            decimal("18446744073709551616", "", 0).to_u64(),
            Err(WholeNumberError::TooLarge)
        );
        assert_eq!(
            decimal("1", "", 1_000_000_000).to_u64(),
            Err(WholeNumberError::TooLarge)
        );
        assert_eq!(decimal("10", "", -1).to_u64(), Ok(1));
        assert_eq!(decimal("1", "50", 1).to_u64(), Ok(15));
        assert_eq!(
            decimal("1", "5", 0).to_u64(),
            Err(WholeNumberError::Fraction)
        );
    }

    #[test]
    fn billionths_round_up() {
        assert_eq!(decimal("0", "0000000001", 0).to_nano_digits(), [1]);
        assert_eq!(
            decimal("0", "9999999999", 0).to_nano_digits(),
            [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(decimal("1", "", -100).to_nano_digits(), [1]);
        assert_eq!(decimal("0", "", 0).to_nano_digits(), [] as [u8; 0]);
    }
}
