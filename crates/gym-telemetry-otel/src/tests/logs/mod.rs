//! Log records of whole processes, each test in one of its own.

mod arranged;
mod failures;
mod queue;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gym_telemetry_core::TelemetryConfig;
use gym_telemetry_core::receipt::{DropReason, Outcome};
use opentelemetry_proto::tonic::logs::v1::LogRecord;

use super::PATIENCE;
use super::lifecycle::{self, identity, on, start};
use crate::collector::{Collector, Received, body, text};
use crate::test_process::alone;
use crate::{Context, FutureExt, TelemetryHandle, carry, init_telemetry, install_log_bridge};

/// A configuration with logs on.
fn with_logs(endpoint: &str) -> TelemetryConfig {
    let mut config = on(endpoint);
    config.logs_enabled = true;
    config
}

/// Telemetry and whatever the program has not got to listen to its logs.
fn init(config: &TelemetryConfig) -> TelemetryHandle {
    let handle = lifecycle::init(config);
    install_log_bridge();
    handle
}

/// Nothing is exported before it is asked for.
const ON_REQUEST: (&str, &str) = ("OTEL_BLRP_SCHEDULE_DELAY", "3600000");

fn bodies(received: &Received) -> Vec<&str> {
    received.log_records().map(body).collect()
}

/// The only record with this message.
fn find<'a>(received: &'a Received, message: &str) -> &'a LogRecord {
    let mut found = received
        .log_records()
        .filter(|record| body(record) == message);
    let record = found.next();
    assert!(found.next().is_none(), "{message:?} is there twice");
    record.unwrap_or_else(|| panic!("no {message:?} in {:?}", bodies(received)))
}

#[test]
fn records_have_the_ids_of_the_span_they_were_made_in() {
    let grpc = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
    for (protocol, path) in [("grpc", grpc), ("http/protobuf", "/v1/logs")] {
        let variables = [
            ON_REQUEST,
            ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", protocol),
            ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "x-signal=logs"),
            ("TEST_PATH", path),
        ];
        alone(&variables, || {
            let collector = Collector::start();
            let handle = init(&with_logs(&collector.endpoint()));
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .build()
                .expect("a runtime");
            tracing::info!("outside");
            log::info!("outside of all");
            let rollout = start("rollout");
            runtime.block_on(
                async {
                    tracing::info!("before");
                    // To another thread and back, at least now and then.
                    for _ in 0..20 {
                        tokio::task::yield_now().await;
                    }
                    tracing::warn!("after an await");
                    log::error!("through log");
                    let helper = tokio::task::spawn_blocking(carry(|| tracing::info!("blocking")));
                    helper.await.expect("it does not panic");
                    let verify = async { tracing::info!("deeper") };
                    verify.in_span(start("verify")).await;
                    tokio::spawn(
                        async { tracing::info!("a task of its own") }.in_current_context(),
                    )
                    .await
                    .expect("it does not panic");
                    tokio::spawn(async { tracing::info!("left alone") })
                        .await
                        .expect("it does not panic");
                }
                .in_span(rollout),
            );
            tracing::debug!("too small");
            log::debug!("too small as well");
            // What is shut down is flushed, logs too.
            let receipt = handle.shutdown(PATIENCE);
            assert!(receipt.is_complete(), "{receipt:?}");
            assert_eq!((receipt.logs.exported, receipt.traces.exported), (9, 2));
            assert_eq!(receipt.logs.outcome, Outcome::Complete);
            let received = collector.received();
            assert_eq!(received.log_records().count(), 9, "{:?}", bodies(&received));
            let ids: BTreeMap<_, _> = received
                .spans()
                .map(|span| (span.name.as_str(), (&span.trace_id, &span.span_id)))
                .collect();
            for (message, span) in [
                ("before", "rollout"),
                ("after an await", "rollout"),
                ("through log", "rollout"),
                ("blocking", "rollout"),
                ("a task of its own", "rollout"),
                ("deeper", "verify"),
            ] {
                let record = find(&received, message);
                let is = (&record.trace_id, &record.span_id);
                assert_eq!(is, ids[span], "{message}");
                assert_eq!(record.flags, 3, "{message}");
            }
            for message in ["outside", "outside of all", "left alone"] {
                let record = find(&received, message);
                assert!(record.trace_id.is_empty() && record.span_id.is_empty());
            }
            let request = &received.logs[0];
            assert_eq!(Ok(request.path.clone()), std::env::var("TEST_PATH"));
            assert_eq!(request.header("x-signal"), ["logs"]);
            assert_eq!(received.traces[0].header("x-signal"), [""; 0]);
            let (resource, scope, record) = received.scoped_logs().next().expect("a record");
            let service = text(&resource.attributes, "service.name");
            assert_eq!(service.as_deref(), Some("nemo-gym/policy_model"));
            assert_eq!(scope.name, module_path!());
            let place = text(&record.attributes, "code.file.path");
            assert_eq!(place.as_deref(), Some(file!()));
            assert!(text(&record.attributes, "code.line.number").is_some());
        });
    }
}

#[test]
fn attributes_are_redacted_and_cut_and_messages_left_alone() {
    let variables = [
        ON_REQUEST,
        ("OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT", "12"),
        ("OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT", "12"),
    ];
    alone(&variables, || {
        let collector = Collector::start();
        let handle = init(&with_logs(&collector.endpoint()));
        tracing::info!(
            password = "S3CR3T",
            "auth.Api_Key" = %"S3CR3T",
            prompt = ?Some("S3CR3T"),
            "header.authorization" = &b"S3CR3T"[..],
            token = 5,
            input_tokens = 7,
            ok = true,
            ratio = 0.5,
            long = "0123456789abcdef",
            huge = u64::MAX,
            too = 1,
            many = 2,
            "password=in the message",
        );
        let receipt = handle.shutdown(PATIENCE);
        assert!(receipt.is_complete(), "{receipt:?}");
        let received = collector.received();
        let record = find(&received, "password=in the message");
        assert!(!format!("{record:?}").contains("S3CR3T"), "{record:?}");
        let of = |key| text(&record.attributes, key).unwrap_or_default();
        for key in ["password", "auth.Api_Key", "prompt", "header.authorization"] {
            assert_eq!(of(key), "[REDACTED]", "{key}");
        }
        for (key, value) in [
            ("token", "5"),
            ("input_tokens", "7"),
            ("ok", "true"),
            ("ratio", "0.5"),
            ("long", "0123456789ab"),
            ("huge", "184467440737"),
        ] {
            assert_eq!(of(key), value, "{key}");
        }
        // Two are taken by the place in the source.
        assert_eq!(record.attributes.len(), 12);
        assert_eq!(record.dropped_attributes_count, 2);
    });
}

#[test]
fn a_value_that_panics_costs_its_record_and_nothing_else() {
    struct Bomb;
    impl std::fmt::Display for Bomb {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("as the test wants")
        }
    }
    struct Talkative;
    impl std::fmt::Display for Talkative {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            tracing::info!("inner");
            f.write_str("value")
        }
    }
    alone(&[ON_REQUEST], || {
        let collector = Collector::start();
        let handle = init(&with_logs(&collector.endpoint()));
        let calls: [fn(); 3] = [
            || tracing::info!(value = %Bomb, "lost"),
            || tracing::info!("{Bomb}"),
            || log::info!("{Bomb}"),
        ];
        for call in calls {
            assert!(catch_unwind(AssertUnwindSafe(call)).is_ok());
        }
        tracing::info!(value = %Talkative, "outer");
        let logs = handle.shutdown(PATIENCE).logs;
        assert_eq!(
            (logs.exported, &*logs.dropped),
            (2, &[(DropReason::Panicked, 3)][..])
        );
        let received = collector.received();
        assert_eq!(bodies(&received), ["inner", "outer"]);
        assert_ne!(
            text(&find(&received, "inner").attributes, "code.line.number"),
            text(&find(&received, "outer").attributes, "code.line.number")
        );
    });
}

#[test]
fn on_the_console_each_record_is_a_line() {
    let output = alone(&[("OTEL_LOGS_EXPORTER", "console")], || {
        let collector = Collector::start();
        let handle = init(&with_logs(&collector.endpoint()));
        let span = start("work").entered();
        tracing::error!(task = "a\nb", "broken");
        drop(span);
        log::info!("outside");
        let receipt = handle.shutdown(PATIENCE);
        assert!(receipt.is_complete(), "{receipt:?}");
        assert_eq!(collector.received().spans().count(), 1);
    });
    let lines: Vec<serde_json::Value> = output
        .lines()
        .filter(|line| line.starts_with("{\"body\""))
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    let [broken, outside] = lines.as_slice() else {
        panic!("two lines: {output}")
    };
    assert_eq!(broken["body"], "broken");
    assert_eq!(broken["severity_number"], 17);
    assert_eq!(broken["severity_text"], "ERROR");
    assert_eq!(broken["attributes"]["task"], "a\nb");
    assert_eq!(broken["trace_flags"], 3);
    assert_ne!(broken["span_id"], "0x0000000000000000");
    assert_eq!(
        broken["resource"]["attributes"]["service.name"],
        "nemo-gym/policy_model"
    );
    assert_eq!(outside["trace_id"], format!("0x{}", "0".repeat(32)));
    assert_eq!(outside["span_id"], format!("0x{}", "0".repeat(16)));
}

#[test]
fn with_logs_off_nobody_listens() {
    for variable in [
        ("OTEL_LOGS_EXPORTER", "none"),
        ("NEMO_GYM_OTEL_LOGS_ENABLED", "0"),
        ("OTEL_SDK_DISABLED", "true"),
    ] {
        alone(&[variable, ("TEST_VARIABLE", variable.0)], || {
            let collector = Collector::start();
            let _children = crate::configure_telemetry_env(Some(&with_logs(&collector.endpoint())));
            let handle = init_telemetry(identity());
            install_log_bridge();
            let is_disabled = std::env::var("TEST_VARIABLE").as_deref() == Ok("OTEL_SDK_DISABLED");
            assert_eq!(handle.is_none(), is_disabled);
            assert!(!tracing::dispatcher::has_been_set());
            assert_eq!(log::max_level(), log::LevelFilter::Off);
            tracing::error!("nobody");
            if let Some(handle) = handle {
                let receipt = handle.shutdown(PATIENCE);
                assert_eq!(receipt.logs.outcome, Outcome::NotConfigured);
            }
            assert!(collector.received().logs.is_empty());
        });
    }
}

#[test]
fn logs_alone_are_enough_and_continue_the_trace_of_the_caller() {
    let variables = [
        ("NEMO_GYM_OTEL_TRACES_ENABLED", "0"),
        ("NEMO_GYM_OTEL_METRICS_ENABLED", "0"),
    ];
    alone(&variables, || {
        let collector = Collector::start();
        let handle = init(&with_logs(&collector.endpoint()));
        assert!(handle.is_exporting());
        let caller = gym_telemetry_core::SpanContext::from_traceparent(
            "00-000102030405060708090a0b0c0d0e0f-0001020304050607-01",
        )
        .expect("it is valid");
        let context = Context::root().with_remote(Some(caller), None);
        context.run(|| tracing::info!("on behalf of another"));
        assert_eq!(handle.flush(PATIENCE), Outcome::Complete);
        let received = collector.received();
        let record = find(&received, "on behalf of another");
        assert_eq!(record.span_id, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(record.flags, 1);
        assert!(received.traces.is_empty() && received.metrics.is_empty());
        assert!(handle.shutdown(PATIENCE).is_complete());
        assert!(!handle.is_exporting());
    });
}

#[test]
#[expect(unsafe_code, reason = "only the C library can fork a process")]
fn a_forked_child_logs_for_itself_from_its_first_word_on() {
    alone(&[ON_REQUEST], || {
        let collector = Collector::start();
        let handle = init(&with_logs(&collector.endpoint()));
        tracing::info!("of the parent");
        // SAFETY: the child uses what this test is about and leaves without returning to the harness.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "cannot fork");
        if child == 0 {
            let succeeded = catch_unwind(AssertUnwindSafe(|| {
                tracing::info!("of the child");
                let receipt = handle.shutdown(PATIENCE);
                receipt.is_complete() && receipt.logs.exported == 1
            }));
            let failed = !matches!(succeeded, Ok(true));
            // SAFETY: ends this process without running the exit handlers of the harness.
            unsafe { libc::_exit(i32::from(failed)) };
        }
        let mut status = 0;
        // SAFETY: the child is ours and `status` outlives the call.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child failed");
        assert!(handle.shutdown(PATIENCE).is_complete());
        let received = collector.received();
        assert_eq!(bodies(&received), ["of the child", "of the parent"]);
    });
}
