//! Tasks of this workspace: `cargo xtask <task>`.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a task runner prints is its result"
)]

mod bench;
mod ci;
mod command;
mod docs;
mod failure;
mod members;
mod noop;
mod steps;
mod tally;
mod tools;

use std::process::ExitCode;

use crate::command::cargo;
use crate::failure::{Failure, Result};

const USAGE: &str = "\
usage: cargo xtask <task>

tasks:
  ci            all checks and tests, in both builds
  bench         what telemetry costs, beside other stacks; minutes, on a machine that does nothing else
    --write                             put the tables into docs/performance.md as well
    --instructions                      only count instructions, with valgrind, and compare with the limits
  check-noop    whether compiled-out telemetry leaves nothing behind
    --self-test                         whether each of these checks can fail
    --manifest-path CRATE [--bin NAME]  the same for another crate
    --write-dependencies                accept what the packages depend on now
  fuzz [SECONDS]  feeds every reader of foreign texts with damaged ones, 300 seconds each unless told otherwise
  docs          the generated parts of README.md and docs/; with --check, whether they are up to date
  demo [ARGS]   the demo with telemetry compiled in; without ARGS its main job, `run`
  setup         only what `ci` installs first: cargo-deny and the Python far end of the tests";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", arguments),
    };
    match (task, rest) {
        ("ci", []) => ci::run(),
        ("demo", rest) => demo(rest),
        ("bench", rest) => bench::run(rest),
        ("check-noop", rest) => noop::run(rest),
        ("fuzz", []) => fuzz("300"),
        ("fuzz", [seconds]) => fuzz(seconds),
        ("docs", []) => docs::run(docs::Mode::Write),
        ("docs", [check]) if check == "--check" => docs::run(docs::Mode::Check),
        ("setup", []) => tools::setup().map(drop),
        ("help" | "--help" | "-h", _) => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(Failure::new(format!(
            "no task `{}`\n\n{USAGE}",
            arguments.join(" ")
        ))),
    }
}

/// Optimised, so that as many texts as possible are tried, with overflow checks left on.
fn fuzz(seconds: &str) -> Result<()> {
    let readers = [
        ("gym-resources", "fuzz_quantities", ""),
        ("gym-sandbox-obs", "fuzz_readings", "opensandbox"),
    ];
    for (package, example, features) in readers {
        cargo(["run", "--quiet", "--release", "--package", package])
            .args(["--example", example, "--features", features])
            .args(["--config", "profile.release.overflow-checks=true"])
            .args(["--", seconds])
            .run()?;
    }
    Ok(())
}

fn demo(arguments: &[String]) -> Result<()> {
    let main_job = [String::from("run")];
    let arguments = if arguments.is_empty() {
        &main_job
    } else {
        arguments
    };
    cargo([
        "run",
        "--package",
        "gym-demo",
        "--features",
        "telemetry",
        "--",
    ])
    .args(arguments)
    .run()
}
