//! A run with the console exporter: what each process writes on its standard output.

mod support;

use std::collections::HashSet;

use serde_json::Value;
use support::expected::assert_one_tree_for_each_rollout;
use support::http::request;
use support::run::{Run, gym_demo};
use support::server::Server;
use support::trace::{draw, traces};

#[test]
fn each_rollout_is_one_tree_across_all_processes() {
    let run = Run::new()
        .args(["--rollouts", "8"])
        .env("NEMO_GYM_OTEL_LOGS_ENABLED", "1");
    let run = run.finish().succeeded();
    assert_one_tree_for_each_rollout(&run.spans(), &run.results(), 8);

    let requests = run
        .spans()
        .into_iter()
        .filter(|span| span.name == "gym.sandbox.request");
    assert_eq!(requests.count(), 8, "a sandbox for each rollout");

    // The summary tells the same.
    let said = run.stderr();
    let sandboxes = said.lines().filter(|line| {
        line.contains("sandbox: requested 1 CPU, 64 MiB · allocated ")
            && line.contains("peak used ")
    });
    assert_eq!(sandboxes.count(), 8, "{said}");
    for result in run.results() {
        let trace = result["trace_id"].as_str().expect("a trace");
        let line = said
            .lines()
            .find(|line| line.contains(trace))
            .unwrap_or_else(|| panic!("{trace} in {said}"));
        for service in [
            "nemo-gym ",
            "nemo-gym/weather ",
            "nemo-gym/policy_model ",
            "nemo-gym/weather_agent ",
        ] {
            assert!(line.contains(service), "{service} in {line}");
        }
        // Each request is logged, and the verdict.
        let requests = run
            .spans()
            .into_iter()
            .filter(|span| span.trace_id == trace && span.kind == "SERVER");
        let records = format!("; log records: {}", requests.count() + 1);
        assert!(line.ends_with(&records), "{records} in {line}");
    }
}

#[test]
fn the_environment_alone_switches_the_run_on() {
    let run = Run::new()
        .env("NEMO_GYM_OTEL_ENABLED", "1")
        .env("NEMO_GYM_OTEL_EXPORTER", "console");
    let run = run.finish().succeeded();
    assert_one_tree_for_each_rollout(&run.spans(), &run.results(), 4);
}

#[test]
fn the_preset_default_makes_one_trace_for_the_run() {
    let config = "telemetry: {enabled: true, exporter: console}";
    let run = Run::new()
        .file("gym.yaml", config)
        .args(["--config", "gym.yaml", "--rollouts", "3"])
        .finish()
        .succeeded();
    let spans = run.spans();
    assert_eq!(traces(&spans).len(), 1);
    let root: Vec<_> = spans
        .iter()
        .filter(|span| span.parent_id.is_none())
        .collect();
    assert_eq!(
        root.iter()
            .map(|span| span.name.as_str())
            .collect::<Vec<_>>(),
        ["gym.job"]
    );
    let rollouts: Vec<_> = spans
        .iter()
        .filter(|span| span.name == "gym.rollout")
        .collect();
    assert_eq!(rollouts.len(), 3);
    assert!(
        rollouts
            .iter()
            .all(|rollout| rollout.parent_id.as_ref() == Some(&root[0].span_id))
    );
    // The tree holds without the groups in between: servers hang below clients, clients below the next recorded span.
    assert!(draw(&spans).contains("SERVER POST /verify [nemo-gym/weather]"));
    assert!(
        !spans
            .iter()
            .any(|span| span.name.starts_with("gym.agent") || span.name == "gym.verify")
    );
}

#[test]
fn a_failure_marks_the_spans_on_its_way_and_keeps_the_rollout_in_one_trace() {
    let not_a_model = format!("{} serve resources", env!("CARGO_BIN_EXE_gym-demo"));
    let run = Run::new()
        .args([
            "--model-command",
            &not_a_model,
            "--rollouts",
            "1",
            "--attempts",
            "2",
        ])
        .finish();
    assert_eq!(run.code(), Some(1));
    let spans = run.spans();
    assert_eq!(
        traces(&spans).len(),
        2,
        "each attempt is a trace of its own"
    );
    let with_status = |name: &str| -> Vec<&str> {
        spans
            .iter()
            .filter(|span| span.name == name)
            .map(|span| span.status.as_str())
            .collect()
    };
    for name in [
        "gym.rollout",
        "gym.agent.run",
        "gym.agent.responses",
        "POST /run",
    ] {
        assert_eq!(with_status(name), ["ERROR", "ERROR"], "{name}");
    }
    let ids: HashSet<_> = spans
        .iter()
        .filter(|span| span.name == "gym.rollout")
        .filter_map(|span| span.attribute("nemo.gym.rollout.id"))
        .collect();
    assert_eq!(ids, HashSet::from(["0-0", "0-0-a1"]));
}

#[test]
fn every_span_names_its_server_and_leaves_out_what_is_private() {
    let run = Run::new().finish().succeeded();
    for span in run.spans() {
        let is_sandbox = span.name.starts_with("gym.sandbox.");
        if span.kind == "INTERNAL" && span.name != "gym.rollout" && !is_sandbox {
            let server = span.service().rsplit('/').next();
            assert_eq!(span.attribute("nemo.gym.server.name"), server, "{span:?}");
        }
        if span.kind == "SERVER" {
            assert_eq!(
                span.attribute("http.request.method"),
                Some("POST"),
                "{span:?}"
            );
            assert_eq!(
                span.attributes.get("http.response.status_code"),
                Some(&Value::from(200)),
                "{span:?}"
            );
            assert_eq!(
                Some(span.name.as_str()),
                span.attribute("http.route")
                    .map(|route| format!("POST {route}"))
                    .as_deref()
            );
        }
        assert!(
            !span.attributes.keys().any(|key| key.contains("query")),
            "{span:?}"
        );
    }
}

fn metric<'a>(lines: &'a [Value], name: &str) -> Vec<&'a Value> {
    let metrics = lines
        .iter()
        .filter_map(|line| line["resource_metrics"].as_array())
        .flatten();
    let metrics =
        metrics.flat_map(|resource| resource["scope_metrics"].as_array().into_iter().flatten());
    let metrics = metrics.flat_map(|scope| scope["metrics"].as_array().into_iter().flatten());
    metrics.filter(|metric| metric["name"] == name).collect()
}

#[test]
fn the_metrics_of_a_run_are_exported_at_its_end() {
    let run = Run::new()
        .args(["--rollouts", "100"])
        .env("OTEL_METRIC_EXPORT_INTERVAL", "20")
        .finish()
        .succeeded();
    let (orchestrator, weather, model) = (
        run.lines("orchestrator"),
        run.lines("weather"),
        run.lines("policy_model"),
    );

    let rollouts = metric(&orchestrator, "gym.rollout.duration_ms");
    assert_eq!(
        rollouts.last().expect("exported")["data"]["data_points"][0]["count"],
        100
    );
    let servers: Vec<_> = metric(&orchestrator, "gym.servers.active")
        .iter()
        .map(|metric| metric["data"]["data_points"][0]["value"].as_f64())
        .collect();
    assert!(
        servers.contains(&Some(3.0)),
        "all servers were up: {servers:?}"
    );
    assert_eq!(
        servers.last(),
        Some(&Some(0.0)),
        "all servers are down again"
    );
    assert!(
        metric(&weather, "gym.servers.active").is_empty(),
        "servers do not report it"
    );

    let verified = metric(&weather, "gym.verify.duration_ms");
    assert_eq!(
        verified.last().expect("exported")["data"]["data_points"][0]["count"],
        100
    );
    let rate = metric(&weather, "gym.verify.success_rate");
    assert_eq!(
        rate.last().expect("exported")["data"]["data_points"][0]["value"],
        1.0,
        "completion, not reward"
    );

    let requests = metric(&model, "http.server.request.duration");
    let points = requests.last().expect("exported")["data"]["data_points"]
        .as_array()
        .expect("points");
    let routes: HashSet<_> = points
        .iter()
        .filter_map(|point| point["attributes"]["http.route"].as_str())
        .collect();
    assert_eq!(
        routes,
        HashSet::from(["/v1/responses", "/v1/chat/completions"])
    );
    for line in orchestrator.iter().chain(&weather).chain(&model) {
        let is_metrics = line.get("resource_metrics").is_some();
        assert!(
            !is_metrics || !line.to_string().contains("nemo.gym.rollout.id"),
            "{line}"
        );
    }
}

#[test]
fn verifying_succeeds_when_it_completes_whatever_the_reward() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut command = gym_demo();
    command.args(["serve", "resources"]);
    command
        .env("NEMO_GYM_OTEL_ENABLED", "1")
        .env("NEMO_GYM_OTEL_EXPORTER", "console");
    let server = Server::start(command, directory.path(), "weather");
    let verify = |output: &str| {
        let body = format!(
            r#"{{"responses_create_params":{{"input":"?"}},"response":{{"id":"","object":"","model":"","output":[{output}]}}}}"#
        );
        let answer = request(&server.url, "POST", "/verify", &[], &body).expect("an answer");
        answer.lines().next().unwrap_or_default().to_owned()
    };
    for _ in 0..3 {
        // Worth nothing, but judged.
        assert_eq!(
            verify(r#"{"role":"assistant","content":"I do not know."}"#),
            "HTTP/1.1 200 OK"
        );
    }
    assert_eq!(verify(""), "HTTP/1.1 500 Internal Server Error");

    let lines = server.stop_and_read();
    let last = |name: &str| {
        metric(&lines, name).last().expect("exported")["data"]["data_points"][0].clone()
    };
    assert_eq!(last("gym.verify.duration_ms")["count"], 4);
    assert_eq!(last("gym.verify.success_rate")["value"], 0.75);
}
