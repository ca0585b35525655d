//! Handing settings over, in processes of their own: each scenario starts this test program again with exactly the
//! environment it is about.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Output};
use std::sync::Barrier;

use gym_telemetry_core::{ConfigSource, MemoryProfilingConfig};
use gym_telemetry_otel::{
    configure_telemetry_env, is_telemetry_env_enabled, is_telemetry_metrics_enabled,
    load_telemetry_config, memory_profiling_config_from_env,
};

/// Says to a process of this program which scenario it plays.
const SCENARIO: &str = "GYM_TELEMETRY_TEST_SCENARIO";

/// Tells what a scenario says from what the test harness says.
const MARK: &str = "said:";

fn this_program(scenario: &str) -> Command {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args([
        "--exact",
        "plays_the_scenario_of_the_environment",
        "--nocapture",
    ]);
    command.env(SCENARIO, scenario);
    command
}

fn run(scenario: &str, vars: &[(&str, &OsStr)]) -> Output {
    let mut command = this_program(scenario);
    command
        .env_clear()
        .env(SCENARIO, scenario)
        .envs(vars.iter().copied());
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{scenario}: {output:?}");
    output
}

fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let said = text.lines().filter_map(|line| line.split_once(MARK));
    said.map(|(_, said)| said.to_owned()).collect()
}

fn say(text: impl Display) {
    writeln!(std::io::stdout(), "{MARK}{text}").expect("standard output is open");
}

/// Does nothing in an ordinary run.
#[test]
fn plays_the_scenario_of_the_environment() {
    let Some(scenario) = std::env::var_os(SCENARIO) else {
        return;
    };
    match scenario.to_str().expect("a scenario's name") {
        "gates" => {
            say(format_args!(
                "{} {}",
                is_telemetry_env_enabled(),
                is_telemetry_metrics_enabled()
            ));
        }
        "environment" => {
            for (name, value) in std::env::vars_os() {
                say(format_args!(
                    "{}={:?}",
                    name.to_string_lossy(),
                    value.as_bytes()
                ));
            }
        }
        "no block" => say(configure_telemetry_env(None).is_some()),
        "block" => configures_a_block(),
        "race" => races_to_configure(),
        "environment of a child" => {
            let env = configure_telemetry_env(None).expect("the environment switches it on");
            let mut child = this_program("environment");
            env.apply(&mut child);
            said(&child.output().expect("the child starts"))
                .into_iter()
                .for_each(say);
        }
        other => panic!("no scenario {other}"),
    }
}

fn configures_a_block() {
    let source = ConfigSource::yaml(
        "telemetry:\n  enabled: true\n  metrics_enabled: false\n  otlp_headers: x-key=S3CR3T\n  \
         memory_profiling: {enabled: true, interval_seconds: 3}\n",
    );
    let config = load_telemetry_config(&source).expect("valid");
    let before: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    assert!(!is_telemetry_env_enabled());
    let env = configure_telemetry_env(Some(&config)).expect("the block switches it on");
    assert!(is_telemetry_env_enabled() && !is_telemetry_metrics_enabled());
    let memory = memory_profiling_config_from_env(MemoryProfilingConfig::default()).expect("valid");
    assert!(memory.enabled && memory.interval_seconds.to_bits() == 3_f64.to_bits());
    assert_eq!(configure_telemetry_env(Some(&config)).as_ref(), Some(&env));
    assert_eq!(configure_telemetry_env(None).as_ref(), Some(&env));
    let after: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    assert_eq!(
        after, before,
        "the process's own environment stays as it is"
    );

    let mut child = this_program("gates");
    env.apply(&mut child);
    let shows_secret = |text: &OsStr| text.to_string_lossy().contains("S3CR3T");
    assert!(
        !child.get_args().any(shows_secret),
        "a command line is public"
    );
    say(said(&child.output().expect("the child starts")).join(","));
}

fn races_to_configure() {
    let barrier = Barrier::new(16);
    let ids: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    configure_telemetry_env(None)
                        .expect("on")
                        .run_id()
                        .to_owned()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[test]
fn without_a_setting_everything_is_off() {
    let output = run("gates", &[]);
    assert_eq!(said(&output), ["false true"]);
    assert_eq!(said(&run("no block", &[])), ["false"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_block_lights_up_the_orchestrator_and_its_children() {
    let output = run("block", &[]);
    assert_eq!(said(&output), ["true false"], "{output:?}");
    let shown = format!("{output:?}");
    assert!(!shown.contains("S3CR3T"), "{shown}");
}

#[test]
fn racing_threads_agree_on_one_run_id() {
    run("race", &[("NEMO_GYM_OTEL_ENABLED", OsStr::new("1"))]);
}

#[test]
fn variables_that_are_not_unicode_hurt_nobody_and_reach_the_child_as_they_are() {
    let junk = OsStr::from_bytes(b"\xff\xfe");
    let output = run(
        "environment of a child",
        &[
            ("NEMO_LENS_ENABLED", OsStr::new("1")),
            ("NEMO_GYM_OTEL_RUN_ID", OsStr::new(" ")),
            ("JUNK", junk),
            ("OTEL_SERVICE_NAME", junk),
        ],
    );
    let lines = said(&output);
    for (name, value) in [
        ("JUNK", junk.as_bytes()),
        ("OTEL_SERVICE_NAME", b"nemo-gym"),
        ("NEMO_LENS_ENABLED", b"1"),
    ] {
        assert!(
            lines.contains(&format!("{name}={value:?}")),
            "{name}: {lines:?}"
        );
    }
    let starts = |start: &str| lines.iter().find(|line| line.starts_with(start));
    assert_eq!(starts("NEMO_GYM_OTEL_ENABLED="), None);
    let blank = format!("NEMO_GYM_OTEL_RUN_ID={:?}", b" ");
    assert_ne!(starts("NEMO_GYM_OTEL_RUN_ID=").expect("a run id"), &blank);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr.matches("OTEL_SERVICE_NAME").count(), 1, "{stderr}");
    assert!(!stderr.contains("JUNK"), "{stderr}");
}

#[test]
fn a_garbage_switch_is_off_and_named_with_the_accepted_words() {
    let output = run(
        "no block",
        &[("NEMO_GYM_OTEL_ENABLED", OsStr::new("enabled"))],
    );
    assert_eq!(said(&output), ["false"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    for part in ["NEMO_GYM_OTEL_ENABLED", "enabled", "1, true, yes, on"] {
        assert!(stderr.contains(part), "{stderr}");
    }
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
