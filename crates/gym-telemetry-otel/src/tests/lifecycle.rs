//! The telemetry of a whole process, each test in one of its own.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::process::Stdio;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gym_telemetry_core::receipt::Outcome;
use gym_telemetry_core::{ServerIdentity, ServerType, TelemetryConfig, attribute, group};

use super::PATIENCE;
use super::quiet::threads;
use crate::collector::{BlackHole, Collector, refusing_endpoint, text};
use crate::test_process::{alone, command_for};
use crate::{
    Context, Span, SpanOptions, TelemetryHandle, configure_telemetry_env, get_telemetry,
    init_telemetry, record_rollout, shutdown_telemetry, shutdown_telemetry_async,
};

pub(super) fn identity() -> ServerIdentity {
    let builder = ServerIdentity::builder().server_name("policy_model");
    builder.server_type(ServerType::ResponsesApiModels).build()
}

/// A configuration with telemetry on.
pub(super) fn on(endpoint: &str) -> TelemetryConfig {
    let mut config = TelemetryConfig::default();
    config.enabled = true;
    config.otlp_endpoint = Some(endpoint.to_owned());
    config
}

/// Starts telemetry as an orchestrator does.
pub(super) fn init(config: &TelemetryConfig) -> TelemetryHandle {
    let _children = configure_telemetry_env(Some(config)).expect("is on");
    init_telemetry(identity()).expect("is on")
}

pub(super) fn start(name: &'static str) -> Span {
    Span::start(name, SpanOptions::default(), |_| {})
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime")
}

#[test]
fn racing_threads_start_one_telemetry() {
    let variables = [
        ("NEMO_GYM_OTEL_ENABLED", "1"),
        ("OTEL_METRICS_EXPORTER", "none"),
    ];
    alone(&variables, || {
        let barrier = Barrier::new(16);
        let handles: Vec<_> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..16)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        init_telemetry(identity())
                    })
                })
                .collect();
            racers
                .into_iter()
                .map(|racer| racer.join().expect("does not panic"))
                .collect()
        });
        assert!(
            handles
                .iter()
                .all(|handle| handle.is_some() && *handle == get_telemetry())
        );
        // Once it answers, the thread also has its name.
        let handle = get_telemetry().expect("is on");
        let _ = handle.flush(PATIENCE);
        assert_eq!(
            threads()
                .iter()
                .filter(|name| *name == "gym-telemetry")
                .count(),
            1
        );
    });
}

#[test]
fn spans_and_metrics_arrive_with_the_resource_of_the_server() {
    alone(&[], || {
        let collector = Collector::start();
        let handle = init(&on(&collector.endpoint()));
        assert!(handle.is_exporting());
        assert!(group::ROLLOUT.is_enabled() && !group::SANDBOX.is_enabled());
        record_rollout(Duration::from_secs(3));
        {
            let _root = start("root").entered();
            start("child").end();
        }
        let open = start("open").entered();
        let receipt = handle.shutdown(PATIENCE);
        drop(open);
        assert!(receipt.is_complete(), "{receipt:?}");
        assert_eq!((receipt.traces.exported, receipt.traces.truncated), (2, 1));
        assert!(receipt.metrics.exported >= 1);
        let received = collector.received();
        let names: BTreeSet<_> = received.spans().map(|span| span.name.clone()).collect();
        assert_eq!(names, ["child", "open", "root"].map(str::to_owned).into());
        for (resource, scope, _) in received.scoped_spans() {
            let of = |key| text(&resource.attributes, key);
            assert_eq!(
                of(attribute::SERVICE_NAME).as_deref(),
                Some("nemo-gym/policy_model")
            );
            assert_eq!(
                of(attribute::SERVER_TYPE).as_deref(),
                Some("responses_api_models")
            );
            assert_eq!(scope.name, "nemo.lens.helpers");
        }
        assert!(received.metric("gym.rollout.duration_ms").is_some());
        assert!(!handle.is_exporting() && !group::ROLLOUT.is_enabled());
        assert_eq!(shutdown_telemetry(PATIENCE), receipt);
    });
}

#[test]
fn exports_need_no_runtime_and_survive_that_of_the_application() {
    alone(&[], || {
        let collector = Collector::start();
        let runtime = runtime();
        let handle = runtime.block_on(async { init(&on(&collector.endpoint())) });
        runtime.block_on(async { start("inside").end() });
        drop(runtime);
        start("after").end();
        assert_eq!(handle.flush(PATIENCE), Outcome::Complete);
        assert_eq!(collector.received().spans().count(), 2);
        // From inside of another runtime, blocking it.
        start("blocking").end();
        let receipt = self::runtime().block_on(async { shutdown_telemetry(PATIENCE) });
        assert!(receipt.is_complete(), "{receipt:?}");
        assert_eq!(collector.received().spans().count(), 3);
    });
}

#[test]
fn an_asynchronous_shutdown_keeps_its_budget_and_its_runtime_runs_on() {
    alone(&[], || {
        let hole = BlackHole::start();
        let handle = init(&on(&hole.endpoint()));
        start("work").end();
        let open = start("open").entered();
        drop(open.exit());
        let ticks = AtomicU32::new(0);
        let ticker = async {
            loop {
                tokio::time::sleep(Duration::from_millis(10)).await;
                ticks.fetch_add(1, Ordering::Relaxed);
            }
        };
        let start = Instant::now();
        let receipt = runtime().block_on(async {
            let shutdown = handle.shutdown_async(Duration::from_millis(500));
            let mut shutdown = std::pin::pin!(shutdown);
            let mut ticker = std::pin::pin!(ticker);
            std::future::poll_fn(|context| {
                let _ = ticker.as_mut().poll(context);
                shutdown.as_mut().poll(context)
            })
            .await
        });
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{:?}",
            start.elapsed()
        );
        assert!(ticks.load(Ordering::Relaxed) >= 10, "{ticks:?}");
        assert_eq!(receipt.traces.outcome, Outcome::TimedOut);
        assert_eq!(receipt.traces.failed + receipt.traces.dropped_total(), 2);
        let again = runtime().block_on(shutdown_telemetry_async(Duration::ZERO));
        assert_eq!(again, receipt);
    });
}

#[test]
fn a_dropped_shutdown_goes_on_and_its_receipt_can_be_asked_for() {
    alone(&[], || {
        let collector = Collector::start();
        let handle = init(&on(&collector.endpoint()));
        start("work").end();
        runtime().block_on(async {
            let mut shutdown = Box::pin(handle.shutdown_async(PATIENCE));
            std::future::poll_fn(|context| {
                let _ = shutdown.as_mut().poll(context);
                std::task::Poll::Ready(())
            })
            .await;
        });
        let receipt = shutdown_telemetry(PATIENCE);
        assert!(receipt.is_complete(), "{receipt:?}");
        assert_eq!(collector.received().spans().count(), 1);
    });
}

#[test]
fn a_collector_that_refuses_costs_spans_but_not_the_host() {
    alone(&[], || {
        let handle = init(&on(&refusing_endpoint()));
        let context = start("work").entered();
        assert!(Context::current().span_context().is_some());
        drop(context);
        let receipt = handle.shutdown(Duration::from_secs(1));
        assert!(!receipt.is_complete());
        assert_eq!(
            receipt.traces.failed + receipt.traces.dropped_total(),
            1,
            "{receipt:?}"
        );
    });
}

#[test]
fn a_signal_with_an_unusable_endpoint_is_off_and_the_others_go_on() {
    alone(
        &[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "not a url")],
        || {
            let collector = Collector::start();
            let handle = init(&on(&collector.endpoint()));
            assert!(!group::ROLLOUT.is_enabled());
            assert!(!start("work").is_recording());
            record_rollout(Duration::from_secs(1));
            assert!(handle.is_exporting());
            let receipt = handle.shutdown(PATIENCE);
            assert_eq!(receipt.traces.outcome, Outcome::NotConfigured);
            assert_eq!(receipt.metrics.outcome, Outcome::Complete);
            assert!(
                collector
                    .received()
                    .metric("gym.rollout.duration_ms")
                    .is_some()
            );
        },
    );
}

#[test]
fn with_traces_off_metrics_still_go_out() {
    alone(&[("NEMO_GYM_OTEL_TRACES_ENABLED", "0")], || {
        let collector = Collector::start();
        let handle = init(&on(&collector.endpoint()));
        assert!(!start("work").is_recording() && !group::SERVER.is_enabled());
        record_rollout(Duration::from_secs(1));
        let receipt = handle.shutdown(PATIENCE);
        assert_eq!(receipt.traces.outcome, Outcome::NotConfigured);
        assert_eq!(receipt.metrics.outcome, Outcome::Complete);
        assert!(
            collector
                .received()
                .metric("gym.rollout.duration_ms")
                .is_some()
        );
    });
}

#[test]
fn settings_decide_about_groups_and_samples() {
    let variables = [
        ("NEMO_GYM_OTEL_SPAN_GROUPS", "sandbox"),
        ("OTEL_TRACES_SAMPLER", "always_off"),
    ];
    alone(&variables, || {
        let collector = Collector::start();
        let handle = init(&on(&collector.endpoint()));
        assert!(group::SANDBOX.is_enabled() && !group::ROLLOUT.is_enabled());
        let root = start("root");
        assert!(!root.is_recording() && root.context().is_some());
        drop(root);
        let receipt = handle.shutdown(PATIENCE);
        assert_eq!((receipt.traces.exported, receipt.traces.unsampled), (0, 1));
        assert_eq!(receipt.traces.outcome, Outcome::Complete);
    });
}

#[test]
fn a_setting_that_cannot_be_used_is_warned_about_and_telemetry_stays_off() {
    let mut command = command_for(|| {
        assert_eq!(init_telemetry(identity()), None);
        assert_eq!(init_telemetry(identity()), None);
    });
    command.env("NEMO_GYM_OTEL_ENABLED", "maybe").env(
        "OTEL_EXPORTER_OTLP_HEADERS",
        "authorization=Bearer%20S3CR3T",
    );
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut told = String::new();
    child
        .stderr
        .take()
        .expect("is piped")
        .read_to_string(&mut told)
        .expect("is text");
    assert!(child.wait().expect("can be waited for").success(), "{told}");
    assert_eq!(told.matches("gym-telemetry:").count(), 1, "{told}");
    assert!(
        told.contains("NEMO_GYM_OTEL_ENABLED") && told.contains("yes"),
        "{told}"
    );
    assert!(!told.contains("S3CR3T"), "{told}");
}

#[test]
fn what_was_flushed_survives_a_kill() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = command_for(|| {
        let endpoint = std::env::var("TEST_ENDPOINT").expect("is set");
        let handle = init(&on(&endpoint));
        let _open = start("open").entered();
        start("work").end();
        assert_eq!(handle.flush(PATIENCE), Outcome::Complete);
        std::fs::write("/dev/stdout", "flushed\n").expect("can be written");
        std::thread::sleep(PATIENCE);
    });
    // The body has its own process, which does not get here.
    let collector = Collector::start();
    command
        .env("TEST_ENDPOINT", collector.endpoint())
        .stdout(writer)
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("starts");
    drop(command);
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(reader));
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("flushed"))));
    child.kill().expect("can be killed");
    child.wait().expect("can be waited for");
    let names: Vec<_> = collector
        .received()
        .spans()
        .map(|span| span.name.clone())
        .collect();
    assert_eq!(names, ["work"]);
}
