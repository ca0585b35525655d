//! Flush and shutdown as other threads see them: one deadline for all signals, and never a panic.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use gym_telemetry_core::receipt::{DropReason, Outcome, ShutdownReceipt, SignalReceipt};
use parking_lot::{Condvar, Mutex};

use super::Telemetry;
use super::request::{Request, time_until};
use crate::logs::LogQueue;

/// Nobody waits for longer than this, whatever budget was given.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// How much of the budget is kept for telling what became of everything.
const MARGIN: Duration = Duration::from_millis(50);

/// How far the shutdown of a process has come.
#[derive(Debug, Default)]
pub(super) struct Shutdown {
    /// Whether one was asked for; apart from the phase, whose lock a fork may leave locked.
    has_begun: AtomicBool,
    phase: Mutex<Phase>,
    done: Condvar,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Running,
    /// Another thread is waiting for the telemetry thread.
    InProgress,
    Done(Box<ShutdownReceipt>),
}

impl Shutdown {
    /// Whether a shutdown has been asked for.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }
}

impl Telemetry {
    /// Exports what has been recorded so far, within `budget`. Open spans stay open. After a shutdown there is nothing
    /// left to do, and the outcome is that of the shutdown.
    pub(crate) fn flush(&self, budget: Duration) -> Outcome {
        if let Phase::Done(receipt) = &*self.shutdown.phase.lock() {
            let outcomes = [&receipt.traces, &receipt.metrics, &receipt.logs].map(|it| &it.outcome);
            return outcomes
                .into_iter()
                .max_by_key(|it| severity(it))
                .cloned()
                .unwrap_or_default();
        }
        let deadline = Instant::now() + budget.min(LONGEST);
        let logs = self.logs.as_ref().map(|(signal, _)| signal);
        let signals = [self.spans.as_ref(), self.metrics.as_ref(), logs];
        let answers: Vec<_> = signals
            .into_iter()
            .flatten()
            .map(|signal| {
                let (reply, answer) = sync_channel(1);
                // If the job is over, the answer is that nobody answers.
                let _ = signal.send(Request::Flush { reply });
                answer
            })
            .collect();
        let outcomes = answers
            .iter()
            .map(|answer| self.wait(answer, deadline).unwrap_or_else(|gone| gone));
        outcomes.max_by_key(severity).unwrap_or_default()
    }

    /// Exports what has been recorded, cuts off open spans and stops, within `budget`. Everybody gets the receipt of
    /// the first shutdown.
    pub(crate) fn shut_down(&self, budget: Duration) -> ShutdownReceipt {
        let start = Instant::now();
        let budget = budget.min(LONGEST);
        let deadline = start + budget;
        let mut phase = self.shutdown.phase.lock();
        loop {
            match &*phase {
                Phase::Done(receipt) => return (**receipt).clone(),
                Phase::Running => break,
                // The other thread waits for this very one.
                Phase::InProgress if self.is_own_thread() => {
                    return self.receipt_without_answers(start);
                }
                Phase::InProgress => {
                    if self
                        .shutdown
                        .done
                        .wait_until(&mut phase, deadline)
                        .timed_out()
                        && matches!(*phase, Phase::InProgress)
                    {
                        drop(phase);
                        return self.receipt_without_answers(start);
                    }
                }
            }
        }
        *phase = Phase::InProgress;
        self.shutdown.has_begun.store(true, Ordering::Relaxed);
        drop(phase);
        let receipt = self.stop(start, budget);
        *self.shutdown.phase.lock() = Phase::Done(Box::new(receipt.clone()));
        self.shutdown.done.notify_all();
        receipt
    }

    fn stop(&self, start: Instant, budget: Duration) -> ShutdownReceipt {
        let deadline = start + budget;
        // The telemetry thread gives up a little earlier, so that it can still tell what it gave up.
        let its_deadline = start + budget.saturating_sub(MARGIN.min(budget / 8));
        if let Some(recorder) = self.recorder {
            recorder.stop_accepting();
        }
        let ask = |signal: &super::Signal| {
            let (reply, answer) = sync_channel(1);
            let _ = signal.send(Request::ShutDown {
                deadline: its_deadline,
                reply,
            });
            answer
        };
        let spans = self.spans.as_ref().map(ask);
        let metrics = self.metrics.as_ref().map(ask);
        if let Some((signal, _)) = &self.logs {
            // They stop last, so that what the end of the others brings about is still logged. What is there already
            // need not wait for that.
            let (reply, _) = sync_channel(1);
            let _ = signal.send(Request::Flush { reply });
        }
        let mut receipt = ShutdownReceipt::default();
        if let Some(answer) = spans {
            receipt.traces = self
                .wait(&answer, deadline)
                .unwrap_or_else(|gone| self.interim_spans(gone));
        }
        if let Some(answer) = metrics {
            receipt.metrics = self.wait(&answer, deadline).unwrap_or_else(interim);
        }
        if let Some((signal, queue)) = &self.logs {
            receipt.logs = self
                .wait(&ask(signal), deadline)
                .unwrap_or_else(|gone| interim_logs(queue, gone));
        }
        receipt.elapsed = start.elapsed();
        receipt
    }

    /// Waits for an answer of the telemetry thread, or says why there is none.
    fn wait<T>(&self, answer: &Receiver<T>, deadline: Instant) -> Result<T, Outcome> {
        use std::sync::mpsc::RecvTimeoutError;
        if self.is_own_thread() {
            // An exporter or a callback asks its own thread, which can only answer later.
            return Err(Outcome::TimedOut);
        }
        answer
            .recv_timeout(time_until(deadline))
            .map_err(|error| match error {
                RecvTimeoutError::Timeout => Outcome::TimedOut,
                RecvTimeoutError::Disconnected => {
                    Outcome::Failed("the telemetry thread has ended".to_owned())
                }
            })
    }

    fn is_own_thread(&self) -> bool {
        std::thread::current().id() == self.thread
    }

    fn receipt_without_answers(&self, start: Instant) -> ShutdownReceipt {
        let mut receipt = ShutdownReceipt::default();
        if self.spans.is_some() {
            receipt.traces = self.interim_spans(Outcome::TimedOut);
        }
        if self.metrics.is_some() {
            receipt.metrics = interim(Outcome::TimedOut);
        }
        if let Some((_, queue)) = &self.logs {
            receipt.logs = interim_logs(queue, Outcome::TimedOut);
        }
        receipt.elapsed = start.elapsed();
        receipt
    }

    /// What is known about the spans without the telemetry thread: all that it still has counts as lost.
    fn interim_spans(&self, outcome: Outcome) -> SignalReceipt {
        let Some(recorder) = self.recorder else {
            return interim(outcome);
        };
        let mut receipt = recorder.receipt();
        receipt.outcome = outcome;
        receipt.add_dropped(DropReason::DeadlineExceeded, recorder.held());
        receipt
    }
}

/// As [`Telemetry::interim_spans`].
fn interim_logs(queue: &LogQueue, outcome: Outcome) -> SignalReceipt {
    // Should the telemetry thread come back, it finds nothing that was made after the shutdown.
    queue.close(DropReason::AfterShutdown);
    let mut receipt = queue.receipt_of_all(DropReason::DeadlineExceeded);
    receipt.outcome = outcome;
    receipt
}

fn interim(outcome: Outcome) -> SignalReceipt {
    let mut receipt = SignalReceipt::default();
    receipt.outcome = outcome;
    receipt
}

fn severity(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Failed(_) => 3,
        Outcome::TimedOut => 2,
        Outcome::Complete => 1,
        _ => 0,
    }
}
