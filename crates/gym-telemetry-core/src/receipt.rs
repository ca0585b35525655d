//! What a shutdown managed to export.

use std::time::Duration;

/// What became of everything that was recorded, per signal.
///
/// ```
/// use gym_telemetry_core::receipt::{Outcome, ShutdownReceipt};
///
/// let receipt = ShutdownReceipt::default();
/// assert_eq!(receipt.traces.outcome, Outcome::NotConfigured);
/// assert!(receipt.is_complete());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a receipt tells whether telemetry was lost"]
pub struct ShutdownReceipt {
    /// Spans.
    pub traces: SignalReceipt,
    /// Metric points.
    pub metrics: SignalReceipt,
    /// Log records.
    pub logs: SignalReceipt,
    /// How long the shutdown took.
    pub elapsed: Duration,
}

impl ShutdownReceipt {
    /// Whether nothing was lost: no signal failed, ran out of time or dropped anything.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        [&self.traces, &self.metrics, &self.logs]
            .into_iter()
            .all(SignalReceipt::is_complete)
    }
}

/// What became of the items of one signal since the process started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignalReceipt {
    /// Items that an exporter accepted as they were recorded.
    pub exported: u64,
    /// Items that never reached an exporter, by reason, each reason once.
    pub dropped: Vec<(DropReason, u64)>,
    /// Items that an exporter accepted cut off, because they were still open at the shutdown; not part of `exported`.
    pub truncated: u64,
    /// Items that an exporter was given and could not deliver.
    pub failed: u64,
    /// Spans that were not recorded because their trace is not sampled.
    pub unsampled: u64,
    /// How the shutdown of the signal ended.
    pub outcome: Outcome,
}

impl SignalReceipt {
    /// Adds `count` items dropped for `reason`.
    pub fn add_dropped(&mut self, reason: DropReason, count: u64) {
        if count == 0 {
            return;
        }
        match self.dropped.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, total)) => *total = total.saturating_add(count),
            None => self.dropped.push((reason, count)),
        }
    }

    /// The number of items dropped for any reason.
    #[must_use]
    pub fn dropped_total(&self) -> u64 {
        self.dropped
            .iter()
            .fold(0, |total, (_, count)| total.saturating_add(*count))
    }

    /// Whether nothing was lost.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self.outcome, Outcome::Complete | Outcome::NotConfigured)
            && self.failed == 0
            && self.dropped_total() == 0
    }
}

/// Why an item never reached an exporter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DropReason {
    /// The queue or the store of open items was full.
    QueueFull,
    /// It was recorded after the shutdown had begun.
    AfterShutdown,
    /// It was still queued when the shutdown ran out of time.
    DeadlineExceeded,
    /// The exporter could not be built or had stopped, so there was nothing to hand it to.
    NoExporter,
    /// One of its values panicked while it was written down.
    Panicked,
}

impl DropReason {
    /// The reason as a word for attributes and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::AfterShutdown => "after_shutdown",
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::NoExporter => "no_exporter",
            Self::Panicked => "panicked",
        }
    }
}

/// How the shutdown of one signal ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Everything that was queued was handed to the exporter in time.
    Complete,
    /// The time ran out first.
    TimedOut,
    /// The signal was never exported by this process.
    #[default]
    NotConfigured,
    /// The exporter failed; the text says how, without secrets.
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_for_one_reason_are_summed() {
        let mut receipt = SignalReceipt::default();
        receipt.add_dropped(DropReason::QueueFull, 2);
        receipt.add_dropped(DropReason::AfterShutdown, 1);
        receipt.add_dropped(DropReason::QueueFull, 3);
        receipt.add_dropped(DropReason::NoExporter, 0);
        assert_eq!(
            receipt.dropped,
            [(DropReason::QueueFull, 5), (DropReason::AfterShutdown, 1)]
        );
        assert_eq!(receipt.dropped_total(), 6);
    }

    #[test]
    fn a_receipt_is_complete_only_if_no_signal_lost_anything() {
        let complete = ShutdownReceipt {
            traces: SignalReceipt {
                exported: 3,
                outcome: Outcome::Complete,
                ..SignalReceipt::default()
            },
            ..ShutdownReceipt::default()
        };
        assert!(complete.is_complete());

        let mut dropped = complete.clone();
        dropped.metrics.add_dropped(DropReason::QueueFull, 1);
        assert!(!dropped.is_complete());

        let mut failed = complete.clone();
        failed.logs.failed = 1;
        assert!(!failed.is_complete());

        let mut late = complete;
        late.traces.outcome = Outcome::TimedOut;
        assert!(!late.is_complete());
    }
}
