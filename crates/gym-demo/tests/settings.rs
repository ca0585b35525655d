//! Where the settings of a run come from, and what `gym-demo env` hands on.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use support::run::{Run, gym_demo};
use support::trace::traces;

const SECRET: &str = "S3CR3T-0123";

#[test]
fn a_file_alone_lights_up_the_orchestrator_and_its_servers() {
    for (name, text) in [
        (
            "gym.yaml",
            "telemetry:\n  enabled: true\n  exporter: console\n  span_groups: per_rollout\n  run_id: from-file\n  service_name: my-gym\n",
        ),
        (
            "gym.toml",
            "[telemetry]\nenabled = true\nexporter = 'console'\nspan_groups = 'per_rollout'\nrun_id = 'from-file'\nservice_name = 'my-gym'\n",
        ),
        (
            "gym.json",
            r#"{"telemetry":{"enabled":true,"exporter":"console","span_groups":"per_rollout","run_id":"from-file","service_name":"my-gym"}}"#,
        ),
    ] {
        let run = Run::new()
            .file(name, text)
            .args(["--config", name, "--rollouts", "2"])
            .finish()
            .succeeded();
        let spans = run.spans();
        assert_eq!(traces(&spans).len(), 2, "{name}");
        for service in [
            "my-gym",
            "my-gym/weather",
            "my-gym/policy_model",
            "my-gym/weather_agent",
        ] {
            assert!(
                spans.iter().any(|span| span.service() == service),
                "{service} of {name}"
            );
        }
        for span in &spans {
            assert_eq!(span.resource["nemo.run.id"], "from-file", "{name}");
            assert_eq!(span.resource["nemo.gym.service_group"], "my-gym", "{name}");
        }
    }
}

#[test]
fn a_lens_variable_beats_the_file_in_every_process() {
    let config = "telemetry: {enabled: true, exporter: console, span_groups: default}";
    let run = Run::new()
        .file("gym.yaml", config)
        .args(["--config", "gym.yaml", "--rollouts", "1"]);
    let run = run
        .env("NEMO_LENS_SPAN_GROUPS", "per_rollout")
        .finish()
        .succeeded();
    let names: Vec<_> = run.spans().into_iter().map(|span| span.name).collect();
    assert!(!names.iter().any(|name| name == "gym.job"), "{names:?}");
    for name in ["gym.agent.run", "gym.model.responses", "gym.verify"] {
        assert!(
            names.iter().any(|known| known == name),
            "{name} in {names:?}"
        );
    }
    assert!(
        run.stderr().contains("NEMO_LENS_SPAN_GROUPS"),
        "the ignored value is warned about: {}",
        run.stderr()
    );
}

#[test]
fn a_variable_switches_off_what_the_file_switches_on() {
    for variable in ["NEMO_GYM_OTEL_ENABLED", "NEMO_LENS_ENABLED"] {
        let config = "telemetry: {enabled: true, exporter: console}";
        let run = Run::new()
            .file("gym.yaml", config)
            .args(["--config", "gym.yaml"])
            .env(variable, "0");
        let run = run.finish().succeeded();
        assert!(run.spans().is_empty(), "{variable}");
        assert!(
            run.results()
                .iter()
                .all(|result| result["trace_id"].is_null()),
            "{variable}"
        );
        let files: Vec<_> = fs::read_dir(run.out())
            .expect("the directory of the run")
            .filter_map(Result::ok)
            .collect();
        assert!(files.iter().all(|file| file.file_name() == "results.jsonl"
            || file.path().extension().is_some_and(|it| it == "log")));
    }
}

#[test]
fn a_file_without_the_block_leaves_telemetry_off() {
    let run = Run::new()
        .file("gym.yaml", "weather: {port: 1}\n")
        .args(["--config", "gym.yaml"])
        .finish()
        .succeeded();
    assert!(run.spans().is_empty());
}

#[test]
fn a_bad_file_ends_the_run_before_anything_starts() {
    for (name, text, expected) in [
        ("bad.yaml", "telemetry:\n  enabled: 7\n", "enabled"),
        ("bad.yaml", "telemetry: [\n", "bad.yaml"),
        ("bad.yaml", "- a\n- b\n", "bad.yaml"),
        ("bad.toml", "telemetry = ", "bad.toml"),
        (
            "bad.yaml",
            "telemetry: {memory_profiling: {interval_seconds: -1}}",
            "interval_seconds",
        ),
        ("other.yaml", "", "bad.yaml"),
    ] {
        let config = if name == "other.yaml" {
            "bad.yaml"
        } else {
            name
        };
        let run = Run::new()
            .file(name, text)
            .args(["--config", config])
            .finish();
        assert_eq!(run.code(), Some(2), "{text:?}: {}", run.stderr());
        assert!(
            run.stderr().contains(expected),
            "{text:?}: {}",
            run.stderr()
        );
        assert!(!run.out().exists(), "{text:?}");
    }
}

fn env(
    config: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (tempfile::TempDir, Output) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    fs::write(directory.path().join("gym.yaml"), config).expect("a writable directory");
    let mut command = gym_demo();
    command
        .current_dir(directory.path())
        .args(["env", "--config", "gym.yaml"])
        .args(arguments);
    let output = command
        .envs(variables.iter().copied())
        .output()
        .expect("the program runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (directory, output)
}

fn config_with_secret() -> String {
    format!(
        "telemetry:\n  enabled: true\n  run_id: r1\n  otlp_endpoint: https://user:{SECRET}@collector:4317\n  \
         otlp_headers: authorization=Bearer {SECRET}\n"
    )
}

#[test]
fn the_hand_over_is_printed_with_secrets_masked() {
    let (_directory, output) = env(
        &config_with_secret(),
        &[],
        &[("NEMO_LENS_SPAN_GROUPS", "all")],
    );
    let printed = String::from_utf8(output.stdout).expect("text");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !printed.contains(SECRET) && !said.contains(SECRET),
        "{printed}{said}"
    );
    for line in [
        "NEMO_GYM_OTEL_ENABLED=1",
        "NEMO_GYM_OTEL_RUN_ID=r1",
        "NEMO_LENS_SPAN_GROUPS=all",
        "OTEL_EXPORTER_OTLP_ENDPOINT=https://collector:4317",
        "OTEL_EXPORTER_OTLP_HEADERS=[REDACTED]",
        "OTEL_SERVICE_NAME=nemo-gym",
    ] {
        assert!(
            printed.lines().any(|printed| printed == line),
            "{line} in:\n{printed}"
        );
    }
    assert!(
        !printed.contains("NEMO_GYM_OTEL_SPAN_GROUPS"),
        "it would beat the other variable:\n{printed}"
    );
    assert!(
        printed.lines().all(|line| line.split_once('=').is_some()),
        "{printed}"
    );
    assert!(said.contains("--out"), "{said}");
}

#[test]
fn the_hand_over_is_written_in_clear_for_its_owner_only() {
    let (directory, output) = env(&config_with_secret(), &["--out", "hand-over.env"], &[]);
    assert!(output.stdout.is_empty());
    let path = directory.path().join("hand-over.env");
    let text = fs::read_to_string(&path).expect("the file is written");
    assert!(
        text.contains(&format!(
            "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer {SECRET}\n"
        )),
        "{text}"
    );
    assert_eq!(
        fs::metadata(&path).expect("a file").permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_file_that_others_can_read_is_closed_to_them_before_it_holds_secrets() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("hand-over.env");
    fs::write(&path, "old").expect("a writable directory");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("an own file");
    fs::write(directory.path().join("gym.yaml"), config_with_secret())
        .expect("a writable directory");
    let mut command = gym_demo();
    command.current_dir(directory.path()).args([
        "env",
        "--config",
        "gym.yaml",
        "--out",
        "hand-over.env",
    ]);
    assert!(command.status().expect("the program runs").success());
    assert_eq!(
        fs::metadata(&path).expect("a file").permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn nothing_is_handed_over_when_telemetry_is_off() {
    let (_directory, output) = env("telemetry: {enabled: false}", &[], &[]);
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("off"));
}
