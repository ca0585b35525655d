//! Records spans on the threads of the application and hands them to the telemetry thread.
//!
//! The rest of the crate knows [`start`](Recorder::start) and the end of a span on the caller's side, and
//! [`drain`](Recorder::drain), [`cut_off_open`](Recorder::cut_off_open) and [`release`](Recorder::release) on the
//! telemetry thread's. How spans are stored and travel in between is this module's own affair.

mod body;
mod clock;
mod convert;
mod counts;
mod encode;
mod host;
mod ids;
mod limits;
mod link;
mod raw;
mod sampling;
mod start;
mod wire;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use gym_telemetry_core::receipt::{DropReason, SignalReceipt};
use tokio::sync::Notify;

pub(crate) use body::SpanLink;
pub(crate) use clock::{Anchor, Clock};
pub(crate) use convert::span_data;
pub(crate) use counts::{Counter, Counts};
pub(crate) use encode::Encoder;
pub(crate) use host::HostSpans;
pub(crate) use limits::{SpanLimits, cut};
pub(crate) use link::Link;
pub(crate) use raw::tsc;
pub(crate) use raw::{
    Around, Entry, Guard, Handle, Held, Inside, Lasting, Owned, Record, Scratch, Writer,
    current_context, current_entry, forget_lane, run_in, run_in_context, with_entry,
};
pub(crate) use sampling::Sampling;
pub(crate) use start::Started;

use crate::fork;
use raw::Lanes;

/// How a recorder works.
#[derive(Debug)]
pub(crate) struct RecorderSettings {
    /// How many spans may be open, queued or in export at one time.
    pub max_spans: usize,
    /// How many spans go into one export; so many spans that one thread has ended wake the telemetry thread.
    pub batch_size: usize,
    pub limits: SpanLimits,
    pub sampling: Sampling,
}

impl Default for RecorderSettings {
    fn default() -> Self {
        Self {
            max_spans: 32_768,
            batch_size: 512,
            limits: SpanLimits::default(),
            sampling: Sampling::default(),
        }
    }
}

/// Records the spans of one process.
///
/// It lives as long as the program: spans refer to it, and nobody knows when the last of them goes.
pub(crate) struct Recorder {
    /// The fork generation it was made in.
    generation: u32,
    settings: RecorderSettings,
    pub clock: Clock,
    pub counts: Counts,
    phase: AtomicU8,
    /// Whether the telemetry thread knows that there is something to drain.
    is_awake: AtomicBool,
    /// Whether a span found no room since the telemetry thread last looked.
    is_starved: AtomicBool,
    /// Spans that are out of the process's hands.
    released: AtomicU64,
    lanes: Lanes,
    /// Tells the telemetry thread that there is something to do.
    pub wake: Notify,
}

/// New spans are recorded.
const ACCEPTING: u8 = 0;
/// New spans are refused, open ones may still end.
const CLOSING: u8 = 1;
/// Nothing is taken any more, because of a shutdown.
const SHUT_DOWN: u8 = 2;
/// Nothing is taken any more, because there is no exporter.
const NO_EXPORTER: u8 = 3;

impl Recorder {
    pub(crate) fn new(settings: RecorderSettings) -> &'static Self {
        let this: &'static Self = Box::leak(Box::new(Self {
            generation: fork::generation(),
            clock: Clock::new(),
            counts: Counts::default(),
            phase: AtomicU8::new(ACCEPTING),
            is_awake: AtomicBool::new(false),
            is_starved: AtomicBool::new(false),
            released: AtomicU64::new(0),
            lanes: Lanes::new(settings.max_spans),
            wake: Notify::const_new(),
            settings,
        }));
        this.lanes.belong_to(this);
        this
    }

    pub(crate) fn limits(&self) -> &SpanLimits {
        &self.settings.limits
    }

    pub(crate) fn batch_size(&self) -> usize {
        self.settings.batch_size
    }

    /// Whether this process is the one it records for, and not a forked child of it.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.generation == fork::generation()
    }

    /// Whether spans are recorded.
    #[inline]
    pub(crate) fn is_accepting(&self) -> bool {
        self.phase() == ACCEPTING
    }

    /// Whether what is set on open spans still has an effect.
    pub(crate) fn is_open(&self) -> bool {
        self.is_of_this_process() && self.phase() <= CLOSING
    }

    /// Threads that have started or ended spans and were not seen dead.
    #[cfg(test)]
    pub(crate) fn thread_count(&self) -> usize {
        self.lanes.thread_count()
    }

    #[inline]
    fn phase(&self) -> u8 {
        self.phase.load(Ordering::Acquire)
    }

    /// Why spans are not taken.
    pub(crate) fn refusal(&self) -> DropReason {
        if self.phase() == NO_EXPORTER {
            DropReason::NoExporter
        } else {
            DropReason::AfterShutdown
        }
    }

    /// How many spans may be open, queued or in export at one time.
    pub(crate) fn capacity(&self) -> u64 {
        self.settings.max_spans as u64
    }

    /// Spans that were to be recorded, dropped ones included.
    pub(crate) fn created(&self) -> u64 {
        self.lanes.counts().0 + self.counts.refused.get()
    }

    /// Spans that are open, queued or in export.
    pub(crate) fn held(&self) -> u64 {
        self.settle();
        let released = self.released.load(Ordering::Acquire);
        self.lanes.counts().0.saturating_sub(released)
    }

    /// What became of all spans so far.
    pub(crate) fn receipt(&self) -> SignalReceipt {
        self.settle();
        let mut receipt = self.counts.receipt();
        receipt.unsampled = self.lanes.counts().1;
        receipt
    }

    /// Counts the spans that ended when nobody took them any more.
    fn settle(&self) {
        if self.is_of_this_process() && self.phase() > CLOSING {
            let mut late = Vec::new();
            self.lanes.drain(&mut late);
            self.counts.drop_for(self.refusal(), late.len() as u64);
            self.release(late);
        }
    }

    /// Whether the telemetry thread knows that there is something to do.
    #[inline]
    fn is_awake(&self) -> bool {
        self.is_awake.load(Ordering::Relaxed)
    }

    /// Tells the telemetry thread that there is something to drain, if it does not know or if it `is_much`.
    fn wake_up(&self, is_much: bool) {
        let is_known = self.is_awake.swap(true, Ordering::Relaxed);
        if is_much || !is_known {
            self.wake.notify_one();
        }
    }

    /// Lets the next span that ends tell that it has. Call it before a [`drain`](Self::drain), and drain once more a
    /// little later: a thread may have looked just before, and its span may not have been there yet.
    pub(crate) fn fall_asleep(&self) {
        self.is_awake.store(false, Ordering::Relaxed);
    }

    /// Whether a span found no room since the last time.
    pub(crate) fn was_starved(&self) -> bool {
        self.is_starved.swap(false, Ordering::Relaxed)
    }

    /// There is no room for a span.
    fn starve(&self) {
        self.counts.refuse(DropReason::QueueFull);
        // Exporting what has ended makes room.
        if !self.is_starved.swap(true, Ordering::Relaxed) {
            self.wake.notify_one();
        }
    }

    /// Takes all spans that were handed over.
    pub(crate) fn drain(&self, into: &mut impl Extend<Record>) {
        self.lanes.drain(into);
    }

    /// Gives back the room of spans that are out of the process's hands.
    pub(crate) fn release(&self, records: impl IntoIterator<Item = Record>) {
        let mut count = 0;
        self.lanes
            .recycle(records.into_iter().inspect(|_| count += 1));
        self.released.fetch_add(count, Ordering::AcqRel);
    }

    /// Refuses new spans from now on.
    pub(crate) fn stop_accepting(&self) {
        let _ =
            self.phase
                .compare_exchange(ACCEPTING, CLOSING, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Takes all spans that are left, and cuts off those that are open, innermost first. Call it after
    /// [`stop_accepting`](Self::stop_accepting).
    pub(crate) fn cut_off_open(&self) -> Vec<Record> {
        // All get one end, so that none outlives its parent.
        let mut remaining = self.lanes.take_remaining(self.clock.now());
        // A child starts after its parent.
        remaining.sort_by_key(|record| (record.is_truncated(), std::cmp::Reverse(record.start())));
        remaining
    }

    /// Takes nothing any more. What was handed over before can still be drained. The first reason holds.
    pub(crate) fn close(&self, reason: DropReason) {
        let phase = if reason == DropReason::NoExporter {
            NO_EXPORTER
        } else {
            SHUT_DOWN
        };
        let _ = self
            .phase
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |current| {
                (current <= CLOSING).then_some(phase)
            });
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("settings", &self.settings)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
