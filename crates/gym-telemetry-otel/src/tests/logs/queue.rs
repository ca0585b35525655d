//! The queue of log records and the thread that empties it, without a process around them.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use gym_telemetry_core::receipt::{DropReason, Outcome};
use opentelemetry::logs::{AnyValue, LogRecord as _};
use parking_lot::Mutex;

use super::PATIENCE;
use crate::logs::{LogQueue, Record};
use crate::settings::{Batch, LogLimits};
use crate::thread::{Delivery, Job, LogSink, Plan, Schedule, Sinks, Telemetry};

fn queue(queue: usize, size: usize) -> LogQueue {
    let batch = Batch {
        queue,
        size,
        delay: Duration::from_hours(1),
        export_timeout: None,
    };
    LogQueue::new(batch, LogLimits::default())
}

fn record(number: usize) -> Record {
    let mut record = Record::new(LogLimits::default());
    record.set_body(number.to_string().into());
    record
}

/// How many are queued or in export.
fn held(queue: &LogQueue) -> u64 {
    let dropped = queue.receipt().dropped_total();
    queue
        .receipt_of_all(DropReason::DeadlineExceeded)
        .dropped_total()
        - dropped
}

#[test]
fn long_messages_are_cut_and_fill_a_batch_sooner() {
    let queue = queue(1_000, 1_000);
    for _ in 0..200 {
        let mut record = record(0);
        record.set_body("x".repeat(1_000_000).into());
        queue.push(record);
    }
    let batch = queue.take(1_000);
    assert!((2..200).contains(&batch.len()), "{}", batch.len());
    let Some(AnyValue::String(body)) = &batch[0].body else {
        panic!("the body is text")
    };
    assert_eq!(body.as_str().len(), 32 * 1024);
}

#[test]
fn a_full_queue_drops_the_newest_and_counts_them() {
    let queue = queue(3, 3);
    (0..5).for_each(|number| queue.push(record(number)));
    let receipt = queue.receipt();
    assert_eq!(receipt.dropped, [(DropReason::QueueFull, 2)]);
    assert_eq!(held(&queue), 3);
    let taken = queue.take(2);
    let [first, second] = [0, 1].map(record);
    assert_eq!(
        [&taken[0].body, &taken[1].body],
        [&first.body, &second.body]
    );
    assert_eq!(held(&queue), 3, "they are not accounted for");
    queue.settle(|counts| counts.exported.add(2));
    assert_eq!(held(&queue), 1);
    queue.close(DropReason::AfterShutdown);
    queue.close(DropReason::NoExporter);
    assert!(!queue.admits());
    queue.push(record(7));
    assert_eq!(queue.receipt().dropped_total(), 4);
    assert!(
        queue
            .receipt()
            .dropped
            .contains(&(DropReason::AfterShutdown, 2))
    );
}

#[test]
fn the_first_record_and_a_whole_batch_wake_the_thread() {
    let queue = queue(10, 3);
    let is_woken = || {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        pin!(queue.wake.notified()).poll(&mut context).is_ready()
    };
    let woken: Vec<_> = (0..5)
        .map(|number| {
            queue.push(record(number));
            is_woken()
        })
        .collect();
    assert_eq!(woken, [true, false, true, false, false]);
}

/// Keeps the sizes of batches; the export of the one with this number panics.
#[derive(Clone)]
struct Sizes {
    sizes: Arc<Mutex<Vec<usize>>>,
    panics_at: Option<usize>,
}

impl LogSink for Sizes {
    fn export(&self, records: Vec<Record>) -> Job<'_, Delivery> {
        Box::pin(async move {
            let mut sizes = self.sizes.lock();
            sizes.push(records.len());
            assert_ne!(self.panics_at, Some(sizes.len()), "as the test wants");
            Delivery {
                exported: records.len() as u64,
                ..Delivery::default()
            }
        })
    }

    fn shut_down(&self, _budget: Duration) -> Result<(), String> {
        Ok(())
    }
}

fn telemetry(queue: &Arc<LogQueue>, sink: impl LogSink + Send + 'static) -> Telemetry {
    let schedule = Schedule {
        delay: Duration::from_hours(1),
        ..Schedule::default()
    };
    Telemetry::start(Plan {
        spans: None,
        metrics: None,
        logs: Some((Arc::clone(queue), schedule)),
        build: Box::new(move || Sinks {
            spans: Err(String::new()),
            metrics: Err(String::new()),
            logs: Ok(Box::new(sink)),
        }),
    })
    .expect("the thread starts")
}

#[test]
fn records_are_exported_in_batches_and_a_panic_costs_one_batch() {
    let sizes = Sizes {
        sizes: Arc::default(),
        panics_at: Some(2),
    };
    let queue = Arc::new(queue(100, 4));
    let telemetry = telemetry(&queue, sizes.clone());
    (0..10).for_each(|number| queue.push(record(number)));
    // Whole batches go without being asked for.
    let deadline = std::time::Instant::now() + PATIENCE;
    while sizes.sizes.lock().len() < 2 {
        assert!(std::time::Instant::now() < deadline, "no batch is exported");
        std::thread::yield_now();
    }
    let _ = telemetry.flush(PATIENCE);
    assert_eq!(*sizes.sizes.lock(), [4, 4, 2]);
    let receipt = telemetry.shut_down(PATIENCE).logs;
    assert_eq!((receipt.exported, receipt.failed), (6, 4));
    assert_eq!(receipt.outcome, Outcome::Complete);
}

/// Fills the queue up as often as it is emptied.
struct Refill(Arc<LogQueue>);

impl LogSink for Refill {
    fn export(&self, records: Vec<Record>) -> Job<'_, Delivery> {
        let exported = records.len() as u64;
        for record in records {
            self.0.push(record);
        }
        Box::pin(async move {
            Delivery {
                exported,
                ..Delivery::default()
            }
        })
    }

    fn shut_down(&self, _budget: Duration) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn a_program_that_never_stops_logging_can_be_flushed_and_shut_down() {
    let queue = Arc::new(queue(100, 4));
    let telemetry = telemetry(&queue, Refill(Arc::clone(&queue)));
    (0..8).for_each(|number| queue.push(record(number)));
    assert_eq!(telemetry.flush(PATIENCE), Outcome::Complete);
    let receipt = telemetry.shut_down(PATIENCE).logs;
    assert_eq!(receipt.outcome, Outcome::Complete);
    // What came back while the last of it went.
    assert_eq!(receipt.dropped, [(DropReason::AfterShutdown, 8)]);
}
