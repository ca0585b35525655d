//! A small gym fleet, instrumented.

mod doctor;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::doctor::DoctorArgs;

/// A small gym fleet, instrumented
#[derive(Debug, Parser)]
#[command(name = "gym-demo", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Explains every telemetry setting, says what is suspicious, and sends a test item to each endpoint
    Doctor(DoctorArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Doctor(args) => doctor::doctor(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // A closed standard error is no reason for another exit code.
            let _ = writeln!(std::io::stderr(), "gym-demo: {message}");
            ExitCode::FAILURE
        }
    }
}
