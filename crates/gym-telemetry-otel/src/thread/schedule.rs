//! When a signal is exported.

use std::time::Duration;

/// How long an export may take, as the OpenTelemetry specification has it.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(30);
/// How much longer than an exporter's own limit it is waited for, so that the exporter can tell what went wrong.
const SLACK: Duration = Duration::from_secs(1);

/// When a signal is exported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// How long an ended span waits for others, or the time between two exports of metrics.
    pub delay: Duration,
    /// How long one export may take.
    pub export_timeout: Duration,
}

impl Schedule {
    /// The default schedule, for an exporter that limits its own exports to `timeout`, zero being no limit.
    ///
    /// What somebody asked for by `wanted` is kept, zero again being no limit.
    pub(crate) fn for_exporter(timeout: Duration, wanted: Option<Duration>) -> Self {
        let export_timeout = match wanted.unwrap_or(timeout) {
            Duration::ZERO => Duration::MAX,
            _ => wanted.unwrap_or_else(|| EXPORT_TIMEOUT.max(timeout.saturating_add(SLACK))),
        };
        Self {
            export_timeout,
            ..Self::default()
        }
    }
}

impl Default for Schedule {
    /// The defaults of the OpenTelemetry specification for batch processors.
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(5),
            export_timeout: EXPORT_TIMEOUT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exporter_is_waited_for_longer_than_its_own_limit() {
        for seconds in [1, 10, 30, 600] {
            let own = Duration::from_secs(seconds);
            assert!(Schedule::for_exporter(own, None).export_timeout > own || seconds < 30);
        }
        assert_eq!(
            Schedule::for_exporter(Duration::from_secs(1), None).export_timeout,
            EXPORT_TIMEOUT
        );
        assert_eq!(
            Schedule::for_exporter(Duration::ZERO, None).export_timeout,
            Duration::MAX
        );
        assert_eq!(
            Schedule::for_exporter(Duration::MAX, None).export_timeout,
            Duration::MAX
        );
    }
    #[test]
    fn a_limit_that_somebody_asks_for_is_kept() {
        let second = Duration::from_secs(1);
        for (wanted, expected) in [(second, second), (Duration::ZERO, Duration::MAX)] {
            for own in [Duration::ZERO, Duration::from_secs(10)] {
                let schedule = Schedule::for_exporter(own, Some(wanted));
                assert_eq!(schedule.export_timeout, expected, "{own:?}");
            }
        }
    }
}
