//! The metrics' part of the telemetry thread.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use gym_telemetry_core::receipt::{Outcome, SignalReceipt};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::inbox::{GaveUp, Inbox, ending};
use super::request::{Request, time_until};
use super::schedule::Schedule;
use super::sink::{Delivery, MetricSink};
use crate::contain::contain;
use crate::health::{Durations, Points, observe_points};
use crate::metrics::Observation;
use crate::warn::warn;

/// Reads and exports all instruments at an interval.
pub(super) struct Metrics {
    /// `None` if it could not be built, and after the shutdown.
    sink: Option<Box<dyn MetricSink>>,
    schedule: Schedule,
    inbox: Inbox,
    receipt: SignalReceipt,
    /// Why there is no exporter, or why the last export failed.
    failure: Option<String>,
    exports: Option<Durations>,
    points: Arc<Points>,
    /// Ends when no span is exported any more; the last metrics tell what became of them all.
    spans_end: Option<oneshot::Receiver<()>>,
    _observed: Option<Observation>,
}

enum Wake {
    Request(Request),
    Due,
    /// The sink has something to do.
    Stirred,
    /// Nobody can ask for anything any more.
    Abandoned,
}

impl Metrics {
    pub(super) fn new(
        schedule: Schedule,
        sink: Result<Box<dyn MetricSink>, String>,
        inbox: Inbox,
        spans_end: oneshot::Receiver<()>,
    ) -> Self {
        let (sink, failure) = match sink {
            Ok(sink) => (Some(sink), None),
            Err(failure) => (None, Some(failure)),
        };
        let points = Arc::default();
        let component = sink.as_ref().and_then(|sink| sink.component());
        Self {
            exports: component.map(Durations::of_exports),
            _observed: component.map(|component| observe_points(&points, component)),
            points,
            spans_end: Some(spans_end),
            sink,
            schedule,
            inbox,
            receipt: SignalReceipt::default(),
            failure,
        }
    }

    /// Works until it is told to shut down.
    pub(super) async fn run(mut self) {
        let mut due = Instant::now() + self.schedule.delay;
        loop {
            match self.next(due).await {
                Wake::Due => {
                    self.export(None).await;
                    due += self.schedule.delay;
                    let now = Instant::now();
                    if due <= now {
                        // Exports that were missed are not made up for.
                        due = now + self.schedule.delay;
                    }
                }
                Wake::Stirred => {
                    self.export(None).await;
                }
                Wake::Request(Request::Flush { reply }) => {
                    self.export(None).await;
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

    async fn next(&mut self, due: Instant) -> Wake {
        let Self { sink, inbox, .. } = self;
        let mut stirred = sink.as_ref().map(|sink| sink.stirred());
        let mut due = pin!(sleep_until(due));
        std::future::poll_fn(|context| {
            if let Poll::Ready(request) = inbox.poll_next(context) {
                return Poll::Ready(request.map_or(Wake::Abandoned, Wake::Request));
            }
            let Some(stirred) = &mut stirred else {
                return Poll::Pending;
            };
            if stirred.as_mut().poll(context).is_ready() {
                return Poll::Ready(Wake::Stirred);
            }
            due.as_mut().poll(context).map(|()| Wake::Due)
        })
        .await
    }

    /// Exports what the instruments show now. Returns whether there was time to.
    async fn export(&mut self, deadline: Option<Instant>) -> bool {
        let Some(sink) = &self.sink else { return true };
        let limit = self.schedule.export_timeout;
        let started = Instant::now();
        let result = self
            .inbox
            .watch(limit, deadline, || sink.collect_and_export())
            .await;
        if let Some(exports) = &self.exports {
            exports.note(started.elapsed(), ending(&result));
        }
        let Delivery {
            exported,
            failed,
            trouble,
        } = match result {
            Ok(delivery) => delivery,
            Err(GaveUp::Broken(trouble)) => Delivery {
                trouble: Some(trouble),
                ..Delivery::default()
            },
            Err(GaveUp::OutOfTime) => return false,
        };
        self.receipt.exported += exported;
        self.receipt.failed += failed;
        self.points.add(exported, failed);
        // Trouble with everything delivered is a remark of the collector.
        let is_lost = failed > 0 || exported == 0;
        if let Some(trouble) = &trouble {
            let what = if is_lost {
                "metrics could not be exported"
            } else {
                "metrics"
            };
            warn(
                format!("metrics: {trouble}"),
                &format_args!("{what}: {trouble}"),
            );
        }
        self.failure = trouble.filter(|_| is_lost);
        true
    }

    fn outcome(&self) -> Outcome {
        self.failure
            .clone()
            .map_or(Outcome::Complete, Outcome::Failed)
    }

    async fn shut_down(&mut self, deadline: Instant) -> SignalReceipt {
        if let Some(end) = self.spans_end.take() {
            // Not for longer than leaves time for the metrics.
            let now = Instant::now();
            let patience = deadline.saturating_duration_since(now) / 2;
            let _ = timeout_at(now + patience, end).await;
        }
        let in_time = self.export(Some(deadline)).await;
        let stopped = match self.sink.take() {
            None => Ok(()),
            Some(sink) => {
                let budget = time_until(deadline.into_std());
                contain(|| sink.shut_down(budget))
                    .unwrap_or_else(|panic| Err(format!("the exporter {panic}")))
            }
        };
        let mut receipt = std::mem::take(&mut self.receipt);
        receipt.outcome = match (self.outcome(), stopped) {
            _ if !in_time => Outcome::TimedOut,
            (Outcome::Complete, Err(trouble)) => Outcome::Failed(trouble),
            (outcome, _) => outcome,
        };
        receipt
    }
}
