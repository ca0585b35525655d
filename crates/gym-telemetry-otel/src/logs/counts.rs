//! What became of every log record.

use gym_telemetry_core::receipt::{DropReason, SignalReceipt};

use crate::recorder::Counter;

/// Counters of one queue. Once nothing is queued any more, they add up to the records that were made.
#[derive(Debug, Default)]
pub(crate) struct LogCounts {
    /// Records that an exporter accepted.
    pub exported: Counter,
    /// Records that an exporter was given and could not deliver.
    pub failed: Counter,
    pub queue_full: Counter,
    pub after_shutdown: Counter,
    pub deadline_exceeded: Counter,
    pub no_exporter: Counter,
    pub panicked: Counter,
}

impl LogCounts {
    /// Counts `count` records as dropped for `reason`.
    pub(crate) fn drop_for(&self, reason: DropReason, count: u64) {
        let counter = match reason {
            DropReason::QueueFull => &self.queue_full,
            DropReason::AfterShutdown => &self.after_shutdown,
            DropReason::DeadlineExceeded => &self.deadline_exceeded,
            DropReason::Panicked => &self.panicked,
            _ => &self.no_exporter,
        };
        counter.add(count);
    }

    /// The counters so far.
    pub(crate) fn receipt(&self) -> SignalReceipt {
        let mut receipt = SignalReceipt::default();
        receipt.exported = self.exported.get();
        receipt.failed = self.failed.get();
        receipt.add_dropped(DropReason::QueueFull, self.queue_full.get());
        receipt.add_dropped(DropReason::AfterShutdown, self.after_shutdown.get());
        receipt.add_dropped(DropReason::DeadlineExceeded, self.deadline_exceeded.get());
        receipt.add_dropped(DropReason::NoExporter, self.no_exporter.get());
        receipt.add_dropped(DropReason::Panicked, self.panicked.get());
        receipt
    }
}
