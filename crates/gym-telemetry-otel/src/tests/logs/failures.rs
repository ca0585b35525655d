//! Exports of log records that fail.

use std::time::{Duration, Instant};

use gym_telemetry_core::receipt::{DropReason, Outcome};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt;

use super::{ON_REQUEST, PATIENCE, bodies, init, start, with_logs};
use crate::collector::{Behaviour, BlackHole, Collector};
use crate::test_process::{alone, command_for, spawn};
use crate::{log_layer, process};

#[test]
fn with_everything_logged_and_the_exporter_failing_each_record_is_one_record() {
    const RECORDS: usize = 10;
    const INVALID_ARGUMENT: i32 = 3;
    alone(&[("OTEL_BLRP_SCHEDULE_DELAY", "1")], || {
        let subscriber = Registry::default().with(log_layer(LevelFilter::TRACE));
        tracing::subscriber::set_global_default(subscriber).expect("is the first");
        let collector = Collector::start();
        collector.behave(Behaviour::Fail {
            http: 400,
            grpc: INVALID_ARGUMENT,
            retry_after: None,
            message: "no",
        });
        let handle = init(&with_logs(&collector.endpoint()));
        log::set_max_level(log::LevelFilter::Trace);
        for index in 0..RECORDS {
            start("work").end();
            tracing::trace!("record {index}");
            // Each goes through an export of its own.
            assert!(matches!(handle.flush(PATIENCE), Outcome::Failed(_)));
        }
        collector.behave(Behaviour::Accept);
        tracing::trace!("the last");
        assert_eq!(handle.flush(PATIENCE), Outcome::Complete);
        assert_eq!(handle.flush(PATIENCE), Outcome::Complete);
        assert_eq!(bodies(&collector.received()), ["the last"]);
        let receipt = handle.shutdown(PATIENCE);
        assert_eq!(receipt.logs.failed, RECORDS as u64);
        assert_eq!(receipt.logs.exported, 1);
        assert_eq!(receipt.logs.dropped, []);
    });
}

#[test]
fn an_endpoint_that_cannot_be_used_costs_the_logs_alone_and_one_warning() {
    let mut command = command_for(|| {
        let collector = Collector::start();
        let handle = init(&with_logs(&collector.endpoint()));
        start("work").end();
        assert!(matches!(handle.flush(PATIENCE), Outcome::Failed(_)));
        tracing::info!("in vain");
        let receipt = handle.shutdown(PATIENCE);
        assert_eq!(receipt.logs.dropped, [(DropReason::NoExporter, 1)]);
        assert!(matches!(receipt.logs.outcome, Outcome::Failed(_)));
        assert_eq!(receipt.traces.exported, 1);
        assert_eq!(receipt.traces.outcome, Outcome::Complete);
    });
    command.env("OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE", "/nowhere/ca.pem");
    command.env("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "https://127.0.0.1:1");
    let mut child = spawn(&mut command);
    let status = child.wait();
    let told = child.stderr();
    assert!(status.success(), "{told}");
    assert_eq!(
        told.matches("log records are not exported").count(),
        1,
        "{told}"
    );
}

#[test]
fn a_shutdown_whose_last_records_are_refused_is_no_success() {
    alone(&[ON_REQUEST], || {
        let collector = Collector::start();
        collector.behave(Behaviour::Fail {
            http: 400,
            grpc: 3,
            retry_after: None,
            message: "no",
        });
        let handle = init(&with_logs(&collector.endpoint()));
        tracing::info!("refused");
        let logs = handle.shutdown(PATIENCE).logs;
        assert_eq!(logs.failed, 1);
        assert!(matches!(logs.outcome, Outcome::Failed(_)), "{logs:?}");
    });
}

#[test]
fn a_shutdown_keeps_its_budget_whatever_the_collector_does_with_logs() {
    alone(&[ON_REQUEST], || {
        let hole = BlackHole::start();
        let handle = init(&with_logs(&hole.endpoint()));
        tracing::info!("lost");
        start("work").end();
        let begin = Instant::now();
        let receipt = handle.shutdown(Duration::from_millis(500));
        assert!(begin.elapsed() < Duration::from_secs(5));
        assert_eq!(receipt.logs.outcome, Outcome::TimedOut);
        assert_eq!(receipt.logs.dropped, [(DropReason::DeadlineExceeded, 1)]);
    });
}

#[test]
fn spans_that_hang_do_not_take_the_logs_along() {
    let mut command = command_for(|| {
        let hole = BlackHole::start();
        let handle = init(&with_logs(&hole.endpoint()));
        start("work").end();
        tracing::info!("arrives");
        let receipt = handle.shutdown(Duration::from_millis(1500));
        assert_eq!(receipt.traces.outcome, Outcome::TimedOut);
        assert_eq!(receipt.logs.outcome, Outcome::Complete, "{receipt:?}");
    });
    // The body has its own process, which does not get here.
    let collector = Collector::start();
    command
        .env(ON_REQUEST.0, ON_REQUEST.1)
        .env("OTEL_METRICS_EXPORTER", "none")
        .env("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", collector.endpoint());
    let mut child = spawn(&mut command);
    let status = child.wait();
    assert!(status.success(), "{}", child.stderr());
    assert_eq!(bodies(&collector.received()), ["arrives"]);
}

#[test]
fn what_comes_after_the_shutdown_is_dropped_and_counted() {
    alone(&[ON_REQUEST], || {
        let collector = Collector::start();
        let handle = init(&with_logs(&collector.endpoint()));
        tracing::info!("in time");
        let receipt = handle.shutdown(PATIENCE);
        assert!(receipt.is_complete(), "{receipt:?}");
        tracing::info!("late");
        log::info!("late as well");
        assert_eq!(bodies(&collector.received()), ["in time"]);
        let queue = process::telemetry().and_then(|telemetry| telemetry.log_queue());
        let receipt = queue.expect("there is one").receipt();
        assert_eq!(receipt.dropped, [(DropReason::AfterShutdown, 2)]);
    });
}
