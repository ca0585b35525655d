//! What the checks need besides cargo, found or installed below the target directory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Invocation, cargo, root, target_directory};
use crate::failure::{Failure, Result};

const CARGO_DENY_VERSION: &str = "0.20.2";

/// Whether this is an unattended run, in which nothing may be skipped.
pub(crate) fn is_unattended() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// The programs the checks call.
#[derive(Debug)]
pub(crate) struct Tools {
    /// The program cargo-deny.
    deny: PathBuf,
    /// A Python with the packages of `xtask/requirements.txt`, if this machine has Python at all.
    pub(crate) python: Option<PathBuf>,
}

impl Tools {
    /// A cargo-deny command.
    pub(crate) fn deny<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Invocation {
        Invocation::new(&self.deny).args(arguments)
    }
}

/// Finds every tool and installs what is missing.
///
/// # Errors
///
/// When a tool is missing and cannot be installed. Without Python only an unattended run fails.
pub(crate) fn setup() -> Result<Tools> {
    print!(
        "{}",
        Invocation::new("rustc").args(["--version"]).capture()?
    );
    component("fmt", "rustfmt")?;
    component("clippy", "clippy")?;
    let deny = cargo_deny()?;
    print!("{}", Invocation::new(&deny).args(["--version"]).capture()?);
    let python = match python() {
        Ok(python) => Some(python),
        Err(failure) if is_unattended() => return Err(failure),
        Err(failure) => {
            println!("without the Python far end, tests that need it will be skipped: {failure}");
            None
        }
    };
    Ok(Tools { deny, python })
}

fn component(subcommand: &str, name: &str) -> Result<()> {
    let is_there = || cargo([subcommand, "--version"]).succeeds();
    if is_there() {
        return Ok(());
    }
    let installed = Invocation::new("rustup")
        .args(["component", "add", name])
        .run();
    if installed.is_ok() && is_there() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "`cargo {subcommand}` is missing: install the toolchain's component `{name}`"
    )))
}

fn cargo_deny() -> Result<PathBuf> {
    let installed = PathBuf::from("cargo-deny");
    if Invocation::new(&installed).args(["--version"]).succeeds() {
        return Ok(installed);
    }
    let directory = tools_directory();
    let own = directory.join("bin/cargo-deny");
    if !own.is_file() {
        println!(
            "installing cargo-deny {CARGO_DENY_VERSION} into {}",
            directory.display()
        );
        // Unoptimised: it compiles in half the time and reads one lock file.
        cargo([
            "install",
            "cargo-deny",
            "--locked",
            "--debug",
            "--version",
            CARGO_DENY_VERSION,
            "--root",
        ])
        .args([&directory])
        .run()?;
    }
    Ok(own)
}

/// A virtual environment with exactly the packages of the requirements file, made anew when the file changes.
fn python() -> Result<PathBuf> {
    let requirements = root().join("xtask/requirements.txt");
    let wanted = fs::read_to_string(&requirements)
        .map_err(|error| Failure::io("could not read", &requirements, &error))?;
    let environment = tools_directory().join("python");
    let interpreter = environment.join("bin/python");
    let record = environment.join("installed.txt");
    if interpreter.is_file()
        && fs::read_to_string(&record).is_ok_and(|installed| installed == wanted)
    {
        return Ok(interpreter);
    }
    println!(
        "installing the Python packages of {}",
        requirements.display()
    );
    if environment.exists() {
        fs::remove_dir_all(&environment)
            .map_err(|error| Failure::io("could not remove", &environment, &error))?;
    }
    create_environment(&environment)?;
    Invocation::new(&interpreter)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ])
        .args([&requirements])
        .run()?;
    fs::write(&record, wanted).map_err(|error| Failure::io("could not write", &record, &error))?;
    Ok(interpreter)
}

fn create_environment(directory: &Path) -> Result<()> {
    // Some distributions ship `venv` without its pip; `virtualenv` brings its own.
    let built_in = Invocation::new("python3")
        .args(["-m", "venv"])
        .args([directory])
        .run();
    let Err(failure) = built_in else {
        return Ok(());
    };
    Invocation::new("python3")
        .args(["-m", "virtualenv", "--quiet"])
        .args([directory])
        .run()
        .map_err(|_| failure)
}

fn tools_directory() -> PathBuf {
    target_directory().join("tools")
}
