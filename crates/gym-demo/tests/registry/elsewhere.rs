//! What no run of the demo exports, and the tests of other crates that do.

use std::collections::BTreeSet;

use super::findings::Entry;
use super::sandboxes::BY_SANDBOX_TESTS;

/// All of it.
pub(crate) fn all() -> BTreeSet<Entry> {
    let by_sandbox_tests = BY_SANDBOX_TESTS.iter().flat_map(|(place, keys)| {
        let keys = keys.iter();
        keys.map(|key| (*place, *key))
    });
    by_sandbox_tests
        .chain(BY_NAME.iter().map(|(entry, ..)| *entry))
        .collect()
}

/// Whether the demo may export it, too: where the machine tells what a process group is given, and where it is slow.
pub(crate) fn depends_on_the_machine((place, key): Entry) -> bool {
    place == "gym.sandbox.sample_skipped_total"
        || place == "gym.sandbox.resource.allocation"
            && (key == "error.type" || key.contains(".allocation."))
        || place == "gym.sandbox.resource.sample" && key == "error.type"
        || place.starts_with("otel.sdk.") && key == "error.type"
}

const MODEL_CALLS: &str = "gym-telemetry-otel/src/metrics/tests/outcomes.rs";
const MODEL_CALL: &str = "a_model_call_records_what_it_tells_and_leaves_the_rest_out";
const SHUTDOWN: &str = "gym-telemetry-otel/src/tests/shutdown.rs";
const CUT_OFF: &str = "open_spans_are_exported_once_innermost_first_and_say_that_they_were_cut_off";
const HEALTH: &str = "gym-telemetry-otel/src/tests/health.rs";
const RECEIPT: &str = "the_last_metrics_say_of_spans_what_the_receipt_says";
const FAILING: &str = "exports_that_fail_are_counted_and_warned_about_once";
const LOST: &str = "log_records_and_points_that_are_lost_are_counted";

/// An entry, what the code of a test calls it, the file of the test and its name.
pub(crate) const BY_NAME: &[(Entry, &str, &str, &str)] = &[
    (
        ("<method> <route>", "http.request.method_original"),
        "http.request.method_original",
        "gym-telemetry-http/tests/server.rs",
        "only_server_errors_and_panics_are_errors",
    ),
    (
        ("<method> <route>", "nemo.gym.http.disconnected"),
        "nemo.gym.http.disconnected",
        "gym-telemetry-http/tests/streaming.rs",
        "a_client_that_leaves_during_the_answer_ends_the_span",
    ),
    (
        ("HTTP <method>", "error.type"),
        "error.type",
        "gym-telemetry-http/tests/client.rs",
        "no_answer_is_an_error_without_the_query",
    ),
    (
        ("HTTP <method>", "http.request.method_original"),
        "http.request.method_original",
        "gym-telemetry-http/tests/client.rs",
        "no_answer_is_an_error_without_the_query",
    ),
    (
        ("HTTP <method>", "http.request.resend_count"),
        "http.request.resend_count",
        "gym-telemetry-http/tests/client.rs",
        "one_request_is_one_span_however_often_it_is_sent",
    ),
    (
        ("any span", "nemo.span.truncated"),
        "nemo.span.truncated",
        "gym-telemetry-otel/src/tests/host_provider.rs",
        "the_provider_is_never_shut_down_and_serves_its_owner_afterwards",
    ),
    (
        ("gym.model_call.ttft_ms", ""),
        "gym.model_call.ttft_ms",
        MODEL_CALLS,
        MODEL_CALL,
    ),
    (
        ("gym.model_call.ttft_ms", "nemo.gym.model_call.dialect"),
        "attribute::MODEL_CALL_DIALECT",
        MODEL_CALLS,
        MODEL_CALL,
    ),
    (
        ("gym.model_call.ttft_ms", "nemo.gym.server.name"),
        "attribute::SERVER_NAME",
        MODEL_CALLS,
        MODEL_CALL,
    ),
    (
        ("log records", "exception.message"),
        "exception.message",
        "gym-telemetry-otel/src/tests/logs/arranged.rs",
        "a_program_may_set_its_subscriber_and_logger_after_telemetry_has_started",
    ),
    (
        ("nemo.span.truncated", ""),
        "event::SPAN_TRUNCATED",
        SHUTDOWN,
        CUT_OFF,
    ),
    (
        ("nemo.span.truncated", "nemo.span.truncated.reason"),
        "attribute::SPAN_TRUNCATED_REASON",
        SHUTDOWN,
        CUT_OFF,
    ),
    (
        ("otel.sdk.exporter.log.exported", "error.type"),
        "error.type",
        HEALTH,
        LOST,
    ),
    (
        ("otel.sdk.exporter.metric_data_point.exported", "error.type"),
        "error.type",
        HEALTH,
        LOST,
    ),
    (
        ("otel.sdk.exporter.operation.duration", "error.type"),
        "error.type",
        HEALTH,
        FAILING,
    ),
    (
        ("otel.sdk.exporter.span.exported", "error.type"),
        "error.type",
        HEALTH,
        FAILING,
    ),
    (
        ("otel.sdk.metric_reader.collection.duration", "error.type"),
        "error.type",
        HEALTH,
        "a_callback_that_panics_is_counted_and_takes_nothing_along",
    ),
    (
        ("otel.sdk.processor.log.processed", "error.type"),
        "error.type",
        HEALTH,
        LOST,
    ),
    (
        ("otel.sdk.processor.span.processed", "error.type"),
        "error.type",
        HEALTH,
        RECEIPT,
    ),
    (
        ("otel.sdk.exporter.span.exported", "nemo.span.truncated"),
        "nemo.span.truncated",
        HEALTH,
        RECEIPT,
    ),
];
