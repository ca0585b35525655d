//! The requests to one signal, also while it exports.

use std::collections::VecDeque;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until, timeout};

use super::request::Request;
use super::sink::{Delivery, Job};
use crate::contain::Contained;
use crate::health::Ending;

/// Requests that wait.
pub(super) struct Inbox {
    requests: UnboundedReceiver<Request>,
    /// Those that arrived during an export.
    waiting: VecDeque<Request>,
}

/// Why an export brought no result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GaveUp {
    /// The exporter failed in a way of its own.
    Broken(String),
    /// A shutdown ran out of time.
    OutOfTime,
}

/// How an export ended that brought this.
pub(super) fn ending(result: &Result<Delivery, GaveUp>) -> Ending {
    match result {
        // Trouble with everything delivered is a remark of the collector.
        Ok(delivery)
            if delivery.failed == 0 && (delivery.exported > 0 || delivery.trouble.is_none()) =>
        {
            Ending::Success
        }
        Ok(_) | Err(GaveUp::Broken(_)) => Ending::Failure,
        Err(GaveUp::OutOfTime) => Ending::TimeOut,
    }
}

impl Inbox {
    pub(super) fn new(requests: UnboundedReceiver<Request>) -> Self {
        Self {
            requests,
            waiting: VecDeque::new(),
        }
    }

    /// The next request; `None` when nobody can ask for anything any more.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Request>> {
        match self.waiting.pop_front() {
            Some(request) => Poll::Ready(Some(request)),
            None => self.requests.poll_recv(context),
        }
    }

    /// Runs an export to its end, at most for `limit`.
    ///
    /// It is given up at `deadline`, or at that of a shutdown that is asked for meanwhile. A panic of the exporter
    /// goes no further.
    pub(super) async fn watch<'a>(
        &mut self,
        limit: Duration,
        deadline: Option<Instant>,
        start: impl FnOnce() -> Job<'a, Delivery>,
    ) -> Result<Delivery, GaveUp> {
        let broken = |panic| GaveUp::Broken(format!("the exporter {panic}"));
        let export = Contained(Box::pin(async { start().await }));
        let mut export = pin!(timeout(limit, export));
        let mut deadline = self.shutdown_deadline().into_iter().chain(deadline).min();
        let mut end = pin!(deadline.map(sleep_until));
        std::future::poll_fn(|context| {
            while let Poll::Ready(Some(request)) = self.requests.poll_recv(context) {
                self.waiting.push_back(request);
                let earliest = self.shutdown_deadline().into_iter().chain(deadline).min();
                if earliest != deadline {
                    deadline = earliest;
                    end.set(deadline.map(sleep_until));
                }
            }
            if let Poll::Ready(result) = export.as_mut().poll(context) {
                return Poll::Ready(match result {
                    Ok(Ok(delivery)) => Ok(delivery),
                    Ok(Err(panic)) => Err(broken(panic)),
                    Err(_elapsed) => Err(GaveUp::Broken("the exporter took too long".to_owned())),
                });
            }
            match end.as_mut().as_pin_mut() {
                Some(end) => end.poll(context).map(|()| Err(GaveUp::OutOfTime)),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// When the first of the waiting shutdowns gives up.
    pub(super) fn shutdown_deadline(&self) -> Option<Instant> {
        let deadlines = self.waiting.iter().filter_map(|request| match request {
            Request::ShutDown { deadline, .. } => Some(Instant::from(*deadline)),
            Request::Flush { .. } => None,
        });
        deadlines.min()
    }
}
