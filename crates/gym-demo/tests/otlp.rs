//! A run that exports over OTLP, received by a collector in this process.

#[path = "../../gym-telemetry-otel/tests/support/mod.rs"]
mod collector;
mod registry;
mod support;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use collector::{BlackHole, Collector, Received, body, refusing_endpoint};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as NumberValue;
use opentelemetry_proto::tonic::trace::v1 as proto;
use serde_json::Value;
use support::expected::assert_one_tree_for_each_rollout;
use support::run::Run;
use support::trace::Span;

const SERVICES: [&str; 4] = [
    "nemo-gym",
    "nemo-gym/weather",
    "nemo-gym/policy_model",
    "nemo-gym/weather_agent",
];

fn spans_of(collector: &Collector) -> Vec<Span> {
    let received = collector.received();
    received
        .scoped_spans()
        .map(|(resource, _, span)| convert(&resource.attributes, span))
        .collect()
}

fn convert(resource: &[KeyValue], span: &proto::Span) -> Span {
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("text can be written to");
            text
        })
    };
    let kind = span.kind().as_str_name().trim_start_matches("SPAN_KIND_");
    let status = span
        .status
        .as_ref()
        .map(proto::Status::code)
        .unwrap_or_default();
    Span {
        trace_id: hex(&span.trace_id),
        span_id: hex(&span.span_id),
        parent_id: (!span.parent_span_id.is_empty()).then(|| hex(&span.parent_span_id)),
        name: span.name.clone(),
        kind: kind.to_owned(),
        status: status
            .as_str_name()
            .trim_start_matches("STATUS_CODE_")
            .to_owned(),
        start: format!("{:020}", span.start_time_unix_nano),
        attributes: attributes(&span.attributes),
        resource: attributes(resource),
    }
}

fn attributes(list: &[KeyValue]) -> BTreeMap<String, Value> {
    let convert = |attribute: &KeyValue| {
        let value = match attribute.value.clone().and_then(|value| value.value) {
            Some(AnyValue::StringValue(text)) => Value::from(text),
            Some(AnyValue::BoolValue(truth)) => Value::from(truth),
            Some(AnyValue::IntValue(number)) => Value::from(number),
            Some(AnyValue::DoubleValue(number)) => Value::from(number),
            other => Value::from(format!("{other:?}")),
        };
        (attribute.key.clone(), value)
    };
    list.iter().map(convert).collect()
}

/// All values of a resource attribute, as text.
fn values(spans: &[Span], key: &str) -> HashSet<String> {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    spans
        .iter()
        .filter_map(|span| span.resource.get(key))
        .map(text)
        .collect()
}

/// Each request of a rollout is logged inside its server span, and the verdict inside the span that judges.
fn assert_each_request_has_a_log_record(received: &Received, rollouts: usize) {
    let server = proto::span::SpanKind::Server as i32;
    let of = |wanted: &dyn Fn(&proto::Span) -> bool| -> Vec<_> {
        let mut ids: Vec<_> = received
            .spans()
            .filter(|span| wanted(span))
            .map(|span| (span.trace_id.clone(), span.span_id.clone()))
            .collect();
        ids.sort();
        ids
    };
    let logged = |wanted: &dyn Fn(&str) -> bool| -> Vec<_> {
        let mut ids: Vec<_> = received
            .log_records()
            .filter(|record| wanted(body(record)))
            .map(|record| (record.trace_id.clone(), record.span_id.clone()))
            .collect();
        ids.sort();
        ids
    };
    let is_verdict = |message: &str| message.starts_with("judged");
    let requests = of(&|span| span.kind == server);
    assert!(requests.len() >= rollouts * 4, "{}", requests.len());
    assert_eq!(logged(&|message| !is_verdict(message)), requests);
    assert_eq!(logged(&is_verdict), of(&|span| span.name == "gym.verify"));
}

fn each_rollout_arrives_as_one_tree(protocol: &str) {
    let collector = Collector::start();
    let run = Run::new()
        .args(["--rollouts", "8"])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
    let run = run
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
        .env("NEMO_GYM_OTEL_LOGS_ENABLED", "1")
        .finish()
        .succeeded();
    let spans = spans_of(&collector);
    assert_one_tree_for_each_rollout(&spans, &run.results(), 8);
    assert_each_request_has_a_log_record(&collector.received(), 8);
    assert!(
        run.lines("orchestrator").is_empty(),
        "nothing goes to standard output"
    );

    assert_eq!(
        values(&spans, "service.name"),
        SERVICES.map(str::to_owned).into()
    );
    assert_eq!(
        values(&spans, "nemo.gym.service_group"),
        HashSet::from(["nemo-gym".to_owned()])
    );
    assert_eq!(values(&spans, "nemo.run.id").len(), 1);
    assert_eq!(
        values(&spans, "service.instance.id").len(),
        4,
        "one for each process"
    );
    assert_eq!(
        values(&spans, "nemo.gym.server.type"),
        [
            "orchestrator",
            "resources_servers",
            "responses_api_models",
            "responses_api_agents"
        ]
        .map(str::to_owned)
        .into()
    );
    let run_id = values(&spans, "nemo.run.id")
        .into_iter()
        .next()
        .expect("a run id");
    assert!(
        values(&spans, "service.instance.id")
            .iter()
            .all(|id| id.starts_with(&format!("{run_id}-rank0")))
    );
    let received = collector.received();
    for name in [
        "gym.rollout.duration_ms",
        "gym.verify.duration_ms",
        "http.server.request.duration",
    ] {
        assert!(received.metric(name).is_some(), "{name}");
    }
}

#[test]
fn each_rollout_arrives_as_one_tree_over_grpc() {
    each_rollout_arrives_as_one_tree("grpc");
}

#[test]
fn each_rollout_arrives_as_one_tree_over_http() {
    each_rollout_arrives_as_one_tree("http/protobuf");
}

/// The values of a gauge, by the limit that they are of; of several exports the largest.
fn most_by_limit(received: &Received, metric: &str) -> BTreeMap<Vec<(String, String)>, i64> {
    let mut most = BTreeMap::new();
    let gauges = received
        .metrics()
        .filter(|found| found.name == metric)
        .filter_map(|found| match found.data.as_ref()? {
            Data::Gauge(gauge) => Some(&gauge.data_points),
            _ => None,
        });
    for point in gauges.flatten() {
        let mut key: Vec<_> = point
            .attributes
            .iter()
            .map(|pair| {
                let value = collector::text(&point.attributes, &pair.key).expect("a value");
                (pair.key.clone(), value)
            })
            .collect();
        key.sort();
        let value = match point.value {
            Some(NumberValue::AsInt(value)) => value,
            other => panic!("{metric} is a whole number, not {other:?}"),
        };
        let entry = most.entry(key).or_insert(value);
        *entry = value.max(*entry);
    }
    most
}

#[test]
fn the_limits_of_a_run_arrive_with_their_peaks() {
    let collector = Collector::start();
    let run = Run::new()
        .args(["--rollouts", "12", "--parallel", "6"])
        .args([
            "--upstream-requests",
            "3",
            "--model-slots",
            "2",
            "--model-latency",
            "20",
        ])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
    let run = run.finish().succeeded();
    let received = collector.received();
    let key = |component: &str, name: &str, server: Option<&str>| {
        let mut key = vec![
            (
                "nemo.gym.concurrency.component".to_owned(),
                component.to_owned(),
            ),
            (
                "nemo.gym.concurrency.limit_name".to_owned(),
                name.to_owned(),
            ),
        ];
        key.extend(server.map(|server| ("nemo.gym.server.name".to_owned(), server.to_owned())));
        key
    };
    let rollouts = key("rollout_driver", "rollouts", None);
    let upstream = key("agent_server", "upstream_requests", Some("weather_agent"));
    let generations = key("model_server", "generations", Some("policy_model"));
    let expected = |values: [i64; 3]| {
        BTreeMap::from([
            (rollouts.clone(), values[0]),
            (upstream.clone(), values[1]),
            (generations.clone(), values[2]),
        ])
    };
    assert_eq!(
        most_by_limit(&received, "gym.concurrency.limit"),
        expected([6, 3, 2])
    );
    // Each hop lets through as many as the next one does not take: all three are full.
    assert_eq!(
        most_by_limit(&received, "gym.concurrency.peak_active"),
        expected([6, 3, 2])
    );
    let queued = most_by_limit(&received, "gym.concurrency.peak_queue_depth");
    assert_eq!(queued[&rollouts], 6, "twelve less the six that run");
    assert!(queued[&upstream] >= 1, "{queued:?}");
    assert!(queued[&generations] >= 1, "{queued:?}");
    assert!(
        received
            .metric("gym.concurrency.wait_duration_ms")
            .is_some()
    );

    let said = run.stderr();
    let row = |name: &str| -> Vec<&str> {
        let line = said.lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("no line of {name}:\n{said}"))
            .split_whitespace()
            .collect()
    };
    assert_eq!(row("rollouts")[1..6], ["orchestrator", "6", "6", "6", "6"]);
    assert_eq!(row("upstream_requests")[1..4], ["weather_agent", "3", "3"]);
    assert_eq!(row("generations")[1..4], ["policy_model", "2", "2"]);
}

#[test]
fn slots_that_are_never_given_back_are_seen_as_held_and_as_what_drops_rollouts() {
    let collector = Collector::start();
    let run = Run::new()
        .args(["--rollouts", "4", "--model-slots", "2"])
        .args(["--model-leaks", "2", "--model-slot-timeout", "50"])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint())
        .finish();
    assert_eq!(run.code(), Some(1), "without a slot there is no answer");
    let said = run.stderr();
    let line = said.lines().find(|line| line.starts_with("generations"));
    let row: Vec<_> = line.expect("a line").split_whitespace().collect();
    assert_eq!(row.last(), Some(&"2"), "both slots are still held: {row:?}");

    let received = collector.received();
    let labels = |metric: &str, keys: [&str; 3]| -> Vec<[Option<String>; 3]> {
        let metric = received.metric(metric).expect("it is there");
        let attributes: Vec<_> = match metric.data.as_ref().expect("metrics have data") {
            Data::Sum(sum) => sum
                .data_points
                .iter()
                .map(|point| &point.attributes)
                .collect(),
            Data::Histogram(histogram) => histogram
                .data_points
                .iter()
                .map(|point| &point.attributes)
                .collect(),
            other => panic!("{other:?}"),
        };
        let label = |attributes: &Vec<_>| keys.map(|key| collector::text(attributes, key));
        attributes.into_iter().map(label).collect()
    };
    let some = |text: &str| Some(text.to_owned());
    let dropped = labels(
        "gym.rollout.completed_total",
        [
            "nemo.gym.rollout.outcome",
            "nemo.gym.failure_class",
            "nemo.gym.failure_reason",
        ],
    );
    assert!(
        dropped.contains(&[some("dropped"), some("status"), some("http_502")]),
        "{dropped:?}"
    );
    let calls = labels(
        "gym.model_call.duration_ms",
        [
            "nemo.gym.server.name",
            "nemo.gym.model_call.dialect",
            "nemo.gym.model_call.outcome",
        ],
    );
    for outcome in ["ok", "admission_timeout"] {
        assert!(
            calls.contains(&[some("policy_model"), some("responses"), some(outcome)]),
            "{calls:?}"
        );
    }
}

#[test]
fn the_endpoint_of_a_file_reaches_every_process() {
    let collector = Collector::start();
    let config = format!(
        "telemetry:\n  enabled: true\n  span_groups: per_rollout\n  otlp_endpoint: {}\n  otlp_headers: x-team=rl\n",
        collector.endpoint()
    );
    let run = Run::new()
        .file("gym.yaml", &config)
        .args(["--config", "gym.yaml", "--rollouts", "2"])
        .finish()
        .succeeded();
    let spans = spans_of(&collector);
    assert_one_tree_for_each_rollout(&spans, &run.results(), 2);
    let received = collector.received();
    assert!(
        received
            .traces
            .iter()
            .all(|request| request.header("x-team") == ["rl"])
    );
}

/// A run with this endpoint: it succeeds, and ends within the budget of its processes' shutdown.
fn a_run_without_a_collector(endpoint: String) {
    let started = Instant::now();
    let run = Run::new()
        .args(["--rollouts", "4"])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    let run = run.finish().succeeded();
    // Five seconds for the servers, side by side, then five for the orchestrator; the rest is for a slow machine.
    assert!(
        started.elapsed() < Duration::from_secs(30),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(run.results().len(), 4);
    assert!(
        run.results()
            .iter()
            .all(|result| result["reward"].is_number())
    );
    let said = run.stderr();
    let losers: Vec<_> = said
        .lines()
        .filter_map(|line| line.split_once("gym-demo: telemetry was lost: spans"))
        .map(|(process, _)| process)
        .collect();
    assert!(losers.contains(&""), "the orchestrator says so:\n{said}");
    assert!(
        losers
            .iter()
            .any(|servers| servers.contains("policy_model")),
        "and each server:\n{said}"
    );
}

#[test]
fn a_run_succeeds_when_nobody_listens() {
    a_run_without_a_collector(refusing_endpoint());
}

#[test]
fn a_run_succeeds_when_the_collector_never_answers() {
    let hole = BlackHole::start();
    a_run_without_a_collector(hole.endpoint());
}

#[test]
fn the_memory_of_every_server_arrives_and_the_summary_has_the_peaks() {
    let collector = Collector::start();
    let config = "telemetry:\n  enabled: true\n  memory_profiling:\n    enabled: true\n    interval_seconds: 3600\n";
    let run = Run::new()
        .file("gym.yaml", config)
        .args(["--config", "gym.yaml", "--rollouts", "4"])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint())
        .env("NEMO_GYM_OTEL_MEMORY_PROFILING_INTERVAL_SECONDS", "0.01")
        .finish()
        .succeeded();

    let received = collector.received();
    let points = |name: &str| {
        let metric = received.metric(name).unwrap_or_else(|| panic!("{name}"));
        let Some(Data::Gauge(gauge)) = &metric.data else {
            panic!("{name} is no gauge")
        };
        let value = |value: Option<NumberValue>| match value {
            Some(NumberValue::AsInt(value)) => value,
            other => panic!("{name} is {other:?}"),
        };
        let points = gauge.data_points.iter();
        let points = points.map(|point| (attributes(&point.attributes), value(point.value)));
        points.collect::<Vec<_>>()
    };
    let servers = [
        ("weather", "resources_servers"),
        ("policy_model", "responses_api_models"),
        ("weather_agent", "responses_api_agents"),
    ];
    let (usage, peaks) = (
        points("gym.server.memory.usage"),
        points("gym.server.memory.sampled_peak"),
    );
    for (name, server_type) in servers {
        let of = |points: &[(BTreeMap<String, Value>, i64)], memory: &str| {
            let found = points.iter().find(|(attributes, _)| {
                attributes["nemo.gym.server.name"] == name && attributes["memory.type"] == memory
            });
            let (attributes, value) = found.unwrap_or_else(|| panic!("{memory} of {name}"));
            assert_eq!(attributes["nemo.gym.server.type"], server_type);
            assert!(attributes["process.pid"].is_i64());
            assert_eq!(attributes.len(), 4);
            *value
        };
        assert!(of(&usage, "pss") > 0);
        assert!(of(&usage, "pss") <= of(&usage, "rss"));
        assert!(of(&peaks, "rss") >= of(&usage, "rss"));
    }
    assert_eq!((usage.len(), peaks.len()), (6, 6));
    assert_eq!(points("gym.server.processes").len(), 3);
    let host = |what: &str| match points(&format!("gym.host.memory.{what}")).as_slice() {
        [(attributes, value)] if attributes.is_empty() => *value,
        other => panic!("{what}: {other:?}"),
    };
    assert_eq!(host("usage") + host("available"), host("total"));
    assert!(host("sampled_peak") >= host("usage"));

    let said = run.stderr();
    for (name, _) in servers {
        let row = said
            .lines()
            .find(|line| line.starts_with(name) && line.matches(" MiB").count() == 2);
        assert!(row.is_some(), "{said}");
    }
}
