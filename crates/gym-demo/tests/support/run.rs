//! One `gym-demo run` in a directory of its own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::process::{Guard, wait_with_deadline};
use super::trace::{Span, read_spans};

/// Catches hangs; a run takes a second or two.
const DEADLINE: Duration = Duration::from_secs(90);

/// The program, with nothing of the tests' own environment that could change its telemetry.
pub fn gym_demo() -> Command {
    clean(env!("CARGO_BIN_EXE_gym-demo"))
}

/// Any program in such an environment.
pub fn clean(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let foreign = [
            "OTEL_",
            "NEMO_",
            "SLURM_",
            "GYM_DEMO_",
            "WANDB_",
            "DEPLOYMENT_",
        ];
        if foreign.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// A run being put together.
pub struct Run {
    pub directory: TempDir,
    command: Command,
}

impl Default for Run {
    fn default() -> Self {
        Self::new()
    }
}

impl Run {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut command = gym_demo();
        command
            .arg("run")
            .arg("--out")
            .arg(directory.path().join("out"));
        command
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self { directory, command }
    }

    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Puts a file into the run's directory, which is its working directory.
    pub fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.directory.path().join(name), text).expect("a writable directory");
        self
    }

    /// Starts it without waiting for its end.
    pub fn spawn(mut self) -> (TempDir, Guard) {
        let child = self.command.spawn().expect("the program starts");
        (self.directory, Guard::new(child))
    }

    /// Runs it to its end.
    pub fn finish(self) -> Finished {
        let (directory, guard) = self.spawn();
        Finished {
            output: wait_with_deadline(guard, DEADLINE),
            directory,
        }
    }
}

/// A run that ended.
pub struct Finished {
    pub output: Output,
    directory: TempDir,
}

impl Finished {
    pub fn out(&self) -> PathBuf {
        self.directory.path().join("out")
    }

    pub fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// Fails with what the program said unless it ended with success.
    pub fn succeeded(self) -> Self {
        assert!(
            self.output.status.success(),
            "{}\n{}",
            self.output.status,
            self.stderr()
        );
        self
    }

    pub fn results(&self) -> Vec<Value> {
        json_lines(&self.out().join("results.jsonl"))
    }

    /// The lines that a process wrote on standard output.
    pub fn lines(&self, process: &str) -> Vec<Value> {
        json_lines(&self.out().join(format!("{process}.jsonl")))
    }

    /// The spans that all processes wrote on standard output.
    pub fn spans(&self) -> Vec<Span> {
        ["orchestrator", "weather", "policy_model", "weather_agent"]
            .iter()
            .flat_map(|process| read_spans(&self.lines(process)))
            .collect()
    }
}

/// Reads a file in which every line must be JSON; one that does not exist has no lines.
pub fn json_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let parse = |line: &str| {
        serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("{}: {error}: {line}", path.display()))
    };
    text.lines().map(parse).collect()
}
