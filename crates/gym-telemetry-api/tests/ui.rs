//! What does not compile, does not compile in either build, and for the same reason.
//!
//! `ui/same` holds the cases that the compiler words alike in both builds, `ui/off` and `ui/on` those that it words
//! after the types it sees; the latter are links to the former. The messages are those of the toolchain that the
//! workspace names.
//!
//! One case is refused in one build only: a guard that a `Send` future holds over an `.await`. Without telemetry the
//! guard is not dropped, so the compiler does not find it there. Hence `ui/on/guard_over_await.rs`.

use std::collections::BTreeSet;
use std::path::Path;

use gym_telemetry_api::TELEMETRY_COMPILED_IN;

#[test]
fn what_must_not_compile_does_not() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/same/*.rs");
    cases.compile_fail(if TELEMETRY_COMPILED_IN {
        "tests/ui/on/*.rs"
    } else {
        "tests/ui/off/*.rs"
    });
}

#[test]
fn both_builds_reject_the_same_lines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let mut cases = 0;
    for case in std::fs::read_dir(folder.join("off")).expect("the folder is there") {
        let name = case.expect("it can be read").file_name();
        if Path::new(&name)
            .extension()
            .is_none_or(|extension| extension != "rs")
        {
            continue;
        }
        let errors = |build: &str| {
            let path = folder.join(build).join(&name).with_extension("stderr");
            let text = std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            rejected_lines(&text)
        };
        let (on, off) = (errors("on"), errors("off"));
        assert!(!on.is_empty(), "{}", name.display());
        assert_eq!(on, off, "{}", name.display());
        cases += 1;
    }
    assert!(cases > 5, "only {cases} cases were found");
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
