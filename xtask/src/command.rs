//! Commands of other programs, run in the workspace's root with an environment that is the same everywhere.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::failure::{Failure, Result};

/// Variables of these families never reach a command: a developer's own collector settings would change what the tests see.
const TELEMETRY_FAMILIES: [&str; 3] = ["OTEL_", "NEMO_GYM_OTEL_", "NEMO_LENS_"];

/// What `cargo run` sets for this program alone. Handed on, it makes build scripts that watch it run again.
const OWN_PACKAGE_FAMILIES: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

/// The workspace's root directory.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the manifest of this package lies one directory below the root")
}

/// Where cargo puts what it builds, the one directory for all tasks and for people.
pub(crate) fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |path| root().join(path))
}

/// A cargo command.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Invocation {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    Invocation::new(program).args(arguments)
}

/// One command to run, and how to show it.
#[derive(Debug)]
#[must_use = "a command does nothing until it is run"]
pub(crate) struct Invocation {
    command: Command,
}

impl Invocation {
    /// A command of `program` without arguments.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.current_dir(root());
        for (name, _) in std::env::vars_os() {
            let foreign = name.to_str().is_some_and(|name| {
                TELEMETRY_FAMILIES
                    .iter()
                    .chain(&OWN_PACKAGE_FAMILIES)
                    .any(|family| name.starts_with(family))
            });
            if foreign {
                command.env_remove(&name);
            }
        }
        Self { command }
    }

    /// Adds arguments.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs the command in another directory than the workspace's root.
    pub(crate) fn within(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Runs the command with this program's own input and output.
    pub(crate) fn run(mut self) -> Result<()> {
        let status = self
            .command
            .status()
            .map_err(|error| self.not_started(&error))?;
        self.judge(status)
    }

    /// Runs the command, shows its standard output line by line and gives each line to `look` as well.
    pub(crate) fn run_watching(mut self, mut look: impl FnMut(&str)) -> Result<()> {
        let mut child = self
            .command
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| self.not_started(&error))?;
        let output = child
            .stdout
            .take()
            .expect("standard output was asked for as a pipe");
        for line in BufReader::new(output).split(b'\n') {
            let line = line.map_err(|error| self.not_started(&error))?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            look(&line);
        }
        let status = child.wait().map_err(|error| self.not_started(&error))?;
        self.judge(status)
    }

    /// Runs the command silently and returns its standard output; what it wrote to standard error is shown on failure.
    pub(crate) fn capture(mut self) -> Result<String> {
        let output = self
            .command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| self.not_started(&error))?;
        if !output.status.success() {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
        }
        self.judge(output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the command; returns whether it succeeded and its standard output. What it wrote to standard error is lost.
    pub(crate) fn output(mut self) -> (bool, String) {
        match self.command.stdin(Stdio::null()).output() {
            Ok(output) => (
                output.status.success(),
                String::from_utf8_lossy(&output.stdout).into_owned(),
            ),
            Err(_) => (false, String::new()),
        }
    }

    /// Whether the command can be started and succeeds; what it prints is thrown away.
    pub(crate) fn succeeds(mut self) -> bool {
        self.command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    fn judge(&self, status: ExitStatus) -> Result<()> {
        if status.success() {
            Ok(())
        } else {
            Err(Failure::new(format!(
                "`{}` failed ({status})",
                self.shown()
            )))
        }
    }

    fn not_started(&self, error: &std::io::Error) -> Failure {
        Failure::new(format!("could not run `{}`: {error}", self.shown()))
    }

    /// The command as one would type it.
    fn shown(&self) -> String {
        let program = Path::new(self.command.get_program());
        let mut words = vec![
            program
                .file_name()
                .unwrap_or(program.as_os_str())
                .to_string_lossy(),
        ];
        words.extend(self.command.get_args().map(OsStr::to_string_lossy));
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_names_the_command_and_how_it_ended() {
        let failure = Invocation::new("sh")
            .args(["-c", "exit 3"])
            .run()
            .expect_err("the shell exits with 3");
        assert_eq!(
            failure.to_string(),
            "`sh -c exit 3` failed (exit status: 3)"
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_a_failure_with_its_name() {
        let failure = Invocation::new("/no/such/program-of-ours")
            .capture()
            .expect_err("there is no such program");
        assert!(
            failure
                .to_string()
                .starts_with("could not run `program-of-ours`"),
            "{failure}"
        );
    }

    #[test]
    fn watching_sees_every_line() {
        let mut lines = Vec::new();
        Invocation::new("printf")
            .args(["one\\ntwo"])
            .run_watching(|line| lines.push(line.to_owned()))
            .expect("printf succeeds");
        assert_eq!(lines, ["one", "two"]);
    }

    #[test]
    fn own_package_variables_are_not_handed_on() {
        // `cargo test` sets CARGO_PKG_NAME for this process, as `cargo run` does for the task runner.
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
        let environment = Invocation::new("env").capture().expect("env succeeds");
        assert!(!environment.contains("CARGO_PKG_"), "{environment}");
    }
}
