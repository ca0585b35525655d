//! `check-noop --manifest-path`: the same guarantee for somebody else's crate.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::names;
use super::report::Finding;
use super::strings::occurring;
use super::tree::{Switch, switch};
use crate::command::{Invocation, cargo, target_directory};
use crate::failure::{Failure, Result};

/// What to look at.
#[derive(Debug)]
pub(super) struct Crate {
    /// Its manifest, or the directory that has it.
    pub(super) manifest: PathBuf,
    /// One of its programs; without it all of them, or the library if there is none.
    pub(super) program: Option<String>,
}

impl Crate {
    fn manifest(&self) -> Result<PathBuf> {
        let path = if self.manifest.is_dir() {
            self.manifest.join("Cargo.toml")
        } else {
            self.manifest.clone()
        };
        path.canonicalize()
            .map_err(|error| Failure::io("could not find", &path, &error))
    }
}

/// Checks the tree of the crate, alone and within its workspace, then what it compiles to.
pub(super) fn check(subject: &Crate) -> Result<Vec<Finding>> {
    let manifest = subject.manifest()?;
    let mut findings = vec![alone(&manifest)?];
    if findings[0].outcome.is_err() {
        // Whatever it compiles to has telemetry in it.
        return Ok(findings);
    }
    findings.push(with_workspace(&manifest)?);
    for program in build(&manifest, subject.program.as_deref())? {
        findings.push(names_in(&program)?);
    }
    Ok(findings)
}

fn alone(manifest: &Path) -> Result<Finding> {
    let outcome = match switch(selecting(manifest))? {
        Switch::NoFacade => {
            return Err(Failure::new(format!(
                "{} does not depend on gym-telemetry-api",
                manifest.display()
            )));
        }
        Switch::Off => Ok(String::from("compiled out")),
        Switch::On(ways) => Err(explanation(&ways)),
    };
    Ok(Finding::new("dependencies", "the package", outcome))
}

/// `cargo build --workspace` unifies features over all members: a sibling that the package does not even depend on can
/// turn telemetry on in it.
fn with_workspace(manifest: &Path) -> Result<Finding> {
    let outcome = match switch(selecting(manifest).args(["--workspace"]))? {
        Switch::NoFacade | Switch::Off => Ok(String::from("compiled out")),
        Switch::On(ways) => Err(format!(
            "the package alone is compiled out, but a build of the whole workspace turns telemetry on. {}",
            explanation(&ways)
        )),
    };
    Ok(Finding::new(
        "dependencies",
        "the package with its workspace",
        outcome,
    ))
}

fn selecting(manifest: &Path) -> Invocation {
    cargo(["tree", "--manifest-path"]).args([manifest])
}

fn explanation(ways: &[String]) -> String {
    let mut text = String::from("the feature gym-telemetry-api/telemetry is turned on by:");
    for way in ways {
        text.push_str("\n  ");
        text.push_str(way);
    }
    text
}

/// Builds with optimisation, as it will run, and returns programs or, of a library, all its code in one archive.
fn build(manifest: &Path, program: Option<&str>) -> Result<Vec<PathBuf>> {
    let base = |subcommand: &str| {
        cargo([
            subcommand,
            "--quiet",
            "--release",
            "--message-format=json-render-diagnostics",
        ])
        .args(["--manifest-path"])
        .args([manifest])
        .env("CARGO_TARGET_DIR", target_directory().join("noop/foreign"))
    };
    let selected = match program {
        Some(name) => base("build").args(["--bin", name]),
        None => base("build").args(["--bins"]),
    };
    let programs = artefacts(&selected.capture()?, "\"executable\":\"");
    if !programs.is_empty() {
        return Ok(programs);
    }
    let library = base("rustc").args(["--lib", "--crate-type=staticlib"]);
    let archives = artefacts(&library.capture()?, "\"filenames\":[\"");
    Ok(archives
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "a"))
        .collect())
}

/// The path after `key` in each of cargo's messages.
fn artefacts(messages: &str, key: &str) -> Vec<PathBuf> {
    messages
        .lines()
        .filter_map(|message| message.split_once(key))
        .filter_map(|(_, rest)| rest.split_once('"'))
        .map(|(path, _)| PathBuf::from(path))
        .collect()
}

fn names_in(program: &Path) -> Result<Finding> {
    let own = names::own()?;
    let mut searched: Vec<&str> = own.iter().map(String::as_str).collect();
    searched.push(names::BACK_END);
    let found: BTreeSet<&str> = occurring(program, &searched)?;
    let outcome = if found.is_empty() {
        Ok(format!("none of {} names and symbols", searched.len()))
    } else {
        let found: Vec<&str> = found.into_iter().collect();
        Err(format!(
            "it holds {}. A name that the program itself uses, outside telemetry, is no fault",
            found.join(", ")
        ))
    };
    let name = program.file_name().unwrap_or(program.as_os_str());
    Ok(Finding::new("binary", name.to_string_lossy(), outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_messages() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                        {\"reason\":\"compiler-artifact\",\"executable\":\"/x/app\",\"fresh\":true}\n";
        assert_eq!(
            artefacts(messages, "\"executable\":\""),
            [PathBuf::from("/x/app")]
        );
    }
}
