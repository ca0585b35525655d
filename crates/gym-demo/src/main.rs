//! A small gym fleet, instrumented.
//!
//! An orchestrator starts an agent, a model and a resources server as processes of their own, rolls out tasks and
//! stops the servers again. With telemetry on, each rollout is one trace across all four processes.

mod cli;
mod client;
mod doctor;
mod driver;
mod env_command;
mod failure;
mod fleet;
mod launch;
mod limits;
mod results;
mod run;
mod runtime;
mod say;
mod servers;
mod summary;
mod tasks;
mod telemetry;
mod words;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Env(args) => env_command::env(&args),
        Command::Doctor(args) => doctor::doctor(&args).map_err(Failure::run),
        Command::Serve(args) => servers::serve(args),
        Command::Launch(args) => Err(launch::launch(&args)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say::note(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
