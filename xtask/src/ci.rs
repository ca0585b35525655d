//! `cargo xtask ci`: every check and every test, in both builds.
//!
//! Packages are always named one by one. A command over the whole workspace would unify features, and with them turn
//! telemetry on in every package: the compiled-out build would never be seen.

use std::fs;
use std::path::PathBuf;

use crate::command::{Invocation, cargo, target_directory};
use crate::docs;
use crate::failure::{Failure, Result};
use crate::members::{Build, Member, TELEMETRY, members};
use crate::noop;
use crate::steps::Steps;
use crate::tally::Tally;
use crate::tools::{self, Tools, is_unattended};

/// The package of the benchmarks.
const BENCHMARKS: &str = "gym-benches";
/// Its feature that brings in other stacks.
const OTHER_STACKS: &str = "peers";
/// Tells a test where a Python with OpenTelemetry is. Unset: there is none.
const PYTHON: &str = "GYM_TEST_PYTHON";
/// Tells a test where a `gym-demo` built without telemetry is. Unset: there is none.
const COMPILED_OUT_DEMO: &str = "GYM_TEST_COMPILED_OUT_DEMO";

/// Runs everything; stops at the first failure.
pub(crate) fn run() -> Result<()> {
    let members = members()?;
    let mut steps = Steps::new();
    let tools = steps.take("tools", tools::setup)?;
    steps.take("format", || cargo(["fmt", "--all", "--", "--check"]).run())?;
    steps.take("licences, bans and sources of dependencies", || {
        tools
            .deny([
                "check",
                "--hide-inclusion-graph",
                "licenses",
                "bans",
                "sources",
            ])
            .run()
    })?;

    steps.take("generated parts of the documentation", || {
        docs::run(docs::Mode::Check)
    })?;

    // One build after the other, so that each finds the artefacts of the step before it.
    for build in [Build::Off, Build::On] {
        let word = build.word();
        let clippy_step = format!("clippy, {word}, every combination of features");
        steps.take(clippy_step, || clippy(&members, build))?;
        steps.take_tests(format!("tests, {word}"), || test(&members, build, &tools))?;
        steps.take(format!("examples of the README, {word}"), examples)?;
        steps.take(format!("documentation, {word}"), || {
            document(&members, build)
        })?;
        if build == Build::Off {
            steps.take(
                "a demo without telemetry for the tests",
                keep_compiled_out_demo,
            )?;
            steps.take("check-noop", || noop::run(&[]))?;
        }
    }
    steps.take("check-noop, whether it can fail", || {
        noop::run(&[String::from("--self-test")])
    })?;
    steps.summarise();
    Ok(())
}

fn clippy(members: &[Member], build: Build) -> Result<()> {
    for member in members.iter().filter(|member| member.is_in(build)) {
        for features in combinations(member, build) {
            let features = features.join(",");
            println!("    {} [{features}]", member.name);
            cargo([
                "clippy",
                "--quiet",
                "--all-targets",
                "--package",
                &member.name,
            ])
            .args(["--features", &features, "--", "--deny", "warnings"])
            .run()?;
        }
    }
    Ok(())
}

/// Every combination of a package's features that belongs to a build.
///
/// Of the benchmarks only the largest: nothing depends on them. Other stacks are measured beside the compiled-in build
/// alone.
fn combinations(member: &Member, build: Build) -> Vec<Vec<&str>> {
    if member.name == BENCHMARKS {
        let mut features = member.features_in(build);
        features.retain(|feature| build == Build::On || *feature != OTHER_STACKS);
        return vec![features];
    }
    let has_switch = member.features.iter().any(|feature| feature == TELEMETRY);
    let mut combinations = member.feature_combinations();
    combinations
        .retain(|features| !has_switch || features.contains(&TELEMETRY) == (build == Build::On));
    combinations
}

fn test(members: &[Member], build: Build, tools: &Tools) -> Result<Tally> {
    let mut command = selected("test", members, build);
    if let Some(python) = &tools.python {
        command = command.env(PYTHON, python);
    }
    let demo = compiled_out_demo();
    if build == Build::On && demo.is_file() {
        command = command.env(COMPILED_OUT_DEMO, demo);
    }
    let mut total = Tally::default();
    command.run_watching(|line| {
        if let Some(tally) = Tally::from_line(line) {
            total += tally;
        }
    })?;
    if total.ignored > 0 && is_unattended() {
        return Err(Failure::new(format!(
            "{} tests were ignored, and an unattended run must not skip any",
            total.ignored
        )));
    }
    Ok(total)
}

/// Runs the programs whose source the README shows, as the tests have just built them: cargo would choose other features
/// of the packages below for one program alone, and build them once more.
fn examples() -> Result<()> {
    for example in ["library", "binary"] {
        Invocation::new(target_directory().join("debug/examples").join(example)).run()?;
    }
    Ok(())
}

fn document(members: &[Member], build: Build) -> Result<()> {
    selected("doc", members, build)
        .args(["--no-deps", "--quiet"])
        .env("RUSTDOCFLAGS", "--deny warnings")
        .run()
}

/// A cargo command over every package of a build, with all the features that belong to it; without the benchmarks, which
/// have neither tests nor readers.
fn selected(subcommand: &str, members: &[Member], build: Build) -> Invocation {
    let mut command = cargo([subcommand]);
    let mut features = Vec::new();
    let selected = members
        .iter()
        .filter(|member| member.is_in(build) && member.name != BENCHMARKS);
    for member in selected {
        command = command.args(["--package", &member.name]);
        for feature in member.features_in(build) {
            features.push(format!("{}/{feature}", member.name));
        }
    }
    command.args(["--features", &features.join(",")])
}

/// Where the demo without telemetry is kept: cargo's own place for it is overwritten by the other build.
fn compiled_out_demo() -> PathBuf {
    // Under its own name: a thread bears the name of its program.
    target_directory().join("tools/compiled-out/gym-demo")
}

/// Keeps the demo that the tests of this build have just used.
fn keep_compiled_out_demo() -> Result<()> {
    let built = target_directory().join("debug/gym-demo");
    let kept = compiled_out_demo();
    kept.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::copy(&built, &kept))
        .map_err(|error| Failure::io("could not keep a copy of", &built, &error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_in_one_build_and_the_benchmarks_are_in_both() {
        let members = members().expect("the manifests can be read");
        for member in &members {
            let has_switch = member.features.iter().any(|feature| feature == TELEMETRY);
            let [off, on] = [Build::Off, Build::On].map(|build| combinations(member, build));
            if member.name == BENCHMARKS {
                assert_eq!((off.len(), on.len()), (1, 1));
                assert!(!off[0].contains(&TELEMETRY) && !off[0].contains(&OTHER_STACKS));
                assert_eq!(on[0].len(), member.features.len());
            } else if has_switch {
                assert_eq!(off.len() + on.len(), member.feature_combinations().len());
                assert!(on.iter().all(|features| features.contains(&TELEMETRY)));
            }
        }
    }
}
