//! What is rolled out: a task file with one JSON object per line, repeated as often as asked for.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gym_telemetry_core::RolloutId;
use serde::{Deserialize, Deserializer};

use crate::failure::Failure;
use crate::servers::wire::{ModelApi, ResponsesRequest};

/// The tasks of a run without `--tasks`.
const EXAMPLE: &str = include_str!("../assets/tasks.jsonl");

/// One line of a task file. Keys that are not listed are ignored.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Task {
    /// The caller's own name for the rollout, instead of `<task>-<rollout>`.
    #[serde(default, rename = "_ng_rollout_id", deserialize_with = "rollout_id")]
    rollout_id: Option<RolloutId>,
    /// What the agent asks the model.
    pub(crate) responses_create_params: ResponsesRequest,
    /// What the resources server needs to judge the answer.
    #[serde(default)]
    pub(crate) verifier_metadata: serde_json::Value,
    /// The endpoint of the model server that the agent uses.
    #[serde(default)]
    pub(crate) model_api: ModelApi,
}

/// The tasks of one run, at least one.
#[derive(Clone, Debug)]
pub(crate) struct Tasks(Vec<Task>);

impl Tasks {
    /// Reads the task file, or the embedded example.
    pub(crate) fn load(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = file else {
            return Self::parse("the example tasks", EXAMPLE);
        };
        let text = fs::read_to_string(file).map_err(|error| {
            Failure::usage(format!(
                "cannot read the task file {}: {error}",
                file.display()
            ))
        })?;
        Self::parse(&file.display().to_string(), &text)
    }

    fn parse(source: &str, text: &str) -> Result<Self, Failure> {
        let mut tasks = Vec::new();
        for (index, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let task = serde_json::from_str(line).map_err(|error| {
                Failure::usage(format!("{source}, line {}: {error}", index + 1))
            })?;
            tasks.push(task);
        }
        if tasks.is_empty() {
            Err(Failure::usage(format!("{source}: no task in it")))
        } else {
            Ok(Self(tasks))
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The task of the n-th rollout of the run: all tasks once, then all of them again.
    pub(crate) fn of_rollout(&self, rollout: usize) -> &Task {
        &self.0[rollout % self.0.len()]
    }

    /// The rollout id of one attempt. A caller's own id is used as it is the first time round;
    /// from the second on it carries the round, so that ids stay unique within the run.
    pub(crate) fn rollout_id(&self, rollout: usize, attempt: u32) -> RolloutId {
        let (task, round) = (rollout % self.0.len(), rollout / self.0.len());
        let Some(own) = &self.0[task].rollout_id else {
            return RolloutId::from_parts(task as u64, round as u64, attempt);
        };
        let mut id = own.to_string();
        if round > 0 {
            _ = write!(id, "-{round}");
        }
        if attempt > 0 {
            _ = write!(id, "-a{attempt}");
        }
        RolloutId::new(id)
            .expect("a valid id stays valid with letters, digits and hyphens at its end")
    }
}

fn rollout_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RolloutId>, D::Error> {
    let id = Option::<String>::deserialize(deserializer)?;
    id.map(|id| {
        RolloutId::new(id.as_str())
            .map_err(|error| serde::de::Error::custom(format!("_ng_rollout_id {id:?}: {error}")))
    })
    .transpose()
}

#[cfg(test)]
mod tests {
    use super::Tasks;

    #[test]
    fn the_example_tasks_load() {
        assert!(
            Tasks::load(None)
                .expect("the embedded tasks are valid")
                .len()
                >= 3
        );
    }

    #[test]
    fn tasks_repeat_with_new_ids() {
        let text = concat!(
            r#"{"responses_create_params":{"input":"a"}}"#,
            "\n\n",
            r#"{"responses_create_params":{"input":"b"},"_ng_rollout_id":"mine"}"#,
        );
        let tasks = Tasks::parse("test", text).expect("valid tasks");
        let ids: Vec<_> = (0..4)
            .map(|rollout| tasks.rollout_id(rollout, 0).to_string())
            .collect();
        assert_eq!(ids, ["0-0", "mine", "0-1", "mine-1"]);
        assert_eq!(tasks.rollout_id(3, 2).as_str(), "mine-1-a2");
    }

    #[test]
    fn a_bad_line_is_named() {
        for (text, expected) in [
            ("\n{\"responses_create_params\":3}", "test, line 2"),
            (
                "{\"responses_create_params\":{\"input\":\"a\"},\"_ng_rollout_id\":\"a/b\"}",
                "_ng_rollout_id",
            ),
            ("\n", "no task"),
        ] {
            let failure = Tasks::parse("test", text).expect_err(text);
            assert!(failure.to_string().contains(expected), "{failure}");
            assert_eq!(failure.exit_code(), 2);
        }
    }
}
