//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use gym_concurrency::Limit;

use crate::doctor::DoctorArgs;
use crate::failure::Failure;
use crate::fleet::{Place, ServerSpec};
use crate::launch::LaunchArgs;
use crate::servers::{Kind, ServeArgs, SizesArgs};
use crate::words;

/// A small gym fleet, instrumented: one rollout is one trace across four processes
#[derive(Debug, Parser)]
#[command(name = "gym-demo", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Starts the fleet, runs rollouts, stops the fleet
    Run(RunArgs),
    /// Prints what the orchestrator hands to its servers, as KEY=VALUE lines for srun, ssh and Kubernetes
    Env(EnvArgs),
    /// Explains every telemetry setting, says what is suspicious, and sends a test item to each endpoint
    Doctor(DoctorArgs),
    /// Runs one server
    #[command(hide = true)]
    Serve(ServeArgs),
    /// Becomes another program that ends when the orchestrator does
    #[command(hide = true)]
    Launch(LaunchArgs),
}

/// `gym-demo run`
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// YAML, TOML or JSON file with a `telemetry` block [default: traces on, one for each rollout]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Tasks, one JSON object per line [default: four questions about the weather]
    #[arg(long, value_name = "FILE")]
    pub(crate) tasks: Option<PathBuf>,
    /// Rollouts in all; tasks repeat when there are fewer [default: one for each task]
    #[arg(long, value_name = "N")]
    pub(crate) rollouts: Option<NonZeroUsize>,
    /// Rollouts at the same time
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) parallel: Limit,
    /// Attempts at a rollout before it counts as failed
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempts: u32,
    /// Directory for results, server output and console telemetry
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) sizes: SizesArgs,
    #[command(flatten)]
    pub(crate) servers: ServersArgs,
}

/// Where and what the servers are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Servers")]
pub(crate) struct ServersArgs {
    /// Program to run as agent server: it answers /run, /v1/responses and /health on the socket that is its
    /// standard input, or on {host} and {port} if these words are in the command
    #[arg(long, value_name = "COMMAND")]
    agent_command: Option<String>,
    /// Program to run as model server: /v1/responses, /v1/chat/completions and /health
    #[arg(long, value_name = "COMMAND")]
    model_command: Option<String>,
    /// Program to run as resources server: `/get_weather`, /verify and /health
    #[arg(long, value_name = "COMMAND")]
    resources_command: Option<String>,
    /// Address of the agent server, and the host name that others use for it
    #[arg(long, value_name = "ADDRESS[=HOST]")]
    agent_at: Option<Place>,
    /// Address of the model server, and the host name that others use for it
    #[arg(long, value_name = "ADDRESS[=HOST]")]
    model_at: Option<Place>,
    /// Address of the resources server, and the host name that others use for it
    #[arg(long, value_name = "ADDRESS[=HOST]")]
    resources_at: Option<Place>,
}

impl ServersArgs {
    /// The servers to start.
    pub(crate) fn specs(&self) -> Result<Vec<ServerSpec>, Failure> {
        Kind::ALL.into_iter().map(|kind| self.spec(kind)).collect()
    }

    fn spec(&self, kind: Kind) -> Result<ServerSpec, Failure> {
        let (command, place) = match kind {
            Kind::Agent => (&self.agent_command, &self.agent_at),
            Kind::Model => (&self.model_command, &self.model_at),
            Kind::Resources => (&self.resources_command, &self.resources_at),
        };
        let command = command.as_deref().map(words::split).transpose();
        let command = command
            .map_err(|error| Failure::usage(format!("--{}-command: {error}", kind.word())))?;
        Ok(ServerSpec {
            kind,
            name: kind.server_name().to_owned(),
            place: place.clone().unwrap_or_default(),
            command,
        })
    }
}

/// `gym-demo env`
#[derive(Debug, Args)]
pub(crate) struct EnvArgs {
    /// YAML, TOML or JSON file with a `telemetry` block
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Writes to this file, readable by its owner only, with secrets in clear; without it secrets are masked
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
