//! Servers and clients in another language: the same headers, the same traces.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::http::request;
use support::run::{Run, clean, gym_demo, json_lines};
use support::server::Server;
use support::trace::{Span, draw, read_spans, traces};

/// A Python with opentelemetry-sdk, or none: then the tests of this file do nothing. Under CI there must be one.
#[expect(clippy::print_stderr, reason = "whoever runs the tests shall know")]
fn python() -> Option<PathBuf> {
    let given = std::env::var_os("GYM_TEST_PYTHON").map(PathBuf::from);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = given.or_else(|| own.exists().then_some(own));
    assert!(
        python.is_some() || std::env::var_os("CI").is_none(),
        "no Python with opentelemetry-sdk: name one in GYM_TEST_PYTHON"
    );
    if python.is_none() {
        eprintln!("skipped: no Python with opentelemetry-sdk in GYM_TEST_PYTHON or .venv");
    }
    python
}

fn far_end() -> String {
    support::asset("python/far_end.py").display().to_string()
}

/// A run whose model server is the Python one.
fn run_with_python_model(python: &Path) -> Run {
    let command = format!("'{}' '{}' serve", python.display(), far_end());
    Run::new().args(["--model-command", &command, "--rollouts", "2"])
}

/// What arrived at the Python server as `traceparent`.
fn received(lines: &[serde_json::Value]) -> Vec<&str> {
    lines
        .iter()
        .filter_map(|line| line["received"].as_str())
        .collect()
}

#[test]
fn a_python_model_server_is_part_of_each_rollouts_tree() {
    let Some(python) = python() else { return };
    let run = run_with_python_model(&python).finish().succeeded();
    let spans = run.spans();
    let traces = traces(&spans);
    assert_eq!(traces.len(), 2);
    for result in run.results() {
        let tree = draw(&traces[result["trace_id"].as_str().expect("a trace")]);
        let python = "SERVER POST /v1/responses [nemo-gym/policy_model]\n                  INTERNAL gym.model.responses [nemo-gym/policy_model]";
        assert!(tree.contains(python), "{tree}");
    }
    let lines = run.lines("policy_model");
    let received = received(&lines);
    assert!(!received.is_empty());
    assert!(
        received.iter().all(|header| header.ends_with("-03")),
        "sampled and random: {received:?}"
    );
}

#[test]
fn an_unsampled_trace_stays_unsampled_in_python() {
    let Some(python) = python() else { return };
    let run = run_with_python_model(&python)
        .env("OTEL_TRACES_SAMPLER", "parentbased_always_off")
        .finish()
        .succeeded();
    assert!(run.spans().is_empty(), "neither side records");
    let lines = run.lines("policy_model");
    let received = received(&lines);
    assert!(!received.is_empty(), "the context travels all the same");
    assert!(
        received.iter().all(|header| header.ends_with("-02")),
        "random, not sampled: {received:?}"
    );
}

/// An agent whose model is the Python server, and a resources server, each with the console exporter.
struct Chain {
    directory: tempfile::TempDir,
    model: Server,
    resources: Server,
    agent: Server,
}

impl Chain {
    fn start(python: &Path) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut model = clean(python);
        model
            .arg(far_end())
            .arg("serve")
            .env("GYM_DEMO_SERVER_NAME", "policy_model");
        let model = Server::start(model, directory.path(), "policy_model");
        let resources = Server::start(on(gym_demo(), "resources"), directory.path(), "weather");
        let mut agent = on(gym_demo(), "agent");
        agent
            .env("GYM_DEMO_MODEL_URL", &model.url)
            .env("GYM_DEMO_RESOURCES_URL", &resources.url);
        let agent = Server::start(agent, directory.path(), "weather_agent");
        Self {
            directory,
            model,
            resources,
            agent,
        }
    }

    /// Stops all servers; returns their spans and what arrived at the Python server.
    fn stop(self) -> (Vec<Span>, Vec<String>) {
        let spans = [self.agent, self.resources, self.model]
            .into_iter()
            .flat_map(Server::stop)
            .collect();
        let lines = json_lines(&self.directory.path().join("policy_model.jsonl"));
        (
            spans,
            received(&lines).into_iter().map(str::to_owned).collect(),
        )
    }
}

fn on(mut command: Command, kind: &str) -> Command {
    command
        .args(["serve", kind])
        .env("NEMO_GYM_OTEL_ENABLED", "1")
        .env("NEMO_GYM_OTEL_EXPORTER", "console");
    command.env("NEMO_GYM_OTEL_SPAN_GROUPS", "per_rollout");
    command
}

const RUN: &str = r#"{"responses_create_params":{"input":"Do I need an umbrella in Oslo?"},"verifier_metadata":{"city":"Oslo"}}"#;

#[test]
fn the_flags_of_a_caller_go_through_every_process_unchanged() {
    let Some(python) = python() else { return };
    let chain = Chain::start(&python);
    let caller =
        |trace: u8, flags: &str| format!("00-{:032x}-{:016x}-{flags}", u128::from(trace), 7_u64);
    for (trace, flags) in [(1, "00"), (2, "01"), (3, "02"), (4, "03")] {
        let header = caller(trace, flags);
        let answer = request(
            &chain.agent.url,
            "POST",
            "/ng-rollout/7-0/run",
            &[("traceparent", &header)],
            RUN,
        );
        assert!(
            answer
                .as_deref()
                .is_some_and(|answer| answer.starts_with("HTTP/1.1 200")),
            "{answer:?}"
        );
    }
    let (spans, received) = chain.stop();
    for (trace, flags) in [(1, "00"), (2, "01"), (3, "02"), (4, "03")] {
        let trace_id = format!("{trace:032x}");
        let of_trace: Vec<_> = received
            .iter()
            .filter(|header| header.contains(&trace_id))
            .collect();
        assert_eq!(
            of_trace.len(),
            2,
            "{flags}: the model is asked twice: {received:?}"
        );
        assert!(
            of_trace
                .iter()
                .all(|header| header.ends_with(&format!("-{flags}"))),
            "{flags}: {of_trace:?}"
        );
        let recorded = spans
            .iter()
            .filter(|span| span.trace_id == trace_id)
            .count();
        assert_eq!(
            recorded > 0,
            flags == "01" || flags == "03",
            "{flags}: {recorded} spans"
        );
    }
}

#[test]
fn a_trace_that_python_starts_goes_on_in_rust_and_comes_back() {
    let Some(python) = python() else { return };
    let chain = Chain::start(&python);
    let url = format!("{}/ng-rollout/7-0/run", chain.agent.url);
    let call = |sampler: &str| {
        let output = clean(&python)
            .args([&far_end(), "call", &url, RUN])
            .env("OTEL_TRACES_SAMPLER", sampler)
            .output();
        let output = output.expect("Python runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect::<Vec<serde_json::Value>>()
    };
    let sampled = call("always_on");
    let unsampled = call("always_off");
    let id = |lines: &[serde_json::Value]| {
        lines
            .iter()
            .find_map(|line| line["trace_id"].as_str())
            .expect("a trace id")
            .to_owned()
    };
    let (mut spans, received) = chain.stop();
    assert!(
        spans.iter().all(|span| span.trace_id != id(&unsampled)),
        "unsampled stays unsampled"
    );
    assert!(
        received
            .iter()
            .any(|header| header.contains(&id(&unsampled))),
        "its context travels all the same"
    );

    spans.extend(read_spans(&sampled));
    let spans: Vec<_> = spans
        .into_iter()
        .filter(|span| span.trace_id == id(&sampled))
        .collect();
    let tree = draw(&spans);
    assert!(
        tree.starts_with(
            "CLIENT call [nemo-gym/client]\n  SERVER POST /run [nemo-gym/weather_agent]\n"
        ),
        "{tree}"
    );
    assert!(
        tree.contains("SERVER POST /v1/responses [nemo-gym/policy_model]"),
        "{tree}"
    );
}
