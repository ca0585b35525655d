//! What does not compile, does not compile in either build, and for the same reason.
//!
//! `ui/same` holds the cases that the compiler words alike in both builds, `ui/off` and `ui/on` those that it words
//! after the types it sees; the latter are links to the former. The messages are those of the toolchain that the
//! workspace names; with `BLESS=1` in the environment they are written anew.
//!
//! One case is refused in one build only: a guard that a `Send` future holds over an `.await`. Without telemetry the
//! guard is not dropped, so the compiler does not find it there. Hence `ui/on/guard_over_await.rs`.
//!
//! The compiler is called directly, with the libraries that cargo has built for this very test: to have cargo check the
//! cases would build the back end once more.

#[path = "ui/harness.rs"]
mod harness;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gym_telemetry_api::TELEMETRY_COMPILED_IN;

use harness::Compiler;

#[test]
fn what_must_not_compile_does_not() {
    let compiler = Compiler::with_libraries_of_this_test();
    let own = if TELEMETRY_COMPILED_IN { "on" } else { "off" };
    let cases: Vec<PathBuf> = ["same", own].into_iter().flat_map(cases_in).collect();
    assert!(cases.len() > 10, "only {} cases were found", cases.len());
    let mut faults: Vec<String> = harness::in_parallel(&cases, |case| compiler.refuses(case))
        .into_iter()
        .flatten()
        .collect();
    faults.sort();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn both_builds_reject_the_same_lines() {
    let mut cases = 0;
    for case in cases_in("off") {
        let name = case.file_name().expect("a case is a file");
        let errors = |build: &str| {
            let path = folder().join(build).join(name).with_extension("stderr");
            let text = std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            rejected_lines(&text)
        };
        let (on, off) = (errors("on"), errors("off"));
        assert!(!on.is_empty(), "{}", case.display());
        assert_eq!(on, off, "{}", case.display());
        cases += 1;
    }
    assert!(cases > 5, "only {cases} cases were found");
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui"))
}

fn cases_in(name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder().join(name)).expect("the folder is there");
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    cases.sort();
    cases
}

/// The lines at which errors are reported first.
fn rejected_lines(stderr: &str) -> BTreeSet<u32> {
    let mut lines = BTreeSet::new();
    let mut in_error = false;
    for line in stderr.lines() {
        if line.starts_with("error") {
            in_error = true;
        } else if in_error && let Some(place) = line.trim_start().strip_prefix("--> tests/") {
            let number = place.split(':').nth(1).expect("a place has a line");
            lines.insert(number.parse().expect("a line is a number"));
            in_error = false;
        }
    }
    lines
}
