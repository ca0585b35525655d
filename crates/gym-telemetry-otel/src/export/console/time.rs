//! Points in time as text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// `YYYY-MM-DDTHH:MM:SS.ffffffZ`, rounded to the nearest microsecond; before 1970 it is 1970.
pub(crate) fn timestamp(time: SystemTime) -> String {
    let since_epoch = since_epoch(time) + Duration::from_nanos(500);
    let seconds = since_epoch.as_secs();
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:06}Z",
        since_epoch.subsec_micros()
    )
}

/// Nanoseconds since 1970.
pub(crate) fn unix_nanos(time: SystemTime) -> u64 {
    u64::try_from(since_epoch(time).as_nanos()).unwrap_or(u64::MAX)
}

fn since_epoch(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO)
}

/// The date `days` after 1970-01-01, counted in years that begin in March, so that leap days come last.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let days = days + 719_468; // since 0000-03-01
    let day_of_era = days % DAYS_IN_400_YEARS;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = days / DAYS_IN_400_YEARS * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_rounded_to_microseconds() {
        for (nanos, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (1_700_000_000_123_456_789, "2023-11-14T22:13:20.123457Z"),
            (1_700_000_000_000_001_499, "2023-11-14T22:13:20.000001Z"),
            (1_699_999_999_999_999_500, "2023-11-14T22:13:20.000000Z"),
            (951_782_399_000_000_000, "2000-02-28T23:59:59.000000Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000000Z"),
            (1_709_251_199_999_999_000, "2024-02-29T23:59:59.999999Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000Z"),
            (1_735_689_599_000_000_000, "2024-12-31T23:59:59.000000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_nanos(nanos)), text);
        }
        assert_eq!(
            timestamp(UNIX_EPOCH - Duration::from_secs(1)),
            "1970-01-01T00:00:00.000000Z"
        );
    }
}
