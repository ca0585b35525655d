//! What came of the rollouts: one JSON object per line, written as each attempt ends.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::failure::Failure;

/// One attempt at one task.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RolloutResult {
    pub(crate) rollout_id: String,
    /// 32 lower-case hex digits, or `null` when the attempt was not traced.
    pub(crate) trace_id: Option<String>,
    /// What the resources server gave, or `null` when the attempt failed.
    pub(crate) reward: Option<f64>,
    /// From the request to the agent until its answer.
    pub(crate) latency_ms: f64,
    /// Why the attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl RolloutResult {
    pub(crate) fn new(
        rollout_id: String,
        trace_id: Option<String>,
        latency: Duration,
        outcome: Result<f64, String>,
    ) -> Self {
        let (reward, error) = match outcome {
            Ok(reward) => (Some(reward), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            rollout_id,
            trace_id,
            reward,
            latency_ms: latency.as_secs_f64() * 1e3,
            error,
        }
    }
}

/// The results file of a run.
#[derive(Debug)]
pub(crate) struct ResultsFile {
    path: PathBuf,
    file: File,
}

impl ResultsFile {
    /// Creates `results.jsonl` in the directory, or empties the one that is there.
    pub(crate) fn create(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join("results.jsonl");
        match File::create(&path) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(Failure::run(format!(
                "cannot write {}: {error}",
                path.display()
            ))),
        }
    }

    pub(crate) fn append(&mut self, result: &RolloutResult) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(result).expect("strings and numbers always serialize");
        line.push(b'\n');
        self.file
            .write_all(&line)
            .map_err(|error| Failure::run(format!("cannot write {}: {error}", self.path.display())))
    }
}
