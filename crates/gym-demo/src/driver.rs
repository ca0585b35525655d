//! Rolls out the tasks, a bounded number at a time.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Instant;

use gym_telemetry_api::{
    Context, FutureExt, in_span, managed_span, record_rollout, record_rollout_outcome,
};
use gym_telemetry_core::outcome::RolloutOutcome;
use gym_telemetry_core::{attribute, group, span};
use tokio::task::JoinSet;

use crate::client::{Client, ClientError};
use crate::failure::Failure;
use crate::limits::Limit;
use crate::results::RolloutResult;
use crate::servers::wire::{RunRequest, VerifyReply};
use crate::tasks::Tasks;

/// Rollouts that wait for their turn at the same time; a long run has more, which have not come yet.
const MOST_WAITING: usize = 100;

/// What a run rolls out, and how.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) tasks: Tasks,
    pub(crate) client: Client,
    pub(crate) agent_url: String,
    /// Rollouts in all.
    pub(crate) rollouts: usize,
    /// Bounds the rollouts at the same time.
    pub(crate) parallel: Arc<Limit>,
    /// Attempts at a rollout before it counts as failed.
    pub(crate) attempts: u32,
}

impl Driver {
    /// Runs all rollouts; reports the attempts of each as it ends, the last one last.
    ///
    /// # Errors
    ///
    /// Only what `report` returns: a failed rollout is a result.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the rollouts that are under way.
    pub(crate) async fn drive(
        self: &Arc<Self>,
        mut report: impl FnMut(Vec<RolloutResult>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut running = JoinSet::new();
        for rollout in 0..self.rollouts {
            if running.len() == self.parallel.slots() + MOST_WAITING {
                report(next_result(&mut running).await)?;
            }
            let driver = Arc::clone(self);
            running.spawn(
                async move {
                    let _slot = driver.parallel.admit().await;
                    driver.rollout(rollout).await
                }
                .in_current_context(),
            );
        }
        while !running.is_empty() {
            report(next_result(&mut running).await)?;
        }
        Ok(())
    }

    /// All attempts at one rollout, the last one last.
    async fn rollout(&self, rollout: usize) -> Vec<RolloutResult> {
        let mut results = Vec::new();
        for attempt in 0..self.attempts {
            let result = self.attempt(rollout, attempt).await;
            let succeeded = result.error.is_none();
            results.push(result);
            if succeeded {
                break;
            }
        }
        results
    }

    async fn attempt(&self, rollout: usize, attempt: u32) -> RolloutResult {
        let id = self.tasks.rollout_id(rollout, attempt);
        let task = self.tasks.of_rollout(rollout);
        let request = RunRequest {
            responses_create_params: task.responses_create_params.clone(),
            verifier_metadata: task.verifier_metadata.clone(),
            model_api: task.model_api,
        };
        let span = managed_span!(group::ROLLOUT, span::ROLLOUT, attribute::ROLLOUT_ID => id);
        let trace_id = span.context().map(|context| context.trace_id().to_string());
        let started = Instant::now();
        let rollout = self
            .client
            .post(&self.agent_url, Some(&id), "/run", &request);
        let outcome = in_span!(span, err; rollout)
            .in_context(Context::current().with_rollout_id(id.clone()))
            .await;
        let latency = started.elapsed();
        record_rollout(latency);
        record_outcome(&outcome);
        let outcome = outcome
            .map(|reply: VerifyReply| reply.reward)
            .map_err(|error| error.to_string());
        RolloutResult::new(id.to_string(), trace_id, latency, outcome)
    }
}

fn record_outcome(outcome: &Result<VerifyReply, ClientError>) {
    match outcome {
        Ok(_) => record_rollout_outcome(RolloutOutcome::Scored),
        Err(error) => record_rollout_outcome(RolloutOutcome::Dropped {
            class: Some(error.class()),
            reason: error.reason().as_deref(),
        }),
    }
}

async fn next_result(running: &mut JoinSet<Vec<RolloutResult>>) -> Vec<RolloutResult> {
    let joined = running
        .join_next()
        .await
        .expect("called while something runs");
    match joined {
        Ok(results) => results,
        Err(error) => match error.try_into_panic() {
            // A bug, not a failed rollout: let it end the run.
            Ok(panic) => resume_unwind(panic),
            Err(_) => unreachable!("nothing aborts a rollout while its set is being read"),
        },
    }
}
