//! The environment that scrubbed and unscrubbed children of a process really get.
#![cfg(unix)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use gym_telemetry_core::env::scrub;

/// Set in a process that a test started to run a stage in; elsewhere the stages do nothing.
const STAGE: &str = "SCRUB_TEST_STAGE";

fn is_stage() -> bool {
    std::env::var_os(STAGE).is_some()
}

/// Runs one of the stages below in a process with an environment of its own.
fn run_stage(name: &str, environment: &[(&[u8], &[u8])]) {
    let environment = environment
        .iter()
        .map(|(name, value)| (OsStr::from_bytes(name), OsStr::from_bytes(value)));
    let output = Command::new(std::env::current_exe().expect("the test runs"))
        .args(["--exact", name, "--test-threads=1"])
        .env(STAGE, "1")
        .envs(environment)
        .output()
        .expect("the test can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

/// What a child of `command`'s environment gets.
fn environment(mut command: Command) -> Vec<Vec<u8>> {
    let output = command.arg("-0").output().expect("env is installed");
    assert!(output.status.success());
    output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

fn names(environment: &[Vec<u8>]) -> Vec<String> {
    let name = |line: &Vec<u8>| {
        let name = line.split(|byte| *byte == b'=').next().unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    };
    environment.iter().map(name).collect()
}

#[test]
fn a_scrubbed_child_gets_no_telemetry_and_everything_else() {
    run_stage(
        "inherited_settings_are_removed",
        &[
            (b"OTEL_EXPORTER_OTLP_HEADERS", b"authorization=S3CR3T"),
            (b"OTEL_SERVICE_NAME", b"\xff"),
            (b"OTEL_\xff", b"x"),
            (b"NEMO_GYM_OTEL_ENABLED", b"1"),
            (b"NEMO_LENS_RUN_ID", b"r"),
            (
                b"TRACEPARENT",
                b"00-12345678901234567890123456789012-1234567890123456-01",
            ),
            (b"TRACESTATE", b"a=b"),
            (b"BAGGAGE", b"a=b"),
            (b"JUNK", b"\xff\xfe"),
            (b"NEMO_GYM_CONFIG", b"gym.yaml"),
        ],
    );
}

/// A stage of the test above.
#[test]
fn inherited_settings_are_removed() {
    if !is_stage() {
        return;
    }
    let command = Command::new("env");
    let names_before = names(&environment(command));
    let inherited = names_before.iter().filter(|name| name.starts_with("OTEL_"));
    assert_eq!(
        inherited.count(),
        3,
        "without scrubbing a child gets everything"
    );

    let mut command = Command::new("env");
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h")
        .env("LANG", "C");
    scrub(&mut command);
    let environment = environment(command);
    assert!(
        environment.contains(&b"JUNK=\xff\xfe".to_vec()),
        "other variables stay byte for byte"
    );
    assert!(environment.contains(&b"NEMO_GYM_CONFIG=gym.yaml".to_vec()));
    assert!(environment.contains(&b"LANG=C".to_vec()));
    let names = names(&environment);
    assert!(names.iter().any(|name| name == "PATH"));
    for name in names {
        let telemetry = ["OTEL_", "NEMO_GYM_OTEL_", "NEMO_LENS_"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        assert!(
            !telemetry && !["TRACEPARENT", "TRACESTATE", "BAGGAGE"].contains(&&*name),
            "{name}"
        );
    }
}

#[test]
fn context_that_was_set_for_the_child_stays() {
    run_stage(
        "context_set_on_the_command_stays",
        &[
            (b"TRACEPARENT", b"inherited"),
            (b"TRACESTATE", b"inherited"),
        ],
    );
}

/// A stage of the test above.
#[test]
fn context_set_on_the_command_stays() {
    if !is_stage() {
        return;
    }
    let mut command = Command::new("env");
    command.env("TRACEPARENT", "chosen");
    scrub(&mut command);
    let environment = environment(command);
    assert!(environment.contains(&b"TRACEPARENT=chosen".to_vec()));
    assert!(!names(&environment).contains(&"TRACESTATE".to_owned()));
}
