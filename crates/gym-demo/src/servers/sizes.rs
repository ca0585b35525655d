//! How much the servers take on at the same time: the same options for a run and for a server alone.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use gym_concurrency::ConcurrencyComponent;

use super::environment;
use crate::limits::Limit;

/// The limits of the servers, and what makes a scripted model as slow as a real one.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct SizesArgs {
    /// Requests that the agent server sends to the model server at the same time
    #[arg(long, value_name = "N", default_value = "16", env = environment::UPSTREAM_REQUESTS, hide_env = true)]
    upstream_requests: gym_concurrency::Limit,
    /// How long such a request waits for its turn before it fails [default: without bound]
    #[arg(long, value_name = "MS", env = environment::UPSTREAM_TIMEOUT, hide_env = true)]
    upstream_timeout: Option<u64>,
    /// Generations of the model server at the same time
    #[arg(long, value_name = "N", default_value = "8", env = environment::MODEL_SLOTS, hide_env = true)]
    model_slots: gym_concurrency::Limit,
    /// How long a generation waits for a slot before it fails [default: without bound]
    #[arg(long, value_name = "MS", env = environment::MODEL_SLOT_TIMEOUT, hide_env = true)]
    model_slot_timeout: Option<u64>,
    /// How long a generation takes
    #[arg(long, value_name = "MS", default_value = "0", env = environment::MODEL_LATENCY, hide_env = true)]
    model_latency: u64,
    /// Generations that never give their slot back: a bug to look at
    #[arg(long, value_name = "N", default_value = "0", env = environment::MODEL_LEAKS, hide_env = true)]
    pub(super) model_leaks: u32,
}

impl SizesArgs {
    /// Makes the limit of an agent server.
    pub(super) fn upstream(&self, server: &str) -> Arc<Limit> {
        Arc::new(Limit::new(
            self.upstream_requests,
            ConcurrencyComponent::AgentServer,
            "upstream_requests",
            Some(server),
            self.upstream_timeout.map(Duration::from_millis),
        ))
    }

    /// Makes the limit of a model server.
    pub(super) fn generations(&self, server: &str) -> Arc<Limit> {
        Arc::new(Limit::new(
            self.model_slots,
            ConcurrencyComponent::ModelServer,
            "generations",
            Some(server),
            self.model_slot_timeout.map(Duration::from_millis),
        ))
    }

    pub(super) fn latency(&self) -> Duration {
        Duration::from_millis(self.model_latency)
    }

    /// Gives the same options to a server.
    pub(crate) fn hand_over(&self, command: &mut Command) {
        let numbers = [
            (
                environment::UPSTREAM_REQUESTS,
                Some(self.upstream_requests.get() as u64),
            ),
            (environment::UPSTREAM_TIMEOUT, self.upstream_timeout),
            (
                environment::MODEL_SLOTS,
                Some(self.model_slots.get() as u64),
            ),
            (environment::MODEL_SLOT_TIMEOUT, self.model_slot_timeout),
            (environment::MODEL_LATENCY, Some(self.model_latency)),
            (environment::MODEL_LEAKS, Some(self.model_leaks.into())),
        ];
        for (name, number) in numbers {
            match number {
                Some(number) => command.env(name, number.to_string()),
                None => command.env_remove(name),
            };
        }
    }
}
