//! What became of every span.

use std::sync::atomic::{AtomicU64, Ordering};

use gym_telemetry_core::receipt::{DropReason, SignalReceipt};

/// Counters of one recorder.
///
/// Spans that found their way into a slot are counted by the threads that started them, in their lanes. Once nothing is
/// open or queued any more, these and `refused` together equal the sum of exported, truncated, failed and dropped.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Spans that were to be recorded and were dropped at once.
    pub refused: Counter,
    /// Spans whose owner ended them and that an exporter accepted.
    pub exported: Counter,
    /// Spans that were still open at shutdown and that an exporter accepted.
    pub truncated: Counter,
    /// Spans that an exporter was given and could not deliver.
    pub failed: Counter,
    /// Attribute expressions, value conversions and samplers that panicked.
    pub panics: Counter,
    pub queue_full: Counter,
    pub after_shutdown: Counter,
    pub deadline_exceeded: Counter,
    pub no_exporter: Counter,
}

impl Counts {
    /// Counts a span that is dropped before it has started.
    pub(crate) fn refuse(&self, reason: DropReason) {
        self.refused.add(1);
        self.drop_for(reason, 1);
    }

    /// Counts `count` spans as dropped for `reason`.
    pub(crate) fn drop_for(&self, reason: DropReason, count: u64) {
        let counter = match reason {
            DropReason::QueueFull => &self.queue_full,
            DropReason::AfterShutdown => &self.after_shutdown,
            DropReason::DeadlineExceeded => &self.deadline_exceeded,
            _ => &self.no_exporter,
        };
        counter.add(count);
    }

    /// The counters so far.
    pub(crate) fn receipt(&self) -> SignalReceipt {
        let mut receipt = SignalReceipt::default();
        receipt.exported = self.exported.get();
        receipt.truncated = self.truncated.get();
        receipt.failed = self.failed.get();
        receipt.add_dropped(DropReason::QueueFull, self.queue_full.get());
        receipt.add_dropped(DropReason::AfterShutdown, self.after_shutdown.get());
        receipt.add_dropped(DropReason::DeadlineExceeded, self.deadline_exceeded.get());
        receipt.add_dropped(DropReason::NoExporter, self.no_exporter.get());
        receipt
    }
}

/// A count that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
