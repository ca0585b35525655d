//! Warnings on standard error.
//!
//! Telemetry has nowhere else to complain: the host may have no logger, and its logger may be what is broken.
//! Each cause is reported at once the first time and then at most once a minute, with the number of times it
//! was left out. Callers mask secrets before they get here.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;
use std::io::Write;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The shortest time between two reports of one cause.
const INTERVAL: Duration = Duration::from_mins(1);
/// Causes are few; should a caller make them up without end, the surplus shares one report.
const MAX_CAUSES: usize = 256;
const SURPLUS: &str = "surplus";

static LIMITER: LazyLock<Mutex<Limiter>> = LazyLock::new(Mutex::default);

/// Reports `message` unless `cause` was reported within the last minute.
pub(crate) fn warn(cause: impl Into<Cow<'static, str>>, message: &dyn Display) {
    let Some(left_out) = LIMITER.lock().admit(cause.into(), Instant::now()) else {
        return;
    };
    let suffix = match left_out {
        0 => String::new(),
        count => format!(" ({count} more since the last report)"),
    };
    // One write, so that lines of several threads do not mix. A closed standard error is nobody's problem.
    let line = format!("gym-telemetry: {message}{suffix}\n");
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

#[derive(Default)]
struct Limiter {
    causes: HashMap<Cow<'static, str>, Report>,
}

struct Report {
    last: Instant,
    left_out: u64,
}

impl Limiter {
    /// Returns how many reports were left out before this one, or `None` if this one is to be left out too.
    fn admit(&mut self, cause: Cow<'static, str>, now: Instant) -> Option<u64> {
        let full = self.causes.len() >= MAX_CAUSES && !self.causes.contains_key(&cause);
        let cause = if full { Cow::Borrowed(SURPLUS) } else { cause };
        match self.causes.get_mut(&cause) {
            None => {
                self.causes.insert(
                    cause,
                    Report {
                        last: now,
                        left_out: 0,
                    },
                );
                Some(0)
            }
            Some(report) if now.duration_since(report.last) >= INTERVAL => {
                report.last = now;
                Some(std::mem::take(&mut report.left_out))
            }
            Some(report) => {
                report.left_out += 1;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_reported_at_once_and_then_once_a_minute_with_a_count() {
        let start = Instant::now();
        let mut limiter = Limiter::default();
        assert_eq!(limiter.admit("export".into(), start), Some(0));
        for second in 0..60 {
            assert_eq!(
                limiter.admit("export".into(), start + Duration::from_secs(second)),
                None
            );
        }
        assert_eq!(limiter.admit("export".into(), start + INTERVAL), Some(60));
        assert_eq!(
            limiter.admit("export".into(), start + INTERVAL * 2),
            Some(0)
        );
    }

    #[test]
    fn causes_do_not_silence_each_other() {
        let now = Instant::now();
        let mut limiter = Limiter::default();
        assert_eq!(limiter.admit("a".into(), now), Some(0));
        assert_eq!(limiter.admit("b".into(), now), Some(0));
        assert_eq!(limiter.admit("a".into(), now), None);
    }

    #[test]
    fn endless_causes_stay_bounded_and_share_one_report() {
        let now = Instant::now();
        let mut limiter = Limiter::default();
        let reported = (0..10_000)
            .filter(|n| limiter.admit(format!("cause {n}").into(), now).is_some())
            .count();
        assert_eq!(reported, MAX_CAUSES + 1);
        assert_eq!(limiter.causes.len(), MAX_CAUSES + 1);
    }
}
