//! Instruction counts, where valgrind is present.

use std::env;
use std::path::{Path, PathBuf};

use super::PACKAGE;
use super::limits::Limits;
use super::results::Results;
use super::sites::{Sites, Twin};
use crate::command::{Invocation, cargo, root, target_directory};
use crate::failure::{Failure, Result};

/// What was counted in one build.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// The workloads.
    pub(super) facade: Results,
    /// Single places.
    pub(super) sites: Sites,
    /// Limits beside tokio's semaphore.
    pub(super) limits: Limits,
}

/// Whether there is a valgrind.
pub(super) fn are_countable() -> bool {
    Invocation::new("valgrind").args(["--version"]).succeeds()
}

/// Counts the instructions of one build.
pub(super) fn count(features: &[&str]) -> Result<Counts> {
    let tools = runner()?;
    // The benchmark finds the runner by name.
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([tools].into_iter().chain(env::split_paths(&path)))
        .map_err(|error| Failure::new(format!("could not extend PATH: {error}")))?;
    let features: Vec<&str> = features.iter().copied().chain(["instructions"]).collect();
    let mut counts = Counts::default();
    let mut current = None;
    cargo(["bench", "--package", PACKAGE, "--bench", "instructions"])
        .args(["--features", &features.join(",")])
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .run_watching(|line| {
            if let Some(found) = heading(line) {
                current = Some(found);
            } else if let Some(number) = instructions(line)
                && let Some((function, id)) = current.take()
            {
                counts.keep(&function, &id, number);
            }
        })?;
    Ok(counts)
}

/// The instructions of a whole program, or of what a function of it does.
pub(super) fn of_program(program: &Path, function: Option<&str>) -> Result<u64> {
    let mut valgrind = Invocation::new("valgrind").args([
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--log-fd=1",
    ]);
    if let Some(function) = function {
        let toggle = format!("--toggle-collect={function}");
        valgrind = valgrind.args(["--collect-atstart=no", &toggle]);
    }
    let said = valgrind.args([program]).capture()?;
    said.lines()
        .filter_map(|line| line.rsplit_once("Collected :"))
        .find_map(|(_, number)| number.trim().parse().ok())
        .ok_or_else(|| Failure::new(format!("{} was not counted", program.display())))
}

impl Counts {
    fn keep(&mut self, function: &str, id: &str, number: f64) {
        match function {
            "site_plain" => self.sites.insert(id, Twin::Plain, number),
            "site_instrumented" => self.sites.insert(id, Twin::Instrumented, number),
            "limit_uncontended" | "limit_contended" => {
                self.limits.insert(function, id, number);
            }
            _ => {
                // Identifiers have no blanks, and the benchmark's own names have hyphens before these words only.
                let stack = match id {
                    "opentelemetry_sdk" => id.to_owned(),
                    _ => id
                        .replace("_opentelemetry", "-opentelemetry")
                        .replace('_', " "),
                };
                self.facade
                    .insert(&function.replace('_', " "), &stack, number);
            }
        }
    }
}

/// The directory of the runner, which is installed there unless it is there already.
fn runner() -> Result<PathBuf> {
    let version = version_in_lock_file()?;
    let tools = target_directory().join("tools");
    let runner = tools.join("bin/gungraun-runner");
    let installed = Invocation::new(&runner).args(["--version"]).output();
    if !installed.1.trim().ends_with(&version) {
        cargo([
            "install",
            "gungraun-runner",
            "--locked",
            "--debug",
            "--force",
        ])
        .args(["--version", &version, "--root"])
        .args([&tools])
        .run()?;
    }
    Ok(tools.join("bin"))
}

/// The runner must be of the version of the library.
fn version_in_lock_file() -> Result<String> {
    super::machine::version_of("gungraun")?.ok_or_else(|| {
        Failure::new(format!(
            "{} has no gungraun",
            root().join("Cargo.lock").display()
        ))
    })
}

/// Function and case of a heading such as `instructions::facade::a_sequential group_off:…`.
fn heading(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("instructions::")?;
    let (path, case) = rest.split_once(' ')?;
    let function = path.rsplit("::").next()?;
    let id = case.split(':').next()?;
    Some((function.to_owned(), id.to_owned()))
}

/// The number of `Instructions:   12345|…`.
fn instructions(line: &str) -> Option<f64> {
    let rest = line.trim().strip_prefix("Instructions:")?;
    rest.trim().split('|').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_and_case_are_found_in_a_heading() {
        let found =
            heading("instructions::facade::a_sequential group_off:sequential(\"group off\")");
        assert_eq!(found, Some(("a_sequential".into(), "group_off".into())));
        assert_eq!(heading("  Instructions:  12|N/A"), None);
    }

    #[test]
    fn the_count_is_the_first_of_the_two_numbers() {
        assert_eq!(
            instructions("  Instructions:        12345|12000      (+2.8%)"),
            Some(12345.0)
        );
        assert_eq!(instructions("  L1 Hits:             12345|12000"), None);
    }

    #[test]
    fn cases_are_kept_under_the_names_that_times_have() {
        let mut counts = Counts::default();
        counts.keep("a_sequential", "fastrace_opentelemetry", 202.0);
        counts.keep("a_sequential", "opentelemetry_sdk", 303.0);
        let text = format!("{counts:?}");
        assert!(text.contains("\"fastrace-opentelemetry\"): 2.0"), "{text}");
        assert!(text.contains("\"opentelemetry_sdk\"): 3.0"), "{text}");
    }
}
