//! Log records on their way to the telemetry thread.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use gym_telemetry_core::receipt::{DropReason, SignalReceipt};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::counts::LogCounts;
use super::quiet::silently;
use super::record::Record;
use crate::settings::{Batch, LogLimits};

/// Collectors refuse requests above 4 MiB unless they are told otherwise.
const BATCH_BYTES: usize = 2 * 1024 * 1024;

/// The records of one process that are not exported yet.
///
/// It holds a bounded number of them; what comes when it is full is dropped and counted.
pub(crate) struct LogQueue {
    state: Mutex<State>,
    /// Whether records are taken, for a look without the lock.
    is_open: AtomicBool,
    batch: Batch,
    limits: LogLimits,
    pub counts: LogCounts,
    /// Tells the telemetry thread that there is something to do.
    pub wake: Notify,
}

#[derive(Default)]
struct State {
    records: VecDeque<Record>,
    /// Records that were taken out and are not accounted for yet.
    in_export: usize,
    /// Why nothing is taken any more.
    refusal: Option<DropReason>,
}

impl LogQueue {
    pub(crate) fn new(batch: Batch, limits: LogLimits) -> Self {
        Self {
            state: Mutex::default(),
            is_open: AtomicBool::new(true),
            batch,
            limits,
            counts: LogCounts::default(),
            wake: Notify::const_new(),
        }
    }

    pub(crate) fn limits(&self) -> LogLimits {
        self.limits
    }

    /// How many records go into one export.
    pub(crate) fn batch_size(&self) -> usize {
        self.batch.size
    }

    /// How many records there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.batch.queue
    }

    /// Whether records are taken.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Whether a record would be taken, room permitting. If not, it is counted as dropped.
    pub(crate) fn admits(&self) -> bool {
        let is_open = self.is_open();
        if !is_open {
            let reason = self.state.lock().refusal;
            self.counts
                .drop_for(reason.unwrap_or(DropReason::NoExporter), 1);
        }
        is_open
    }

    /// Takes a record, or drops it if there is no room.
    pub(crate) fn push(&self, record: Record) {
        // An allocator that logs would come back here with the lock held.
        silently(|| self.push_quietly(record));
    }

    fn push_quietly(&self, record: Record) {
        let (count, refused) = {
            let mut state = self.state.lock();
            let refusal = state.refusal.or_else(|| {
                (state.records.len() >= self.batch.queue).then_some(DropReason::QueueFull)
            });
            if let Some(reason) = refusal {
                (0, Some((reason, record)))
            } else {
                state.records.push_back(record);
                (state.records.len(), None)
            }
        };
        if let Some((reason, _record)) = refused {
            self.counts.drop_for(reason, 1);
        } else if count == 1 || count == self.batch.size {
            // The first one has to be waited for, and a whole batch has not.
            self.wake.notify_one();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.state.lock().records.len()
    }

    /// Takes out the oldest records, `count` of them at most and fewer if their messages are long. Call [`settle`](Self::settle) when they are accounted
    /// for.
    pub(crate) fn take(&self, count: usize) -> Vec<Record> {
        // Whoever makes a record waits for the lock: memory is got before.
        let mut taken = Vec::with_capacity(count);
        let mut state = self.state.lock();
        let mut bytes = 0;
        while taken.len() < count && bytes < BATCH_BYTES {
            let Some(record) = state.records.pop_front() else {
                break;
            };
            bytes += record.text_length();
            taken.push(record);
        }
        state.in_export = taken.len();
        taken
    }

    /// Counts what became of what was taken out.
    pub(crate) fn settle(&self, count: impl FnOnce(&LogCounts)) {
        let mut state = self.state.lock();
        count(&self.counts);
        state.in_export = 0;
    }

    /// Takes nothing any more; the first reason holds. What is queued can still be taken out.
    pub(crate) fn close(&self, reason: DropReason) {
        let mut state = self.state.lock();
        state.refusal.get_or_insert(reason);
        self.is_open.store(false, Ordering::Relaxed);
    }

    /// Drops what is queued and counts it.
    pub(crate) fn discard(&self, reason: DropReason) {
        let records = {
            let mut state = self.state.lock();
            let records = std::mem::take(&mut state.records);
            self.counts.drop_for(reason, records.len() as u64);
            records
        };
        drop(records);
    }

    /// What became of all records so far.
    pub(crate) fn receipt(&self) -> SignalReceipt {
        self.counts.receipt()
    }

    /// As [`receipt`](Self::receipt), with what is still queued or in export counted as dropped for `reason`.
    pub(crate) fn receipt_of_all(&self, reason: DropReason) -> SignalReceipt {
        let state = self.state.lock();
        let mut receipt = self.counts.receipt();
        receipt.add_dropped(reason, (state.records.len() + state.in_export) as u64);
        receipt
    }
}

impl std::fmt::Debug for LogQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogQueue")
            .field("batch", &self.batch)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
