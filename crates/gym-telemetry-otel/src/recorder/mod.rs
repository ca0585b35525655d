//! Records spans on the threads of the application and hands them to the telemetry thread.
//!
//! The rest of the crate knows four verbs: [`start`](Recorder::start) and [`finish`](Recorder::finish) on the
//! caller's side, [`drain`](Recorder::drain) and [`cut_off_open`](Recorder::cut_off_open) on the telemetry
//! thread's. How spans are stored and travel in between is this module's own affair.

mod clock;
mod convert;
mod counts;
mod handover;
mod ids;
mod limits;
mod link;
mod node;
mod open;
mod raw;
mod sampling;
mod start;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

use gym_telemetry_core::receipt::DropReason;
use tokio::sync::Notify;

pub(crate) use clock::{Anchor, Clock};
pub(crate) use convert::span_data;
pub(crate) use counts::Counts;
pub(crate) use limits::{SpanLimits, cut};
pub(crate) use link::Link;
pub(crate) use node::{Event, Node, SpanLink};
pub(crate) use sampling::Sampling;
pub(crate) use start::Started;

use crate::fork;
use handover::Handover;
use node::State;
use open::OpenSpans;

/// How a recorder works.
#[derive(Debug)]
pub(crate) struct RecorderSettings {
    /// How many spans may be open, queued or in export at one time.
    pub max_spans: usize,
    /// How many spans go into one export; so many ended spans wake the telemetry thread.
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
#[derive(Debug)]
pub(crate) struct Recorder {
    /// The fork generation it was made in.
    generation: u32,
    settings: RecorderSettings,
    pub clock: Clock,
    pub counts: Counts,
    phase: AtomicU8,
    /// Spans that are open, queued or in export.
    held: AtomicUsize,
    /// Spans that were ended and not drained.
    queued: AtomicUsize,
    /// Whether the telemetry thread knows that there is something to drain.
    is_awake: AtomicBool,
    /// Numbers the spans in the order of their starts.
    serial: AtomicU64,
    open: OpenSpans,
    handover: Handover,
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
        Box::leak(Box::new(Self {
            generation: fork::generation(),
            settings,
            clock: Clock::new(),
            counts: Counts::default(),
            phase: AtomicU8::new(ACCEPTING),
            held: AtomicUsize::new(0),
            queued: AtomicUsize::new(0),
            is_awake: AtomicBool::new(false),
            serial: AtomicU64::new(0),
            open: OpenSpans::new(),
            handover: Handover::default(),
            wake: Notify::const_new(),
        }))
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
    pub(crate) fn is_accepting(&self) -> bool {
        self.phase() == ACCEPTING
    }

    /// Spans that are open, queued or in export.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Acquire)
    }

    /// Spans that were ended and not drained.
    pub(crate) fn queued(&self) -> usize {
        self.queued.load(Ordering::Acquire)
    }

    /// Threads that have ended spans and live.
    #[cfg(test)]
    pub(crate) fn thread_count(&self) -> usize {
        self.handover.thread_count()
    }

    fn phase(&self) -> u8 {
        self.phase.load(Ordering::Acquire)
    }

    /// Whether ended spans are still taken.
    fn is_open(&self) -> bool {
        self.phase() <= CLOSING
    }

    /// Why spans are not taken.
    fn refusal(&self) -> DropReason {
        if self.phase() == NO_EXPORTER {
            DropReason::NoExporter
        } else {
            DropReason::AfterShutdown
        }
    }

    fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether another span could start.
    pub(crate) fn has_room(&self) -> bool {
        self.held() < self.settings.max_spans
    }

    /// Takes one of the places that bound the memory.
    fn reserve(&self) -> bool {
        let limit = self.settings.max_spans;
        let taken = self
            .held
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |held| {
                (held < limit).then_some(held + 1)
            });
        taken.is_ok()
    }

    /// Gives back the places of `count` spans that are out of the process's hands.
    pub(crate) fn release(&self, count: usize) {
        self.held.fetch_sub(count, Ordering::AcqRel);
    }

    /// Ends a span. It is handed to the telemetry thread unless shutdown was faster.
    pub(crate) fn finish(node: Arc<Node>) {
        let recorder = node.recorder;
        if !recorder.is_of_this_process() {
            return;
        }
        {
            let mut body = node.body.lock();
            if body.state != State::Open {
                return;
            }
            body.state = State::Ended;
            body.end = recorder.clock.now().max(node.start);
        }
        recorder.open.remove(&node);
        // Counted before it can be drained, so that the count never falls below zero.
        let queued = recorder.queued.fetch_add(1, Ordering::AcqRel) + 1;
        match Handover::push(recorder, node, || recorder.is_open()) {
            Ok(()) => {
                // The first one starts the clock of the next export, a full batch does not wait for it. The flag is
                // looked at after the hand-over and cleared before a drain: one of the two sees the other, since both
                // lock the list in between.
                let is_first = !recorder.is_awake.load(Ordering::Relaxed)
                    && !recorder.is_awake.swap(true, Ordering::Relaxed);
                if is_first || queued == recorder.batch_size() {
                    recorder.wake.notify_one();
                }
            }
            Err(_refused) => {
                recorder.queued.fetch_sub(1, Ordering::AcqRel);
                recorder.release(1);
                recorder.counts.drop_for(recorder.refusal(), 1);
            }
        }
    }

    /// Takes all spans that were handed over.
    pub(crate) fn drain(&self, into: &mut impl Extend<Arc<Node>>) {
        self.is_awake.store(false, Ordering::Relaxed);
        let count = self.handover.drain(into);
        self.queued.fetch_sub(count, Ordering::AcqRel);
    }

    /// Refuses new spans from now on.
    pub(crate) fn stop_accepting(&self) {
        let _ =
            self.phase
                .compare_exchange(ACCEPTING, CLOSING, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Cuts off all open spans and returns them, innermost first. Call it after
    /// [`stop_accepting`](Self::stop_accepting), so that none is started behind its back.
    pub(crate) fn cut_off_open(&self) -> Vec<Arc<Node>> {
        let mut open = self.open.take_all();
        open.retain(|node| {
            let mut body = node.body.lock();
            let is_open = body.state == State::Open;
            if is_open {
                body.state = State::Truncated;
            }
            is_open
        });
        // A child starts after its parent. All get one end, so that none outlives its parent.
        open.sort_unstable_by_key(|node| std::cmp::Reverse((node.start, node.serial)));
        let end = self.clock.now();
        for node in &open {
            node.body.lock().end = end.max(node.start);
        }
        open
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
