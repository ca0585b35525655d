//! Secrets in every place that can hold one, and the places where none may be seen.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::process::Output;
use std::time::Duration;

use support::process::{eventually, wait_with_deadline, with_environment};
use support::run::{Run, gym_demo};

const SECRET: &str = "S3CR3T-4711";
const DEADLINE: Duration = Duration::from_secs(90);

/// The variables that may hold a secret, pasted certificates and keys included.
fn variables(host: &str) -> Vec<(&'static str, String)> {
    let url = |host: &str| format!("http://user:{SECRET}@{host}/?api_key={SECRET}#{SECRET}");
    let mut variables = vec![
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", url(host)),
        (
            "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
            format!("ftp://u:{SECRET}@h"),
        ),
        (
            "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
            format!("authorization=Bearer%20{SECRET},{SECRET}"),
        ),
        ("OTEL_RESOURCE_ATTRIBUTES", format!("api_key={SECRET}")),
        ("HTTP_PROXY", url("proxy:1")),
        ("RUST_LOG", "trace".to_owned()),
    ];
    for name in [
        "OTEL_EXPORTER_OTLP_CERTIFICATE",
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
        "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    ] {
        variables.push((name, format!("-----BEGIN PRIVATE KEY-----{SECRET}")));
    }
    variables
}

fn config(host: &str) -> String {
    format!(
        "telemetry:\n  enabled: true\n  logs_enabled: true\n  span_groups: per_rollout\n  \
         otlp_endpoint: http://user:{SECRET}@{host}/?api_key={SECRET}\n  \
         otlp_protocol: http/protobuf\n  otlp_headers: authorization=Bearer {SECRET}\n"
    )
}

/// An address where nobody listens.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").to_string()
}

#[test]
fn a_run_that_loses_everything_shows_no_secret_and_hands_none_on_in_a_command_line() {
    let host = closed();
    let mut run = Run::new()
        .file("gym.yaml", &config(&host))
        .args(["--config", "gym.yaml", "--rollouts", "2"])
        .env("GYM_TEST_MARK", &host);
    for (name, value) in variables(&host) {
        run = run.env(name, value);
    }
    let (directory, mut guard) = run.spawn();
    let mark = format!("GYM_TEST_MARK={host}");
    let mut command_lines = BTreeSet::new();
    eventually("the run ends", DEADLINE, || {
        for process in with_environment(&mark) {
            let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            command_lines.insert(String::from_utf8_lossy(&line).into_owned());
        }
        guard.child().try_wait().expect("a child can be waited for")
    });
    let output = wait_with_deadline(guard, DEADLINE);
    assert!(output.status.success(), "{}", shown(&output));
    let mut told = shown(&output);
    assert!(told.contains("telemetry was lost"), "{told}");
    assert!(
        command_lines
            .iter()
            .filter(|line| line.contains("serve"))
            .count()
            >= 3,
        "the servers were seen: {command_lines:?}"
    );
    told.extend(command_lines);
    for entry in fs::read_dir(directory.path().join("out")).expect("a directory") {
        let path = entry.expect("an entry").path();
        told.push_str(&fs::read_to_string(&path).expect("text"));
    }
    assert_secret_free(&told);
}

#[test]
fn no_command_shows_a_secret_whatever_is_wrong() {
    let host = closed();
    let broken =
        format!("telemetry:\n  enabled: {SECRET}\n  otlp_headers: authorization={SECRET}\n");
    let unreadable = format!("telemetry:\n  otlp_headers: \"{SECRET}\n");
    for (config, is_good) in [(config(&host), true), (broken, false), (unreadable, false)] {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::write(directory.path().join("gym.yaml"), config).expect("a writable file");
        for arguments in [
            &["doctor", "--config", "gym.yaml"][..],
            &["doctor", "--config", "gym.yaml", "--json"],
            &["env", "--config", "gym.yaml"],
        ] {
            let mut command = gym_demo();
            command.current_dir(directory.path()).args(arguments);
            let output = command.envs(variables(&host)).output();
            let told = shown(&output.expect("the program runs"));
            assert!(!told.is_empty() || !is_good, "{arguments:?}");
            assert_secret_free(&told);
        }
    }
}

fn shown(output: &Output) -> String {
    let both = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[track_caller]
fn assert_secret_free(told: &str) {
    let line = told.lines().find(|line| line.contains(SECRET));
    assert_eq!(line, None);
}
