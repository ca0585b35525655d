//! Exporters that cannot be built, and metrics beside spans.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use gym_telemetry_core::receipt::{DropReason, Outcome};
use parking_lot::Mutex;

use super::{Memory, PATIENCE};
use crate::options::SpanOptions;
use crate::recorder::{Recorder, RecorderSettings};
use crate::span::Span;
use crate::thread::{Delivery, Job, MetricSink, Plan, Schedule, SdkSpanSink, Sinks, Telemetry};

/// Metrics that go nowhere, as the test says.
#[derive(Clone, Debug, Default)]
struct Points(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    exports: usize,
    is_shut_down: bool,
    behaviour: Behaviour,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Behaviour {
    #[default]
    Keep,
    Hang,
    Panic,
    Refuse,
}

impl Points {
    fn behaving(behaviour: Behaviour) -> Self {
        let points = Self::default();
        points.0.lock().behaviour = behaviour;
        points
    }

    fn exports(&self) -> usize {
        self.0.lock().exports
    }
}

impl MetricSink for Points {
    fn collect_and_export(&self) -> Job<'_, Delivery> {
        Box::pin(async {
            let behaviour = {
                let mut state = self.0.lock();
                state.exports += 1;
                state.behaviour
            };
            match behaviour {
                Behaviour::Keep => Delivery {
                    exported: 3,
                    ..Delivery::default()
                },
                Behaviour::Hang => std::future::pending().await,
                Behaviour::Panic => panic!("as the test wants"),
                Behaviour::Refuse => Delivery {
                    exported: 1,
                    failed: 2,
                    trouble: Some("refused".to_owned()),
                },
            }
        })
    }

    fn shut_down(&self, _budget: Duration) -> Result<(), String> {
        self.0.lock().is_shut_down = true;
        Ok(())
    }
}

/// Spans kept in memory and metrics exported every `interval`.
fn with_metrics(memory: &Memory, points: &Points, interval: Duration) -> Telemetry {
    let (memory, points) = (memory.clone(), points.clone());
    start(Some(interval), move || Sinks {
        spans: Ok(Box::new(SdkSpanSink(memory))),
        metrics: Ok(Box::new(points)),
        logs: Err("off".to_owned()),
    })
}

fn start(interval: Option<Duration>, build: impl FnOnce() -> Sinks + Send + 'static) -> Telemetry {
    let schedule = Schedule {
        delay: Duration::from_hours(1),
        ..Schedule::default()
    };
    let plan = Plan {
        spans: Some((Recorder::new(RecorderSettings::default()), schedule)),
        metrics: interval.map(|delay| Schedule {
            delay,
            ..Schedule::default()
        }),
        logs: None,
        build: Box::new(build),
    };
    Telemetry::start(plan).expect("the thread starts")
}

fn record(telemetry: &Telemetry, name: &'static str) -> bool {
    let recorder = telemetry.recorder().expect("spans are recorded");
    let span = Span::start_on(recorder, name, SpanOptions::default(), |_| {});
    span.is_recording()
}

#[test]
fn spans_without_an_exporter_are_counted_and_soon_not_recorded_any_more() {
    let broken: [fn() -> Sinks; 2] = [
        || Sinks {
            spans: Err("no way to do TLS".to_owned()),
            metrics: Err(String::new()),
            logs: Err(String::new()),
        },
        || panic!("as the test wants"),
    ];
    for (build, reason) in broken.into_iter().zip(["no way to do TLS", "panicked"]) {
        let (go, wait) = channel::<()>();
        let telemetry = start(None, move || {
            let _ = wait.recv_timeout(PATIENCE);
            build()
        });
        let recorder = telemetry.recorder().expect("spans are recorded");
        let open = Span::start_on(recorder, "open", SpanOptions::default(), |_| {});
        // Nobody knows yet.
        assert!(record(&telemetry, "early") && telemetry.is_exporting());
        drop(go);
        let Outcome::Failed(told) = telemetry.flush(PATIENCE) else {
            panic!("fails")
        };
        assert!(told.contains(reason), "{told}");
        assert!(!record(&telemetry, "late") && !telemetry.is_exporting());
        drop(open);
        let receipt = telemetry.shut_down(PATIENCE).traces;
        assert!(matches!(receipt.outcome, Outcome::Failed(_)), "{receipt:?}");
        assert_eq!(receipt.dropped, [(DropReason::NoExporter, 3)]);
        assert_eq!((recorder.created(), recorder.held()), (3, 0));
    }
}

#[test]
fn metrics_are_exported_at_their_interval_on_request_and_once_more_at_the_end() {
    let (memory, points) = (Memory::default(), Points::default());
    let telemetry = with_metrics(&memory, &points, Duration::from_hours(1));
    assert_eq!(telemetry.flush(PATIENCE), Outcome::Complete);
    assert_eq!(points.exports(), 1);
    let receipt = telemetry.shut_down(PATIENCE);
    assert_eq!((points.exports(), receipt.metrics.exported), (2, 6));
    assert_eq!(receipt.metrics.outcome, Outcome::Complete);
    assert!(points.0.lock().is_shut_down);

    let points = Points::default();
    let telemetry = with_metrics(&memory, &points, Duration::from_millis(5));
    let deadline = std::time::Instant::now() + PATIENCE;
    while points.exports() < 3 {
        assert!(
            std::time::Instant::now() < deadline,
            "no exports by themselves"
        );
        std::thread::yield_now();
    }
    let _ = telemetry.shut_down(PATIENCE);
}

#[test]
fn metrics_that_hang_hold_up_neither_spans_nor_the_budget() {
    let (memory, points) = (Memory::default(), Points::behaving(Behaviour::Hang));
    let telemetry = with_metrics(&memory, &points, Duration::from_millis(1));
    record(&telemetry, "work");
    let start = std::time::Instant::now();
    assert_eq!(
        telemetry.flush(Duration::from_millis(200)),
        Outcome::TimedOut
    );
    assert_eq!(memory.names(), ["work"]);
    let receipt = telemetry.shut_down(Duration::from_millis(200));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(receipt.traces.outcome, Outcome::Complete);
    assert_eq!(receipt.metrics.outcome, Outcome::TimedOut);
}

#[test]
fn metrics_that_panic_or_are_refused_are_tried_again_and_told_of() {
    for (behaviour, failed) in [(Behaviour::Panic, 0), (Behaviour::Refuse, 4)] {
        let (memory, points) = (Memory::default(), Points::behaving(behaviour));
        let telemetry = with_metrics(&memory, &points, Duration::from_hours(1));
        assert!(matches!(telemetry.flush(PATIENCE), Outcome::Failed(_)));
        let receipt = telemetry.shut_down(PATIENCE).metrics;
        assert!(matches!(receipt.outcome, Outcome::Failed(_)), "{receipt:?}");
        assert_eq!((points.exports(), receipt.failed), (2, failed));

        let points = Points::behaving(behaviour);
        let telemetry = with_metrics(&memory, &points, Duration::from_hours(1));
        let _ = telemetry.flush(PATIENCE);
        points.0.lock().behaviour = Behaviour::Keep;
        assert_eq!(telemetry.flush(PATIENCE), Outcome::Complete);
        assert_eq!(
            telemetry.shut_down(PATIENCE).metrics.outcome,
            Outcome::Complete
        );
    }
}
