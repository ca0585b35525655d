//! The log records' part of the telemetry thread.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use gym_telemetry_core::receipt::{DropReason, Outcome, SignalReceipt};
use tokio::time::{Instant, sleep_until};

use super::inbox::{GaveUp, Inbox, ending};
use super::request::{Request, time_until};
use super::schedule::Schedule;
use super::sink::{Delivery, LogSink};
use crate::contain::contain;
use crate::health::{Durations, component};
use crate::logs::{LogQueue, warn_if_deaf};
use crate::warn::warn;

/// By when a program has set up what listens to log records.
const TIME_TO_LISTEN: Duration = Duration::from_secs(10);

/// Empties the queue and exports what was in it.
pub(super) struct Logs {
    queue: Arc<LogQueue>,
    /// `None` if it could not be built, and after the shutdown.
    sink: Option<Box<dyn LogSink>>,
    schedule: Schedule,
    inbox: Inbox,
    exports: Durations,
    /// When the oldest record has waited long enough.
    due: Option<Instant>,
    /// Why there is no exporter, or why an export failed since the last flush.
    failure: Option<String>,
    /// Whether an export was cut short by the end of a shutdown's time, also if it had begun before the shutdown.
    is_out_of_time: bool,
}

enum Wake {
    Request(Request),
    Recorded,
    Due,
    /// Nobody can ask for anything any more.
    Abandoned,
}

impl Logs {
    pub(super) fn new(
        queue: Arc<LogQueue>,
        schedule: Schedule,
        sink: Result<Box<dyn LogSink>, String>,
        inbox: Inbox,
    ) -> Self {
        let (sink, failure) = match sink {
            Ok(sink) => (Some(sink), None),
            Err(failure) => (None, Some(failure)),
        };
        let component = sink.as_ref().map(|sink| sink.component());
        let component = component.unwrap_or(component!("custom_log_exporter"));
        if sink.is_none() {
            queue.close(DropReason::NoExporter);
            queue.discard(DropReason::NoExporter);
        }
        Self {
            queue,
            exports: Durations::of_exports(component),
            // To see by then whether anything listens to log records.
            due: sink
                .is_some()
                .then(|| Instant::now() + schedule.delay.max(TIME_TO_LISTEN)),
            sink,
            schedule,
            inbox,
            failure,
            is_out_of_time: false,
        }
    }

    /// Works until it is told to shut down.
    pub(super) async fn run(mut self) {
        loop {
            match self.next().await {
                Wake::Recorded => self.look().await,
                Wake::Due => {
                    warn_if_deaf();
                    self.due = None;
                    self.export_queued(None).await;
                }
                Wake::Request(Request::Flush { reply }) => {
                    self.forget_failure();
                    self.due = None;
                    self.export_queued(None).await;
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
        let mut recorded = pin!(self.queue.wake.notified());
        let mut due = pin!(self.due.map(sleep_until));
        std::future::poll_fn(|context| {
            if let Poll::Ready(request) = self.inbox.poll_next(context) {
                return Poll::Ready(request.map_or(Wake::Abandoned, Wake::Request));
            }
            if recorded.as_mut().poll(context).is_ready() {
                return Poll::Ready(Wake::Recorded);
            }
            match due.as_mut().as_pin_mut() {
                Some(due) => due.poll(context).map(|()| Wake::Due),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Exports a whole batch if there is one; the rest waits for more.
    async fn look(&mut self) {
        if self.queue.len() >= self.queue.batch_size() {
            self.export_batch(None).await;
        }
        let left = self.queue.len();
        if left >= self.queue.batch_size() {
            // After whatever was asked for meanwhile, and after the other signals: they must get their turn however fast
            // records come.
            self.queue.wake.notify_one();
            tokio::task::yield_now().await;
        }
        if left > 0 {
            self.due
                .get_or_insert_with(|| Instant::now() + self.schedule.delay);
        }
    }

    /// Exports what is queued now, and not what comes meanwhile. Returns whether there was time for all of it.
    async fn export_queued(&mut self, deadline: Option<Instant>) -> bool {
        let mut left = self.queue.len();
        while left > 0 {
            let (count, in_time) = self.export_batch(deadline).await;
            if !in_time {
                return false;
            }
            left = left.saturating_sub(count.max(1));
        }
        if self.queue.len() > 0 {
            self.due
                .get_or_insert_with(|| Instant::now() + self.schedule.delay);
        }
        true
    }

    /// Exports the oldest records. Returns how many, and whether there was time for it.
    async fn export_batch(&mut self, deadline: Option<Instant>) -> (usize, bool) {
        let Some(sink) = &self.sink else {
            self.queue.discard(DropReason::NoExporter);
            return (usize::MAX, true);
        };
        let records = self.queue.take(self.queue.batch_size());
        let taken = records.len();
        let count = taken as u64;
        let limit = self.schedule.export_timeout;
        let started = Instant::now();
        let result = self
            .inbox
            .watch(limit, deadline, || sink.export(records))
            .await;
        self.exports.note(started.elapsed(), ending(&result));
        let in_time = !matches!(result, Err(GaveUp::OutOfTime));
        self.is_out_of_time |= !in_time;
        match result {
            Ok(delivery) => self.account(count, delivery),
            Err(GaveUp::Broken(trouble)) => {
                let delivery = Delivery {
                    trouble: Some(trouble),
                    ..Delivery::default()
                };
                self.account(count, delivery);
            }
            // The receipt of the shutdown will tell.
            Err(GaveUp::OutOfTime) => self.queue.settle(|counts| {
                counts.drop_for(DropReason::DeadlineExceeded, count);
            }),
        }
        (taken, in_time)
    }

    fn account(&mut self, count: u64, delivery: Delivery) {
        let exported = delivery.exported.min(count);
        let lost = count - exported;
        self.queue.settle(|counts| {
            counts.exported.add(exported);
            counts.failed.add(lost);
        });
        let Some(trouble) = delivery.trouble else {
            return;
        };
        let cause = format!("logs: {trouble}");
        if lost > 0 {
            warn(
                cause,
                &format_args!("{lost} of {count} log records could not be exported: {trouble}"),
            );
            self.failure = Some(trouble);
        } else {
            // A remark of the collector.
            warn(cause, &format_args!("log records: {trouble}"));
        }
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

    /// Whatever the flush that precedes it could not deliver is part of how the shutdown went.
    async fn shut_down(&mut self, deadline: Instant) -> SignalReceipt {
        warn_if_deaf();
        self.queue.close(DropReason::AfterShutdown);
        self.export_queued(Some(deadline)).await;
        self.queue.discard(DropReason::DeadlineExceeded);
        let stopped = match self.sink.take() {
            None => Ok(()),
            Some(sink) => {
                let budget = time_until(deadline.into_std());
                contain(|| sink.shut_down(budget))
                    .unwrap_or_else(|panic| Err(format!("the exporter {panic}")))
            }
        };
        let mut receipt = self.queue.receipt();
        receipt.outcome = match (self.outcome(), stopped) {
            _ if self.is_out_of_time => Outcome::TimedOut,
            (Outcome::Complete, Err(trouble)) => Outcome::Failed(trouble),
            (outcome, _) => outcome,
        };
        receipt
    }
}

impl Drop for Logs {
    /// However the work ends: nobody may fill a queue that nobody empties.
    fn drop(&mut self) {
        self.queue.close(DropReason::NoExporter);
        self.queue.discard(DropReason::NoExporter);
        self.queue.settle(|_| ());
    }
}
