//! `gym-demo doctor` on set-ups that do not work, and on one that does.

#[path = "../../gym-telemetry-otel/tests/support/mod.rs"]
mod collector;
#[path = "../../gym-telemetry-otel/tests/support/tls.rs"]
mod tls;

use std::fs;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use collector::{Behaviour, Collector, refusing_endpoint};
use serde_json::Value;
use tls::{Authority, Clients, Front};

/// Catches hangs; an endpoint may take five seconds a signal.
const DEADLINE: Duration = Duration::from_mins(1);
const SECRET: &str = "S3CR3T";

/// Runs the doctor on a file, if there is one, and variables.
fn doctor(file: Option<&str>, variables: &[(&str, &str)], json: bool) -> Output {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gym-demo"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_ascii_uppercase();
        let prefixes = ["OTEL_", "NEMO_", "SLURM_"];
        if prefixes.iter().any(|prefix| text.starts_with(prefix)) || text.ends_with("_PROXY") {
            command.env_remove(&name);
        }
    }
    command.arg("doctor").envs(variables.iter().copied());
    command.current_dir(directory.path());
    if let Some(text) = file {
        fs::write(directory.path().join("gym.yaml"), text).expect("a writable directory");
        command.args(["--config", "gym.yaml"]);
    }
    if json {
        command.arg("--json");
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let output = receiver.recv_timeout(DEADLINE).expect("the doctor ends");
    output.expect("its output can be read")
}

/// What the doctor prints, and whether it was content.
fn text(output: &Output) -> (String, bool) {
    let both = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let all = String::from_utf8(both).expect("UTF-8");
    assert!(!all.contains(SECRET), "{all}");
    let stdout = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    (stdout, output.status.success())
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn broken_set_ups_are_told_by_their_culprit() {
    let refused = refusing_endpoint();
    let collector = Collector::start();
    let good = collector.endpoint();
    let denying = Collector::start();
    denying.behave(Behaviour::Fail {
        http: 401,
        grpc: 16,
        retry_after: None,
        message: SECRET,
    });
    let denied = denying.endpoint();
    let endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let on = ("NEMO_GYM_OTEL_ENABLED", "1");
    let block = "telemetry:\n  enabled: true\n";
    for (file, variables, culprit) in [
        (
            Some(format!("{block}  span_group: all\n")),
            vec![(endpoint, &*good)],
            &["span_group\"", "gym.yaml:3", "did you mean span_groups?"][..],
        ),
        (
            Some(format!("{block}  traces_enabled: 'S3CR3T'\n")),
            vec![],
            &["traces_enabled", "gym.yaml:3", "true or false"],
        ),
        (
            Some("- a list\n".to_owned()),
            vec![],
            &["gym.yaml", "not a mapping"],
        ),
        (
            Some(format!("{block}\tspan_groups: all\n")),
            vec![],
            &["gym.yaml:2", "not valid YAML", "tab"],
        ),
        (
            Some("telemetry:\n  span_groups: all\n".to_owned()),
            vec![],
            &["telemetry is off", "NEMO_GYM_OTEL_ENABLED"],
        ),
        (
            None,
            vec![on, (endpoint, "http://127.0.0.1:4318")],
            &["4318", "usual port for HTTP"],
        ),
        (
            None,
            vec![
                on,
                (endpoint, "http://127.0.0.1:4317"),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ],
            &["4317", "usual port for gRPC"],
        ),
        (
            None,
            vec![
                on,
                (endpoint, &*good),
                ("NEMO_LENS_SPAN_GROUPS", "job,rollout,server"),
            ],
            &["http_client", "will not join"],
        ),
        (
            None,
            vec![on, (endpoint, &*good)],
            &["one trace", "per_rollout"],
        ),
        (
            None,
            vec![
                on,
                (endpoint, &*good),
                ("OTEL_TRACES_SAMPLER", "always_off"),
            ],
            &["error", "sampler drops every trace", "OTEL_TRACES_SAMPLER"],
        ),
        (
            None,
            vec![on, (endpoint, &*good), ("OTEL_SERVICE_NAME", "  ")],
            &["OTEL_SERVICE_NAME is blank"],
        ),
        (
            None,
            vec![
                on,
                (endpoint, "http://collector.invalid:4317"),
                ("HTTP_PROXY", "http://u:S3CR3T@proxy:1"),
            ],
            &["HTTP_PROXY", "collector.invalid"],
        ),
        (
            None,
            vec![on, (endpoint, "not a url")],
            &[endpoint, "not a url", "traces are off"],
        ),
        (
            None,
            vec![on, (endpoint, &*refused)],
            &["failed: connection refused"],
        ),
        (
            None,
            vec![
                on,
                (endpoint, &*denied),
                ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=S3CR3T"),
            ],
            &["failed: gRPC status Unauthenticated"],
        ),
        (
            None,
            vec![
                on,
                (endpoint, &*good),
                ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=S3CR3T"),
                ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x=S3CR3T"),
            ],
            &[
                "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
                "authorization",
                "not sent with traces",
            ],
        ),
    ] {
        let (told, _) = text(&doctor(file.as_deref(), &variables, false));
        for part in culprit {
            assert!(
                told.contains(part),
                "{file:?} {variables:?}: no {part:?} in\n{told}"
            );
        }
    }
}

#[test]
fn broken_tls_is_told_by_its_culprit() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let collector = Collector::start();
    let open = Front::start(collector.address(), &authority.server(), Clients::Anybody);
    let closed = Front::start(
        collector.address(),
        &authority.server(),
        Clients::Of(&authority),
    );
    let (open, closed) = (open.endpoint(), closed.endpoint());
    let clear = format!("https://{}", collector.address());
    let path = |path: &std::path::Path| path.to_str().expect("text").to_owned();
    let (ca, other_ca) = (path(&authority.file()), path(&stranger.file()));
    let (client, other_client) = (authority.client(), stranger.client());
    let (certificate, other_key) = (path(&client.certificate_file), path(&other_client.key_file));
    let on = ("NEMO_GYM_OTEL_ENABLED", "1");
    let endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let trust = "OTEL_EXPORTER_OTLP_CERTIFICATE";
    let (show, key) = (
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
        "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    );
    for (variables, culprit) in [
        (
            vec![(endpoint, &*open), (trust, &*other_ca)],
            &["failed", "signed by nobody", trust][..],
        ),
        (
            vec![(endpoint, &*open), (trust, "/nowhere/ca.pem")],
            &["error", trust, "/nowhere/ca.pem"],
        ),
        (
            vec![
                (endpoint, &*open),
                (trust, "-----BEGIN CERTIFICATE-----S3CR3T"),
            ],
            &["error", trust, "path of a PEM file"],
        ),
        (
            vec![(endpoint, &*clear), (trust, &*ca)],
            &["failed", "does not answer in TLS"],
        ),
        (
            vec![(endpoint, &*closed), (trust, &*ca)],
            &["failed", "wants a certificate of this process", show, key],
        ),
        (
            vec![
                (endpoint, &*closed),
                (trust, &*ca),
                (show, &*certificate),
                (key, &*other_key),
            ],
            &["error", "does not belong to", show, key],
        ),
    ] {
        let mut variables = variables;
        variables.push(on);
        let (told, is_content) = text(&doctor(None, &variables, false));
        assert!(!is_content, "{told}");
        for part in culprit {
            assert!(told.contains(part), "{variables:?}: no {part:?} in\n{told}");
        }
    }
    let good = path(&client.key_file);
    let variables = [
        on,
        (endpoint, &*closed),
        (trust, &*ca),
        (show, &*certificate),
        (key, &*good),
        ("NEMO_GYM_OTEL_SPAN_GROUPS", "per_rollout"),
    ];
    let (told, is_content) = text(&doctor(None, &variables, false));
    assert!(is_content, "{told}");
    assert_eq!(collector.received().spans().count(), 1);
}

#[test]
fn what_makes_telemetry_go_nowhere_is_a_failure() {
    let refused = refusing_endpoint();
    let on = ("NEMO_GYM_OTEL_ENABLED", "1");
    for variables in [
        vec![on, ("OTEL_EXPORTER_OTLP_ENDPOINT", &*refused)],
        vec![on, ("NEMO_GYM_OTEL_METRICS_ENABLED", "maybe")],
        vec![("NEMO_GYM_OTEL_ENABLED", "enabled")],
    ] {
        let (told, is_content) = text(&doctor(None, &variables, false));
        assert!(!is_content, "{variables:?}: {told}");
    }
}

#[test]
fn in_a_set_up_that_works_every_endpoint_answers() {
    let collector = Collector::start();
    let block = format!(
        "telemetry:\n  enabled: true\n  span_groups: per_rollout\n  otlp_endpoint: {}\n  otlp_headers: x-team=S3CR3T\n",
        collector.endpoint()
    );
    let output = doctor(Some(&block), &[("NEMO_GYM_OTEL_USER_ID", "me")], true);
    let (told, is_content) = text(&output);
    assert!(is_content, "{told}");
    let told: Value = serde_json::from_str(&told).expect("one JSON object");
    assert_eq!(told["enabled"], true);
    assert_eq!(told["findings"], Value::Array(Vec::new()));
    for (at, signal, outcome) in [(0, "traces", "accepted"), (1, "metrics", "accepted")] {
        let endpoint = &told["endpoints"][at];
        assert_eq!(endpoint["signal"], signal);
        assert_eq!(endpoint["outcome"], outcome, "{endpoint}");
        assert_eq!(endpoint["destination"], collector.endpoint());
    }
    let settings = told["settings"].as_array().expect("a list");
    let source = |name: &str| {
        let setting = settings.iter().find(|setting| setting["name"] == name);
        &setting.expect("the setting is listed")["source"]
    };
    assert_eq!(source("user_id")["name"], "NEMO_GYM_OTEL_USER_ID");
    assert_eq!(source("span_groups")["kind"], "field");
    assert_eq!(source("span_groups")["line"], 3);
    assert_eq!(source("metrics_enabled")["kind"], "default");
    let received = collector.received();
    let spans: Vec<_> = received.spans().map(|span| span.name.as_str()).collect();
    assert_eq!(spans, ["gym.job"]);
    assert!(received.metric("gym.servers.active").is_some());
}
