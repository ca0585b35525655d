//! Limits as the kernel's control groups print them.
//!
//! "No limit" has many spellings: `max` in version 2, a number near 2^63 or 2^64 in version 1, an empty file,
//! zero. All of them are `None`: there is no amount to report.

use crate::error::{QuantityError, QuantityErrorKind};
use crate::units::{Cores, Mebibytes};

/// Version 1 prints "no limit" as 2^63 - 1 rounded down to a page; no page is larger than 2^20 bytes.
const UNLIMITED_FROM: u64 = (1 << 63) - (1 << 20);

/// Reads a memory limit: `memory.max` of version 2, `memory.limit_in_bytes` of version 1.
///
/// `None` means that no limit is set.
///
/// # Errors
///
/// [`Syntax`](QuantityErrorKind::Syntax) when the text is neither a whole number of bytes nor `max`.
pub fn memory_limit(text: &str) -> Result<Option<Mebibytes>, QuantityError> {
    let text = text.trim();
    if matches!(text, "" | "max" | "-1") {
        return Ok(None);
    }
    let bytes = whole_number(text)?;
    Ok((bytes != 0 && bytes < UNLIMITED_FROM).then(|| Mebibytes::from_bytes(bytes)))
}

/// Reads a CPU limit of version 2: the text of `cpu.max`, a quota and a period in microseconds.
///
/// `None` means that no limit is set.
///
/// # Errors
///
/// [`Syntax`](QuantityErrorKind::Syntax) when the text is neither, or when the period is zero.
pub fn cpu_limit_v2(text: &str) -> Result<Option<Cores>, QuantityError> {
    let mut fields = text.split_ascii_whitespace();
    match (fields.next(), fields.next(), fields.next()) {
        (None | Some("max"), _, None) => Ok(None),
        // The kernel's default period, where an old kernel prints the quota alone.
        (Some(quota), None, None) => cores(whole_number(quota)?, 100_000, text).map(Some),
        (Some(quota), Some(period), None) => {
            cores(whole_number(quota)?, whole_number(period)?, text).map(Some)
        }
        _ => Err(QuantityError::new(QuantityErrorKind::Syntax, text)),
    }
}

/// Reads a CPU limit of version 1: the texts of `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
///
/// `None` means that no limit is set: the quota is -1.
///
/// # Errors
///
/// [`Syntax`](QuantityErrorKind::Syntax) when a text is no whole number, or when the period is zero.
pub fn cpu_limit_v1(quota: &str, period: &str) -> Result<Option<Cores>, QuantityError> {
    let quota = quota.trim();
    if matches!(quota, "" | "-1") {
        return Ok(None);
    }
    cores(whole_number(quota)?, whole_number(period.trim())?, period).map(Some)
}

fn cores(quota: u64, period: u64, text: &str) -> Result<Cores, QuantityError> {
    if period == 0 {
        return Err(QuantityError::new(QuantityErrorKind::Syntax, text));
    }
    #[expect(clippy::cast_precision_loss, reason = "microseconds far below 2^53")]
    Cores::new(quota as f64 / period as f64)
}

fn whole_number(text: &str) -> Result<u64, QuantityError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .then(|| text.parse().ok())
        .flatten()
        .ok_or_else(|| QuantityError::new(QuantityErrorKind::Syntax, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_unlimited_is_no_amount() {
        for text in [
            "max\n",
            "9223372036854771712\n",
            "9223372036854775807",
            "18446744073709551615",
            "",
            "0",
            "-1",
        ] {
            assert_eq!(memory_limit(text), Ok(None), "{text:?}");
        }
        assert_eq!(
            memory_limit("4294967296\n").map(|limit| limit.map(Mebibytes::get)),
            Ok(Some(4096.0))
        );
        for text in ["max 100000\n", "max", ""] {
            assert_eq!(cpu_limit_v2(text), Ok(None), "{text:?}");
        }
        assert_eq!(cpu_limit_v1("-1\n", "100000\n"), Ok(None));
    }

    #[test]
    fn a_quota_is_a_share_of_its_period() {
        assert_eq!(
            cpu_limit_v2("150000 100000\n").map(|limit| limit.map(Cores::get)),
            Ok(Some(1.5))
        );
        assert_eq!(
            cpu_limit_v2("50000").map(|limit| limit.map(Cores::get)),
            Ok(Some(0.5))
        );
        assert_eq!(
            cpu_limit_v1("20000", "100000").map(|limit| limit.map(Cores::get)),
            Ok(Some(0.2))
        );
    }

    #[test]
    fn garbage_is_an_error_and_never_zero() {
        for text in ["1.5", "0x10", "+5", "5 MiB", "18446744073709551616"] {
            assert!(memory_limit(text).is_err(), "{text}");
        }
        for text in ["100000 0", "a b", "1 2 3", "-1 100000"] {
            assert!(cpu_limit_v2(text).is_err(), "{text}");
        }
        assert!(cpu_limit_v1("100", "").is_err());
    }
}
