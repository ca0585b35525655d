//! Programs that have arranged their logging themselves.

use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use super::{ON_REQUEST, PATIENCE, bodies, find, init, lifecycle, with_logs};
use crate::collector::{Collector, refusing_endpoint, text};
use crate::test_process::{alone, command_for, spawn};
use crate::{install_log_bridge, log_layer};

/// Counts what it sees of this module and of the `log` crate.
struct Count(&'static AtomicUsize);

impl<S: tracing::Subscriber> Layer<S> for Count {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        // The collector's transport speaks as well.
        let is_ours = ["log", module_path!()].contains(&event.metadata().target());
        self.0.fetch_add(usize::from(is_ours), Ordering::Relaxed);
    }
}

#[test]
fn a_layer_made_before_telemetry_exports_once_it_has_started_and_takes_nothing_from_others() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    alone(&[ON_REQUEST], || {
        // This one passes the records of `log` on, too.
        Registry::default()
            .with(Count(&SEEN))
            .with(log_layer(LevelFilter::DEBUG))
            .try_init()
            .expect("there is no other");
        tracing::info!("too early");
        let collector = Collector::start();
        let handle = init(&with_logs(&collector.endpoint()));
        tracing::info!("one");
        tracing::debug!("two");
        log::info!(target: "their::target", "three");
        tracing::trace!("too small");
        assert_eq!(SEEN.load(Ordering::Relaxed), 5, "the other layer sees all");
        let receipt = handle.shutdown(PATIENCE);
        assert!(receipt.is_complete(), "{receipt:?}");
        let received = collector.received();
        assert_eq!(bodies(&received), ["one", "two", "three"]);
        let (_, scope, record) = received.scoped_logs().last().expect("a record");
        assert_eq!(scope.name, "their::target");
        assert_eq!(record.event_name, "");
        let keys: Vec<_> = record.attributes.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["code.file.path", "code.line.number"]);
        let place = text(&record.attributes, "code.file.path");
        assert_eq!(place.as_deref(), Some(file!()));
    });
}

#[test]
fn a_program_may_set_its_subscriber_and_logger_after_telemetry_has_started() {
    alone(&[ON_REQUEST], || {
        let collector = Collector::start();
        let handle = lifecycle::init(&with_logs(&collector.endpoint()));
        Registry::default()
            .with(log_layer(LevelFilter::INFO))
            .try_init()
            .expect("there is no other, and no logger");
        install_log_bridge();
        log::info!("once");
        let error: &(dyn std::error::Error + 'static) = &std::fmt::Error;
        tracing::warn!(error, "again");
        assert!(handle.shutdown(PATIENCE).is_complete());
        let received = collector.received();
        assert_eq!(bodies(&received), ["once", "again"]);
        let attributes = &find(&received, "again").attributes;
        assert_eq!(
            text(attributes, "exception.message"),
            Some(std::fmt::Error.to_string())
        );
    });
}

#[test]
fn an_event_that_is_repeated_to_the_logger_is_one_record() {
    alone(&[ON_REQUEST], || {
        let collector = Collector::start();
        let handle = init(&with_logs(&collector.endpoint()));
        for _ in 0..2 {
            // As `tracing` does when it is built to.
            let (file, line) = (file!(), line!() + 1);
            tracing::info!("told twice");
            let repeated = format_args!("told twice");
            let mut record = log::Record::builder();
            record.args(repeated).file(Some(file)).line(Some(line));
            log::logger().log(&record.level(log::Level::Info).build());
        }
        log::info!("of its own");
        assert!(handle.shutdown(PATIENCE).is_complete());
        let received = collector.received();
        assert_eq!(received.log_records().count(), 3, "{:?}", bodies(&received));
        let _ = find(&received, "of its own");
    });
}

#[test]
fn a_subscriber_without_the_layer_is_kept_and_warned_about_once() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let mut command = command_for(|| {
        let subscriber = Registry::default().with(Count(&SEEN));
        tracing::subscriber::set_global_default(subscriber).expect("is the first");
        let handle = init(&with_logs(&refusing_endpoint()));
        tracing::info!("theirs");
        assert_eq!(SEEN.load(Ordering::Relaxed), 1);
        let receipt = handle.shutdown(PATIENCE);
        assert_eq!(receipt.logs.failed + receipt.logs.exported, 0);
    });
    let mut child = spawn(&mut command);
    let status = child.wait();
    let told = child.stderr();
    assert!(status.success(), "{told}");
    assert_eq!(told.matches("log_layer").count(), 1, "{told}");
}

/// Counts the records it is given.
struct CountingLogger(AtomicUsize);

impl log::Log for CountingLogger {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, _: &log::Record<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn flush(&self) {}
}

#[test]
fn a_logger_of_the_programs_keeps_what_tracing_tells_it_and_is_warned_about_once() {
    static LOGGER: CountingLogger = CountingLogger(AtomicUsize::new(0));
    let mut command = command_for(|| {
        log::set_logger(&LOGGER).expect("is the first");
        log::set_max_level(log::LevelFilter::Info);
        let handle = init(&with_logs(&refusing_endpoint()));
        // A subscriber would end what `tracing` repeats to the logger.
        assert!(!tracing::dispatcher::has_been_set());
        log::info!("theirs");
        assert_eq!(LOGGER.0.load(Ordering::Relaxed), 1);
        assert_eq!(handle.shutdown(PATIENCE).logs.failed, 0);
    });
    let mut child = spawn(&mut command);
    let status = child.wait();
    let told = child.stderr();
    assert!(status.success(), "{told}");
    assert_eq!(told.matches("a logger of its own").count(), 1, "{told}");
}

#[test]
fn a_program_that_listens_to_nothing_is_told_what_to_do() {
    let mut command = command_for(|| {
        let handle = lifecycle::init(&with_logs(&refusing_endpoint()));
        let _ = handle.shutdown(PATIENCE);
    });
    let mut child = spawn(&mut command);
    let status = child.wait();
    let told = child.stderr();
    assert!(status.success(), "{told}");
    assert_eq!(told.matches("install_log_bridge").count(), 1, "{told}");
}
