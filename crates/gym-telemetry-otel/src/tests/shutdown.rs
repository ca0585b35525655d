//! How telemetry ends.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use gym_telemetry_core::receipt::{DropReason, Outcome};
use gym_telemetry_core::{attribute, event};
use opentelemetry::trace::Status as OtelStatus;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use parking_lot::Mutex;

use super::{Behaviour, PATIENCE, Rig};
use crate::options::{SpanOptions, Status};
use crate::recorder::RecorderSettings;
use crate::span::Span;
use crate::testing;
use crate::thread::{Schedule, Telemetry};

fn is_truncated(span: &SpanData) -> bool {
    span.attributes
        .iter()
        .any(|item| item.key.as_str() == attribute::SPAN_TRUNCATED && item.value == true.into())
}

#[test]
fn open_spans_are_exported_once_innermost_first_and_say_that_they_were_cut_off() {
    let rig = Rig::new();
    let before = SystemTime::now();
    let job = rig.start("job").entered();
    let rollout = rig.start("rollout").entered();
    rig.start("done").end();
    let receipt = rig.shut_down();
    job.set_attribute("too late", true);
    rollout.set_status(Status::Ok);
    assert!(!job.is_recording());
    drop((rollout, job));
    assert_eq!(rig.memory.names(), ["done", "rollout", "job"]);
    let [job, rollout] = ["job", "rollout"].map(|name| rig.memory.span(name));
    for span in [&job, &rollout] {
        assert!(is_truncated(span));
        assert_eq!(span.attributes.len(), 1);
        assert_eq!(span.status, OtelStatus::Unset);
        let [event] = &span.events.events[..] else {
            panic!("one event: {span:?}")
        };
        assert_eq!(event.name, event::SPAN_TRUNCATED);
        assert_eq!(
            event.attributes[0].key.as_str(),
            attribute::SPAN_TRUNCATED_REASON
        );
        assert_eq!(
            event.attributes[0].value,
            "still open at telemetry shutdown".into()
        );
        assert_eq!(event.timestamp, span.end_time);
    }
    assert!(job.start_time <= rollout.start_time && rollout.end_time <= job.end_time);
    assert!(
        before <= job.start_time + Duration::from_millis(5)
            && job.end_time <= SystemTime::now() + Duration::from_millis(5)
    );
    assert!(!is_truncated(&rig.memory.span("done")));
    assert_eq!((receipt.exported, receipt.truncated), (1, 2));
    assert_eq!(receipt.outcome, Outcome::Complete);
    rig.assert_accounted(&receipt);
}

#[test]
fn a_flush_leaves_open_spans_open() {
    let rig = Rig::new();
    let open = rig.start("open");
    rig.start("done").end();
    rig.flush();
    assert_eq!(rig.memory.names(), ["done"]);
    open.set_attribute("n", 1_i64);
    drop(open);
    rig.flush();
    assert!(!is_truncated(&rig.memory.span("open")));
}

#[test]
fn a_second_shutdown_changes_nothing_and_returns_the_same_receipt() {
    let rig = Rig::new();
    rig.start("work").end();
    let first = rig.receipt(PATIENCE);
    assert!(rig.memory.is_shut_down());
    let late = rig.start("late");
    assert!(!late.is_recording());
    drop(late);
    assert_eq!(rig.receipt(PATIENCE), first);
    assert_eq!(rig.receipt(Duration::ZERO), first);
    assert_eq!(rig.memory.names(), ["work"]);
    assert_eq!(rig.telemetry.flush(PATIENCE), Outcome::Complete);
    assert!(!rig.telemetry.is_exporting());
}

#[test]
fn racing_shutdowns_all_get_one_receipt() {
    let rig = Rig::new();
    rig.start("work").end();
    let receipts: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| rig.receipt(PATIENCE)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("does not panic"))
            .collect()
    });
    assert!(receipts.iter().all(|receipt| *receipt == receipts[0]));
    assert_eq!(receipts[0].traces.exported, 1);
}

#[test]
fn spans_that_start_and_end_around_a_shutdown_are_each_counted_once() {
    for _ in 0..20 {
        let rig = Rig::with(RecorderSettings {
            batch_size: 8,
            ..RecorderSettings::default()
        });
        let started = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    started.wait();
                    for _ in 0..300 {
                        let _outer = rig.start("outer").entered();
                        rig.start("inner").end();
                    }
                });
            }
            started.wait();
            let _ = rig.receipt(PATIENCE);
        });
        // The receipt tells what was known then; the counters go on.
        let told = rig.recorder.receipt();
        assert_eq!(rig.recorder.created(), 3 * 600);
        rig.assert_accounted(&told);
        assert_eq!(
            rig.memory.spans().len() as u64,
            told.exported + told.truncated
        );
        assert_eq!(rig.recorder.held(), 0);
    }
}

#[test]
fn a_hanging_exporter_cannot_exceed_the_budget() {
    let rig = Rig::with(RecorderSettings {
        batch_size: 2,
        ..RecorderSettings::default()
    });
    rig.memory.behave(Behaviour::Hang);
    let open = rig.start("open");
    for _ in 0..5 {
        rig.start("work").end();
    }
    rig.memory.wait_for_exports(1);
    let start = Instant::now();
    let receipt = rig.shut_down_within(Duration::from_millis(200));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(receipt.outcome, Outcome::TimedOut);
    assert_eq!(receipt.exported, 0);
    assert!(receipt.failed >= 2, "{receipt:?}");
    rig.assert_accounted(&receipt);
    drop(open);
    assert_eq!(rig.recorder.held(), 0);
}

#[test]
fn an_exporter_that_blocks_the_telemetry_thread_cannot_exceed_the_budget_either() {
    let rig = Rig::with(RecorderSettings {
        batch_size: 1,
        ..RecorderSettings::default()
    });
    rig.memory.behave(Behaviour::Block);
    rig.start("stuck").end();
    rig.memory.wait_for_exports(1);
    let open = rig.start("open");
    let start = Instant::now();
    let receipt = rig.shut_down_within(Duration::from_millis(100));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(receipt.outcome, Outcome::TimedOut);
    assert_eq!(receipt.dropped, [(DropReason::DeadlineExceeded, 2)]);
    rig.assert_accounted(&receipt);
    drop(open);
    rig.memory.behave(Behaviour::Keep);
}

#[test]
fn without_a_budget_nobody_waits() {
    let rig = Rig::new();
    rig.start("work").end();
    let receipt = rig.shut_down_within(Duration::ZERO);
    assert_eq!(receipt.outcome, Outcome::TimedOut);
    rig.assert_accounted(&receipt);
}

#[test]
fn an_endless_budget_is_no_overflow() {
    let rig = Rig::new();
    rig.start("work").end();
    assert_eq!(rig.telemetry.flush(Duration::MAX), Outcome::Complete);
    assert!(rig.receipt(Duration::MAX).is_complete());
}

#[test]
fn refused_and_panicking_exports_are_counted_and_later_ones_go_on() {
    let rig = Rig::new();
    for (behaviour, trouble) in [
        (Behaviour::Refuse, "refused"),
        (Behaviour::Panic, "the exporter panicked"),
    ] {
        rig.memory.behave(behaviour);
        rig.start("lost").end();
        let Outcome::Failed(told) = rig.telemetry.flush(PATIENCE) else {
            panic!("fails")
        };
        assert!(told.contains(trouble), "{told}");
        assert!(rig.telemetry.is_exporting());
    }
    rig.memory.behave(Behaviour::Keep);
    rig.start("kept").end();
    rig.flush();
    let receipt = rig.shut_down();
    assert_eq!((receipt.exported, receipt.failed), (1, 2));
    assert_eq!(receipt.outcome, Outcome::Complete);
    rig.assert_accounted(&receipt);
}

#[test]
fn a_failed_last_export_is_told_in_the_receipt() {
    let rig = Rig::new();
    rig.memory.behave(Behaviour::Panic);
    let open = rig.start("open");
    let receipt = rig.shut_down();
    let Outcome::Failed(told) = &receipt.outcome else {
        panic!("{receipt:?}")
    };
    assert!(told.contains("panicked"), "{told}");
    assert_eq!((receipt.failed, receipt.truncated), (1, 0));
    rig.assert_accounted(&receipt);
    drop(open);
}

/// An exporter that asks the telemetry it belongs to.
#[derive(Clone, Debug, Default)]
struct Inquisitive {
    telemetry: Arc<OnceLock<&'static Telemetry>>,
    answers: Arc<Mutex<Vec<Outcome>>>,
}

impl SpanExporter for Inquisitive {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        let telemetry = self.telemetry.get().expect("is set before the first span");
        let flushed = telemetry.flush(PATIENCE);
        let receipt = telemetry.shut_down(PATIENCE);
        self.answers
            .lock()
            .extend([flushed, receipt.traces.outcome]);
        Ok(())
    }
}

#[test]
fn an_exporter_that_joins_a_shutdown_does_not_hold_it_up() {
    let exporter = Inquisitive::default();
    let (settings, schedule) = (RecorderSettings::default(), Schedule::default());
    let telemetry =
        testing::start(exporter.clone(), settings, schedule).expect("the thread starts");
    let telemetry: &'static Telemetry = Box::leak(Box::new(telemetry));
    exporter.telemetry.set(telemetry).expect("is not set");
    let recorder = telemetry.recorder().expect("spans are recorded");
    Span::start_on(recorder, "work", SpanOptions::default(), |_| {}).end();
    let start = Instant::now();
    let receipt = telemetry.shut_down(PATIENCE);
    assert!(start.elapsed() < PATIENCE / 2);
    assert_eq!(receipt.traces.outcome, Outcome::Complete);
}

#[test]
fn an_exporter_that_asks_its_own_thread_is_not_kept_waiting() {
    let exporter = Inquisitive::default();
    let (settings, schedule) = (RecorderSettings::default(), Schedule::default());
    let telemetry =
        testing::start(exporter.clone(), settings, schedule).expect("the thread starts");
    let telemetry: &'static Telemetry = Box::leak(Box::new(telemetry));
    exporter.telemetry.set(telemetry).expect("is not set");
    let recorder = telemetry.recorder().expect("spans are recorded");
    Span::start_on(recorder, "work", SpanOptions::default(), |_| {}).end();
    let start = Instant::now();
    let _ = telemetry.flush(PATIENCE);
    assert!(start.elapsed() < PATIENCE / 2);
    assert_eq!(
        *exporter.answers.lock(),
        [Outcome::TimedOut, Outcome::TimedOut]
    );
}
