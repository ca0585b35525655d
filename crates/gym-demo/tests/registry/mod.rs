//! Whether the registry of names tells the truth: what a run exports is in it, and what is in it is exported.

mod findings;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use self::findings::{Findings, Registry};
use super::collector::Collector;
use super::support::run::Run;

/// Everything on, each export through the collector.
const CONFIG: &str = "\
telemetry:
  enabled: true
  span_groups: all
  logs_enabled: true
  memory_profiling:
    enabled: true
    interval_seconds: 0.05
  sandbox_resource_sample_interval_seconds: 0.02
";

/// One question for each API of the model.
const TASKS: &str = r#"
{"responses_create_params":{"input":"What is the weather in Oslo?"},"verifier_metadata":{"city":"Oslo"}}
{"responses_create_params":{"input":"What is the weather in Lima?"},"model_api":"chat_completions"}
{"responses_create_params":{"input":"What is the weather in Bonn?"},"model_api":"messages"}
"#;

/// What no run of the demo exports: names that start so, and a test that exports them.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    (
        "gym.model_call.ttft_ms",
        "gym-telemetry-otel/src/metrics/tests/outcomes.rs",
        "a_model_call_records_what_it_tells_and_leaves_the_rest_out",
    ),
    (
        "gym.sandbox.create_retry_total",
        "gym-sandbox-obs/tests/export/whole.rs",
        "one_sandbox_is_joined_from_request_to_stop",
    ),
    (
        "gym.sandbox.sample_skipped_total",
        "gym-sandbox-obs/tests/export/limits.rs",
        "readings_without_room_are_skipped_and_counted",
    ),
    (
        "http.request.method_original",
        "gym-telemetry-http/tests/server.rs",
        "only_server_errors_and_panics_are_errors",
    ),
    (
        "http.request.resend_count",
        "gym-telemetry-http/tests/client.rs",
        "one_request_is_one_span_however_often_it_is_sent",
    ),
    (
        "nemo.gym.http.disconnected",
        "gym-telemetry-http/tests/streaming.rs",
        "a_client_that_leaves_during_the_answer_ends_the_span",
    ),
    (
        "nemo.gym.sandbox.abandoned",
        "gym-sandbox-obs/tests/export/failures.rs",
        "a_forgotten_sandbox_is_abandoned_on_record",
    ),
    (
        "nemo.gym.sandbox.allocation.",
        "gym-sandbox-obs/tests/export/whole.rs",
        "one_sandbox_is_joined_from_request_to_stop",
    ),
    (
        "nemo.gym.sandbox.collection.id",
        "gym-sandbox-obs/tests/export/whole.rs",
        "services_of_a_collection_are_requested_before_the_first_starts",
    ),
    (
        "nemo.gym.sandbox.requested.disk_gib",
        "gym-sandbox-obs/tests/export/whole.rs",
        "one_sandbox_is_joined_from_request_to_stop",
    ),
    (
        "nemo.gym.sandbox.requested.gpu",
        "gym-sandbox-obs/tests/export/whole.rs",
        "one_sandbox_is_joined_from_request_to_stop",
    ),
    (
        "nemo.gym.sandbox.requested.sidecar",
        "gym-sandbox-obs/tests/export/whole.rs",
        "one_sandbox_is_joined_from_request_to_stop",
    ),
    (
        "nemo.gym.sandbox.service.id",
        "gym-sandbox-obs/tests/export/whole.rs",
        "services_of_a_collection_are_requested_before_the_first_starts",
    ),
    (
        "nemo.gym.sandbox.submitted.",
        "gym-sandbox-obs/tests/export/whole.rs",
        "one_sandbox_is_joined_from_request_to_stop",
    ),
    (
        "nemo.span.truncated",
        "gym-telemetry-otel/src/tests/shutdown.rs",
        "open_spans_are_exported_once_innermost_first_and_say_that_they_were_cut_off",
    ),
];

/// Where a process is said to run, so that its resource says all that there is; and how often it exports.
const SURROUNDINGS: &[(&str, &str)] = &[
    ("CUDA_VISIBLE_DEVICES", "0,1"),
    ("DEPLOYMENT_ENV", "tests"),
    ("K8S_CONTAINER_NAME", "gym"),
    ("K8S_JOB_NAME", "train"),
    ("K8S_NAMESPACE", "rl"),
    ("K8S_NODE_NAME", "node-1"),
    ("K8S_POD_NAME", "gym-0"),
    ("K8S_POD_UID", "0a"),
    ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
    ("NEMO_LENS_USER_ID", "somebody"),
    ("OTEL_METRIC_EXPORT_INTERVAL", "50"),
    ("SLURM_CLUSTER_NAME", "cluster"),
    ("SLURM_JOB_ID", "42"),
    ("SLURM_JOB_NAME", "train"),
    ("SLURM_JOB_NODELIST", "node-[1-2]"),
    ("SLURM_JOB_NUM_NODES", "2"),
    ("SLURM_JOB_PARTITION", "gpu"),
    ("SLURM_NNODES", "2"),
    ("SLURM_NODELIST", "node-[1-2]"),
    ("SLURM_NTASKS", "2"),
    ("WANDB_ENTITY", "entity"),
    ("WANDB_PROJECT", "project"),
];

/// Entries that neither a run nor a test of the list exports.
fn forgotten(registry: &Registry, met: &BTreeSet<&'static str>) -> BTreeSet<&'static str> {
    let names = registry.names().into_iter();
    names
        .filter(|name| !met.contains(name) && !is_elsewhere(name))
        .collect()
}

fn is_elsewhere(name: &str) -> bool {
    ELSEWHERE.iter().any(|(start, ..)| name.starts_with(start))
}

#[test]
fn what_runs_export_and_what_the_registry_says_are_one() {
    let collector = Collector::start();
    let run = |arguments: &[&str]| {
        let run = Run::new()
            .file("gym.yaml", CONFIG)
            .file("tasks.jsonl", TASKS)
            .args(["--config", "gym.yaml", "--tasks", "tasks.jsonl"])
            .args(arguments)
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
        SURROUNDINGS
            .iter()
            .fold(run, |run, (name, value)| run.env(name, value))
            .finish()
    };
    // Long enough for exports while there are sandboxes: their gauges end with them.
    run(&[
        "--rollouts",
        "6",
        "--parallel",
        "3",
        "--upstream-requests",
        "2",
        "--model-latency",
        "150",
    ])
    .succeeded();
    // No generation gives its slot back: rollouts are dropped, with errors on their spans.
    let failed = run(&[
        "--rollouts",
        "3",
        "--model-slots",
        "2",
        "--model-leaks",
        "2",
        "--model-slot-timeout",
        "50",
    ]);
    assert_eq!(failed.code(), Some(1), "{}", failed.stderr());

    let received = collector.received();
    assert!(!received.traces.is_empty() && !received.metrics.is_empty());
    assert!(received.log_records().next().is_some());
    let registry = Registry::whole();
    let Findings { wrong, met } = Findings::of(&received, &registry);
    assert_eq!(wrong, BTreeSet::new());
    assert_eq!(
        forgotten(&registry, &met),
        BTreeSet::new(),
        "nothing exports them"
    );

    // Both directions fail where one side lacks something.
    for name in [
        "gym.rollout",
        "exception",
        "nemo.gym.rollout.id",
        "gym.rollout.completed_total",
    ] {
        let rest = registry.without(name);
        assert!(
            !Findings::of(&received, &rest).wrong.is_empty(),
            "{name} is not missed in the registry"
        );
        let mut others = met.clone();
        assert!(others.remove(name), "{name}");
        assert_eq!(
            forgotten(&registry, &others),
            BTreeSet::from([name]),
            "it is not missed in the run"
        );
    }
}

#[test]
fn every_test_that_stands_in_for_the_demo_exists_and_is_needed() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let registry = Registry::whole();
    for (start, file, test) in ELSEWHERE {
        let text =
            fs::read_to_string(crates.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(
            text.contains(&format!("fn {test}(")),
            "{file} has no test {test}"
        );
        assert!(
            registry.names().iter().any(|name| name.starts_with(start)),
            "no entry starts with {start}"
        );
    }
}
