//! Somebody else's crates, made in a folder of their own: one that uses every macro must build without warnings in
//! both builds and pass the check; one whose sibling turns telemetry on must fail it.

use std::fs;
use std::path::{Path, PathBuf};

use super::foreign::{self, Crate};
use super::report::Finding;
use crate::command::{Invocation, cargo, root, target_directory};
use crate::failure::{Failure, Result};

/// Uses every macro of the facade.
const SOURCE: &str = "crates/gym-telemetry-api/examples/instrumented.rs";

/// Makes both crates and looks at each.
pub(super) fn check() -> Result<Vec<Finding>> {
    let directory = target_directory().join("noop/downstream");
    let plain = Package {
        name: "downstream",
        features: "telemetry = [\"gym-telemetry-api/telemetry\"]",
        sibling: "",
    }
    .write(&directory)?;
    Package {
        name: "sibling",
        features: "default = [\"fast\"]\nfast = [\"gym-telemetry-api/telemetry\"]",
        sibling: "",
    }
    .write(&directory)?;
    let unified = Package {
        name: "unified",
        features: "",
        sibling: "sibling = { path = \"../sibling\" }",
    }
    .write(&directory)?;

    let mut findings = Vec::new();
    for (build, features) in [("compiled out", ""), ("compiled in", "telemetry")] {
        let outcome = match lint(&plain, features) {
            Ok(()) => Ok(String::from("no warning")),
            Err(failure) => Err(failure.to_string()),
        };
        let subject = format!("a crate with every macro, {build}");
        findings.push(Finding::new("pedantic", subject, outcome));
    }
    for finding in foreign::check(&subject_of(plain))? {
        let subject = format!("a crate with every macro: {}", finding.subject);
        findings.push(Finding::new(finding.check, subject, finding.outcome));
    }
    findings.push(names_the_edge(unified)?);
    Ok(findings)
}

/// A package to write.
#[derive(Debug)]
struct Package {
    name: &'static str,
    features: &'static str,
    sibling: &'static str,
}

impl Package {
    /// Writes the package below `directory` and returns its own directory.
    fn write(&self, directory: &Path) -> Result<PathBuf> {
        let Self {
            name,
            features,
            sibling,
        } = self;
        let facade = root().join("crates/gym-telemetry-api");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [features]\n{features}\n\n[dependencies]\n\
             gym-telemetry-api = {{ path = '{}' }}\n{sibling}\n",
            facade.display()
        );
        let package = directory.join(name);
        let write = || {
            fs::create_dir_all(package.join("src"))?;
            fs::write(package.join("Cargo.toml"), manifest)?;
            fs::copy(root().join(SOURCE), package.join("src/main.rs"))?;
            fs::write(package.join("src/lib.rs"), "//! Nothing.\n")?;
            // The versions that this workspace has been tested with and need not be downloaded.
            fs::copy(root().join("Cargo.lock"), package.join("Cargo.lock"))
        };
        write().map_err(|error| Failure::io("could not write", &package, &error))?;
        Ok(package)
    }
}

fn lint(package: &Path, features: &str) -> Result<()> {
    let arguments = ["clippy", "--quiet", "--all-targets", "--features", features];
    let command: Invocation = cargo(arguments).within(package);
    command
        .env("CARGO_TARGET_DIR", target_directory())
        .args(["--", "--deny", "warnings", "--deny", "clippy::pedantic"])
        .run()
}

fn subject_of(manifest: PathBuf) -> Crate {
    Crate {
        manifest,
        program: None,
    }
}

/// The check of a crate whose sibling turns telemetry on has to say so.
fn names_the_edge(unified: PathBuf) -> Result<Finding> {
    const EDGE: &str = "sibling feature \"fast\" <- sibling feature \"default\" <- unified";
    let explanations: Vec<String> = foreign::check(&subject_of(unified))?
        .into_iter()
        .filter_map(|finding| finding.outcome.err())
        .collect();
    let outcome = if explanations.iter().any(|text| text.contains(EDGE)) {
        Ok(format!("refused: {EDGE}"))
    } else {
        Err(format!(
            "it does not name the edge: {}",
            explanations.join("\n")
        ))
    };
    Ok(Finding::new(
        "dependencies",
        "a crate whose sibling turns telemetry on",
        outcome,
    ))
}
