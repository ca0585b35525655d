//! The build without telemetry, next to the one with it.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use support::http::request;
use support::run::{Run, clean, gym_demo};
use support::server::Server;
use support::trace::{draw, traces};

/// A `gym-demo` without telemetry: the one that the caller built, or one built here.
fn compiled_out() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(given) = std::env::var_os("GYM_TEST_COMPILED_OUT_DEMO") {
            return PathBuf::from(given);
        }
        // Not the target directory of the tests: there it would take the place of the program under test.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled-out");
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args([
                "build",
                "--quiet",
                "--package",
                "gym-demo",
                "--no-default-features",
                "--target-dir",
            ])
            .arg(&target);
        let status = cargo
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the build without telemetry fails");
        target.join("debug/gym-demo")
    })
}

#[test]
fn a_server_without_telemetry_works_in_a_fleet_with_it() {
    let command = format!("'{}' serve model", compiled_out().display());
    let run = Run::new()
        .args(["--model-command", &command, "--rollouts", "4"])
        .finish()
        .succeeded();
    assert!(
        run.results()
            .iter()
            .take(3)
            .any(|result| result["reward"] == 1.0)
    );
    let spans = run.spans();
    assert!(
        !spans
            .iter()
            .any(|span| span.service() == "nemo-gym/policy_model")
    );
    let traces = traces(&spans);
    assert_eq!(traces.len(), 4);
    for spans in traces.values() {
        assert!(
            draw(spans).contains("INTERNAL gym.verify [nemo-gym/weather]"),
            "the others still make one tree"
        );
    }
    let said = run.stderr();
    assert!(
        said.contains("policy_model: gym-demo: telemetry is not compiled in"),
        "{said}"
    );
}

#[test]
fn a_program_without_telemetry_says_so_in_one_line_and_runs() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let run = |variables: &[(&str, &str)]| {
        let mut command = clean(compiled_out());
        command
            .current_dir(directory.path())
            .args(["run", "--rollouts", "2"])
            .envs(variables.iter().copied());
        let output = command.output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(output.stdout.is_empty());
        said.lines()
            .filter(|line| line.contains("not compiled in"))
            .count()
    };
    assert_eq!(
        run(&[
            ("NEMO_GYM_OTEL_ENABLED", "1"),
            ("NEMO_GYM_OTEL_EXPORTER", "console")
        ]),
        1
    );
    assert_eq!(run(&[("NEMO_LENS_ENABLED", "true")]), 1);
    assert_eq!(run(&[]), 1, "the example configuration is on");
    assert_eq!(
        run(&[("NEMO_GYM_OTEL_ENABLED", "0")]),
        0,
        "nobody wants telemetry"
    );
}

/// What a process has open and running, as far as it does not differ from one start to the next.
#[derive(Debug, PartialEq)]
struct Footprint {
    threads: BTreeMap<String, usize>,
    /// What the file descriptors are, without the numbers that the kernel gives.
    files: BTreeMap<String, usize>,
}

fn footprint(process: u32) -> Footprint {
    let entries = |directory: &str| {
        let entries =
            fs::read_dir(format!("/proc/{process}/{directory}")).expect("the process runs");
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect::<Vec<_>>()
    };
    let mut footprint = Footprint {
        threads: BTreeMap::new(),
        files: BTreeMap::new(),
    };
    for thread in entries("task") {
        let name = fs::read_to_string(thread.join("comm")).unwrap_or_default();
        *footprint.threads.entry(name.trim().to_owned()).or_default() += 1;
    }
    for file in entries("fd") {
        let target = fs::read_link(file)
            .unwrap_or_default()
            .display()
            .to_string();
        let kind = target
            .split(['[', ':'])
            .next()
            .unwrap_or_default()
            .to_owned();
        *footprint.files.entry(kind).or_default() += 1;
    }
    footprint
}

#[test]
fn compiled_in_and_not_configured_a_server_has_no_thread_socket_or_file_more() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let start = |mut program: Command| {
        program.args(["serve", "resources"]);
        let server = Server::start(program, directory.path(), "weather");
        let answer = request(
            &server.url,
            "POST",
            "/get_weather",
            &[],
            r#"{"city":"Oslo"}"#,
        );
        assert!(answer.is_some_and(|answer| answer.starts_with("HTTP/1.1 200")));
        server
    };
    let (with, without) = (start(gym_demo()), start(clean(compiled_out())));
    // A connection that is being closed still counts: give it time.
    let deadline = Instant::now() + Duration::from_secs(30);
    while footprint(with.id()) != footprint(without.id()) && Instant::now() < deadline {
        sleep(Duration::from_millis(5));
    }
    assert_eq!(footprint(with.id()), footprint(without.id()));
}
