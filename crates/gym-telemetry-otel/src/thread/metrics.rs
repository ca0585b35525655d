//! The metrics' part of the telemetry thread.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use gym_telemetry_core::receipt::{Outcome, SignalReceipt};
use tokio::time::{Instant, sleep_until};

use super::inbox::{GaveUp, Inbox};
use super::request::{Request, time_until};
use super::sink::{Delivery, MetricSink};
use crate::contain::contain;
use crate::warn::warn;

/// How long one export may take, as the OpenTelemetry specification has it.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads and exports all instruments at an interval.
pub(super) struct Metrics {
    /// `None` if it could not be built, and after the shutdown.
    sink: Option<Box<dyn MetricSink>>,
    interval: Duration,
    inbox: Inbox,
    receipt: SignalReceipt,
    /// Why there is no exporter, or why the last export failed.
    failure: Option<String>,
}

enum Wake {
    Request(Request),
    Due,
    /// Nobody can ask for anything any more.
    Abandoned,
}

impl Metrics {
    pub(super) fn new(
        interval: Duration,
        sink: Result<Box<dyn MetricSink>, String>,
        inbox: Inbox,
    ) -> Self {
        let (sink, failure) = match sink {
            Ok(sink) => (Some(sink), None),
            Err(failure) => (None, Some(failure)),
        };
        Self {
            sink,
            interval,
            inbox,
            receipt: SignalReceipt::default(),
            failure,
        }
    }

    /// Works until it is told to shut down.
    pub(super) async fn run(mut self) {
        let mut due = Instant::now() + self.interval;
        loop {
            match self.next(due).await {
                Wake::Due => {
                    self.export(None).await;
                    // An export that took longer than the interval is not made up for.
                    due = (due + self.interval).max(Instant::now());
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
        let has_sink = self.sink.is_some();
        let mut due = pin!(sleep_until(due));
        std::future::poll_fn(|context| {
            if let Poll::Ready(request) = self.inbox.poll_next(context) {
                return Poll::Ready(request.map_or(Wake::Abandoned, Wake::Request));
            }
            if !has_sink {
                return Poll::Pending;
            }
            due.as_mut().poll(context).map(|()| Wake::Due)
        })
        .await
    }

    /// Exports what the instruments show now. Returns whether there was time to.
    async fn export(&mut self, deadline: Option<Instant>) -> bool {
        let Some(sink) = &self.sink else { return true };
        let result = self
            .inbox
            .watch(EXPORT_TIMEOUT, deadline, || sink.collect_and_export())
            .await;
        let Delivery {
            exported,
            failed,
            trouble,
        } = match result {
            Ok(delivery) => delivery,
            Err(GaveUp::Broken(trouble)) => Delivery {
                trouble: Some(trouble),
                failed: 1,
                ..Delivery::default()
            },
            Err(GaveUp::OutOfTime) => return false,
        };
        self.receipt.exported += exported;
        self.receipt.failed += failed;
        if let Some(trouble) = &trouble {
            warn(
                format!("metrics: {trouble}"),
                &format_args!("metrics could not be exported: {trouble}"),
            );
        }
        self.failure = trouble.filter(|_| failed > 0);
        true
    }

    fn outcome(&self) -> Outcome {
        self.failure
            .clone()
            .map_or(Outcome::Complete, Outcome::Failed)
    }

    async fn shut_down(&mut self, deadline: Instant) -> SignalReceipt {
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
