//! The spans' part of the telemetry thread.

use std::collections::VecDeque;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use gym_telemetry_core::env;
use gym_telemetry_core::receipt::{DropReason, Outcome, SignalReceipt};
use tokio::time::{Instant, sleep_until};

use super::inbox::{GaveUp, Inbox, ending};
use super::request::{Request, time_until};
use super::schedule::Schedule;
use super::sink::{Batch, Delivery, SpanSink};
use crate::contain::contain;
use crate::health::{Durations, component};
use crate::recorder::{Anchor, Record, Recorder};
use crate::warn::warn;

/// How long after it has told that it sleeps the thread looks once more, for what it may have missed just then.
const SECOND_LOOK: Duration = Duration::from_millis(20);

/// Drains the recorder and exports what it finds.
pub(super) struct Spans {
    recorder: &'static Recorder,
    /// `None` if it could not be built, and after the shutdown.
    sink: Option<Box<dyn SpanSink>>,
    schedule: Schedule,
    anchor: Anchor,
    inbox: Inbox,
    /// Spans that were drained and not exported.
    queue: VecDeque<Record>,
    /// When the oldest span in the recorder has waited long enough.
    due: Option<Instant>,
    /// When to look once more before sleeping.
    second_look: Option<Instant>,
    /// Why there is no exporter, or why an export failed since the last flush.
    failure: Option<String>,
    exports: Durations,
    /// How many spans without room are known.
    told_full: u64,
}

enum Wake {
    Request(Request),
    Recorded,
    Due,
    SecondLook,
    /// Nobody can ask for anything any more.
    Abandoned,
}

impl Spans {
    pub(super) fn new(
        recorder: &'static Recorder,
        schedule: Schedule,
        sink: Result<Box<dyn SpanSink>, String>,
        inbox: Inbox,
    ) -> Self {
        let (sink, failure) = match sink {
            Ok(sink) => (Some(sink), None),
            Err(failure) => (None, Some(failure)),
        };
        let component = sink.as_ref().map(|sink| sink.component());
        let component = component.unwrap_or(component!("custom_span_exporter"));
        let mut spans = Self {
            exports: Durations::of_exports(component),
            told_full: 0,
            recorder,
            sink,
            schedule,
            anchor: Anchor::take(&recorder.clock),
            inbox,
            queue: VecDeque::new(),
            due: None,
            second_look: None,
            failure,
        };
        if spans.sink.is_none() {
            spans.discard_all(DropReason::NoExporter);
        }
        spans
    }

    /// Works until it is told to shut down.
    pub(super) async fn run(mut self) {
        loop {
            match self.next().await {
                Wake::Recorded => self.look().await,
                Wake::Due => {
                    self.due = None;
                    self.recorder.fall_asleep();
                    self.export_recorded().await;
                    self.second_look = Some(Instant::now() + SECOND_LOOK);
                }
                Wake::SecondLook => {
                    self.second_look = None;
                    self.look().await;
                }
                Wake::Request(Request::Flush { reply }) => {
                    self.forget_failure();
                    self.export_recorded().await;
                    let _ = reply.try_send(self.outcome());
                }
                Wake::Request(Request::ShutDown { deadline, reply }) => {
                    let receipt = self.shut_down(deadline.into()).await;
                    let _ = reply.try_send(receipt);
                    return;
                }
                Wake::Abandoned => return,
            }
        }
    }

    async fn next(&mut self) -> Wake {
        let mut recorded = pin!(self.recorder.wake.notified());
        let mut due = pin!(self.due.map(sleep_until));
        let mut second_look = pin!(self.second_look.map(sleep_until));
        std::future::poll_fn(|context| {
            if let Poll::Ready(request) = self.inbox.poll_next(context) {
                return Poll::Ready(request.map_or(Wake::Abandoned, Wake::Request));
            }
            if recorded.as_mut().poll(context).is_ready() {
                return Poll::Ready(Wake::Recorded);
            }
            if let Some(due) = due.as_mut().as_pin_mut()
                && due.poll(context).is_ready()
            {
                return Poll::Ready(Wake::Due);
            }
            match second_look.as_mut().as_pin_mut() {
                Some(look) => look.poll(context).map(|()| Wake::SecondLook),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Takes what was recorded, and exports it if it is a batch or if there is no room for more. Otherwise it waits for
    /// others.
    async fn look(&mut self) {
        self.recorder.drain(&mut self.queue);
        let is_starved = self.recorder.was_starved();
        if is_starved {
            self.tell_of_lack_of_room();
        }
        if !self.queue.is_empty() {
            // Also if all of it is exported now: whoever ends the next span believes that this is known.
            self.due
                .get_or_insert_with(|| Instant::now() + self.schedule.delay);
        }
        if self.queue.len() >= self.recorder.batch_size() || is_starved {
            self.export_recorded().await;
        }
    }

    /// Exports everything that has been recorded so far.
    async fn export_recorded(&mut self) {
        self.recorder.drain(&mut self.queue);
        self.export_queue(None).await;
    }

    /// Exports the queue in batches, until `deadline` or that of a shutdown which arrives meanwhile. Returns whether
    /// there was time to.
    async fn export_queue(&mut self, deadline: Option<Instant>) -> bool {
        self.anchor.refresh(&self.recorder.clock);
        while !self.queue.is_empty() {
            let deadline = deadline.or_else(|| self.inbox.shutdown_deadline());
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return false;
            }
            if !self.export_batch(deadline).await {
                return false;
            }
        }
        true
    }

    async fn export_batch(&mut self, deadline: Option<Instant>) -> bool {
        let Some(sink) = &self.sink else {
            self.discard_queue(DropReason::NoExporter);
            return true;
        };
        let count = self.queue.len().min(self.recorder.batch_size());
        let records: Vec<_> = self.queue.drain(..count).collect();
        let truncated = records
            .iter()
            .filter(|record| record.is_truncated())
            .count() as u64;
        let batch = Batch {
            records: &records,
            anchor: &self.anchor,
            limits: self.recorder.limits(),
        };
        let limit = self.schedule.export_timeout;
        let started = Instant::now();
        let result = self
            .inbox
            .watch(limit, deadline, || sink.export(&batch))
            .await;
        self.exports.note(started.elapsed(), ending(&result));
        let in_time = !matches!(result, Err(GaveUp::OutOfTime));
        let delivery = result.unwrap_or_else(|gave_up| Delivery {
            exported: 0,
            failed: count as u64,
            trouble: match gave_up {
                GaveUp::Broken(trouble) => Some(trouble),
                // The receipt of the shutdown will tell.
                GaveUp::OutOfTime => None,
            },
        });
        self.account(count, truncated, delivery);
        self.recorder.release(records);
        in_time
    }

    fn account(&mut self, count: usize, truncated: u64, delivery: Delivery) {
        let counts = &self.recorder.counts;
        let exported = delivery.exported.min(count as u64);
        let lost = count as u64 - exported;
        let truncated = truncated.min(exported);
        counts.exported.add(exported - truncated);
        counts.truncated.add(truncated);
        counts.failed.add(lost);
        let Some(trouble) = delivery.trouble else {
            return;
        };
        let cause = format!("spans: {trouble}");
        if lost > 0 {
            warn(
                cause,
                &format_args!("{lost} of {count} spans could not be exported: {trouble}"),
            );
            self.failure = Some(trouble);
        } else {
            // A remark of the collector.
            warn(cause, &format_args!("spans: {trouble}"));
        }
    }

    /// Warns of spans that found no room since the last time.
    fn tell_of_lack_of_room(&mut self) {
        let dropped = self.recorder.counts.queue_full.get();
        if dropped > self.told_full {
            let room = self.recorder.capacity();
            self.told_full = dropped;
            warn(
                "spans: no room",
                &format_args!(
                    "{dropped} spans were dropped so far: {room} are open or wait for an export, and there is room for no more \
                     ({})",
                    env::OTEL_BSP_MAX_QUEUE_SIZE
                ),
            );
        }
    }

    /// Counts the queue as dropped.
    fn discard_queue(&mut self, reason: DropReason) {
        let count = self.queue.len();
        self.recorder.counts.drop_for(reason, count as u64);
        self.recorder.release(self.queue.drain(..));
    }

    /// Takes nothing any more, and counts what was recorded as dropped.
    fn discard_all(&mut self, reason: DropReason) {
        self.recorder.close(reason);
        self.recorder.drain(&mut self.queue);
        self.discard_queue(self.recorder.refusal());
    }

    fn forget_failure(&mut self) {
        // That there is no exporter is not forgotten.
        if self.sink.is_some() {
            self.failure = None;
        }
    }

    fn outcome(&self) -> Outcome {
        self.failure
            .clone()
            .map_or(Outcome::Complete, Outcome::Failed)
    }

    async fn shut_down(&mut self, deadline: Instant) -> SignalReceipt {
        self.forget_failure();
        self.recorder.stop_accepting();
        self.recorder.drain(&mut self.queue);
        let open = self.recorder.cut_off_open();
        // Spans that end from here on come too late; those that ended before are found.
        self.recorder.close(DropReason::AfterShutdown);
        self.recorder.drain(&mut self.queue);
        self.queue.extend(open);
        let in_time = self.export_queue(Some(deadline)).await;
        self.discard_queue(DropReason::DeadlineExceeded);
        let stopped = self.stop_sink(deadline);
        self.tell_of_lack_of_room();
        let mut receipt = self.recorder.receipt();
        receipt.outcome = match (self.outcome(), stopped) {
            _ if !in_time => Outcome::TimedOut,
            (Outcome::Complete, Err(trouble)) => Outcome::Failed(trouble),
            (outcome, _) => outcome,
        };
        receipt
    }

    fn stop_sink(&mut self, deadline: Instant) -> Result<(), String> {
        let Some(sink) = self.sink.take() else {
            return Ok(());
        };
        let budget = time_until(deadline.into_std());
        contain(|| sink.shut_down(budget))
            .unwrap_or_else(|panic| Err(format!("the exporter {panic}")))
    }
}

impl Drop for Spans {
    /// However the work ends: nobody may fill a queue that nobody empties.
    fn drop(&mut self) {
        self.discard_all(DropReason::NoExporter);
    }
}
